/* OUT[i][row][column] = image i of IN at the position (x, y) that RESIDUAL has for that pixel, each −1 to 1: linear
 * between pixels, zero beyond the border (Jaderberg et al., Spatial Transformer Networks, 2015). IN, RESIDUAL and OUT
 * are IMAGES images, one below the other. A work-item a run of pixels of a block.
 */
#include "layout.cl"
#include "residual.cl"

#ifndef IMAGES
#define IMAGES 2
#define ALIGN_CORNERS 0  /* whether −1 and 1 are the centres of the outermost pixels, rather than their outer edges */
#endif

#define IMAGE_HEIGHT (IN_HEIGHT / IMAGES)

float pixels_of(float position, int size)
{
    return ALIGN_CORNERS ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
}

KERNEL void grid_sample(__global const STORED(IN) *restrict in, __global const STORED(RESIDUAL) *restrict residual,
                        __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const int first = y / (OUT_HEIGHT / IMAGES) * IMAGE_HEIGHT;
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const float column = pixels_of(LOAD(RESIDUAL, residual, CHANNEL(RESIDUAL, frame, 0, y, x)), IN_WIDTH);
        const float row = pixels_of(LOAD(RESIDUAL, residual, CHANNEL(RESIDUAL, frame, 1, y, x)), IMAGE_HEIGHT);
        vector v = INITIAL(0);
        UNROLL for (int i = 0; i < 2; i++)
            UNROLL for (int j = 0; j < 2; j++) {
                const float r = floor(row) + i, c = floor(column) + j;
                const float weight = (1 - fabs(row - r)) * (1 - fabs(column - c));
                if (r >= 0 && r < IMAGE_HEIGHT && c >= 0 && c < IN_WIDTH)  /* no NaN either */
                    v += weight * LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, first + (int)r, (int)c));
            }
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
