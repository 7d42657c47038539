/* The first kernel of a quantized network: the bytes of the camera's image become steps, by a table.
 *
 * images: as in prepare.cl. OUT[c][y][x] = table[c][image[y][x][SWAP ? 2 − c : c]]: the host has computed the steps of all
 * 256 bytes, of the type of OUT. A channel beyond the last is the step 0.
 */
#include "pixel.cl"

KERNEL void prepare_steps(__global const uchar *restrict images, __global const STORED(OUT) *restrict table,
                          __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = OUT_BLOCKS == 1 ? 0 : PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    __global const uchar *row = images + (frame * OUT_HEIGHT + y) * OUT_WIDTH * 3;
    for (int x = START_OF(run); x < END_OF(run); x++) {
        WIDE(STORED(OUT)) pixel;
        STORED(OUT) *steps = (STORED(OUT) *)&pixel;
        UNROLL for (int lane = 0; lane < OUT_BLOCK; lane++) {
            const int c = block * OUT_BLOCK + lane;
            if (c < OUT_CHANNELS)
                steps[lane] = table[c * 256 + value_of(row + x * 3, c)];
            else
                STORE(OUT, 0.0f, steps, lane);
        }
        ((__global WIDE(STORED(OUT)) *)out)[PIXEL(OUT, frame, block, y, x)] = pixel;
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
