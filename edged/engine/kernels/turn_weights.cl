/* A convolution's weights with inputs and outputs changed about, as conv_input_gradient.cl reads them:
 * [output block][input block][tap][input channel][output channel] →
 * [input block][output block][tap][output channel][input channel]. A work-item a tap of a pair of blocks.
 */
#include "layout.cl"

#ifndef TAPS
#define TAPS 9
#endif

KERNEL void turn_weights(__global const float *restrict weights, __global float *restrict turned)
{
    const int item = get_global_id(0), tap = item % TAPS, i = item / TAPS % IN_BLOCKS, o = item / TAPS / IN_BLOCKS;
    if (o >= OUT_BLOCKS)
        return;
    __global const float *from = weights + ((o * IN_BLOCKS + i) * TAPS + tap) * (IN_BLOCK * OUT_BLOCK);
    __global float *to = turned + ((i * OUT_BLOCKS + o) * TAPS + tap) * (IN_BLOCK * OUT_BLOCK);
    for (int b = 0; b < OUT_BLOCK; b++)
        UNROLL for (int a = 0; a < IN_BLOCK; a++)
            to[b * IN_BLOCK + a] = from[a * OUT_BLOCK + b];
}
