/* How kernels end that write the gradient of a tensor as OUT, a vector at a time:
 *
 *   OUT = (value + PLUS) where MASK > 0, else 0
 *
 * PLUS: what other readers of the tensor have given already; MASK: the tensor itself, if it ends in ReLU. Each is
 * there only WITH_PLUS and WITH_MASK, as the last parameters of the kernel: ENDING_PARAMETERS.
 */
#include "layout.cl"

#ifndef WITH_PLUS
#define WITH_PLUS 0
#define WITH_MASK 0
#endif

#if WITH_PLUS
#define PLUS_PARAMETER , __global const STORED(PLUS) *restrict plus
#define AND_PLUS(frame, block, y, x) + LOAD_VECTOR(PLUS, plus, PIXEL(PLUS, frame, block, y, x))
#else
#define PLUS_PARAMETER
#define AND_PLUS(frame, block, y, x)
#endif
#if WITH_MASK
#define MASK_PARAMETER , __global const STORED(MASK) *restrict mask
#define MASKED(value, frame, block, y, x) \
    (LOAD_VECTOR(MASK, mask, PIXEL(MASK, frame, block, y, x)) > 0 ? (value) : 0)
#else
#define MASK_PARAMETER
#define MASKED(value, frame, block, y, x) (value)
#endif
#define ENDING_PARAMETERS PLUS_PARAMETER MASK_PARAMETER

#define STORE_GRADIENT(value, frame, block, y, x) \
    STORE_VECTOR(OUT, MASKED((value) AND_PLUS(frame, block, y, x), frame, block, y, x), out, \
                 PIXEL(OUT, frame, block, y, x))
