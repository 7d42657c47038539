/* The gradient of what a mean over windows read: of each window that covers a pixel, IN (the gradient of what the pool
 * wrote) divided by the pixels of the window; those outside the image count if COUNT_PADDING.
 * A work-item a run of pixels.
 */
#include "gradient.cl"
#include "window.cl"

#ifndef COUNT_PADDING
#define COUNT_PADDING 0
#endif

/* Pixels of a window along an axis that lie inside the image. */
#define INSIDE(index, stride, pad, kernel, size) \
    (min((index) * stride - pad + kernel, size) - max((index) * stride - pad, 0))

KERNEL void average_pool_gradient(__global const STORED(IN) *restrict in,
                                  __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector sum = 0;
        for (int row = FIRST_ROW(y); row <= LAST_ROW(y); row++)
            for (int column = FIRST_COLUMN(x); column <= LAST_COLUMN(x); column++) {
                const int inside = INSIDE(row, STRIDE_H, PAD_TOP, KERNEL_H, OUT_HEIGHT) *
                                   INSIDE(column, STRIDE_W, PAD_LEFT, KERNEL_W, OUT_WIDTH);
                const float count = COUNT_PADDING ? KERNEL_H * KERNEL_W : inside;
                sum += LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, row, column)) / count;
            }
        STORE_GRADIENT(sum, frame, block, y, x);
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
