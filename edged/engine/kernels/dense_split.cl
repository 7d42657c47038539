/* Fully connected layer, a work-group a block of outputs.
 *
 * For GPUs, which want more work-items than there are blocks of outputs: those of a group share the inputs among
 * them, each taking every GROUP-th one, so that together they read the weights in one run. Their sums are then added
 * in pairs, in local memory. GROUP may be any number.
 */
#include "fully_connected.cl"

KERNEL void dense_split(__global const STORED(IN) *restrict in, __global const STORED(WEIGHTS) *restrict weights,
                        __global const vector *restrict bias, __global STORED(OUT) *restrict out)
{
    const int item = get_local_id(0), block = get_group_id(0), frame = FRAME_ID;
    __local vector sums[GROUP];

    vector sum = INITIAL(0);
    for (int i = item; i < INPUTS; i += GROUP)
        sum += LOAD_VECTOR(WEIGHTS, weights, block * INPUTS + i) * LOAD(IN, in, CHANNEL(IN, frame, i, 0, 0));
    sums[item] = sum;

    for (int left = GROUP; left > 1;) {
        const int half_way = (left + 1) / 2;  /* an odd one in the middle waits for the next round */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + half_way < left)
            sums[item] += sums[item + half_way];
        left = half_way;
    }

    if (item == 0) {
        sum = sums[0] + bias[block];
        STORE_VECTOR(OUT, ACTIVATION_OF(sum), out, PIXEL(OUT, frame, block, 0, 0));
        clear_halo(out, frame, block);
    }
}
