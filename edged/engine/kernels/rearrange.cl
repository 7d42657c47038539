/* OUT = values of IN in another order. `sources`: for each channel of each pixel of OUT, [block][y][x][channel of the
 * block], where it lies in a frame of IN; −1 beyond the last channel, which is zero. With WHOLE_BLOCKS it is one number
 * for all channels of a block, which lie side by side in IN too. A work-item a run of pixels of a block.
 */
#include "layout.cl"

#ifndef WHOLE_BLOCKS
#define WHOLE_BLOCKS 0
#endif

#define FRAME_OF_IN (IN_BLOCKS * IN_ROWS * IN_PITCH * IN_BLOCK)

KERNEL void rearrange(__global const STORED(IN) *restrict in, __global const int *restrict sources,
                      __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    __global const STORED(IN) *image = in + frame * FRAME_OF_IN;
    const int row = (block * OUT_HEIGHT + y) * OUT_WIDTH;
    for (int x = START_OF(run); x < END_OF(run); x++) {
#if WHOLE_BLOCKS
        const vector v = LOAD_VECTOR(IN, image, sources[row + x] / OUT_BLOCK);
#else
        vector v;
        UNROLL for (int c = 0; c < OUT_BLOCK; c++) {
            const int source = sources[(row + x) * OUT_BLOCK + c];
            ((float *)&v)[c] = source < 0 ? 0 : LOAD(IN, image, source);
        }
#endif
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
