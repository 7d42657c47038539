/* Mean, and sum of squares about it, of each channel over a slice of the batch (see norm_slices.cl).
 *
 * In two passes: a sum of squares about 0 would lose what small variances are made of. A work-item a slice of a block.
 */
#include "norm_slices.cl"

KERNEL void norm_statistics(__global const STORED(IN) *restrict in, __global vector *restrict shares)
{
    const int slice = get_global_id(0), block = PLANE_ID;
    if (slice >= SLICES)
        return;

    vector mean = 0, squares = 0;
    int count = 0;
    FOR_EACH_CHUNK(slice) {
        FOR_EACH_X(chunk)
            mean += LOAD_VECTOR(IN, in, PIXEL(IN, FRAME_OF(chunk), block, Y_OF(chunk), x));
        count += LAST_X(chunk) - FIRST_X(chunk) + 1;
    }
    mean /= (float)count;
    FOR_EACH_CHUNK(slice)
        FOR_EACH_X(chunk) {
            const vector off = LOAD_VECTOR(IN, in, PIXEL(IN, FRAME_OF(chunk), block, Y_OF(chunk), x)) - mean;
            squares += off * off;
        }
    shares[SHARE(slice, block)] = mean;
    shares[SHARE(slice, block) + 1] = squares;
    shares[SHARE(slice, block) + 2] = count;
}
