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
 * The input's halo holds all that is read outside.
 *
 * Registers decide the tile, and Mesa's compilers for Mali unroll loops of up to 32 steps into more than fit. So there
 * is one loop over all positions of the window in all blocks, in the order of the weights, with few numbers and a length
 * that the compiler does not know; `left` positions are left of the window.
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

/* Add what the pixels of one position of the window give. With one output block, a pixel is read where it is used. */
void add_products(vector sum[OUTS][TILE], __global const STORED(IN) *pixels, __global const STORED(WEIGHTS) *taps)
{
    UNROLL for (int i = 0; i < TOGETHER; i++)
        for (int k = 0; k < PARTS; k++) {
#if OUTS > 1
            part several[TILE];
            UNROLL for (int t = 0; t < TILE; t++)
                several[t] = LOAD_PART(pixels, (i * PLANE + t * STRIDE_W) * PARTS + k);
#endif
            UNROLL for (int o = 0; o < OUTS; o++) {
                vector w[PART];
                UNROLL for (int p = 0; p < PART; p++)
                    w[p] = LOAD_VECTOR(WEIGHTS, taps, o * WINDOW + i * POSITIONS * IN_BLOCK + k * PART + p);
                UNROLL for (int t = 0; t < TILE; t++) {
#if OUTS > 1
                    MULTIPLY(sum[o][t], w, several[t]);
#else
                    const part pixel = LOAD_PART(pixels, (i * PLANE + t * STRIDE_W) * PARTS + k);
                    MULTIPLY(sum[o][t], w, pixel);
#endif
                }
            }
        }
}

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
    const int steps = STEPS > 32 || get_num_groups(0) ? STEPS : 0;  /* a number that the compiler does not know */
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

    UNROLL for (int o = 0; o < OUTS; o++)
        UNROLL for (int t = 0; t < TILE; t++) {
#if WITH_RESIDUAL
            sum[o][t] += LOAD_VECTOR(RESIDUAL, residual, residual_target + o * RESIDUAL_ROWS * RESIDUAL_PITCH + t);
#endif
            STORE_VECTOR(OUT, activate(sum[o][t]), out, target + o * OUT_ROWS * OUT_PITCH + t);
        }
}
