/* Convolution of each channel by itself (see convolution.cl): as many groups as channels, in and out.
 *
 * The channels of a block are the lanes of a vector, so that none is wasted on the zeros between groups. Weights lie
 * as [block][ky][kx][channel of the block]. A work-item computes a run of pixels of one block.
 * What lies outside the image is skipped: no halo is needed.
 */
#include "convolution.cl"

KERNEL void conv_depthwise(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                           __global const vector *restrict bias, __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = bias[block];
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                const int in_y = y * STRIDE_H - PAD_TOP + ky * DILATION_H;
                const int in_x = x * STRIDE_W - PAD_LEFT + kx * DILATION_W;
                if (in_y >= 0 && in_y < IN_HEIGHT && in_x >= 0 && in_x < IN_WIDTH)
                    sum += LOAD_VECTOR(WEIGHTS, weights, (block * KERNEL_H + ky) * KERNEL_W + kx) *
                           LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, in_y, in_x));
            }
        STORE_VECTOR(OUT, activate(sum PLUS_RESIDUAL(frame, block, y, x)), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
