/* The vectors of a batch from those that lie on the device: OUT[channel][frame] = features[order[first + frame]].
 *
 * features: [n][channel] float32; the frames are the pixels of OUT's only row. A work-item a run of them.
 */
#include "layout.cl"

KERNEL void gather_features(__global const float *restrict features, __global const int *restrict order,
                            const int first, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), block = PLANE_ID;
    if (ROW_OF(run) >= OUT_HEIGHT)
        return;

    for (int frame = START_OF(run); frame < END_OF(run); frame++) {
        __global const float *vector_of = features + (size_t)order[first + frame] * OUT_CHANNELS;
        for (int c = block * OUT_BLOCK; c < (block + 1) * OUT_BLOCK; c++)
            STORE(OUT, c < OUT_CHANNELS ? vector_of[c] : 0, out, CHANNEL(OUT, 0, c, 0, frame));
    }
    if (run == 0)
        clear_halo(out, 0, block);
}
