/* The windows of a pool that cover a pixel of its input: IN is the gradient of what the pool wrote, OUT of what it
 * read. Rows of windows from FIRST_ROW(y) up to and with LAST_ROW(y), and columns likewise.
 */
#ifndef KERNEL_H
#define KERNEL_H 2
#define KERNEL_W 2
#define STRIDE_H 2
#define STRIDE_W 2
#define PAD_TOP 0
#define PAD_LEFT 0
#endif

#define FIRST_ROW(y) max(((y) + PAD_TOP - KERNEL_H + STRIDE_H) / STRIDE_H, 0)
#define LAST_ROW(y) min(((y) + PAD_TOP) / STRIDE_H, IN_HEIGHT - 1)
#define FIRST_COLUMN(x) max(((x) + PAD_LEFT - KERNEL_W + STRIDE_W) / STRIDE_W, 0)
#define LAST_COLUMN(x) min(((x) + PAD_LEFT) / STRIDE_W, IN_WIDTH - 1)
