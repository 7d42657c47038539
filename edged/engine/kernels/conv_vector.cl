/* Convolution for CPUs with wide vectors (see convolution.cl for the sum and its layout).
 *
 * A work-group is one work-item. It keeps a tile of TILE_H × TILE_W pixels of one output block in registers, and
 * for each weight vector multiplies every pixel's input channel into it:
 *
 *            TILE_W pixels                 weights[c]: one register
 *          ┌──┬──┬──┬──┬──┐                 × one float of the input, broadcast
 *   TILE_H │  │  │  │  │  │  each a vector of OUT_BLOCK output channels
 *          └──┴──┴──┴──┴──┘
 *
 * TILE_H · TILE_W should leave two or three of the vector registers free. Tiles along dimension 0 share the
 * weights of their block, which thus stay in the cache. The last tile of a row or column is moved back to end with
 * the image: it computes some pixels twice, and needs no bounds. The input's halo holds all that is read outside.
 *
 * In a small image each weight is used by few tiles, and memory is what limits. Then PREFETCH weight vectors are
 * asked for at each position of the window, AHEAD vectors before they are due; 0 asks for none. Several tiles ask
 * for the weights of the next output block between them, SHARE vectors each; a single one runs ahead of itself.
 */
#include "convolution.cl"

#ifndef TILE_H
#define TILE_H 2
#define TILE_W 7
#endif
#ifndef PREFETCH
#define PREFETCH 0
#define AHEAD 0
#define SHARE 0
#endif

#define TILES_X ((OUT_WIDTH + TILE_W - 1) / TILE_W)

#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#define ASK_FOR(address) __builtin_prefetch((__global const void *)(address))
#endif
#endif
#ifndef ASK_FOR
#define ASK_FOR(address) (void)(address)
#endif

KERNEL void conv_vector(__global const float *restrict in, __global const vector *restrict weights,
                        __global const vector *restrict bias, __global vector *restrict out RESIDUAL_PARAMETER)
{
    const int tile = get_global_id(0), frame = get_global_id(1), block = get_global_id(2);
    const int y0 = min(tile / TILES_X * TILE_H, OUT_HEIGHT - TILE_H);
    const int x0 = min(tile % TILES_X * TILE_W, OUT_WIDTH - TILE_W);

    vector sum[TILE_H][TILE_W];
    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            sum[y][x] = bias[block];

    __global const vector *w = weights + block * WINDOW;
    __global const vector *ahead = w + AHEAD + (frame * get_global_size(0) + tile) * SHARE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const float *pixels = in + IN_BLOCK * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W);
                UNROLL for (int line = 0; line < PREFETCH; line++)
                    ASK_FOR(ahead + line);
                ahead += PREFETCH;
                for (int c = 0; c < IN_BLOCK; c++) {
                    const vector weight = w[c];
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++)
                            sum[y][x] = mad(weight,
                                (vector)pixels[(y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK + c], sum[y][x]);
                }
                w += IN_BLOCK;
            }

    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            out[PIXEL(OUT, frame, block, y0 + y, x0 + x)] =
                activate(sum[y][x] PLUS_RESIDUAL(frame, block, y0 + y, x0 + x));
    if (tile == 0)
        clear_halo((__global float *)out, frame, block);
}
