/* Adam: first = beta1 · first + (1 − beta1) · g, second likewise of g², w −= rate · first ÷ (√second · root + epsilon)
 *
 * The host corrects what the moments lack after `step` steps: rate is rate ÷ (1 − beta1^step), root is
 * 1 ÷ √(1 − beta2^step). Where DECOUPLED, w −= decay · w beside that (decay holds the rate already); else
 * g = gradient + decay · w.
 * `moments`: first, then second.
 */
#include "update.cl"

#ifndef DECOUPLED
#define DECOUPLED 1
#endif

KERNEL void adam(__global float *restrict weights, __global const float *restrict gradients,
                 __global float *restrict moments, const float rate, const float root, const float beta1,
                 const float beta2, const float epsilon, const float decay)
{
    for (size_t i = START; i < END; i++) {
        const float own_decay = DECAY_OF(i, decay);
        const float g = gradients[i] + (DECOUPLED ? 0 : own_decay * weights[i]);
        const float first = beta1 * moments[i] + (1 - beta1) * g;
        const float second = beta2 * moments[COUNT + i] + (1 - beta2) * g * g;
        moments[i] = first;
        moments[COUNT + i] = second;
        weights[i] -= (DECOUPLED ? own_decay * weights[i] : 0) + rate * first / (sqrt(second) * root + epsilon);
    }
}
