/* Images become vectors of features that lie as the pixels of one image, a column a frame:
 *
 * OUT[feature][0][frame] = IN[frame][channel][y][x]
 *
 * If IN_BLOCK is 1, features are in the order [channel][y][x]; else in that of the input's memory, [channel block][y][x]
 * [channel of the block], so that whole vectors move, and padding stays padding. A work-item a run of frames.
 */
#include "layout.cl"

KERNEL void flatten_batch(__global const float *restrict in, __global float *restrict out)
{
    const int run = get_global_id(0), block = PLANE_ID;
    if (ROW_OF(run) >= OUT_HEIGHT)
        return;

    for (int frame = START_OF(run); frame < END_OF(run); frame++) {
        vector v;
#if IN_BLOCK == 1
        for (int lane = 0; lane < OUT_BLOCK; lane++) {
            const int feature = block * OUT_BLOCK + lane, pixel = feature % (IN_HEIGHT * IN_WIDTH);
            const int channel = feature / (IN_HEIGHT * IN_WIDTH);
            ((float *)&v)[lane] =
                channel < IN_CHANNELS ? in[PIXEL(IN, frame, channel, pixel / IN_WIDTH, pixel % IN_WIDTH)] : 0;
        }
#else
        const int y = block / IN_WIDTH % IN_HEIGHT, x = block % IN_WIDTH;
        v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block / (IN_HEIGHT * IN_WIDTH), y, x));
#endif
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, 0, block, 0, frame));
    }
    if (run == 0)
        clear_halo(out, 0, block);
}
