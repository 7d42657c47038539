/* An image becomes a vector of features in the order [channel][y][x]. A work-item a feature; OUT is one pixel. */
#include "layout.cl"

KERNEL void flatten(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int feature = get_global_id(0), frame = FRAME_ID;
    if (feature >= OUT_BLOCKS * OUT_BLOCK)
        return;

    const int channel = feature / (IN_HEIGHT * IN_WIDTH);
    const int y = feature / IN_WIDTH % IN_HEIGHT, x = feature % IN_WIDTH;
    const float value = channel < IN_CHANNELS ? LOAD(IN, in, CHANNEL(IN, frame, channel, y, x)) : 0;
    STORE(OUT, value, out, CHANNEL(OUT, frame, feature, 0, 0));
    if (feature % OUT_BLOCK == 0)
        clear_halo(out, frame, feature / OUT_BLOCK);
}
