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
 * In a small image each weight is used by few tiles, and memory is the limit. Then PREFETCH cache lines are
 * prefetched at each position of the window, AHEAD lines before their use; 0: none. Several tiles share the
 * prefetch of the next output block's weights, SHARE lines each; a single one prefetches for itself.
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

#define LINE (64 / (int)sizeof(STORED(WEIGHTS)))  /* weights in a line of the cache */
#define TILES_X ((OUT_WIDTH + TILE_W - 1) / TILE_W)

KERNEL void conv_vector(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                        __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int tile = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y0 = min(tile / TILES_X * TILE_H, OUT_HEIGHT - TILE_H);
    const int x0 = min(tile % TILES_X * TILE_W, OUT_WIDTH - TILE_W);

    vector sum[TILE_H][TILE_W];
    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            sum[y][x] = bias[block];

    __global const STORED(WEIGHTS) *w = weights + block * WINDOW * OUT_BLOCK;
    __global const STORED(WEIGHTS) *ahead =
        w + (AHEAD + ((FRAMES_LAST ? 0 : frame * get_global_size(0)) + tile) * SHARE) * LINE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const STORED(IN) *pixels = in + IN_BLOCK * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W);
                UNROLL for (int line = 0; line < PREFETCH; line++)
                    ASK_FOR(ahead + line * LINE);
                ahead += PREFETCH * LINE;
                for (int c = 0; c < IN_BLOCK; c++) {
                    const vector weight = LOAD_VECTOR(WEIGHTS, w, c);
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++)
                            sum[y][x] += weight *
                                LOAD(IN, pixels, (y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK + c);
                }
                w += IN_BLOCK * OUT_BLOCK;
            }

    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            STORE_VECTOR(OUT, activate(sum[y][x] PLUS_RESIDUAL(frame, block, y0 + y, x0 + x)), out,
                         PIXEL(OUT, frame, block, y0 + y, x0 + x));
    if (tile == 0)
        clear_halo(out, frame, block);
}
