/* ACTIVATION_OF(v): the function, as the host numbers it, of a float or of each float of a vector. Formulas are those
 * of `model/activations.py`; ACTIVATION_ALPHA and ACTIVATION_BETA are the bits of its two numbers.
 *
 * fmax and fmin would turn a NaN into a number and hide it.
 */
#ifndef ACTIVATION
#define ACTIVATION 0
#define ACTIVATION_ALPHA 0
#define ACTIVATION_BETA 0
#endif
#define ALPHA as_float((int)(ACTIVATION_ALPHA))
#define BETA as_float((int)(ACTIVATION_BETA))

#define CLIP_OF(v, low, high) (((v) < (low)) ? (low) : (((v) > (high)) ? (high) : (v)))

/* e to the power of a float, or of each of a vector, within 2 units in the last place for −87 … 88, and that of the
 * nearer limit beyond; NaN of NaN. e^v = 2^n · e^r, r = v − n · ln 2 in two parts (Cody and Waite, 1980), |r| ≤ ln 2 ÷ 2;
 * the polynomial is that of least relative error there. Adding 1.5 · 2^23 leaves n in the last bits, from where it is
 * shifted into the exponent. With PoCL's own exp YOLOX-nano took a tenth longer, and compiling it a sixth.
 */
#ifdef CLANG_BUILTINS
#define EXP_OF(v) ({ \
    const __typeof__(v) exp_v = CLIP_OF(v, -87.0f, 88.0f), exp_n = exp_v * 1.44269504f + 12582912.0f; \
    const __typeof__(v) exp_floor = exp_n - 12582912.0f; \
    const __typeof__(v) exp_r = exp_v - exp_floor * 0.693359375f + exp_floor * 2.12194440e-4f; \
    EXP_SCALED(v, exp_n, EXP_POLYNOMIAL(exp_r)); \
})
#define EXP_POLYNOMIAL(r) \
    (1.0f + r * (1.0f + r * (0.4999923f + r * (0.16667116f + r * (0.04189033f + r * 0.008312501f)))))
#define EXP_SCALED(v, n, power) \
    __builtin_astype(__builtin_astype(power, __typeof__((v) < 0)) + (__builtin_astype(n, __typeof__((v) < 0)) << 23), \
                     __typeof__(v))
#else  /* a GPU's own, whose error grows with |v|; exp takes many instructions: a third of YOLOX-nano's on Midgard */
#define EXP_OF(v) native_exp(v)
#endif

#define SIGMOID_OF(v) (1.0f / (1.0f + EXP_OF(-(v))))
#define ELU_OF(v) (((v) < 0) ? ALPHA * expm1(v) : (v))
#define SOFTPLUS_OF(v) (log1p(exp(-fabs(v))) + (((v) < 0) ? 0 : (v)))

#if ACTIVATION == 0
#define ACTIVATION_OF(v) (v)
#elif ACTIVATION == 1
#define ACTIVATION_OF(v) RELU_OF(v)
#elif ACTIVATION == 2
#define ACTIVATION_OF(v) CLIP_OF(v, ALPHA, BETA)
#elif ACTIVATION == 3
#define ACTIVATION_OF(v) (((v) < 0) ? ALPHA * (v) : (v))
#elif ACTIVATION == 4
#define ACTIVATION_OF(v) ELU_OF(v)
#elif ACTIVATION == 5
#define ACTIVATION_OF(v) (BETA * ELU_OF(v))
#elif ACTIVATION == 6
#define ACTIVATION_OF(v) SIGMOID_OF(v)
#elif ACTIVATION == 7
#define ACTIVATION_OF(v) CLIP_OF(ALPHA * (v) + BETA, 0, 1)
#elif ACTIVATION == 8
#define ACTIVATION_OF(v) ((v) * CLIP_OF((v) * (1 / 6.0f) + 0.5f, 0, 1))
#elif ACTIVATION == 9
#define ACTIVATION_OF(v) ((v) / (1.0f + EXP_OF(-(v))))
#elif ACTIVATION == 10
#define ACTIVATION_OF(v) tanh(v)
#elif ACTIVATION == 11
#define ACTIVATION_OF(v) SOFTPLUS_OF(v)
#elif ACTIVATION == 12
#define ACTIVATION_OF(v) ((v) / (1.0f + fabs(v)))
#elif ACTIVATION == 13
#define ACTIVATION_OF(v) ((v) * tanh(SOFTPLUS_OF(v)))
#elif ACTIVATION == 14
#define ACTIVATION_OF(v) (0.5f * (v) * (1.0f + erf((v) * 0.70710678118654752f)))
#elif ACTIVATION == 15
#define ACTIVATION_OF(v) erf(v)
#elif ACTIVATION == 16
#define ACTIVATION_OF(v) exp(v)
#elif ACTIVATION == 17
#define ACTIVATION_OF(v) log(v)
#elif ACTIVATION == 18
#define ACTIVATION_OF(v) sqrt(v)
#elif ACTIVATION == 19
#define ACTIVATION_OF(v) (1.0f / (v))
#elif ACTIVATION == 20
#define ACTIVATION_OF(v) fabs(v)
#elif ACTIVATION == 21
#define ACTIVATION_OF(v) (0.5f * (v) * (1.0f + tanh(0.79788456080286536f * ((v) + 0.044715f * (v) * (v) * (v)))))
#endif
