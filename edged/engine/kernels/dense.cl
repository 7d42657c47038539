/* OUT[o] = bias[o] + Σ weight[o][i] · IN[i], then max(·, 0) if WITH_RELU. A work-item a block of outputs.
 *
 * Every weight is used once: memory is what limits, so they lie in the order in which they are read,
 * [output block][input][channel of the output block]. LANES sums run side by side, since one alone would wait for
 * the latency of each addition.
 */
#include "layout.cl"

#ifndef LANES
#define LANES 8
#endif
#ifndef WITH_RELU
#define WITH_RELU 0
#endif
#ifndef WEIGHTS_HALF
#define WEIGHTS_HALF 0
#endif

#define INPUTS (IN_BLOCKS * IN_BLOCK)

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
    STORE_VECTOR(OUT, WITH_RELU ? RELU_OF(sums[0]) : sums[0], out, PIXEL(OUT, frame, block, 0, 0));
    clear_halo(out, frame, block);
}
