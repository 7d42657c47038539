/* The gradients of a convolution's weights and bias, from what it read (IN, with a halo of zeros) and the gradient of
 * what it wrote (OUT, read here; a vector is a block of its channels):
 *
 * weight[o][i][ky][kx] = Σ over frames, y, x of OUT[o][y][x] · IN[i][y · STRIDE_H + ky · DILATION_H − PAD_TOP][…]
 * bias[o]              = Σ over frames, y, x of OUT[o][y][x]
 *
 * A work-item keeps the sums of TAPS_H × TAPS_W taps × PART input channels for one block of output channels in
 * registers, and goes once over the pixels of its share of the rows of all frames. Shares are dimension 1 and come
 * last, so that all work-items are through with a share, which the cache holds, before the next one begins.
 * Each of the SHARES sums lies behind the other, as [output block][input block][ky][kx][input channel][output channel]
 * and [output block][output channel]; sum_shares.cl adds them. Taps and rows that do not divide evenly are moved back.
 */
#include "layout.cl"
#include "conv_window.cl"

#ifndef FRAMES
#define FRAMES 1
#define SHARES 1
#define TAPS_H 1
#define TAPS_W 1
#define PART 4
#endif

#define PARTS (IN_BLOCK / PART)
#define STEPS_Y ((KERNEL_H + TAPS_H - 1) / TAPS_H)
#define STEPS_X ((KERNEL_W + TAPS_W - 1) / TAPS_W)
#define WINDOW (IN_BLOCKS * KERNEL_H * KERNEL_W * IN_BLOCK)
#define ROWS_IN_ALL (FRAMES * OUT_HEIGHT)

KERNEL void conv_weight_gradient(__global const float *restrict in, __global const vector *restrict given,
                                 __global vector *restrict weights, __global vector *restrict bias)
{
    const int item = get_global_id(0), share = FRAME_ID, block = PLANE_ID;
    const int part = item % PARTS * PART, step = item / PARTS % (STEPS_Y * STEPS_X);
    const int i = item / (PARTS * STEPS_Y * STEPS_X);
    if (i >= IN_BLOCKS)
        return;
    const int ky = min(step / STEPS_X * TAPS_H, KERNEL_H - TAPS_H);
    const int kx = min(step % STEPS_X * TAPS_W, KERNEL_W - TAPS_W);
    const int start = (long)ROWS_IN_ALL * share / SHARES, end = (long)ROWS_IN_ALL * (share + 1) / SHARES;

    vector sum[TAPS_H][TAPS_W][PART];
    UNROLL for (int v = 0; v < TAPS_H; v++)
        UNROLL for (int u = 0; u < TAPS_W; u++)
            UNROLL for (int c = 0; c < PART; c++)
                sum[v][u][c] = 0;

    for (int row = start; row < end; row++) {
        const int frame = row / OUT_HEIGHT, y = row % OUT_HEIGHT;
        __global const vector *g = given + PIXEL(OUT, frame, block, y, 0);
        __global const float *pixels = in + part + IN_BLOCK * PIXEL(IN, frame, i,
            y * STRIDE_H - PAD_TOP + ky * DILATION_H, kx * DILATION_W - PAD_LEFT);
        for (int x = 0; x < OUT_WIDTH; x++, pixels += STRIDE_W * IN_BLOCK) {
            const vector slope = g[x];
            UNROLL for (int v = 0; v < TAPS_H; v++)
                UNROLL for (int u = 0; u < TAPS_W; u++)
                    UNROLL for (int c = 0; c < PART; c++)
                        sum[v][u][c] += slope * pixels[(v * DILATION_H * IN_PITCH + u * DILATION_W) * IN_BLOCK + c];
        }
    }

    __global vector *w = weights + (share * OUT_BLOCKS + block) * WINDOW + i * (KERNEL_H * KERNEL_W * IN_BLOCK) + part;
    UNROLL for (int v = 0; v < TAPS_H; v++)
        UNROLL for (int u = 0; u < TAPS_W; u++)
            UNROLL for (int c = 0; c < PART; c++)
                w[((ky + v) * KERNEL_W + kx + u) * IN_BLOCK + c] = sum[v][u][c];

    if (item == 0) {
        vector total = 0;
        for (int row = start; row < end; row++)
            for (int x = 0; x < OUT_WIDTH; x++)
                total += given[PIXEL(OUT, row / OUT_HEIGHT, block, row % OUT_HEIGHT, x)];
        bias[share * OUT_BLOCKS + block] = total;
    }
}
