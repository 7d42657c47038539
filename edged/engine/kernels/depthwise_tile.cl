/* What the convolutions of each channel by itself share: as many groups as channels, in and out.
 *
 * The channels of a block are the lanes of a vector, so that none is wasted on the zeros between groups. Weights lie
 * as [block][ky][kx][channel of the block]. A work-item computes BAND rows of a run of pixels of one block, TILE
 * neighbouring pixels at a time: a weight that was read is used TILE times, and so many sums are under way at once.
 * The last tile of a row is moved back to end with it. TILE may be 1 … OUT_WIDTH; RUN is a multiple of it or the row.
 * The input's halo holds all that is read outside.
 */
#include "convolution.cl"

#ifndef TILE
#define TILE 1
#define BAND 1
#define IS_CPU 1
#endif

/* Midgard has too few registers for rows that its compiler unrolls. */
#if IS_CPU
#define WINDOW_ROWS KERNEL_H
#else
#define WINDOW_ROWS UNKNOWN(KERNEL_H)
#endif

#define FIRST_OF_BAND(run) (ROW_OF(run) * BAND)
#define END_OF_BAND(run) min((ROW_OF(run) + 1) * BAND, OUT_HEIGHT)

/* Add the products of the window of TILE pixels from (y, x) on. */
__attribute__((always_inline))
void add_window(vector sum[TILE], __global const STORED(IN) *in, __global const STORED(WEIGHTS) *weights, int frame,
                int block, int y, int x)
{
    for (int ky = 0; ky < WINDOW_ROWS; ky++) {
        const int in_y = y * STRIDE_H - PAD_TOP + ky * DILATION_H;
        UNROLL for (int kx = 0; kx < KERNEL_W; kx++) {
            const int pixel = PIXEL(IN, frame, block, in_y, x * STRIDE_W - PAD_LEFT + kx * DILATION_W);
            const vector weight = LOAD_VECTOR(WEIGHTS, weights, (block * KERNEL_H + ky) * KERNEL_W + kx);
            UNROLL for (int t = 0; t < TILE; t++)
                sum[t] += weight * LOAD_VECTOR(IN, in, pixel + t * STRIDE_W);
        }
    }
}
