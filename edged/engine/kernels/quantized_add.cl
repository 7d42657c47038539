/* OUT = the steps of IN · RATIO_A + RESIDUAL · RATIO_B, by element. A work-item a run of pixels. */
#include "layout.cl"
#include "residual.cl"
#include "steps.cl"

KERNEL void quantized_add(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                          __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector a = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
        const vector b = LOAD_VECTOR(RESIDUAL, residual, PIXEL(RESIDUAL, frame, block, y, x));
        const vector sum = STEPS_OF(SUM_OF_STEPS(vector, a, b));
        STORE_VECTOR(OUT, without_padding(sum, block), out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
