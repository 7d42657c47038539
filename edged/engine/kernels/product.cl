/* OUT[n][row][m] = FACTOR · Σ over k of IN[k][row][m] · RESIDUAL[n][row][k]: a matrix product for each row of two computed
 * tensors, as attention has them. FACTOR holds the bits of a float.
 *
 * A work-item keeps TILE sums of one block of n in registers; each vector of RESIDUAL is used TILE times. The last
 * tile of a row is moved back to end with it: what is computed twice is the same.
 */
#include "layout.cl"
#include "residual.cl"

#ifndef TILE
#define TILE 4
#define FACTOR 0x3f800000
#endif

#define TILES_X ((OUT_WIDTH + TILE - 1) / TILE)

KERNEL void product(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                    __global STORED(OUT) *restrict out)
{
    const int item = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = item / TILES_X, x = min(item % TILES_X * TILE, OUT_WIDTH - TILE);
    if (y >= OUT_HEIGHT)
        return;

    vector sum[TILE];
    UNROLL for (int t = 0; t < TILE; t++)
        sum[t] = 0;
    for (int i = 0; i < IN_BLOCKS; i++) {
        __global const STORED(IN) *pixels = in + IN_BLOCK * PIXEL(IN, frame, i, y, x);
        const int first = PIXEL(RESIDUAL, frame, block, y, i * IN_BLOCK);
        const int channels = min(IN_BLOCK, IN_CHANNELS - i * IN_BLOCK);
        for (int c = 0; c < channels; c++) {
            const vector b = LOAD_VECTOR(RESIDUAL, residual, first + c);
            UNROLL for (int t = 0; t < TILE; t++)
                sum[t] += b * LOAD(IN, pixels, t * IN_BLOCK + c);
        }
    }
    UNROLL for (int t = 0; t < TILE; t++)
        STORE_VECTOR(OUT, sum[t] * as_float(FACTOR), out, PIXEL(OUT, frame, block, y, x + t));
    if (item == 0)
        clear_halo(out, frame, block);
}
