/* OUT[c] = IN[order[c]]. A work-item a run of pixels of a block of OUT. `order`: floats, which hold whole numbers. */
#include "layout.cl"

KERNEL void select_channels(__global const STORED(IN) *restrict in, __global const float *restrict order,
                            __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int c = 0; c < OUT_BLOCK; c++) {
        const int channel = block * OUT_BLOCK + c;
        const int source = channel < OUT_CHANNELS ? (int)order[channel] : 0;
        for (int x = START_OF(run); x < END_OF(run); x++) {
            const float v = channel < OUT_CHANNELS ? LOAD(IN, in, CHANNEL(IN, frame, source, y, x)) : 0;
            STORE(OUT, v, out, CHANNEL(OUT, frame, channel, y, x));
        }
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
