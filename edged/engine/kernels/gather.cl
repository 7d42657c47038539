/* The images of a batch from those that lie on the device: OUT[frame] = images[order[first + frame]], normalised.
 *
 * images: [n][y][x][channel] uint8, all of OUT's size; OUT = pixel · factor + offset by channel, `normalize` being
 * [factor × channels, offset × channels]. SWAP: the network wants BGR, images are RGB. A work-item a run of pixels.
 *
 * AUGMENT: each image is moved by up to SHIFT pixels down or up and to either side (black where it was not) and,
 * if FLIP, mirrored in half of the cases: as (seed, step, frame) say, so that a step can be done again.
 */
#include "layout.cl"

#ifndef SWAP
#define SWAP 0
#endif
#ifndef FLIP
#define FLIP 0
#define SHIFT 0
#endif
#define AUGMENT (FLIP || SHIFT)

#if AUGMENT
#define RANDOM_PARAMETERS , const uint seed, const uint step
#else
#define RANDOM_PARAMETERS
#endif

/* The last part of MurmurHash3 (Appleby): each bit of the argument changes each of the result's half of the time. */
uint mixed(uint bits)
{
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}

KERNEL void gather(__global const uchar *restrict images, __global const int *restrict order, const int first,
                   __constant float *restrict normalize, __global STORED(OUT) *restrict out RANDOM_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    int down = 0, right = 0, flip = 0;
#if AUGMENT
    const uint random = mixed(seed ^ mixed(step ^ mixed(frame)));
    down = (int)((random >> 1 & 0x7fff) % (2 * SHIFT + 1)) - SHIFT;
    right = (int)((random >> 16) % (2 * SHIFT + 1)) - SHIFT;
    flip = FLIP && (random & 1);
#endif
    const size_t size = OUT_HEIGHT * OUT_WIDTH * OUT_CHANNELS;
    const int from_y = y - down;
    const bool row_there = from_y >= 0 && from_y < OUT_HEIGHT;
    __global const uchar *row =
        images + order[first + frame] * size + (row_there ? from_y : 0) * OUT_WIDTH * OUT_CHANNELS;
    for (int c = block * OUT_BLOCK; c < (block + 1) * OUT_BLOCK; c++)
        for (int x = START_OF(run); x < END_OF(run); x++) {
            const int there = x - right, from_x = flip ? OUT_WIDTH - 1 - there : there;
            float value = 0;
            if (c < OUT_CHANNELS) {
                const bool is_there = row_there && from_x >= 0 && from_x < OUT_WIDTH;
                const int pixel = is_there ? row[from_x * OUT_CHANNELS + (SWAP ? OUT_CHANNELS - 1 - c : c)] : 0;
                value = pixel * normalize[c] + normalize[OUT_CHANNELS + c];
            }
            STORE(OUT, value, out, CHANNEL(OUT, frame, c, y, x));
        }
    if (run == 0)
        clear_halo(out, frame, block);
}
