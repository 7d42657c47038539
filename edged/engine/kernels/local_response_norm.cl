/* OUT[c] = IN[c] ÷ (bias + alpha ÷ size · Σ IN² over SIZE channels around c)^beta: Krizhevsky et al., "ImageNet
 * Classification with Deep Convolutional Neural Networks", 2012. numbers: [bias, alpha ÷ size, beta].
 * A work-item a run of pixels of a block.
 */
#include "layout.cl"

#ifndef SIZE
#define SIZE 5
#endif

KERNEL void local_response_norm(__global const STORED(IN) *restrict in, __global const float *restrict numbers,
                                __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const float bias = numbers[0], alpha = numbers[1], beta = numbers[2];
    for (int x = START_OF(run); x < END_OF(run); x++)
        for (int c = block * OUT_BLOCK; c < (block + 1) * OUT_BLOCK; c++) {
            float squares = 0, value = 0;
            if (c < OUT_CHANNELS) {
                const int end = min(c - (SIZE - 1) / 2 + SIZE, OUT_CHANNELS);
                for (int near = max(c - (SIZE - 1) / 2, 0); near < end; near++) {
                    const float v = LOAD(IN, in, CHANNEL(IN, frame, near, y, x));
                    squares += v * v;
                }
                value = LOAD(IN, in, CHANNEL(IN, frame, c, y, x)) * pow(bias + alpha * squares, -beta);
            }
            STORE(OUT, value, out, CHANNEL(OUT, frame, c, y, x));
        }
    if (run == 0)
        clear_halo(out, frame, block);
}
