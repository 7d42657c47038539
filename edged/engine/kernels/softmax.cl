/* OUT[c] = exp(IN[c] − m) ÷ Σ exp(IN[·] − m) over the channels of a pixel, m their maximum; its logarithm with LOG.
 * A work-item a run of pixels.
 */
#include "across.cl"

#ifndef LOG
#define LOG 0
#endif

KERNEL void softmax(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector most = INITIAL(-INFINITY), sum = INITIAL(0);
        for (int block = 0; block < OUT_BLOCKS; block++)
            most = fmax(most, padded_by(LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)), block, -INFINITY));
        const float largest = largest_of(most);
        for (int block = 0; block < OUT_BLOCKS; block++) {
            const vector shifted = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) - largest;
            const vector power = without_padding(exp(shifted), block);
            sum += power;
            STORE_VECTOR(OUT, LOG ? shifted : power, out, PIXEL(OUT, frame, block, y, x));
        }
        const float total = total_of(sum), inverse = 1 / total, logarithm = log(total);
        for (int block = 0; block < OUT_BLOCKS; block++) {
            const vector v = LOAD_VECTOR(OUT, out, PIXEL(OUT, frame, block, y, x));
            STORE_VECTOR(OUT, without_padding(LOG ? v - logarithm : v * inverse, block), out,
                         PIXEL(OUT, frame, block, y, x));
        }
    }
    for (int block = 0; run == 0 && block < OUT_BLOCKS; block++)
        clear_halo(out, frame, block);
}
