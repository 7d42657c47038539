/* Convolution with many work-items, for any device (see convolution.cl for the sum and its layout).
 *
 * An implicit matrix product: no patch of the image is ever copied. A work-item keeps TILE neighbouring pixels of a
 * row for OUTS blocks of output channels in registers:
 *
 *                       TILE pixels of the input, PART channels at a time
 *                      ┌────┬────┬────┬────┐
 *   OUTS blocks of     │    │    │    │    │  each a vector of OUT_BLOCK sums: a pixel that was read is used
 *   output channels    ├────┼────┼────┼────┤  OUTS times, a weight TILE times
 *                      │    │    │    │    │
 *                      └────┴────┴────┴────┘
 *
 * Neighbouring work-items have neighbouring tiles, and the same weights. There is no local memory: some GPUs have
 * none. The last tile of a row is moved back to end with it, and so are the last OUTS blocks: what is computed twice
 * is the same. TILE may be 1 … OUT_WIDTH and OUTS 1 … OUT_BLOCKS; with groups of channels OUTS is 1.
 * What lies outside the image counts as zero: no halo is needed.
 */
#include "convolution.cl"

#ifndef TILE
#define TILE 4
#define OUTS 1
#endif

#define TILES_X ((OUT_WIDTH + TILE - 1) / TILE)
#define TILES (OUT_HEIGHT * TILES_X)

/* The channels of a pixel that are read at once: four, or the only one of a block. */
#if IN_BLOCK == 1
#define PART 1
typedef float part;
#define LOAD_PART(p, index) LOAD(IN, p, index)
#define MULTIPLY(sum, w, x) sum += w[0] * x
#else
#define PART 4
typedef float4 part;
#if IN_TYPE == 1
#define LOAD_PART(p, index) vload_half4(index, p)
#elif IN_TYPE == 4
#define LOAD_PART(p, index) as_float4(convert_uint4(vload4(index, p)) << 16)
#else
#define LOAD_PART(p, index) (((__global const float4 *)(p))[index])
#endif
#define MULTIPLY(sum, w, x) sum += w[0] * x.s0, sum += w[1] * x.s1, sum += w[2] * x.s2, sum += w[3] * x.s3
#endif
#define PARTS (IN_BLOCK / PART)

KERNEL void conv_general(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                         __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int item = get_global_id(0), frame = FRAME_ID, tile = item % TILES;
    if (item / TILES * OUTS >= OUT_BLOCKS)
        return;
    const int block = min(item / TILES * OUTS, OUT_BLOCKS - OUTS);
    const int y = tile / TILES_X, x = min(tile % TILES_X * TILE, OUT_WIDTH - TILE);

    vector sum[OUTS][TILE];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int t = 0; t < TILE; t++)
            sum[o][t] = bias[block + o];

    const int first = FIRST_BLOCK(block);
    for (int ky = 0; ky < KERNEL_H; ky++) {
        const int in_y = y * STRIDE_H - PAD_TOP + ky * DILATION_H;
        if (in_y < 0 || in_y >= IN_HEIGHT)
            continue;
        for (int kx = 0; kx < KERNEL_W; kx++) {
            const int in_x = x * STRIDE_W - PAD_LEFT + kx * DILATION_W;
            /* the innermost loops: which of the pixels lie inside does not change in them */
            for (int i = 0; i < SPAN; i++) {
                __global const STORED(WEIGHTS) *tap =
                    weights + (block * WINDOW + ((i * KERNEL_H + ky) * KERNEL_W + kx) * IN_BLOCK) * OUT_BLOCK;
                for (int k = 0; k < PARTS; k++) {
                    part pixels[TILE];
                    UNROLL for (int t = 0; t < TILE; t++)
                        pixels[t] = in_x + t * STRIDE_W >= 0 && in_x + t * STRIDE_W < IN_WIDTH
                            ? LOAD_PART(in, PIXEL(IN, frame, first + i, in_y, in_x + t * STRIDE_W) * PARTS + k)
                            : (part)0;
                    UNROLL for (int o = 0; o < OUTS; o++) {
                        vector w[PART];
                        UNROLL for (int p = 0; p < PART; p++)
                            w[p] = LOAD_VECTOR(WEIGHTS, tap, o * WINDOW + k * PART + p);
                        UNROLL for (int t = 0; t < TILE; t++)
                            MULTIPLY(sum[o][t], w, pixels[t]);
                    }
                }
            }
        }
    }

    UNROLL for (int o = 0; o < OUTS; o++) {
        UNROLL for (int t = 0; t < TILE; t++)
            STORE_VECTOR(OUT, activate(sum[o][t] PLUS_RESIDUAL(frame, block + o, y, x + t)), out,
                         PIXEL(OUT, frame, block + o, y, x + t));
        if (tile == 0)
            clear_halo(out, frame, block + o);
    }
}
