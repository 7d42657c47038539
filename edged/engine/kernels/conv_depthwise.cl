/* Convolution of each channel by itself (see convolution.cl), in tiles as in depthwise_tile.cl. */
#include "depthwise_tile.cl"

KERNEL void conv_depthwise(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                           __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;

    for (int y = FIRST_OF_BAND(run); y < END_OF_BAND(run); y++)
        for (int start = START_OF(run); start < END_OF(run); start += TILE) {
            const int x = min(start, OUT_WIDTH - TILE);
            vector sum[TILE];
            UNROLL for (int t = 0; t < TILE; t++)
                sum[t] = bias[block];
            add_window(sum, in, weights, frame, block, y, x);
            UNROLL for (int t = 0; t < TILE; t++)
                STORE_VECTOR(OUT, activate(sum[t] PLUS_RESIDUAL(frame, block, y, x + t)), out,
                             PIXEL(OUT, frame, block, y, x + t));
        }
    if (run == 0)
        clear_halo(out, frame, block);
}
