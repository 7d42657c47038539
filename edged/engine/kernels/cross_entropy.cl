/* Softmax with cross-entropy, its gradient, and what came right. A work-item RUN frames.
 *
 * IN: scores, [class][frame], the frames as pixels of one row. labels[order[first + frame]] is what is right;
 * wanted[class] = (1 − smoothing) if it is right, + smoothing ÷ classes
 * sums[frame] += (−Σ wanted · log p, 1 if the largest score is the right one's, else 0) with p = softmax(scores)
 * OUT = (p − wanted) ÷ frames, WITH_GRADIENT; else OUT is like IN.
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
#define CLASSES_IN(block) min(OUT_BLOCK, IN_CHANNELS - (block) * OUT_BLOCK)

/* The classes of a block, all together or one by one. */
typedef union {
    vector all;
    float each[OUT_BLOCK];
} classes;

KERNEL void cross_entropy(__global const STORED(IN) *restrict in, __global const int *restrict labels,
                          __global const int *restrict order, const int first,
                          __constant float *restrict smoothing, __global float2 *restrict sums GRADIENT_PARAMETER)
{
    const int run = get_global_id(0);
    const float share = smoothing[0] / IN_CHANNELS;
    for (int frame = run * RUN; frame < min((run + 1) * RUN, IN_WIDTH); frame++) {
        const int label = labels[order[first + frame]];
        float largest = -INFINITY, sum = 0, all = 0;
        int best = -1;
        for (int c = 0; c < IN_CHANNELS; c++)
            if (SCORE(c) > largest)
                largest = SCORE(c), best = c;

        classes powers[IN_BLOCKS];
        for (int block = 0; block < IN_BLOCKS; block++) {
            classes off;
            off.all = LOAD_VECTOR(IN, in, PIXEL(IN, 0, block, 0, frame)) - largest;
            powers[block].all = exp(off.all);
            for (int c = 0; c < CLASSES_IN(block); c++)
                sum += powers[block].each[c], all += off.each[c];
        }
        const float loss = log(sum) - (1 - smoothing[0]) * (SCORE(label) - largest) - share * all;
        sums[frame] += (float2)(loss, best == label);

#if WITH_GRADIENT
        for (int block = 0; block < IN_BLOCKS; block++) {
            classes slope;
            slope.all = (powers[block].all / sum - share) / IN_WIDTH;
            for (int c = CLASSES_IN(block); c < OUT_BLOCK; c++)
                slope.each[c] = 0;
            if (block == label / OUT_BLOCK)
                slope.each[label % OUT_BLOCK] -= (1 - smoothing[0]) / IN_WIDTH;
            STORE_VECTOR(OUT, slope.all, out, PIXEL(OUT, 0, block, 0, frame));
        }
    }
    for (int block = 0; run == 0 && block < OUT_BLOCKS; block++)
        clear_halo(out, 0, block);
#else
    }
#endif
}
