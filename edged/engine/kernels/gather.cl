/* The images of a batch from those that lie on the device: OUT[frame] = images[order[first + frame]], normalised.
 *
 * images: [n][y][x][channel] uint8, all of OUT's size; OUT = pixel · factor + offset by channel, `normalize` being
 * [factor × channels, offset × channels]. SWAP: the network wants BGR, images are RGB.
 * A work-item LINES rows, or a run of pixels of one.
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
#ifndef LINES
#define LINES 1  /* rows of a work-item */
#endif

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
    const int top = ROW_OF(run) * LINES;
    if (top >= OUT_HEIGHT)
        return;

    int down = 0, right = 0, flip = 0;
#if AUGMENT
    const uint random = mixed(seed ^ mixed(step ^ mixed(frame)));
    down = (int)((random >> 1 & 0x7fff) % (2 * SHIFT + 1)) - SHIFT;
    right = (int)((random >> 16) % (2 * SHIFT + 1)) - SHIFT;
    flip = FLIP && (random & 1);
#endif
    const size_t size = OUT_HEIGHT * OUT_WIDTH * OUT_CHANNELS;
    __global const uchar *image = images + order[first + frame] * size;
    for (int y = top; y < min(top + LINES, OUT_HEIGHT); y++) {
        const int from = y - down, start = START_OF(run), end = END_OF(run);
        const bool is_there = from >= 0 && from < OUT_HEIGHT;
        const int low = is_there ? max(start, right) : end, high = is_there ? min(end, OUT_WIDTH + right) : end;
        __global const uchar *row = image + (is_there ? from : 0) * OUT_WIDTH * OUT_CHANNELS;
        for (int c = block * OUT_BLOCK; c < (block + 1) * OUT_BLOCK; c++) {
            __global STORED(OUT) *to = out + CHANNEL(OUT, frame, c, y, 0);
            const float factor = c < OUT_CHANNELS ? normalize[c] : 0;
            const float black = c < OUT_CHANNELS ? normalize[OUT_CHANNELS + c] : 0;
            const int own = c < OUT_CHANNELS ? (SWAP ? OUT_CHANNELS - 1 - c : c) : 0;
            for (int x = start; x < min(low, end); x++)
                STORE(OUT, black, to, x * OUT_BLOCK);
            if (flip)
                for (int x = low; x < high; x++)
                    STORE(OUT, row[(OUT_WIDTH - 1 + right - x) * OUT_CHANNELS + own] * factor + black, to, x * OUT_BLOCK);
            else
                for (int x = low; x < high; x++)
                    STORE(OUT, row[(x - right) * OUT_CHANNELS + own] * factor + black, to, x * OUT_BLOCK);
            for (int x = max(high, start); x < end; x++)
                STORE(OUT, black, to, x * OUT_BLOCK);
        }
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
