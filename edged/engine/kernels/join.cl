/* The pixels of IN become those of OUT from FIRST_COLUMN of FIRST_ROW on; a launch for each input, in their order.
 *
 * IN_FRAMES is 1 for a constant, the same for all frames. A work-item a pixel, or a row, of a block of IN: RUN pixels.
 */
#include "layout.cl"

#ifndef FIRST_ROW
#define FIRST_ROW 0
#define FIRST_COLUMN 0
#define IN_FRAMES 2
#endif

#define RUNS_OF_IN ((IN_WIDTH + RUN - 1) / RUN)

KERNEL void join(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = run / RUNS_OF_IN, start = run % RUNS_OF_IN * RUN;
    if (y >= IN_HEIGHT)
        return;

    for (int x = start; x < min(start + RUN, IN_WIDTH); x++)
        STORE_VECTOR(OUT, LOAD_VECTOR(IN, in, PIXEL(IN, IN_FRAMES == 1 ? 0 : frame, block, y, x)), out,
                     PIXEL(OUT, frame, block, y + FIRST_ROW, x + FIRST_COLUMN));
    if (run + FIRST_ROW + FIRST_COLUMN == 0)
        clear_halo(out, frame, block);
}
