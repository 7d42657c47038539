/* Maximum over a window, by channel; what lies outside the image never wins. A work-item a pixel and block.
 * A NaN in the window stays: nothing is greater than it.
 */
#include "layout.cl"
#include "window.cl"

KERNEL void max_pool(__global const vector *restrict in, __global vector *restrict out)
{
    const int pixel = get_global_id(0), frame = get_global_id(1), block = get_global_id(2);
    const int y = pixel / OUT_WIDTH, x = pixel % OUT_WIDTH;
    if (y >= OUT_HEIGHT)
        return;

    vector best = -INFINITY;
    for (int in_y = WINDOW_TOP(y); in_y < WINDOW_BOTTOM(y); in_y++)
        for (int in_x = WINDOW_LEFT(x); in_x < WINDOW_RIGHT(x); in_x++) {
            const vector v = in[PIXEL(IN, frame, block, in_y, in_x)];
            best = (v > best || v != v) ? v : best;
        }
    out[PIXEL(OUT, frame, block, y, x)] = best;
    if (pixel == 0)
        clear_halo((__global float *)out, frame, block);
}
