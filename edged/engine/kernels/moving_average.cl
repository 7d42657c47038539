/* AVERAGES = kept · AVERAGES + (1 − kept) · WEIGHTS, by element. A work-item CHUNK of COUNT floats. */
#include "layout.cl"

#ifndef COUNT
#define COUNT 1000
#define DECAYED 0
#define CHUNK 1
#endif

KERNEL void moving_average(__global const float *restrict weights, const float kept, __global float *restrict averages)
{
    const int start = get_global_id(0) * CHUNK;
    for (int i = start; i < min(start + CHUNK, COUNT); i++)
        averages[i] = kept * averages[i] + (1 - kept) * weights[i];
}
