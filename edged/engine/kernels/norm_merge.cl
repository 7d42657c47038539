/* Mean and variance of the batch by channel, from those of its slices; the running ones go after them.
 *
 * Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983. A work-item a block.
 * numbers: [epsilon, momentum] of the norm. The running variance is without bias (a single value has none: 0).
 */
#include "norm_slices.cl"

KERNEL void norm_merge(__global const vector *restrict shares, __constant float *restrict numbers,
                       __global vector *restrict mean_out, __global vector *restrict variance_out,
                       __global vector *restrict running_mean, __global vector *restrict running_variance)
{
    const int block = get_global_id(0);
    if (block >= IN_BLOCKS)
        return;

    vector mean = 0, squares = 0, count = 0;
    for (int slice = 0; slice < SLICES; slice++) {
        const vector own = shares[SHARE(slice, block) + 2];
        const vector off = shares[SHARE(slice, block)] - mean;
        const vector part = own / (count + own);
        mean += off * part;
        squares += shares[SHARE(slice, block) + 1] + off * off * (count * part);
        count += own;
    }
    mean_out[block] = mean;
    variance_out[block] = squares / PIXELS;
    running_mean[block] += numbers[1] * (mean - running_mean[block]);
    running_variance[block] += numbers[1] * (squares / max(PIXELS - 1, 1) - running_variance[block]);
}
