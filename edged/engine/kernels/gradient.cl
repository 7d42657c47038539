/* How kernels end that write the gradient of a tensor as OUT, a vector at a time:
 *
 *   OUT = (value + PLUS) · the slope of the activation that wrote the tensor
 *
 * PLUS: what other readers of the tensor have given already, only WITH_PLUS. WRITTEN: the tensor itself, after its
 * activation, whose number is THROUGH_ACTIVATION (see activation.cl; 0: it has none); the slope follows from it alone.
 * Both are the last parameters of the kernel: ENDING_PARAMETERS.
 */
#include "layout.cl"

#ifndef WITH_PLUS
#define WITH_PLUS 0
#define THROUGH_ACTIVATION 0
#define THROUGH_ALPHA 0
#define THROUGH_BETA 0
#endif

#if WITH_PLUS
#define PLUS_PARAMETER , __global const STORED(PLUS) *restrict plus
#define AND_PLUS(frame, block, y, x) + LOAD_VECTOR(PLUS, plus, PIXEL(PLUS, frame, block, y, x))
#else
#define PLUS_PARAMETER
#define AND_PLUS(frame, block, y, x)
#endif

#if THROUGH_ACTIVATION
#define WRITTEN_PARAMETER , __global const STORED(WRITTEN) *restrict written
#define THROUGH(value, frame, block, y, x) \
    through(value, LOAD_VECTOR(WRITTEN, written, PIXEL(WRITTEN, frame, block, y, x)))
#else
#define WRITTEN_PARAMETER
#define THROUGH(value, frame, block, y, x) (value)
#endif
#define ENDING_PARAMETERS PLUS_PARAMETER WRITTEN_PARAMETER

/* A gradient before the activation that wrote v: ReLU, clip and the sigmoid. */
vector through(const vector gradient, const vector v)
{
#if THROUGH_ACTIVATION == 1
    return v > 0 ? gradient : 0;
#elif THROUGH_ACTIVATION == 2
    return v > as_float((int)(THROUGH_ALPHA)) && v < as_float((int)(THROUGH_BETA)) ? gradient : 0;
#elif THROUGH_ACTIVATION == 6
    return gradient * v * (1 - v);
#else
    return gradient;
#endif
}

#define STORE_GRADIENT(value, frame, block, y, x) \
    STORE_VECTOR(OUT, THROUGH((value) AND_PLUS(frame, block, y, x), frame, block, y, x), out, \
                 PIXEL(OUT, frame, block, y, x))
