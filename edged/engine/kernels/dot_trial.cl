/* Try a dot product: sums += the products of the small numbers in a and b. LANES ints are a vector. */
#ifndef LANES
#define LANES 8
#define SUM int
#endif
#define DOT_LANES LANES
#include "dot_products.cl"

#define PASTE(a, b) PASTE_NOW(a, b)
#define PASTE_NOW(a, b) a##b

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void dot_trial(__global const PASTE(int, LANES) *a, __global const PASTE(int, LANES) *b,
               __global PASTE(SUM, LANES) *sums)
{
    const PASTE(int, LANES) word = WORD_OF(*a), weight = *b;
    PASTE(SUM, LANES) sum = *sums;
    ADD_PRODUCTS(sum, word, weight);
    *sums = sum;
}
