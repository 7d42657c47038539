/* OUT = one number for each pixel, of all channels of IN. REDUCTION: 0 their mean, 1 the sum, 2 the largest, 3 the
 * smallest. A work-item a run of pixels.
 */
#include "across.cl"

#ifndef REDUCTION
#define REDUCTION 0
#endif

/* The smallest is the largest of the negative numbers; a NaN among them makes the sum one. */
#if REDUCTION == 3
#define SIGN -1
#else
#define SIGN 1
#endif

KERNEL void reduce_channels(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = INITIAL(0), largest = INITIAL(-INFINITY);
        for (int block = 0; block < IN_BLOCKS; block++) {
            const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
            sum += v;
            largest = fmax(largest, padded_by(v * SIGN, block, -INFINITY));
        }
        const float total = total_of(sum);
        const float extreme = total == total ? largest_of(largest) * SIGN : total;
        vector v = INITIAL(0);
        ((float *)&v)[0] = REDUCTION == 0 ? total / IN_CHANNELS : REDUCTION == 1 ? total : extreme;
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, 0, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, 0);
}
