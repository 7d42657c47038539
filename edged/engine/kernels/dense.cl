/* Fully connected layer, a work-item a block of outputs.
 *
 * LANES sums run side by side, since one alone would wait for the latency of each addition.
 */
#include "fully_connected.cl"

#ifndef LANES
#define LANES 8
#endif

KERNEL void dense(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                  __global const vector *restrict bias, __global STORED(OUT) *restrict out)
{
    const int block = get_global_id(0), frame = FRAME_ID;
    if (block >= OUT_BLOCKS)
        return;

    vector sums[LANES] = {bias[block]};
    UNROLL for (int lane = 1; lane < LANES; lane++)
        sums[lane] = 0;
    __global const STORED(WEIGHTS) *w = weights + block * INPUTS * OUT_BLOCK;
    for (int i = 0; i + LANES <= INPUTS; i += LANES)
        UNROLL for (int lane = 0; lane < LANES; lane++)
            sums[lane] += LOAD_VECTOR(WEIGHTS, w, i + lane) * LOAD(IN, in, CHANNEL(IN, frame, i + lane, 0, 0));
    for (int i = INPUTS / LANES * LANES; i < INPUTS; i++)
        sums[0] += LOAD_VECTOR(WEIGHTS, w, i) * LOAD(IN, in, CHANNEL(IN, frame, i, 0, 0));

    UNROLL for (int lane = 1; lane < LANES; lane++)
        sums[0] += sums[lane];
    STORE_VECTOR(OUT, ACTIVATION_OF(sums[0]), out, PIXEL(OUT, frame, block, 0, 0));
    clear_halo(out, frame, block);
}
