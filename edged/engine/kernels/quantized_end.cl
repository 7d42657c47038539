/* How a convolution of steps ends: with the steps of a sum, with steps, also of an activation ÷ SCALE, or with an
 * activation. Include convolution.cl before.
 */
#include "steps.cl"

#ifndef WRITES_STEPS
#define WRITES_STEPS 1
#endif

#if WITH_RESIDUAL
#define ENDED(value, frame, block, y, x) \
    STEPS_WITH(vector, value, LOAD_VECTOR(RESIDUAL, residual, PIXEL(RESIDUAL, frame, block, y, x)))
#elif WRITES_STEPS && ACTIVATION
#define ENDED(value, frame, block, y, x) STEPS_OF(activate(value) / NUMBER_OF(SCALE))
#elif WRITES_STEPS
#define ENDED(value, frame, block, y, x) STEPS_OF(value)
#else
#define ENDED(value, frame, block, y, x) activate(value)
#endif
