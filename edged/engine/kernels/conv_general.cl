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
 * is the same. TILE may be 1 … OUT_WIDTH, at most 8, and OUTS 1 … OUT_BLOCKS; with groups of channels OUTS divides their blocks.
 * The input's halo holds all that is read outside.
 *
 * Registers decide the tile, and Mesa's compilers for Mali unroll short loops into more than fit. So there is one loop
 * over all positions of the window in all blocks, in the order of the weights, with few numbers and a length that the
 * compiler does not know; `left` positions are left of the window.
 */
#include "convolution.cl"

#ifndef TILE
#define TILE 4
#define OUTS 1
#endif

#define TILES_X ((OUT_WIDTH + TILE - 1) / TILE)
#define TILES (OUT_HEIGHT * TILES_X)

/* The channels of a pixel that are read at once: 16 bytes of it, or the only one of a block. */
#if IN_BLOCK == 1
#define PART 1
#define LOAD_PART(p, index) LOAD(IN, p, index)
#define EACH_CHANNEL(DO, x) DO(0, x)
#elif IN_BLOCK % 8 == 0 && IN_TYPE == 1
#define PART 8
#define LOAD_PART(p, index) load_halves8(p, index)
#define EACH_CHANNEL(DO, x) \
    DO(0, x.s0) DO(1, x.s1) DO(2, x.s2) DO(3, x.s3) DO(4, x.s4) DO(5, x.s5) DO(6, x.s6) DO(7, x.s7)
#else
#define PART 4
#if IN_TYPE == 1
#define LOAD_PART(p, index) load_halves4(p, index)
#elif IN_TYPE == 4
#define LOAD_PART(p, index) as_float4(convert_uint4(vload4(index, p)) << 16)
#else
#define LOAD_PART(p, index) (((__global const float4 *)(p))[index])
#endif
#if IN_CHANNELS == 3
#define EACH_CHANNEL(DO, x) DO(0, x.s0) DO(1, x.s1) DO(2, x.s2)
#else
#define EACH_CHANNEL(DO, x) DO(0, x.s0) DO(1, x.s1) DO(2, x.s2) DO(3, x.s3)
#endif
#endif
#define PARTS (IN_BLOCK / PART)
#if PART == 1
typedef float part;
#else
typedef WIDE_BY(float, PART) part;
#endif

/* Input blocks of one step: all of an image with few channels, whose blocks have one each. */
#if IN_BLOCK == 1 && SPAN >= 1 && SPAN <= 4
#define TOGETHER SPAN
#else
#define TOGETHER 1
#endif
#define POSITIONS (KERNEL_H * KERNEL_W)
#define STEPS (SPAN / TOGETHER * POSITIONS)
#define PLANE (IN_ROWS * IN_PITCH)

/* Pixels from a position of the window to the next one: in its row, to its next row, to the next block. */
#define TO_COLUMN DILATION_W
#define TO_ROW (DILATION_H * IN_PITCH - (KERNEL_W - 1) * DILATION_W)
#define TO_BLOCK (PLANE - (KERNEL_H - 1) * DILATION_H * IN_PITCH - (KERNEL_W - 1) * DILATION_W)

/* For block o of the output: the weights of a channel of part k of block i of the input, and that part of pixel t. */
#define WEIGHT(channel) LOAD_VECTOR(WEIGHTS, taps, o * WINDOW + i * POSITIONS * IN_BLOCK + k * PART + channel)
#define PIXEL_PART(t) LOAD_PART(pixels, (i * PLANE + (t) * STRIDE_W) * PARTS + k)

/* Add what the pixels of one position of the window give. What is used often is kept: the weights, or the pixels where
 * there are several blocks of sums; eight weights would be too many. The other is read where it is used.
 */
