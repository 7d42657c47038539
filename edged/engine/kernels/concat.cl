/* The channels of IN become those of OUT from FIRST_CHANNEL on; a launch for each input, in their order.
 *
 * Where FIRST_CHANNEL begins a block, whole vectors move, and the zeros beyond the last channel of IN with them: the
 * next input overwrites those that are its own. A work-item a run of pixels of a block of IN.
 */
#include "layout.cl"

#ifndef FIRST_CHANNEL
#define FIRST_CHANNEL 0
#endif

KERNEL void concat(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    for (int x = START_OF(run); x < END_OF(run); x++) {
        const int pixel = PIXEL(IN, frame, block, y, x);
#if FIRST_CHANNEL % OUT_BLOCK == 0
        STORE_VECTOR(OUT, LOAD_VECTOR(IN, in, pixel), out,
                     PIXEL(OUT, frame, FIRST_CHANNEL / OUT_BLOCK + block, y, x));
#else
        for (int c = 0; c < IN_BLOCK; c++) {
            const int channel = FIRST_CHANNEL + block * IN_BLOCK + c;
            if (channel < OUT_BLOCKS * OUT_BLOCK)  /* zeros beyond the last channel of IN may go further */
                STORE(OUT, LOAD(IN, in, pixel * IN_BLOCK + c), out, CHANNEL(OUT, frame, channel, y, x));
        }
#endif
    }
    if (FIRST_CHANNEL == 0 && run == 0 && block == 0)
        for (int each = 0; each < OUT_BLOCKS; each++)
            clear_halo(out, frame, each);
}
