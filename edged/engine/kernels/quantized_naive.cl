/* Convolution of steps as one would first write it: each work-item computes one element of the output on its own.
 *
 * OUT[o][y][x] = (bias[o] + Σ over i, ky, kx of weight[o][i][ky][kx] · IN[i][…]) · factor[o], the sum in int, then the
 * activation, or the steps of it. It works on any layout; its weights lie plainly as [output channel][input channel of
 * the group][ky][kx].
 */
#include "convolution.cl"
#include "quantized_end.cl"

#if WITH_RESIDUAL
#define ELEMENT(value, at) STEPS_WITH(float, value, LOAD(RESIDUAL, residual, at))
#elif WRITES_STEPS && ACTIVATION
#define ELEMENT(value, at) STEPS_OF(ACTIVATION_OF(value) / NUMBER_OF(SCALE))
#elif WRITES_STEPS
#define ELEMENT(value, at) STEPS_OF(value)
#else
#define ELEMENT(value, at) ACTIVATION_OF(value)
#endif

KERNEL void quantized_naive(__global const STORED(IN) *restrict in, __global const short *restrict weights,
                            __global const int *restrict bias, __global const float *restrict factor,
                            __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int pixel = get_global_id(0), frame = FRAME_ID, channel = PLANE_ID;
    const int y = pixel / OUT_WIDTH, x = pixel % OUT_WIDTH;
    if (y >= OUT_HEIGHT)
        return;

    float value = 0;
    if (channel < OUT_CHANNELS) {  /* the rest of the last block is zero */
        const int first = channel / GROUP_OUTPUTS * GROUP_INPUTS;
        int sum = bias[channel];
        for (int i = 0; i < GROUP_INPUTS; i++)
            for (int ky = 0; ky < KERNEL_H; ky++)
                for (int kx = 0; kx < KERNEL_W; kx++) {
                    const int in_y = y * STRIDE_H - PAD_TOP + ky * DILATION_H;
                    const int in_x = x * STRIDE_W - PAD_LEFT + kx * DILATION_W;
                    if (in_y >= 0 && in_y < IN_HEIGHT && in_x >= 0 && in_x < IN_WIDTH)
                        sum += weights[((channel * GROUP_INPUTS + i) * KERNEL_H + ky) * KERNEL_W + kx] *
                               convert_int(LOAD(IN, in, CHANNEL(IN, frame, first + i, in_y, in_x)));
                }
        value = convert_float(sum) * factor[channel];
        value = ELEMENT(value, CHANNEL(RESIDUAL, frame, channel, y, x));
    }
    STORE(OUT, value, out, CHANNEL(OUT, frame, channel, y, x));
    if (pixel == 0 && channel % OUT_BLOCK == 0)
        clear_halo(out, frame, channel / OUT_BLOCK);
}
