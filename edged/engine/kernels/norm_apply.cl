/* OUT = (IN − mean) ÷ √(variance + epsilon) · scale + offset by channel, then the activation.
 *
 * mean, variance: those of the batch in training, the running ones in use. numbers: [epsilon, momentum].
 * A work-item a run of pixels.
 */
#include "activation.cl"
#include "layout.cl"

KERNEL void norm_apply(__global const STORED(IN) *restrict in, __constant float *restrict numbers,
                       __global const vector *restrict scale, __global const vector *restrict offset,
                       __global const vector *restrict mean, __global const vector *restrict variance,
                       __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const vector middle = mean[block], low = offset[block];
    const vector factor = scale[block] / sqrt(variance[block] + numbers[0]);
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = (LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) - middle) * factor + low;
        STORE_VECTOR(OUT, ACTIVATION_OF(v), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
