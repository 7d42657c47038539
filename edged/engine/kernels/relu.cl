/* OUT = max(IN, 0), by element. A work-item a run of pixels. */
#include "layout.cl"

KERNEL void relu(__global const vector *restrict in, __global vector *restrict out)
{
    const int run = get_global_id(0), frame = get_global_id(1), block = get_global_id(2);
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = in[PIXEL(IN, frame, block, y, x)];
        out[PIXEL(OUT, frame, block, y, x)] = RELU_OF(v);
    }
    if (run == 0)
        clear_halo((__global float *)out, frame, block);
}
