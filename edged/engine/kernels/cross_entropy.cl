/* Softmax with cross-entropy, its gradient, and what came right. A work-item a frame.
 *
 * IN: scores, [class][frame], the frames as pixels of one row. labels[order[first + frame]] is what is right;
 * wanted[class] = (1 − smoothing) if it is right, + smoothing ÷ classes
 * sums[frame] += (−Σ wanted · log p, 1 if the largest score is the right one's, else 0) with p = softmax(scores)
 * OUT = (p − wanted) ÷ frames, WITH_GRADIENT
 *
 * Stable: scores are taken relative to the largest. A score that is no number makes the loss none. Each frame has
 * sums of its own, so that their order never changes.
 */
#include "layout.cl"

#ifndef WITH_GRADIENT
#define WITH_GRADIENT 1
#endif

#if WITH_GRADIENT
#define GRADIENT_PARAMETER , __global STORED(OUT) *restrict out
#else
#define GRADIENT_PARAMETER
#endif

#define SCORE(c) LOAD(IN, in, CHANNEL(IN, 0, c, 0, frame))

KERNEL void cross_entropy(__global const STORED(IN) *restrict in, __global const int *restrict labels,
                          __global const int *restrict order, const int first,
                          __constant float *restrict smoothing, __global float2 *restrict sums GRADIENT_PARAMETER)
{
    const int frame = get_global_id(0);
    if (frame >= IN_WIDTH)
        return;

    const int label = labels[order[first + frame]];
    const float shared = smoothing[0] / IN_CHANNELS;
    float largest = -INFINITY, sum = 0, all = 0;
    int best = -1;
    for (int c = 0; c < IN_CHANNELS; c++)
        if (SCORE(c) > largest)
            largest = SCORE(c), best = c;
    for (int c = 0; c < IN_CHANNELS; c++) {
        sum += exp(SCORE(c) - largest);
        all += SCORE(c) - largest;
    }
    const float loss = log(sum) - (1 - smoothing[0]) * (SCORE(label) - largest) - shared * all;
    sums[frame] += (float2)(loss, best == label);

#if WITH_GRADIENT
    for (int c = 0; c < OUT_BLOCKS * OUT_BLOCK; c++) {
        const float wanted = shared + (c == label ? 1 - smoothing[0] : 0);
        const float slope = c < OUT_CHANNELS ? (exp(SCORE(c) - largest) / sum - wanted) / IN_WIDTH : 0;
        STORE(OUT, slope, out, CHANNEL(OUT, 0, c, 0, frame));
    }
    for (int block = 0; frame == 0 && block < OUT_BLOCKS; block++)
        clear_halo(out, 0, block);
#endif
}
