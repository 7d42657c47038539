/* What the convolutions of each channel by itself share: as many groups as channels, in and out.
 *
 * The channels of a block are the lanes of a vector, so that none is wasted on the zeros between groups. Weights lie
 * as [block][ky][kx][channel of the block]. A work-item computes BAND rows of a run of pixels of one block, TILE
 * neighbouring pixels at a time: a weight is used TILE times, a column of the input KERNEL_W times, and so many sums are
 * under way at once that none waits for the one before.
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

/* A tile reads COLUMNS columns of the input. The pixel of the tile for which column c is column kx of the window: */
#define COLUMNS ((TILE - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1)
#define PIXEL_OF(c, kx) (((c) - (kx) * DILATION_W) / STRIDE_W)
#define IS_PIXEL_OF(c, kx) \
    (PIXEL_OF(c, kx) * STRIDE_W == (c) - (kx) * DILATION_W && 0 <= PIXEL_OF(c, kx) && PIXEL_OF(c, kx) < TILE)

/* Add the products of the window of TILE pixels from (y, x) on. A column is read, and made a float, once for all pixels. */
__attribute__((always_inline))
void add_window(vector sum[TILE], __global const STORED(IN) *in, __global const STORED(WEIGHTS) *weights, int frame,
                int block, int y, int x)
{
    for (int ky = 0; ky < WINDOW_ROWS; ky++) {
        const int first = PIXEL(IN, frame, block, y * STRIDE_H - PAD_TOP + ky * DILATION_H, x * STRIDE_W - PAD_LEFT);
        const int row = (block * KERNEL_H + ky) * KERNEL_W;
        UNROLL for (int c = 0; c < COLUMNS; c++) {
            const vector column = LOAD_VECTOR(IN, in, first + c);
            UNROLL for (int kx = 0; kx < KERNEL_W; kx++)
                if (IS_PIXEL_OF(c, kx))
                    sum[PIXEL_OF(c, kx)] += LOAD_VECTOR(WEIGHTS, weights, row + kx) * column;
        }
    }
}