void add_products(vector sum[OUTS][TILE], __global const STORED(IN) *pixels, __global const STORED(WEIGHTS) *taps)
{
    UNROLL for (int i = 0; i < TOGETHER; i++)
        for (int k = 0; k < PARTS; k++) {
#if OUTS > 1 || PART == 8
            part pixel[TILE];
            UNROLL for (int t = 0; t < TILE; t++)
                pixel[t] = PIXEL_PART(t);
#define ADD_TO_TILE(channel, x) \
    {                                                  \
        const vector w = WEIGHT(channel);              \
        UNROLL for (int t = 0; t < TILE; t++)          \
            sum[o][t] += w * x;                        \
    }
            UNROLL for (int o = 0; o < OUTS; o++) {
                EACH_CHANNEL(ADD_TO_TILE, pixel[t])
            }
#else
            const int o = 0;
            vector w[PART];
            UNROLL for (int p = 0; p < PART; p++)
                w[p] = WEIGHT(p);
#define ADD(channel, x) sum[o][t] += w[channel] * x;
            UNROLL for (int t = 0; t < TILE; t++) {
                const part pixel = PIXEL_PART(t);
                EACH_CHANNEL(ADD, pixel)
            }
#endif
        }
}

/* For each of TILE pixels, without a loop: a compiler that does not unroll one, as Mesa's for Mali around a long
 * activation, would keep all sums in memory.
 */
#define PIXELS_1(DO) DO(0)
#define PIXELS_2(DO) PIXELS_1(DO) DO(1)
#define PIXELS_3(DO) PIXELS_2(DO) DO(2)
#define PIXELS_4(DO) PIXELS_3(DO) DO(3)
#define PIXELS_5(DO) PIXELS_4(DO) DO(4)
#define PIXELS_6(DO) PIXELS_5(DO) DO(5)
#define PIXELS_7(DO) PIXELS_6(DO) DO(6)
#define PIXELS_8(DO) PIXELS_7(DO) DO(7)
#define EACH_PIXEL(DO) PASTE(PIXELS_, TILE)(DO)

#if WITH_RESIDUAL
#define AND_RESIDUAL(t) + LOAD_VECTOR(RESIDUAL, residual, residual_target + o * RESIDUAL_ROWS * RESIDUAL_PITCH + t)
#else
#define AND_RESIDUAL(t)
#endif
#define STORE_SUM(t) \
    STORE_VECTOR(OUT, activate(sum[o][t] AND_RESIDUAL(t)), out, target + o * OUT_ROWS * OUT_PITCH + t);

KERNEL void conv_general(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                         __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int item = get_global_id(0), frame = FRAME_ID, tile = item % TILES;
    if (item / TILES * OUTS >= OUT_BLOCKS)
        return;
    const int block = min(item / TILES * OUTS, OUT_BLOCKS - OUTS);
    const int y = tile / TILES_X, x = min(tile % TILES_X * TILE, OUT_WIDTH - TILE);

    if (tile == 0)
        UNROLL for (int o = 0; o < OUTS; o++)
            clear_halo(out, frame, block + o);

    vector sum[OUTS][TILE];
    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int t = 0; t < TILE; t++)
            sum[o][t] = bias[block + o];

    /* The first pixels of what it reads and writes: no other number of its place is kept while the loop runs. */
    const int target = PIXEL(OUT, frame, block, y, x);
#if WITH_RESIDUAL
    const int residual_target = PIXEL(RESIDUAL, frame, block, y, x);
#endif
    const int corner = PIXEL(IN, frame, FIRST_BLOCK(block), y * STRIDE_H - PAD_TOP, x * STRIDE_W - PAD_LEFT);
    const int steps = UNKNOWN(STEPS);
#if POSITIONS == 1
    __global const STORED(IN) *pixels = in + corner * IN_BLOCK;
    __global const STORED(WEIGHTS) *taps = weights + block * WINDOW * OUT_BLOCK;
    for (int step = 0; step < steps; step++) {
        add_products(sum, pixels, taps);
        pixels += TOGETHER * PLANE * IN_BLOCK;
        taps += TOGETHER * IN_BLOCK * OUT_BLOCK;
    }
#else
    const int first_tap = block * SPAN * POSITIONS;
    int position = corner, left = POSITIONS;
    for (int step = 0; step < steps; step++) {
        add_products(sum, in + position * IN_BLOCK, weights + (first_tap + step) * IN_BLOCK * OUT_BLOCK);
        left--;
        position += left == 0 ? TO_BLOCK : left % KERNEL_W == 0 ? TO_ROW : TO_COLUMN;
        left = left == 0 ? POSITIONS : left;
    }
#endif

    UNROLL for (int o = 0; o < OUTS; o++) {
        EACH_PIXEL(STORE_SUM)
    }
}
