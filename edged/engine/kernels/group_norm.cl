/* OUT[c] = (IN[c] − mean) ÷ √(variance + epsilon) · factor[c] + offset[c], over groups of GROUP_CHANNELS channels of an
 * image: Wu and He, "Group Normalization", 2018. RESIDUAL: what `group_statistics.cl` writes. numbers: factor and
 * offset of each block in turn. EPSILON holds the bits of epsilon. A work-item a run of pixels of a block.
 */
#include "layout.cl"
#include "residual.cl"

#ifndef GROUP_CHANNELS
#define GROUP_CHANNELS 4
#define EPSILON 0x3727c5ac
#endif

#define MEAN_OF(channel) LOAD(RESIDUAL, residual, CHANNEL(RESIDUAL, frame, channel, 0, 0))
#define VARIANCE_OF(channel) LOAD(RESIDUAL, residual, CHANNEL(RESIDUAL, frame, channel, 0, 1))

KERNEL void group_norm(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                       __global const vector *restrict numbers, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    vector means = INITIAL(0), scales = INITIAL(0);
    for (int lane = 0; lane < OUT_BLOCK; lane++) {
        const int channel = block * OUT_BLOCK + lane;
        if (channel >= OUT_CHANNELS)
            break;
        const int first = channel / GROUP_CHANNELS * GROUP_CHANNELS;
        float mean = 0, variance = 0;
        for (int c = first; c < first + GROUP_CHANNELS; c++)
            mean += MEAN_OF(c) / GROUP_CHANNELS;
        for (int c = first; c < first + GROUP_CHANNELS; c++)
            variance += (VARIANCE_OF(c) + (MEAN_OF(c) - mean) * (MEAN_OF(c) - mean)) / GROUP_CHANNELS;
        ((float *)&means)[lane] = mean;
        ((float *)&scales)[lane] = 1 / sqrt(variance + as_float(EPSILON));
    }
    const vector factor = numbers[2 * block] * scales, offset = numbers[2 * block + 1];
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        STORE_VECTOR(OUT, (v - means) * factor + offset, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
