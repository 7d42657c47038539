/* The gradient of what a norm read: scale ÷ √(variance + epsilon) · (IN − (Σ IN + x̂ · Σ IN · x̂) ÷ pixels), IN being
 * the gradient of what it wrote, x̂ as in norm_sums.cl; the sums are the gradients of offset and scale.
 * A work-item a run of pixels. numbers: [epsilon, momentum]; PIXELS: of all frames.
 */
#include "gradient.cl"

#ifndef PIXELS
#define PIXELS 256
#endif
#ifndef SOURCE_BLOCK
#define SOURCE_BLOCKS IN_BLOCKS
#define SOURCE_ROWS IN_ROWS
#define SOURCE_PITCH IN_PITCH
#define SOURCE_TOP IN_TOP
#define SOURCE_LEFT IN_LEFT
#define SOURCE_TYPE IN_TYPE
#endif

KERNEL void norm_gradient(__global const STORED(IN) *restrict in, __global const STORED(SOURCE) *restrict source,
                          __constant float *restrict numbers, __global const vector *restrict scale,
                          __global const vector *restrict mean, __global const vector *restrict variance,
                          __global const vector *restrict scale_gradient,
                          __global const vector *restrict offset_gradient,
                          __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const vector middle = mean[block], unit = 1 / sqrt(variance[block] + numbers[0]);
    const vector factor = scale[block] * unit, slope = unit * scale_gradient[block] / PIXELS;
    const vector level = offset_gradient[block] / PIXELS;
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector off = LOAD_VECTOR(SOURCE, source, PIXEL(SOURCE, frame, block, y, x)) - middle;
        const vector given = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        STORE_GRADIENT(factor * (given - level - off * slope), frame, block, y, x);
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
