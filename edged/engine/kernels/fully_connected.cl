/* What the kernels of a fully connected layer share: OUT[o] = bias[o] + Σ weight[o][i] · IN[i], then max(·, 0) if
 * WITH_RELU.
 *
 * Every weight is used once: memory is what limits, so they lie in the order in which they are read,
 * [output block][input][channel of the output block].
 */
#include "layout.cl"

#ifndef WITH_RELU
#define WITH_RELU 0
#endif
#ifndef WEIGHTS_HALF
#define WEIGHTS_HALF 0  /* 1: stored as half */
#endif

#define INPUTS (IN_BLOCKS * IN_BLOCK)
