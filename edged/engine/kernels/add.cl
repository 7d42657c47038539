/* OUT = IN + RESIDUAL, by element, then the activation. A work-item a run of pixels. */
#include "activation.cl"
#include "layout.cl"
#include "residual.cl"

KERNEL void add(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector sum = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) +
                           LOAD_VECTOR(RESIDUAL, residual, PIXEL(RESIDUAL, frame, block, y, x));
        STORE_VECTOR(OUT, ACTIVATION_OF(sum), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
