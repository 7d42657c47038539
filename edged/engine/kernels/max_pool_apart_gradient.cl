/* The gradient of what a maximum over windows read, where the windows cover it all and none of it twice: the same as
 * max_pool_gradient.cl makes, but each window is looked at once. A work-item a run of windows, those of IN.
 *
 * Of a window, what is left of its gradient goes to the first pixel, row by row, that is the largest.
 */
#include "gradient.cl"
#include "max_pool_buffers.cl"
#include "window.cl"

#define RUNS ((IN_WIDTH + RUN - 1) / RUN)

KERNEL void max_pool_apart_gradient(__global const STORED(IN) *restrict in,
                                    __global const STORED(SOURCE) *restrict source,
                                    __global const STORED(OUTPUT) *restrict output,
                                    __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int row = run / RUNS, start = run % RUNS * RUN;
    if (row >= IN_HEIGHT)
        return;

    for (int column = start; column < min(start + RUN, IN_WIDTH); column++) {
        const vector largest = LOAD_VECTOR(OUTPUT, output, PIXEL(OUTPUT, frame, block, row, column));
        vector left = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, row, column));
        UNROLL for (int v = 0; v < KERNEL_H; v++)
            UNROLL for (int u = 0; u < KERNEL_W; u++) {
                const int y = row * KERNEL_H + v, x = column * KERNEL_W + u;
                const vector own = LOAD_VECTOR(SOURCE, source, PIXEL(SOURCE, frame, block, y, x));
                const vector share = own == largest ? left : 0;
                left = own == largest ? 0 : left;
                STORE_GRADIENT(share, frame, block, y, x);
            }
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
