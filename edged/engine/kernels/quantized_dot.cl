/* Convolution of steps in bytes, for CPUs that multiply and sum four bytes at a time: tiles as in dot_tiles.cl.
 *
 * Bytes of the input are steps less IN_LOWEST, which the host adds to the bias by way of the weights; the zeros around
 * the image are such bytes, too. No sum of int is ever rounded.
 */
#include "layout.cl"

typedef WIDE(int) sums;
#define CHANNELS_OF_WORD 4
#include "dot_tiles.cl"
#include "quantized_end.cl"

/* Compute a tile of OUTS output blocks from `block` on. */
__attribute__((always_inline))
void compute_tile(__global const STORED(IN) *in, __global const words *weights,
                  __global const sums *bias, __global const vector *factor,
                  __global STORED(OUT) *out, int tile, int frame, int block RESIDUAL_POINTER)
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
                const vector value = to_vector(sum[o][y][x]) * factor[block + o];
                STORE_VECTOR(OUT, ENDED(value, frame, block + o, row, column), out,
                             PIXEL(OUT, frame, block + o, row, column));
            }
}

KERNEL void quantized_dot(__global const STORED(IN) *restrict in, __global const words *restrict weights,
                          __global const sums *restrict bias, __global const vector *restrict factor,
                          __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int frame = FRAME_ID, block = min((int)PLANE_ID * OUTS, OUT_BLOCKS - OUTS);

    for (int tile = FIRST_TILE; tile < END_OF_TILES; tile++)
        compute_tile(in, weights, bias, factor, out, tile, frame, block RESIDUAL_ARGUMENT);
    if (get_global_id(0) == 0)
        UNROLL for (int o = 0; o < OUTS; o++)
            clear_halo(out, frame, block + o);
}
