/* Convolution of steps of each channel by itself, in tiles as in depthwise_tile.cl.
 *
 * Its sums, from the bias on, are whole numbers below 2^24, which floats hold exactly.
 */
#include "depthwise_tile.cl"
#include "quantized_end.cl"

KERNEL void quantized_depthwise(__global const STORED(IN) *restrict in, __global const float *restrict weights,
                                __global const vector *restrict bias, __global const vector *restrict factor,
                                __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;

    for (int y = FIRST_OF_BAND(run); y < END_OF_BAND(run); y++)
        for (int start = START_OF(run); start < END_OF(run); start += TILE) {
            const int x = min(start, OUT_WIDTH - TILE);
            vector sum[TILE];
            UNROLL for (int t = 0; t < TILE; t++)
                sum[t] = bias[block];
            add_window(sum, in, weights, frame, block, y, x);
            UNROLL for (int t = 0; t < TILE; t++) {
                const vector value = sum[t] * factor[block];
                STORE_VECTOR(OUT, ENDED(value, frame, block, y, x + t), out, PIXEL(OUT, frame, block, y, x + t));
            }
        }
    if (run == 0)
        clear_halo(out, frame, block);
}
