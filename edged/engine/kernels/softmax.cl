/* OUT[c] = exp(IN[c] − m) ÷ Σ exp(IN[·] − m) over the channels of a pixel, m their maximum. A work-item a pixel. */
#include "layout.cl"

KERNEL void softmax(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int pixel = get_global_id(0), frame = FRAME_ID;
    const int y = pixel / OUT_WIDTH, x = pixel % OUT_WIDTH;
    if (y >= OUT_HEIGHT)
        return;

    float largest = -INFINITY;
    for (int c = 0; c < OUT_CHANNELS; c++)
        largest = fmax(largest, LOAD(IN, in, CHANNEL(IN, frame, c, y, x)));
    float sum = 0;
    for (int c = 0; c < OUT_CHANNELS; c++)
        sum += exp(LOAD(IN, in, CHANNEL(IN, frame, c, y, x)) - largest);
    for (int c = 0; c < OUT_BLOCKS * OUT_BLOCK; c++) {
        const float value = c < OUT_CHANNELS ? exp(LOAD(IN, in, CHANNEL(IN, frame, c, y, x)) - largest) / sum : 0;
        STORE(OUT, value, out, CHANNEL(OUT, frame, c, y, x));
    }
    for (int block = 0; pixel == 0 && block < OUT_BLOCKS; block++)
        clear_halo(out, frame, block);
}
