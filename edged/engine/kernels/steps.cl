/* The steps of a quantized tensor: whole numbers from STEP_LOW to STEP_HIGH, rounded half to even. SCALE, and RATIO_A and
 * RATIO_B of a sum, are the bits of floats. Formulas are those of `model/reference.py`.
 */
#ifndef STEP_LOW
#define STEP_LOW -128
#define STEP_HIGH 127
#define OWN_LOW -128
#define OWN_HIGH 127
#define OWN_FIRST 1
#define SCALE 0x3f800000
#define RATIO_A 0x3f800000
#define RATIO_B 0x3f800000
#endif

#define STEPS_OF(v) STEPS_WITHIN(v, STEP_LOW, STEP_HIGH)
#ifdef CLANG_BUILTINS
/* rint is a call for each element in PoCL. Beyond 2^23 floats are whole: a sum there is rounded, half to even. */
#define STEPS_WITHIN(v, low, high) ((clamp(v, (float)(low), (float)(high)) + 12582912.0f) - 12582912.0f)
#else
#define STEPS_WITHIN(v, low, high) clamp(rint(v), (float)(low), (float)(high))
#endif
#define NUMBER_OF(bits) as_float((int)(bits))

/* The sum of steps, of type float or vector. The first product is rounded, the second is not: said by fma, since compilers
 * may fuse what is written as a sum.
 */
#define SUM_OF_STEPS(type, a, b) fma(b, (type)(NUMBER_OF(RATIO_B)), (a) * NUMBER_OF(RATIO_A))

/* How a convolution ends: `value` is its result, `other` what it adds. */
#define OWN_STEPS(value) STEPS_WITHIN(value, OWN_LOW, OWN_HIGH)
#define STEPS_WITH(type, value, other) \
    STEPS_OF(OWN_FIRST ? SUM_OF_STEPS(type, OWN_STEPS(value), other) : SUM_OF_STEPS(type, other, OWN_STEPS(value)))
