/* The gradient of what a depthwise convolution read, from that of what it wrote (IN), a vector of channels at a time:
 *
 * OUT[c][y][x] = Σ over ky, kx of weight[c][ky][kx] · IN[c][(y + PAD_TOP − ky · DILATION_H) ÷ STRIDE_H][…]
 *
 * where the division has no remainder and IN has such a pixel. Weights lie as [block][ky][kx][channel].
 * A work-item a run of pixels; it ends as gradient.cl has it.
 */
#include "gradient.cl"
#include "conv_window.cl"

#define REACHES(from, stride, size) ((from) >= 0 && (from) % (stride) == 0 && (from) / (stride) < (size))

KERNEL void depthwise_input_gradient(__global const STORED(IN) *restrict in, __global const vector *restrict weights,
                                     __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = 0;
        for (int ky = 0; ky < KERNEL_H; ky++) {
            const int up = y + PAD_TOP - ky * DILATION_H;
            if (!REACHES(up, STRIDE_H, IN_HEIGHT))
                continue;
            UNROLL for (int kx = 0; kx < KERNEL_W; kx++) {
                const int left = x + PAD_LEFT - kx * DILATION_W;
                if (REACHES(left, STRIDE_W, IN_WIDTH))
                    sum += weights[(block * KERNEL_H + ky) * KERNEL_W + kx] *
                           LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, up / STRIDE_H, left / STRIDE_W));
            }
        }
        STORE_GRADIENT(sum, frame, block, y, x);
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
