/* OUT[c] = IN[order[c]]. A work-item a run of pixels of a block of OUT. `order`: floats, which hold whole numbers.
 *
 * Channels in a row, from FIRST_CHANNEL on, move as parts of two vectors; others, where it is -1, one by one.
 */
#include "layout.cl"

#ifndef FIRST_CHANNEL
#define FIRST_CHANNEL -1
#endif

#if FIRST_CHANNEL >= 0
#define SHIFT (FIRST_CHANNEL % OUT_BLOCK)  /* the first channel's place in its block of IN */
#define BLOCK_OF_IN(n) min(FIRST_CHANNEL / OUT_BLOCK + block + (n), IN_BLOCKS - 1)
#define READ_PIXEL \
    const vector low = LOAD_VECTOR(IN, in, PIXEL(IN, frame, BLOCK_OF_IN(0), y, x)); \
    const vector high = LOAD_VECTOR(IN, in, PIXEL(IN, frame, BLOCK_OF_IN(1), y, x));
#define VALUE(c) ((c) + SHIFT < OUT_BLOCK ? ((float *)&low)[(c) + SHIFT] : ((float *)&high)[(c) + SHIFT - OUT_BLOCK])
#else
#define READ_PIXEL
#define VALUE(c) LOAD(IN, in, from[c] + x * IN_BLOCK)
#endif

KERNEL void select_channels(__global const STORED(IN) *restrict in, __global const float *restrict order,
                            __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    int from[OUT_BLOCK];  /* where the row of each channel begins; beyond the last channel, that of the last */
    UNROLL for (int c = 0; c < OUT_BLOCK; c++)
        from[c] = CHANNEL(IN, frame, (int)order[min(block * OUT_BLOCK + c, OUT_CHANNELS - 1)], y, 0);
    for (int x = START_OF(run); x < END_OF(run); x++) {
        READ_PIXEL
        vector v;
        UNROLL for (int c = 0; c < OUT_BLOCK; c++)
            ((float *)&v)[c] = block * OUT_BLOCK + c < OUT_CHANNELS ? VALUE(c) : 0;
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
