/* The first kernel of every plan: the bytes of the camera's image become the network's input.
 *
 * images: [frame][y][x][3] uint8 RGB, without gaps. A work-item converts a run of pixels of one block:
 * OUT[c][y][x] = image[y][x][SWAP ? 2 − c : c] · factor[c] + offset[c]
 * where factor = scale ÷ std and offset = −mean ÷ std come as `normalize`, [factor × channels, offset × channels].
 */
#include "pixel.cl"

/* A GPU's work-item writes the block of a pixel at once. */
#define IS_ONE_STORE (RUN == 1 && OUT_BLOCK == 4 && OUT_BLOCKS == 1)
#define NORMALISED(c) \
    ((c) < OUT_CHANNELS ? value_of(pixel, c) * normalize[c] + normalize[OUT_CHANNELS + (c)] : 0.0f)

KERNEL void prepare(__global const uchar *restrict images, __constant float *restrict normalize,
                    __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    __global const uchar *row = images + (frame * OUT_HEIGHT + y) * OUT_WIDTH * 3;
#if IS_ONE_STORE
    const int x = START_OF(run);
    __global const uchar *pixel = row + x * 3;
    const vector v = (vector)(NORMALISED(0), NORMALISED(1), NORMALISED(2), NORMALISED(3));
    STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
#else
    for (int c = block * OUT_BLOCK; c < (block + 1) * OUT_BLOCK; c++)
        for (int x = START_OF(run); x < END_OF(run); x++) {
            const bool is_there = c < OUT_CHANNELS;
            const float value = is_there ? value_of(row + x * 3, c) * normalize[c] + normalize[OUT_CHANNELS + c] : 0;
            STORE(OUT, value, out, CHANNEL(OUT, frame, c, y, x));
        }
#endif
    if (run == 0)
        clear_halo(out, frame, block);
}
