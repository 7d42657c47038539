/* Convolution of steps of each channel by itself, in tiles as in depthwise_tile.cl.
 *
 * Its sums are whole numbers below 2^24, which floats hold exactly. The bias is added in int.
 */
#include "depthwise_tile.cl"
#include "quantized_end.cl"

typedef WIDE(int) whole;

KERNEL void quantized_depthwise(__global const STORED(IN) *restrict in, __global const float *restrict weights,
                                __global const whole *restrict bias, __global const vector *restrict factor,
                                __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;

    for (int y = FIRST_OF_BAND(run); y < END_OF_BAND(run); y++)
        for (int start = START_OF(run); start < END_OF(run); start += TILE) {
            const int x = min(start, OUT_WIDTH - TILE);
            vector sum[TILE];
            UNROLL for (int t = 0; t < TILE; t++)
                sum[t] = 0;
            add_window(sum, in, weights, frame, block, y, x);
            UNROLL for (int t = 0; t < TILE; t++) {
                const vector value = to_vector(WIDE(convert_int)(sum[t]) + bias[block]) * factor[block];
                STORE_VECTOR(OUT, ENDED(value, frame, block, y, x + t), out, PIXEL(OUT, frame, block, y, x + t));
            }
        }
    if (run == 0)
        clear_halo(out, frame, block);
}
