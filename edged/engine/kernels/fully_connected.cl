/* What the kernels of a fully connected layer share: OUT[o] = bias[o] + Σ weight[o][i] · IN[i], then the
 * activation.
 *
 * Every weight is used once: memory is what limits, so they lie in the order in which they are read,
 * [output block][input][channel of the output block].
 */
#include "activation.cl"
#include "layout.cl"

#ifndef WEIGHTS_TYPE
#define WEIGHTS_TYPE 0  /* 1: stored as half */
#endif

#define INPUTS (IN_BLOCKS * IN_BLOCK)
