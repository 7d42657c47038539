/* The gradient of what a maximum over windows read. IN is the gradient of what it wrote: all of it goes to the largest
 * pixel of the window, of equal ones to the first, row by row (as in PyTorch).
 *
 * A pixel asks each window that covers it whether it is that largest one: nobody writes where another does.
 * A work-item a run of pixels. SOURCE and OUTPUT are what the pool read and wrote. A NaN gets nothing.
 */
#include "gradient.cl"
#include "max_pool_buffers.cl"
#include "window.cl"

KERNEL void max_pool_gradient(__global const STORED(IN) *restrict in, __global const STORED(SOURCE) *restrict source,
                              __global const STORED(OUTPUT) *restrict output,
                              __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector own = LOAD_VECTOR(SOURCE, source, PIXEL(SOURCE, frame, block, y, x));
        vector sum = 0;
        for (int row = FIRST_ROW(y); row <= LAST_ROW(y); row++)
            for (int column = FIRST_COLUMN(x); column <= LAST_COLUMN(x); column++) {
                const vector largest = LOAD_VECTOR(OUTPUT, output, PIXEL(OUTPUT, frame, block, row, column));
                vector share = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, row, column));
                share = own == largest ? share : 0;
                const int top = max(row * STRIDE_H - PAD_TOP, 0), left = max(column * STRIDE_W - PAD_LEFT, 0);
                const int right = min(column * STRIDE_W - PAD_LEFT + KERNEL_W, OUT_WIDTH);
                for (int in_y = top; in_y <= y; in_y++)
                    for (int in_x = left; in_x < (in_y < y ? right : x); in_x++) {
                        const vector other = LOAD_VECTOR(SOURCE, source, PIXEL(SOURCE, frame, block, in_y, in_x));
                        share = other == largest ? 0 : share;
                    }
                sum += share;
            }
        STORE_GRADIENT(sum, frame, block, y, x);
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
