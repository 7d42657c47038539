/* Over a slice of the batch (see norm_slices.cl), by channel: Σ IN and Σ IN · x̂, IN being the gradient of what the
 * norm wrote and x̂ = (SOURCE − mean) ÷ √(variance + epsilon) what it made of what it read.
 * A work-item a slice of a block. numbers: [epsilon, momentum].
 */
#include "norm_slices.cl"

#ifndef SOURCE_BLOCK
#define SOURCE_BLOCKS IN_BLOCKS
#define SOURCE_ROWS IN_ROWS
#define SOURCE_PITCH IN_PITCH
#define SOURCE_TOP IN_TOP
#define SOURCE_LEFT IN_LEFT
#define SOURCE_TYPE IN_TYPE
#endif

KERNEL void norm_sums(__global const STORED(IN) *restrict in, __global const STORED(SOURCE) *restrict source,
                      __constant float *restrict numbers, __global const vector *restrict mean,
                      __global const vector *restrict variance, __global vector *restrict shares)
{
    const int slice = get_global_id(0), block = PLANE_ID;
    if (slice >= SLICES)
        return;

    const vector middle = mean[block];
    vector sum = 0, along = 0;
    FOR_EACH_CHUNK(slice)
        FOR_EACH_X(chunk) {
            const vector given = LOAD_VECTOR(IN, in, PIXEL(IN, FRAME_OF(chunk), block, Y_OF(chunk), x));
            const int pixel = PIXEL(SOURCE, FRAME_OF(chunk), block, Y_OF(chunk), x);
            sum += given;
            along += given * (LOAD_VECTOR(SOURCE, source, pixel) - middle);
        }
    shares[SHARE(slice, block)] = sum;
    shares[SHARE(slice, block) + 1] = along / sqrt(variance[block] + numbers[0]);
}
