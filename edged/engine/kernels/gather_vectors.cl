/* As gather.cl, for a network that begins by flattening its images: OUT's features are a frame's values in the order
 * [channel][y][x], of images of IMAGE_CHANNELS × IMAGE_HEIGHT × IMAGE_WIDTH; the frames are the pixels of its only row.
 * A work-item a run of them.
 */
#include "layout.cl"
#include "augment.cl"

#ifndef SWAP
#define SWAP 0
#endif
#ifndef IMAGE_WIDTH
#define IMAGE_CHANNELS 1
#define IMAGE_HEIGHT 8
#define IMAGE_WIDTH 4
#endif
#define PIXELS (IMAGE_HEIGHT * IMAGE_WIDTH)

/* Where features lie as the bytes do, a whole vector of them is read at once. */
#define IN_ORDER (IMAGE_CHANNELS == 1 && !AUGMENT && OUT_BLOCK > 1)
#define BYTES_AT(p) PASTE(convert_float, OUT_BLOCK)(PASTE(vload, OUT_BLOCK)(0, p))

/* The value of a feature, normalised. */
float value_of(__global const uchar *image, const int feature, __constant float *normalize, const motion moved)
{
    const int channel = feature / PIXELS, own = SWAP ? IMAGE_CHANNELS - 1 - channel : channel;
    int pixel = feature % PIXELS, is_there = 1;
    if (AUGMENT) {
        const int y = pixel / IMAGE_WIDTH - moved.down, x = pixel % IMAGE_WIDTH - moved.right;
        is_there = y >= 0 && y < IMAGE_HEIGHT && x >= 0 && x < IMAGE_WIDTH;
        pixel = is_there ? y * IMAGE_WIDTH + (moved.flip ? IMAGE_WIDTH - 1 - x : x) : 0;
    }
    const float value = is_there ? image[pixel * IMAGE_CHANNELS + own] : 0;
    return value * normalize[channel] + normalize[IMAGE_CHANNELS + channel];
}

KERNEL void gather_vectors(__global const uchar *restrict images, __global const int *restrict order,
                           const int first, __constant float *restrict normalize,
                           __global STORED(OUT) *restrict out RANDOM_PARAMETERS)
{
    const int run = get_global_id(0), block = PLANE_ID;
    if (ROW_OF(run) >= OUT_HEIGHT)
        return;

    for (int frame = START_OF(run); frame < END_OF(run); frame++) {
        __global const uchar *image = images + (size_t)order[first + frame] * OUT_CHANNELS;
        __global STORED(OUT) *to = out + PIXEL(OUT, 0, block, 0, frame) * OUT_BLOCK;
        const motion moved = MOTION_OF(frame);
#if IN_ORDER
        if ((block + 1) * OUT_BLOCK <= OUT_CHANNELS) {
            const vector values = BYTES_AT(image + block * OUT_BLOCK) * normalize[0] + normalize[1];
            STORE_VECTOR(OUT, values, to, 0);
            continue;
        }
#endif
        for (int c = 0; c < OUT_BLOCK; c++) {
            const int feature = block * OUT_BLOCK + c;
            STORE(OUT, feature < OUT_CHANNELS ? value_of(image, feature, normalize, moved) : 0, to, c);
        }
    }
    if (run == 0)
        clear_halo(out, 0, block);
}
