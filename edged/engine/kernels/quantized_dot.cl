/* Convolution of steps in bytes, for CPUs that multiply and sum four bytes at a time: tiles of pixels in registers.
 *
 * Four input channels, side by side in memory, are one int, broadcast; the weights of OUT_BLOCK output channels lie in
 * fours as [output block][input block][ky][kx][four channels][output channel][4]. Bytes of the input are steps less
 * IN_LOWEST, which the host adds to the bias by way of the weights; the zeros around the image are such bytes, too. No
 * sum of int is ever rounded.
 */
#include "convolution.cl"
#include "dot_products.cl"
#include "steps.cl"

#ifndef TILE_H
#define TILE_H 1
#define TILE_W 4
#define OUTS 1
#define FOURS (IN_BLOCK / 4)  /* of channels in a block that are not all beyond the last one */
#endif
#ifndef WRITES_STEPS
#define WRITES_STEPS 1
#endif

#if OUT_BLOCK == 4
#define SUMS int4
#define TO_FLOATS convert_float4
#elif OUT_BLOCK == 8
#define SUMS int8
#define TO_FLOATS convert_float8
#else
#define SUMS int16
#define TO_FLOATS convert_float16
#endif

#ifndef PREFETCH  /* as in conv_vector.cl */
#define PREFETCH 0
#define AHEAD 0
#define SHARE 0
#define NEXT_PIXELS 0
#endif
#define LINE 64  /* weights in a line of the cache */
#define PIXELS_IN_LINE (LINE / IN_BLOCK)

#define TILES_X ((OUT_WIDTH + TILE_W - 1) / TILE_W)

KERNEL void quantized_dot(__global const uchar *restrict in, __global const SUMS *restrict weights,
                          __global const SUMS *restrict bias, __global const vector *restrict factor,
                          __global STORED(OUT) *restrict out)
{
    const int tile = get_global_id(0), frame = FRAME_ID, blocks = PLANE_ID;
    const int block = min(blocks * OUTS, OUT_BLOCKS - OUTS);
    const int y0 = min(tile / TILES_X * TILE_H, OUT_HEIGHT - TILE_H);
    const int x0 = min(tile % TILES_X * TILE_W, OUT_WIDTH - TILE_W);

    SUMS sum[OUTS][TILE_H][TILE_W];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++)
                sum[o][y][x] = bias[block + o];

    const int window = SPAN * KERNEL_H * KERNEL_W * FOURS;  /* weight vectors of an output block */
    __global const SUMS *w = weights + block * window;
    __global const uchar *ahead = (__global const uchar *)w +
        (AHEAD + ((FRAMES_LAST ? 0 : frame * get_global_size(0)) + tile) * SHARE) * LINE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const uchar *pixels = in + IN_BLOCK * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W);
                UNROLL for (int o = 0; o < OUTS; o++)
                    UNROLL for (int line = 0; line < PREFETCH; line++)
                        ASK_FOR(ahead + o * window * OUT_BLOCK * 4 + line * LINE);
                ahead += PREFETCH * LINE;
                UNROLL for (int y = 0; y < NEXT_PIXELS * TILE_H; y++)
                    UNROLL for (int x = 0; x < TILE_W; x += PIXELS_IN_LINE)
                        ASK_FOR_SOON(pixels + (IN_ROWS * IN_PITCH + y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK);
                UNROLL for (int c = 0; c < FOURS; c++) {
                    SUMS weight[OUTS];
                    UNROLL for (int o = 0; o < OUTS; o++)
                        weight[o] = w[o * window + c];
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++) {
                            const SUMS four = *(__global const int *)(
                                pixels + (y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK + 4 * c);
                            UNROLL for (int o = 0; o < OUTS; o++)
                                ADD_PRODUCTS(sum[o][y][x], four, weight[o]);
                        }
                }
                w += FOURS;
            }

    UNROLL for (int o = 0; o < OUTS; o++) {
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++) {
                const vector value = TO_FLOATS(sum[o][y][x]) * factor[block + o];
                STORE_VECTOR(OUT, WRITES_STEPS ? STEPS_OF(value) : activate(value), out,
                             PIXEL(OUT, frame, block + o, y0 + y, x0 + x));
            }
        if (tile == 0)
            clear_halo(out, frame, block + o);
    }
}
