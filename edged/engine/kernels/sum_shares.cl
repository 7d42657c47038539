/* The gradients of weights and bias as the sums of SHARES parts, in their order: the same each time.
 * A work-item a run of RUN_LENGTH vectors: first those of the weights, WEIGHTS of them, then those of the bias, BIASES.
 */
#include "layout.cl"

#ifndef SHARES
#define SHARES 2
#define WEIGHTS 288
#define BIASES 8
#define RUN_LENGTH 16
#endif

KERNEL void sum_shares(__global const vector *restrict weight_parts, __global const vector *restrict bias_parts,
                       __global vector *restrict weights, __global vector *restrict bias)
{
    const int first = get_global_id(0) * RUN_LENGTH;
    for (int index = first; index < min(first + RUN_LENGTH, WEIGHTS + BIASES); index++) {
        const bool is_weight = index < WEIGHTS;
        __global const vector *part = is_weight ? weight_parts + index : bias_parts + index - WEIGHTS;
        vector sum = 0;
        for (int share = 0; share < SHARES; share++)
            sum += part[share * (is_weight ? WEIGHTS : BIASES)];
        if (is_weight)
            weights[index] = sum;
        else
            bias[index - WEIGHTS] = sum;
    }
}
