/* Convolution of steps for CPUs with wide vectors: tiles of pixels in registers, as in conv_vector.cl.
 *
 * Two input channels are multiplied at a time: their steps, side by side in memory, are one int, broadcast; the weights
 * of OUT_BLOCK output channels lie in pairs as [output block][input block][ky][kx][pair][output channel][2]. The
 * products of short and their sum by pairs are one instruction of x86 (pmaddwd); no sum of int is ever rounded.
 */
#include "convolution.cl"
#include "prefetch.cl"
#include "quantized_end.cl"

#ifndef TILE_H
#define TILE_H 1
#define TILE_W 4
#define TILE_RUN 1
#define OUTS 1
#endif
#include "tiles.cl"

/* The two numbers of each pair (all devices of OpenCL that edged runs on are little-endian). */
#define FIRST(pairs) (((pairs) << 16) >> 16)
#define SECOND(pairs) ((pairs) >> 16)
#define PRODUCTS(w, pair) (FIRST(w) * FIRST(pair) + SECOND(w) * SECOND(pair))

/* LANES output channels are a vector of sums; PARTS of them are a block. */
#if OUT_BLOCK == 4
#define LANES 4
#define SUMS int4
#define FLOATS float4
#define TO_FLOATS convert_float4
#else
#define LANES 8
#define SUMS int8
#define FLOATS float8
#define TO_FLOATS convert_float8
#endif
#define PARTS (OUT_BLOCK / LANES)

/* Compilers do not find the instruction by themselves. */
#if defined(CLANG_BUILTINS) && LANES == 8 && defined(__AVX2__)
#undef PRODUCTS
#define PRODUCTS(w, pair) __builtin_ia32_pmaddwd256(as_short16(w), as_short16((int8)(pair)))
#elif defined(CLANG_BUILTINS) && LANES == 4 && defined(__SSE2__)
#undef PRODUCTS
#define PRODUCTS(w, pair) __builtin_ia32_pmaddwd128(as_short8(w), as_short8((int4)(pair)))
#endif

#define LINE 32  /* weights in a line of the cache */
#define PIXELS_IN_LINE (IN_BLOCK < LINE ? LINE / IN_BLOCK : 1)

/* The sums of a block as floats. */
vector as_floats(const SUMS *sums)
{
    vector floats;
    UNROLL for (int part = 0; part < PARTS; part++)
        ((FLOATS *)&floats)[part] = TO_FLOATS(sums[part]);
    return floats;
}

/* Compute a tile of OUTS output blocks from `block` on. */
__attribute__((always_inline))
void compute_tile(__global const short *in, __global const SUMS *weights,
                  __global const SUMS *bias, __global const vector *factor,
                  __global STORED(OUT) *out, int tile, int frame, int block RESIDUAL_POINTER)
{
    const int y0 = FIRST_ROW(tile), x0 = FIRST_COLUMN(tile);

    SUMS sum[OUTS][TILE_H][TILE_W][PARTS];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++)
                UNROLL for (int part = 0; part < PARTS; part++)
                    sum[o][y][x][part] = bias[(block + o) * PARTS + part];

    __global const SUMS *w = weights + block * (WINDOW / 2) * PARTS;
    __global const short *ahead = (__global const short *)w + (AHEAD + TURN_OF(tile, frame) * SHARE) * LINE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const int *pixels = (__global const int *)(in + IN_BLOCK * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W));
                UNROLL for (int o = 0; o < OUTS; o++)
                    UNROLL for (int line = 0; line < PREFETCH; line++)
                        ASK_FOR(ahead + o * WINDOW * OUT_BLOCK + line * LINE);
                ahead += PREFETCH * LINE;
                UNROLL for (int y = 0; y < NEXT_PIXELS * TILE_H; y++)
                    UNROLL for (int x = 0; x < TILE_W; x += PIXELS_IN_LINE)
                        ASK_FOR_SOON((__global const short *)pixels +
                                     (IN_ROWS * IN_PITCH + y * STRIDE_H * IN_PITCH + x * STRIDE_W) * IN_BLOCK);
                for (int pair = 0; pair < IN_BLOCK / 2; pair++) {
                    SUMS weight[OUTS][PARTS];
                    UNROLL for (int o = 0; o < OUTS; o++)
                        UNROLL for (int part = 0; part < PARTS; part++)
                            weight[o][part] = w[(o * (WINDOW / 2) + pair) * PARTS + part];
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++) {
                            const int steps =
                                pixels[(y * STRIDE_H * IN_PITCH + x * STRIDE_W) * (IN_BLOCK / 2) + pair];
                            UNROLL for (int o = 0; o < OUTS; o++)
                                UNROLL for (int part = 0; part < PARTS; part++)
                                    sum[o][y][x][part] += PRODUCTS(weight[o][part], steps);
                        }
                }
                w += IN_BLOCK / 2 * PARTS;
            }

    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int y = 0; y < TILE_H; y++)
            UNROLL for (int x = 0; x < TILE_W; x++) {
                const vector value = as_floats(sum[o][y][x]) * factor[block + o];
                STORE_VECTOR(OUT, ENDED(value, frame, block + o, y0 + y, x0 + x), out,
                             PIXEL(OUT, frame, block + o, y0 + y, x0 + x));
            }
}

KERNEL void quantized_vector(__global const short *restrict in, __global const SUMS *restrict weights,
                             __global const SUMS *restrict bias, __global const vector *restrict factor,
                             __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int frame = FRAME_ID, block = min((int)PLANE_ID * OUTS, OUT_BLOCKS - OUTS);

    for (int tile = FIRST_TILE; tile < END_OF_TILES; tile++)
        compute_tile(in, weights, bias, factor, out, tile, frame, block RESIDUAL_ARGUMENT);
    if (get_global_id(0) == 0)
        UNROLL for (int o = 0; o < OUTS; o++)
            clear_halo(out, frame, block + o);
}
