/* OUT[r][c] = Σ over i, j of row weight[r][i] · column weight[c][j] · IN[row place[r][i]][column place[c][j]]: an image
 * of another size. `places` and `weights`: of the rows, ROW_TAPS each, then of the columns, COLUMN_TAPS each.
 * A work-item a run of pixels of a block.
 */
#include "layout.cl"

#ifndef ROW_TAPS
#define ROW_TAPS 2
#define COLUMN_TAPS 2
#endif

KERNEL void interpolate(__global const STORED(IN) *restrict in, __global const int *restrict places,
                        __global const float *restrict weights, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const int row = y * ROW_TAPS, column = OUT_HEIGHT * ROW_TAPS + x * COLUMN_TAPS;
        vector v = INITIAL(0);
        UNROLL for (int i = 0; i < ROW_TAPS; i++)
            UNROLL for (int j = 0; j < COLUMN_TAPS; j++)
                v += weights[row + i] * weights[column + j]
                    * LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, places[row + i], places[column + j]));
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
