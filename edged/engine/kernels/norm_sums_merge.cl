/* The gradients of offset and scale, by channel: what the slices of norm_sums.cl found, added in their order.
 * A work-item a block.
 */
#include "norm_slices.cl"

KERNEL void norm_sums_merge(__global const vector *restrict shares, __global vector *restrict scale_gradient,
                            __global vector *restrict offset_gradient)
{
    const int block = get_global_id(0);
    if (block >= IN_BLOCKS)
        return;

    vector sum = 0, along = 0;
    for (int slice = 0; slice < SLICES; slice++) {
        sum += shares[SHARE(slice, block)];
        along += shares[SHARE(slice, block) + 1];
    }
    offset_gradient[block] = sum;
    scale_gradient[block] = along;
}
