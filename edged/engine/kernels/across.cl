/* What kernels share that read all channels of a pixel: a sum, or an extreme, of the numbers in a vector. */
#include "layout.cl"

float total_of(vector v)
{
    float total = 0;
    UNROLL for (int c = 0; c < OUT_BLOCK; c++)
        total += ((float *)&v)[c];
    return total;
}

float largest_of(vector v)
{
    float largest = ((float *)&v)[0];
    UNROLL for (int c = 1; c < OUT_BLOCK; c++)
        largest = fmax(largest, ((float *)&v)[c]);
    return largest;
}

/* A block of IN with another number in place of the zeros beyond the last channel. */
vector padded_by(vector v, int block, float number)
{
    if (IN_CHANNELS % OUT_BLOCK == 0)
        return v;
    for (int c = IN_CHANNELS - block * OUT_BLOCK; c < OUT_BLOCK; c++)
        ((float *)&v)[c] = number;
    return v;
}
