/* The gradient of what Dropout read, from that of what it wrote (IN): the same values are dropped (see dropped.cl).
 * A work-item a run of pixels; it ends as gradient.cl has it.
 */
#include "gradient.cl"
#include "dropped.cl"

KERNEL void dropout_gradient(__global const STORED(IN) *restrict in, const uint seed, const uint step,
                             __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        STORE_GRADIENT(dropped(v, frame, block, y, x, seed, step), frame, block, y, x);
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
