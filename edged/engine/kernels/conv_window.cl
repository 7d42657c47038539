/* The window of a convolution: what a kernel that is compiled alone takes it for. */
#ifndef KERNEL_H
#define KERNEL_H 3
#define KERNEL_W 3
#define STRIDE_H 1
#define STRIDE_W 1
#define DILATION_H 1
#define DILATION_W 1
#define PAD_TOP 1
#define PAD_LEFT 1
#endif
