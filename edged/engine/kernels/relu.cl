/* OUT = max(IN, 0), by element. A work-item a run of pixels. */
#include "layout.cl"

KERNEL void relu(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        STORE_VECTOR(OUT, RELU_OF(v), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
