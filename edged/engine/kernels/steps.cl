/* The steps of a quantized tensor: whole numbers from STEP_LOW to STEP_HIGH, rounded half to even. SCALE, and RATIO_A and
 * RATIO_B of a sum, are the bits of floats. Formulas are those of `model/reference.py`.
 */
#ifndef STEP_LOW
#define STEP_LOW -128
#define STEP_HIGH 127
#define SCALE 0x3f800000
#define RATIO_A 0x3f800000
#define RATIO_B 0x3f800000
#endif

#define STEPS_OF(v) clamp(rint(v), (float)(STEP_LOW), (float)(STEP_HIGH))
#define NUMBER_OF(bits) as_float((int)(bits))
