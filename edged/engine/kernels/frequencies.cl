/* Winograd's convolution (see winograd.cl) for GPUs with few registers: a work-item has one row of a tile, never all.
 *
 *   conv_frequencies_input    the frequencies of each tile, as channels [frequency][block] of an image of one row, whose
 *                             pixels are the tiles
 *   conv_general              that image by a window of 1 × 1, in as many groups as there are frequencies
 *   conv_frequencies          the pixels of each tile from its products
 *
 * A frequency n is a sum of a few rows, then of the same few columns: TAP(k, n) is which, TAP_OF(k, n) how often it is
 * taken (the numbers of Bᵀ of the paper that are not 0). EACH_FREQUENCY reads a column not before it is needed: Midgard
 * has no registers for all.
 */
#ifndef OUTPUT
#define OUTPUT 2
#define FREQUENCIES_TYPE 0
#endif
#define TILES 1
#include "winograd.cl"

/* The vector of a frequency of a tile in the image of `blocks` blocks of each. */
#define FREQUENCY_OF(blocks, frame, frequency, block, tile) \
    ((((frame) * SIDE * SIDE + (frequency)) * (blocks) + (block)) * GROUPS + (tile))

#define SQRT_2 1.41421356f
#define IS_ODD(n) ((n) % 2 == 1)
#define SIGN(n) (IS_ODD(n) ? 1.0f : -1.0f)

#if OUTPUT == 2
#define TAPS(DO, n) DO(0, n) DO(1, n)
#define TAP(k, n) ((k) == 0 ? ((n) == 3 ? 3 : 2) : ((n) == 0 ? 0 : 1))
#define TAP_OF(k, n) ((k) == 0 || (n) == 1 ? 1.0f : -1.0f)
#define EACH_FREQUENCY(READ, WRITE) READ(1) READ(2) WRITE(1) WRITE(2) READ(0) WRITE(0) READ(3) WRITE(3)
#else
#define IS_END(n) ((n) == 0 || (n) == 5)
#define IS_FAR(n) ((n) > 2)
#define TAPS(DO, n) DO(0, n) DO(1, n) DO(2, n) DO(3, n)
#define TAP(k, n) \
    ((k) == 0 ? ((n) == 0 ? 0 : 1) : (k) == 1 ? ((n) == 5 ? 3 : 2) : (k) == 3 ? 4 : (n) == 0 ? 4 : (n) == 5 ? 5 : 3)
#define TAP_OF(k, n) \
    ((k) == 0 ? (IS_END(n) ? 1.0f : -SIGN(n) * (IS_FAR(n) ? SQRT_2 / 2 : SQRT_2)) \
     : (k) == 1 ? (IS_END(n) ? -2.5f : IS_FAR(n) ? -0.5f : -2.0f) \
     : (k) == 2 ? (IS_END(n) ? 1.0f : SIGN(n) * (IS_FAR(n) ? SQRT_2 : SQRT_2 / 2)) \
                : (IS_END(n) ? 0.0f : 1.0f))
#define EACH_FREQUENCY(READ, WRITE) \
    READ(1) READ(2) READ(3) READ(4) WRITE(1) WRITE(2) WRITE(3) WRITE(4) READ(0) WRITE(0) READ(5) WRITE(5)
#endif

/* Pixel n takes a frequency as often as the power n of its point (Aᵀ): 0, ±√½, ±√2 (with OUTPUT 2: 0, ±1) and ∞, of which the
 * last pixel alone takes 1.
 */
#if OUTPUT == 2
#define POINT(frequency) ((frequency) == 0 ? 0.0f : (frequency) == 1 ? 1.0f : -1.0f)
#else
#define POINT(frequency) \
    ((frequency) == 0 ? 0.0f : SIGN(frequency) * ((frequency) < 3 ? SQRT_2 / 2 : SQRT_2))
#endif
#define POWER(x, n) ((n) == 0 ? 1.0f : (n) == 1 ? (x) : (n) == 2 ? (x) * (x) : (x) * (x) * (x))
