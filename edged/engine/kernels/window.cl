/* The window of a pool. */
#ifndef KERNEL_H
#define KERNEL_H 2
#define KERNEL_W 2
#define STRIDE_H 2
#define STRIDE_W 2
#define PAD_TOP 0
#define PAD_LEFT 0
#endif

/* In a pool over IN, the window without the part of it that lies outside the image: rows WINDOW_TOP(y) up to but not
 * including WINDOW_BOTTOM(y) for output row y, and columns likewise.
 * Where all windows lie inside, each has a size that the compiler knows.
 */
#define ALL_INSIDE(padding, outputs, stride, kernel, inputs) \
    ((padding) == 0 && ((outputs) - 1) * (stride) + (kernel) <= (inputs))
#define ALL_ROWS_INSIDE ALL_INSIDE(PAD_TOP, OUT_HEIGHT, STRIDE_H, KERNEL_H, IN_HEIGHT)
#define ALL_COLUMNS_INSIDE ALL_INSIDE(PAD_LEFT, OUT_WIDTH, STRIDE_W, KERNEL_W, IN_WIDTH)

#define WINDOW_TOP(y) max((y) * STRIDE_H - PAD_TOP, 0)
#define WINDOW_LEFT(x) max((x) * STRIDE_W - PAD_LEFT, 0)
#define WINDOW_BOTTOM(y) (ALL_ROWS_INSIDE ? WINDOW_TOP(y) + KERNEL_H : min((y) * STRIDE_H - PAD_TOP + KERNEL_H, IN_HEIGHT))
#define WINDOW_RIGHT(x) (ALL_COLUMNS_INSIDE ? WINDOW_LEFT(x) + KERNEL_W : min((x) * STRIDE_W - PAD_LEFT + KERNEL_W, IN_WIDTH))

/* In its gradient, the windows that cover a pixel of what the pool read: IN is the gradient of what the pool wrote, OUT
 * of what it read. Rows of windows from FIRST_ROW(y) up to and with LAST_ROW(y), and columns likewise.
 */
#define FIRST_ROW(y) max(((y) + PAD_TOP - KERNEL_H + STRIDE_H) / STRIDE_H, 0)
#define LAST_ROW(y) min(((y) + PAD_TOP) / STRIDE_H, IN_HEIGHT - 1)
#define FIRST_COLUMN(x) max(((x) + PAD_LEFT - KERNEL_W + STRIDE_W) / STRIDE_W, 0)
#define LAST_COLUMN(x) min(((x) + PAD_LEFT) / STRIDE_W, IN_WIDTH - 1)
