/* OUT = A ∘ B, by element, where either may have one channel, row or column that stands for all.
 *
 * COMBINATION: 0 A + B, 1 A − B, 2 A · B, 3 A ÷ B, 4 the smaller, 5 the larger, 6 A to the power of B, 7 A, or A · B
 * where A is negative. A is IN and B RESIDUAL, or the other way around if REVERSED; RESIDUAL_FRAMES is 1 for a constant, the same for all frames.
 * A work-item a run of pixels.
 */
#include "layout.cl"
#include "residual.cl"

#ifndef COMBINATION
#define COMBINATION 0
#define REVERSED 0
#define RESIDUAL_FRAMES 2
#endif

/* The pixel of T that stands for one of OUT, and the channels of it that stand for those of a block. */
#define SEEN(T, frame, block, y, x) \
    PIXEL(T, frame, T##_CHANNELS == 1 ? 0 : block, T##_HEIGHT == 1 ? 0 : y, T##_WIDTH == 1 ? 0 : x)
#define OPERAND(T, p, pixel) \
    (T##_CHANNELS == 1 ? (vector)(LOAD(T, p, (pixel) * T##_BLOCK)) : LOAD_VECTOR(T, p, pixel))

vector combination(vector a, vector b)
{
#if COMBINATION == 0
    return a + b;
#elif COMBINATION == 1
    return a - b;
#elif COMBINATION == 2
    return a * b;
#elif COMBINATION == 3
    return a / b;
#elif COMBINATION == 4
    return (a < b || a != a) ? a : b;  /* a NaN stays, in b too: nothing is below it */
#elif COMBINATION == 5
    return (a > b || a != a) ? a : b;
#elif COMBINATION == 6
    return pow(a, b);
#else
    return a < 0 ? a * b : a;
#endif
}

KERNEL void combine(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                    __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const int other = RESIDUAL_FRAMES == 1 ? 0 : frame;
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector a = OPERAND(IN, in, SEEN(IN, frame, block, y, x));
        const vector b = OPERAND(RESIDUAL, residual, SEEN(RESIDUAL, other, block, y, x));
        const vector v = REVERSED ? combination(b, a) : combination(a, b);
        STORE_VECTOR(OUT, without_padding(v, block), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
