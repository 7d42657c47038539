/* The gradient of a tensor, from what one reader of it gave (IN): it ends as gradient.cl has it, with what the others
 * gave and zero where ReLU was. A work-item a run of pixels.
 */
#include "gradient.cl"

KERNEL void join_gradients(__global const float *restrict in, __global float *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++)
        STORE_GRADIENT(LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)), frame, block, y, x);
    if (run == 0)
        clear_halo(out, frame, block);
}
