/* The first kernel of a Winograd convolution (see winograd.cl): the input becomes its frequencies.
 *
 * A work-item transforms one group of tiles of one input block, each tile first along its columns, then its rows.
 */
#include "winograd.cl"

#define SQRT_2 1.41421356f

/* The values at the points of what is to be multiplied: Bᵀ of the paper. */
void transform(const vector in[SIDE], vector values[SIDE])
{
#if OUTPUT == 2
    values[0] = in[2] - in[0];
    values[1] = in[2] + in[1];
    values[2] = in[2] - in[1];
    values[3] = in[3] - in[1];
#else
    const vector even = in[4] - 2 * in[2], odd = SQRT_2 / 2 * in[3] - SQRT_2 * in[1];
    const vector even_too = in[4] - 0.5f * in[2], odd_too = SQRT_2 * in[3] - SQRT_2 / 2 * in[1];
    values[0] = in[0] - 2.5f * in[2] + in[4];
    values[1] = even + odd;
    values[2] = even - odd;
    values[3] = even_too + odd_too;
    values[4] = even_too - odd_too;
    values[5] = in[1] - 2.5f * in[3] + in[5];
#endif
}

KERNEL void conv_winograd_input(__global const STORED(IN) *restrict in, __global vector *restrict frequencies)
{
    const int group = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;

    for (int t = 0; t < TILES; t++) {
        const int y0 = TILE_Y(TILE(group, t)) - PAD_TOP, x0 = TILE_X(TILE(group, t)) - PAD_LEFT;
        vector rows[SIDE][SIDE];
        UNROLL for (int x = 0; x < SIDE; x++) {
            vector column[SIDE], values[SIDE];
            UNROLL for (int y = 0; y < SIDE; y++)
                column[y] = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y0 + y, x0 + x));
            transform(column, values);
            UNROLL for (int y = 0; y < SIDE; y++)
                rows[y][x] = values[y];
        }
        UNROLL for (int y = 0; y < SIDE; y++) {
            vector values[SIDE];
            transform(rows[y], values);
            UNROLL for (int x = 0; x < SIDE; x++)
                frequencies[FREQUENCY(frame, group, y * SIDE + x, block) + t] = values[x];
        }
    }
}
