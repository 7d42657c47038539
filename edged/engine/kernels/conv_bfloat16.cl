/* Convolution of bfloat16, for CPUs that multiply and sum two of them at a time: tiles as in dot_tiles.cl.
 *
 * The instruction (vdpbf16ps) sums in float32; of the smallest numbers, below 1.2e-38, it makes zeros.
 */
#include "layout.cl"

typedef vector sums;
#define CHANNELS_OF_WORD 2
#include "dot_tiles.cl"

/* Compute a tile of OUTS output blocks from `block` on. */
__attribute__((always_inline))
void compute_tile(__global const STORED(IN) *in, __global const words *weights,
                  __global const vector *bias, __global STORED(OUT) *out, int tile, int frame, int block RESIDUAL_POINTER)
{
    sums sum[OUTS][TILE_H][TILE_W];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++)
                sum[o][y][x] = bias[block + o];
    add_tile(sum, in, weights, tile, frame, block);

    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++) {
                const int row = FIRST_ROW(tile) + y, column = FIRST_COLUMN(tile) + x;
                STORE_VECTOR(OUT, activate(sum[o][y][x] PLUS_RESIDUAL(frame, block + o, row, column)), out,
                             PIXEL(OUT, frame, block + o, row, column));
            }
}

KERNEL void conv_bfloat16(__global const STORED(IN) *restrict in, __global const words *restrict weights,
                          __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int frame = FRAME_ID, block = min((int)PLANE_ID * OUTS, OUT_BLOCKS - OUTS);

    for (int tile = FIRST_TILE; tile < END_OF_TILES; tile++)
        compute_tile(in, weights, bias, out, tile, frame, block RESIDUAL_ARGUMENT);
    if (get_global_id(0) == 0)
        UNROLL for (int o = 0; o < OUTS; o++)
            clear_halo(out, frame, block + o);
}
