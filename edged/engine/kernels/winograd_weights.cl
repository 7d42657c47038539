/* Weights that change with each step of training become those of a Winograd convolution (see winograd.cl): G w Gᵀ,
 * with `values`, [SIDE][3], as G.
 *
 * [output block][input block][ky][kx][input channel][channel of the output block] →
 * [output block][SIDE × SIDE][input channel][channel of the output block].
 * FLIPPED: the window is turned about its middle first, as the gradient of the input wants it.
 * A work-item an input channel of an output block.
 */
#include "winograd.cl"

#ifndef FLIPPED
#define FLIPPED 0
#endif

KERNEL void winograd_weights(__global const vector *restrict weights, __constant float *restrict values,
                             __global vector *restrict transformed)
{
    const int item = get_global_id(0), inputs = IN_BLOCKS * IN_BLOCK, channel = item % inputs, block = item / inputs;
    if (block >= OUT_BLOCKS)
        return;

    __global const vector *window =
        weights + (block * IN_BLOCKS + channel / IN_BLOCK) * 9 * IN_BLOCK + channel % IN_BLOCK;
    vector rows[SIDE][3];
    UNROLL for (int x = 0; x < 3; x++)
        UNROLL for (int point = 0; point < SIDE; point++) {
            rows[point][x] = 0;
            UNROLL for (int y = 0; y < 3; y++)
                rows[point][x] += values[point * 3 + y] * window[(FLIPPED ? 8 - y * 3 - x : y * 3 + x) * IN_BLOCK];
        }
    __global vector *to = transformed + block * SIDE * SIDE * inputs + channel;
    UNROLL for (int y = 0; y < SIDE; y++)
        UNROLL for (int x = 0; x < SIDE; x++) {
            vector sum = 0;
            UNROLL for (int tap = 0; tap < 3; tap++)
                sum += values[x * 3 + tap] * rows[y][tap];
            to[(y * SIDE + x) * inputs] = sum;
        }
}
