/* Stochastic gradient descent: v = momentum · v + g, w −= rate · v, with g = gradient + decay · w.
 *
 * NESTEROV: w −= rate · (g + momentum · v). Without MOMENTUM v is g, and nothing is remembered.
 */
#include "update.cl"

#ifndef MOMENTUM
#define MOMENTUM 1
#define NESTEROV 0
#endif

#if MOMENTUM
#define MOMENTUM_PARAMETERS , __global float *restrict velocity, const float momentum
#else
#define MOMENTUM_PARAMETERS
#endif

KERNEL void sgd(__global float *restrict weights, __global const float *restrict gradients, const float rate,
                const float decay MOMENTUM_PARAMETERS)
{
    for (size_t i = START; i < END; i++) {
        float along = gradients[i] + DECAY_OF(i, decay) * weights[i];
#if MOMENTUM
        velocity[i] = momentum * velocity[i] + along;
        along = NESTEROV ? along + momentum * velocity[i] : velocity[i];
#endif
        weights[i] -= rate * along;
    }
}
