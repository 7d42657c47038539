/* The images of a batch from those that lie on the device: OUT[frame] = images[order[first + frame]], normalised.
 *
 * images: [n][y][x][channel] uint8, all of OUT's size; OUT = pixel · factor + offset by channel, `normalize` being
 * [factor × channels, offset × channels]. SWAP: the network wants BGR, images are RGB.
 * A work-item LINES rows, or a run of pixels of one.
 * The images of a batch may be moved and mirrored: augment.cl.
 */
#include "layout.cl"
#include "augment.cl"

#ifndef SWAP
#define SWAP 0
#endif
#ifndef LINES
#define LINES 1  /* rows of a work-item */
#endif

KERNEL void gather(__global const uchar *restrict images, __global const int *restrict order, const int first,
                   __constant float *restrict normalize, __global STORED(OUT) *restrict out RANDOM_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int top = ROW_OF(run) * LINES;
    if (top >= OUT_HEIGHT)
        return;

    const motion moved = MOTION_OF(frame);
    const int right = moved.right;
    const size_t size = OUT_HEIGHT * OUT_WIDTH * OUT_CHANNELS;
    __global const uchar *image = images + order[first + frame] * size;
    for (int y = top; y < min(top + LINES, OUT_HEIGHT); y++) {
        const int from = y - moved.down, start = START_OF(run), end = END_OF(run);
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
            if (moved.flip)
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
