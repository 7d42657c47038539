/* What the convolution kernels share: the shape of the window, and how they end.
 *
 * OUT[o][y][x] = bias[o] + Σ over i, ky, kx of
 *                weight[o][i][ky][kx] · IN[i][y · STRIDE_H + ky · DILATION_H − PAD_TOP][x · STRIDE_W + …]
 * then + RESIDUAL[o][y][x] if WITH_RESIDUAL, then the activation.
 *
 * Weights lie as [output block][input block][ky][kx][channel of the input block][channel of the output block].
 * With groups, an output block reads SPAN input blocks from FIRST_BLOCK on; weights between groups are zero.
 */
#include "activation.cl"
#include "layout.cl"
#include "conv_window.cl"

#ifndef GROUP_INPUTS
#define GROUP_INPUTS IN_CHANNELS    /* channels of a group */
#define GROUP_OUTPUTS OUT_CHANNELS
#define SPAN IN_BLOCKS
#define WITH_RESIDUAL 0
#define WEIGHTS_TYPE 0  /* 1: stored as half */
#endif

/* The first input block that an output block reads. */
#define FIRST_BLOCK(block) \
    min((block) * OUT_BLOCK / GROUP_OUTPUTS * GROUP_INPUTS / IN_BLOCK, IN_BLOCKS - SPAN)

/* Weight vectors of one output block. */
#define WINDOW (SPAN * KERNEL_H * KERNEL_W * IN_BLOCK)

/* Have a line of memory in the second-level cache when it is needed. Not in the first: it can wait for too few lines
 * at a time (measured on Zen 4: weights from memory arrive half as fast again). Only where the host says that the
 * compiler of this device takes the builtin: __has_builtin is true where the backend then ends the process.
 */
#ifdef CLANG_BUILTINS
#define ASK_FOR(address) __builtin_prefetch((__global const void *)(address), 0, 2)
#define ASK_FOR_SOON(address) __builtin_prefetch((__global const void *)(address), 0, 3)  /* in the first-level one */
#else
#define ASK_FOR(address) (void)(address)
#define ASK_FOR_SOON(address) (void)(address)
#endif

/* The last parameter, of a kernel and of its functions, and the last summand, which not every convolution has. Pointers of a
 * function are never restrict: Oclgrind refuses what inlining then leaves, and those of the kernel say it already.
 */
#if WITH_RESIDUAL
#define RESIDUAL_PARAMETER , __global const STORED(RESIDUAL) *restrict residual
#define RESIDUAL_POINTER , __global const STORED(RESIDUAL) *residual
#define RESIDUAL_ARGUMENT , residual
#define PLUS_RESIDUAL(frame, block, y, x) + LOAD_VECTOR(RESIDUAL, residual, PIXEL(RESIDUAL, frame, block, y, x))
#else
#define RESIDUAL_PARAMETER
#define RESIDUAL_POINTER
#define RESIDUAL_ARGUMENT
#define PLUS_RESIDUAL(frame, block, y, x)
#endif

/* A number that the compiler does not know: Mesa's for Mali unroll short loops into more than the registers. */
#define UNKNOWN(number) (get_num_groups(0) ? (number) : 0)

vector activate(vector v)
{
    return ACTIVATION_OF(v);
}
