/* OUT = IN, of which some values are dropped: see dropped.cl. A work-item a run of pixels. */
#include "dropped.cl"

KERNEL void dropout(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out, const uint seed,
                    const uint step)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        STORE_VECTOR(OUT, dropped(v, frame, block, y, x, seed, step), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
