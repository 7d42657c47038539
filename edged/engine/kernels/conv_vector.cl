/* Convolution for CPUs with wide vectors (see convolution.cl for the sum and its layout).
 *
 * A work-group is one work-item. It keeps one tile after another (see tiles.cl), TILE_H × TILE_W pixels of OUTS output
 * blocks, in registers, and for each input channel multiplies every pixel by every weight vector:
 *
 *              TILE_H · TILE_W pixels
 *            ┌──┬──┬──┬──┬──┬──┐      weights[o][c]: a register for each of OUTS blocks
 *   OUTS     │  │  │  │  │  │  │      × one float of the input, broadcast, which is used OUTS times
 *            ├──┼──┼──┼──┼──┼──┤
 *            │  │  │  │  │  │  │      each a vector of OUT_BLOCK output channels
 *            └──┴──┴──┴──┴──┴──┘
 *
 * OUTS · TILE_H · TILE_W should leave some vector registers free. Tiles along dimension 0 share the weights of their
 * blocks, which thus stay in the cache. The last OUTS blocks are moved back to end with the channels, as the last tiles
 * to end with the image: some are computed twice, and need no bounds. With groups of channels OUTS is 1. The input's
 * halo holds all that is read outside.
 *
 * In a small image each weight is used by few tiles, and memory is the limit. Then PREFETCH cache lines are
 * prefetched at each position of the window, AHEAD lines before their use; 0: none. Several tiles share the
 * prefetch of the next output block's weights, SHARE lines each; a single one prefetches for itself.
 * The pixels of a 1 × 1 window lie in as many places as there are input blocks, more than the hardware foresees:
 * with NEXT_PIXELS those of the next block are prefetched.
 */
#include "convolution.cl"
#include "prefetch.cl"

#ifndef TILE_H
#define TILE_H 2
#define TILE_W 7
#define TILE_RUN 1
#define OUTS 1
#endif
#include "tiles.cl"

#define LINE (64 / (int)sizeof(STORED(WEIGHTS)))  /* weights in a line of the cache */
#define PIXEL_BYTES (IN_BLOCK * (int)sizeof(STORED(IN)))
#define PIXELS_IN_LINE (PIXEL_BYTES < 64 ? 64 / PIXEL_BYTES : 1)

/* Compute a tile of OUTS output blocks from `block` on. */
__attribute__((always_inline))
void compute_tile(__global const STORED(IN) *in, __global const STORED(WEIGHTS) *weights,
                  __global const vector *bias, __global STORED(OUT) *out, int tile, int frame,
                  int block RESIDUAL_POINTER)
{
    const int y0 = FIRST_ROW(tile), x0 = FIRST_COLUMN(tile);

    vector sum[OUTS][TILE_H][TILE_W];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++)
                sum[o][y][x] = bias[block + o];

    __global const STORED(WEIGHTS) *w = weights + block * WINDOW * OUT_BLOCK;
    __global const STORED(WEIGHTS) *ahead = w + (AHEAD + TURN_OF(tile, frame) * SHARE) * LINE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const STORED(IN) *pixels = in + IN_BLOCK * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W);
                UNROLL for (int o = 0; o < OUTS; o++)
                    UNROLL for (int line = 0; line < PREFETCH; line++)
                        ASK_FOR(ahead + o * WINDOW * OUT_BLOCK + line * LINE);
                ahead += PREFETCH * LINE;
                UNROLL for (int y = 0; y < NEXT_PIXELS * TILE_H; y++)
                    UNROLL for (int x = 0; x < TILE_W; x += PIXELS_IN_LINE)
                        ASK_FOR_SOON(pixels + (IN_ROWS * IN_PITCH + y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK);
                for (int c = 0; c < IN_BLOCK; c++) {
                    vector weight[OUTS];
                    UNROLL for (int o = 0; o < OUTS; o++)
                        weight[o] = LOAD_VECTOR(WEIGHTS, w, o * WINDOW + c);
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++) {
                            const float value =
                                LOAD(IN, pixels, (y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK + c);
                            UNROLL for (int o = 0; o < OUTS; o++)
                                sum[o][y][x] += weight[o] * value;
                        }
                }
                w += IN_BLOCK * OUT_BLOCK;
            }

    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++)
                STORE_VECTOR(OUT, activate(sum[o][y][x] PLUS_RESIDUAL(frame, block + o, y0 + y, x0 + x)), out,
                             PIXEL(OUT, frame, block + o, y0 + y, x0 + x));
}

KERNEL void conv_vector(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                        __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int frame = FRAME_ID, block = min((int)PLANE_ID * OUTS, OUT_BLOCKS - OUTS);

    for (int tile = FIRST_TILE; tile < END_OF_TILES; tile++)
        compute_tile(in, weights, bias, out, tile, frame, block RESIDUAL_ARGUMENT);
    if (get_global_id(0) == 0)
        UNROLL for (int o = 0; o < OUTS; o++)
            clear_halo(out, frame, block + o);
}
