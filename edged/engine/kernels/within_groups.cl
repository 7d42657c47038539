/* Gradients times 1 for the weights that a convolution of groups has, times 0 for those between its groups. */
#include "update.cl"

KERNEL void within_groups(__global float *restrict gradients, __global const float *restrict own)
{
    for (size_t i = START; i < END; i++)
        gradients[i] *= own[i];
}
