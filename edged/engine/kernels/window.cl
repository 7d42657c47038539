/* The window of a pool over IN, without the part of it that lies outside the image: rows WINDOW_TOP(y) up to but
 * not including WINDOW_BOTTOM(y) for output row y, and columns likewise.
 */
#ifndef KERNEL_H
#define KERNEL_H 2
#define KERNEL_W 2
#define STRIDE_H 2
#define STRIDE_W 2
#define PAD_TOP 0
#define PAD_LEFT 0
#endif

#define WINDOW_TOP(y) max((y) * STRIDE_H - PAD_TOP, 0)
#define WINDOW_LEFT(x) max((x) * STRIDE_W - PAD_LEFT, 0)
#define WINDOW_BOTTOM(y) min((y) * STRIDE_H - PAD_TOP + KERNEL_H, IN_HEIGHT)
#define WINDOW_RIGHT(x) min((x) * STRIDE_W - PAD_LEFT + KERNEL_W, IN_WIDTH)
