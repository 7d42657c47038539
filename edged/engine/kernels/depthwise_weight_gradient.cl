/* The gradients of weights and bias of a depthwise convolution, from what it read (IN, with a halo of zeros) and the
 * gradient of what it wrote (OUT, read here), a vector of channels at a time:
 *
 * weight[c][ky][kx] = Σ over frames, y, x of OUT[c][y][x] · IN[c][y · STRIDE_H + ky · DILATION_H − PAD_TOP][…]
 * bias[c]           = Σ over frames, y, x of OUT[c][y][x]
 *
 * A work-item keeps the sums of TAPS_H rows of taps of one block of channels, and goes once over the pixels of its
 * share of the rows of all frames. Shares are dimension 1 and come last; each of the SHARES sums lies behind the
 * other, as [block][ky][kx][channel] and [block][channel]. The last rows of taps are moved back.
 */
#include "layout.cl"
#include "conv_window.cl"

#ifndef FRAMES
#define FRAMES 1
#define SHARES 1
#define TAPS_H 1
#endif

#define ROWS_IN_ALL (FRAMES * OUT_HEIGHT)

KERNEL void depthwise_weight_gradient(__global const vector *restrict in, __global const vector *restrict given,
                                      __global vector *restrict weights, __global vector *restrict bias)
{
    const int item = get_global_id(0), share = FRAME_ID, block = PLANE_ID;
    if (item * TAPS_H >= KERNEL_H)
        return;
    const int ky = min(item * TAPS_H, KERNEL_H - TAPS_H);
    const int start = (long)ROWS_IN_ALL * share / SHARES, end = (long)ROWS_IN_ALL * (share + 1) / SHARES;

    vector sum[TAPS_H][KERNEL_W], total = 0;
    UNROLL for (int v = 0; v < TAPS_H; v++)
        UNROLL for (int u = 0; u < KERNEL_W; u++)
            sum[v][u] = 0;

    for (int row = start; row < end; row++) {
        const int frame = row / OUT_HEIGHT, y = row % OUT_HEIGHT;
        __global const vector *g = given + PIXEL(OUT, frame, block, y, 0);
        __global const vector *pixels =
            in + PIXEL(IN, frame, block, y * STRIDE_H - PAD_TOP + ky * DILATION_H, -PAD_LEFT);
        for (int x = 0; x < OUT_WIDTH; x++, pixels += STRIDE_W) {
            const vector slope = g[x];
            total += slope;
            UNROLL for (int v = 0; v < TAPS_H; v++)
                UNROLL for (int u = 0; u < KERNEL_W; u++)
                    sum[v][u] += slope * pixels[v * DILATION_H * IN_PITCH + u * DILATION_W];
        }
    }

    __global vector *w = weights + ((share * OUT_BLOCKS + block) * KERNEL_H + ky) * KERNEL_W;
    UNROLL for (int v = 0; v < TAPS_H; v++)
        UNROLL for (int u = 0; u < KERNEL_W; u++)
            w[v * KERNEL_W + u] = sum[v][u];
    if (item == 0)
        bias[share * OUT_BLOCKS + block] = total;
}
