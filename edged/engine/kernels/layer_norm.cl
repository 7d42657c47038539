/* OUT[c] = (IN[c] − mean) ÷ √(variance + epsilon) · factor[c] + offset[c], over the channels of a pixel: Ba et al.,
 * "Layer Normalization", 2016. EPSILON holds the bits of epsilon. A work-item a run of pixels.
 */
#include "across.cl"

#ifndef EPSILON
#define EPSILON 0x3727c5ac
#endif

KERNEL void layer_norm(__global const STORED(IN) *restrict in, __global const vector *restrict factor,
                       __global const vector *restrict offset, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = INITIAL(0), squares = INITIAL(0);
        for (int block = 0; block < OUT_BLOCKS; block++)
            sum += LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        const float mean = total_of(sum) / OUT_CHANNELS;
        for (int block = 0; block < OUT_BLOCKS; block++) {
            const vector centred = without_padding(LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) - mean, block);
            squares += centred * centred;
        }
        const float scale = 1 / sqrt(total_of(squares) / OUT_CHANNELS + as_float(EPSILON));
        for (int block = 0; block < OUT_BLOCKS; block++) {
            const vector centred = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) - mean;
            STORE_VECTOR(OUT, centred * scale * factor[block] + offset[block], out, PIXEL(OUT, frame, block, y, x));
        }
    }
    for (int block = 0; run == 0 && block < OUT_BLOCKS; block++)
        clear_halo(out, frame, block);
}
