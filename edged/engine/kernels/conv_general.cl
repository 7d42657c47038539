/* Convolution with many work-items, for any device (see convolution.cl for the sum and its layout).
 *
 * An implicit matrix product: no patch of the image is ever copied. A work-item computes TILE neighbouring pixels
 * of one row for one output block, so that a weight that was read is used TILE times; neighbouring work-items read
 * neighbouring pixels. What lies outside the image is skipped: no halo is needed.
 */
#include "convolution.cl"

#ifndef TILE
#define TILE 2
#endif

#define TILES_X ((OUT_WIDTH + TILE - 1) / TILE)

KERNEL void conv_general(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                         __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int tile = get_global_id(0), frame = get_global_id(1), block = get_global_id(2);
    const int y = tile / TILES_X, x0 = tile % TILES_X * TILE;
    if (y >= OUT_HEIGHT)
        return;

    vector sum[TILE];
    UNROLL for (int t = 0; t < TILE; t++)
        sum[t] = bias[block];

    __global const STORED(WEIGHTS) *w = weights + block * WINDOW * OUT_BLOCK;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++) {
            const int in_y = y * STRIDE_H - PAD_TOP + ky * DILATION_H;
            for (int kx = 0; kx < KERNEL_W; kx++, w += IN_BLOCK * OUT_BLOCK)
                UNROLL for (int t = 0; t < TILE; t++) {
                    const int in_x = (x0 + t) * STRIDE_W - PAD_LEFT + kx * DILATION_W;
                    if (in_y < 0 || in_y >= IN_HEIGHT || in_x < 0 || in_x >= IN_WIDTH)
                        continue;
                    __global const STORED(IN) *pixel = in + IN_BLOCK * PIXEL(IN, frame, i, in_y, in_x);
                    UNROLL for (int c = 0; c < IN_BLOCK; c++)
                        sum[t] = mad(LOAD_VECTOR(WEIGHTS, w, c), (vector)LOAD(IN, pixel, c), sum[t]);
                }
        }

    UNROLL for (int t = 0; t < TILE; t++)
        if (x0 + t < OUT_WIDTH)
            STORE_VECTOR(OUT, activate(sum[t] PLUS_RESIDUAL(frame, block, y, x0 + t)), out,
                         PIXEL(OUT, frame, block, y, x0 + t));
    if (tile == 0)
        clear_halo(out, frame, block);
}
