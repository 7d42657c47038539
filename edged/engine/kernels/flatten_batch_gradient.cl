/* The gradient of images that became vectors of features (flatten_batch.cl, in the order of memory), from that of the
 * vectors: each goes back to its place. It ends as gradient.cl has it. A work-item a run of pixels.
 */
#include "gradient.cl"

KERNEL void flatten_batch_gradient(__global const float *restrict in, __global float *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++)
        STORE_GRADIENT(LOAD_VECTOR(IN, in, PIXEL(IN, 0, (block * OUT_HEIGHT + y) * OUT_WIDTH + x, 0, frame)),
                       frame, block, y, x);
    if (run == 0)
        clear_halo(out, frame, block);
}
