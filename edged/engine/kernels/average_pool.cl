/* Mean over a window, by channel. A work-item a run of pixels.
 * What lies outside the image counts as zeros if COUNT_PADDING, else not at all.
 */
#include "layout.cl"
#include "window.cl"

#ifndef COUNT_PADDING
#define COUNT_PADDING 0
#endif

KERNEL void average_pool(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = INITIAL(0);
        for (int in_y = WINDOW_TOP(y); in_y < WINDOW_BOTTOM(y); in_y++)
            for (int in_x = WINDOW_LEFT(x); in_x < WINDOW_RIGHT(x); in_x++)
                sum += LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, in_y, in_x));
        const int inside = (WINDOW_BOTTOM(y) - WINDOW_TOP(y)) * (WINDOW_RIGHT(x) - WINDOW_LEFT(x));
        const float count = COUNT_PADDING ? KERNEL_H * KERNEL_W : inside;
        STORE_VECTOR(OUT, sum / count, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
