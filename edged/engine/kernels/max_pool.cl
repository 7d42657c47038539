/* Maximum over a window, by channel; what lies outside the image never wins. A work-item a run of pixels.
 * A NaN in the window stays: nothing is greater than it.
 */
#include "layout.cl"
#include "window.cl"

KERNEL void max_pool(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector best = INITIAL(-INFINITY);
        for (int in_y = WINDOW_TOP(y); in_y < WINDOW_BOTTOM(y); in_y++)
            for (int in_x = WINDOW_LEFT(x); in_x < WINDOW_RIGHT(x); in_x++) {
                const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, in_y, in_x));
                best = (v > best || v != v) ? v : best;
            }
        STORE_VECTOR(OUT, best, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
