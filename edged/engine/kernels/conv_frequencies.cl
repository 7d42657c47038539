/* The pixels of each tile from the products of its frequencies (see frequencies.cl), which are floats. A work-item makes one
 * row of a tile of one block, from one column of frequencies after the other: with all at once Midgard's registers spill.
 */
#include "frequencies.cl"

#ifndef COLUMNS
#define COLUMNS SIDE
#endif

#define PRODUCT(frequency) products[first + ((frequency) * SIDE + column) * OUT_BLOCKS * GROUPS]
#define STORE_PIXEL(n) \
    if (IS_OWN(tile, out_y, out_x + n)) \
        STORE_VECTOR(OUT, activate(pixels[n] PLUS_RESIDUAL(frame, block, out_y, out_x + n)), out, \
                     PIXEL(OUT, frame, block, out_y, out_x + n));

KERNEL void conv_frequencies(__global const vector *restrict products, __global const vector *restrict bias,
                             __global STORED(OUT) *restrict out RESIDUAL_PARAMETER)
{
    const int item = get_global_id(0), frame = FRAME_ID;
    const int tile = item % GROUPS, y = item / GROUPS % OUTPUT, block = item / GROUPS / OUTPUT;
    if (block >= OUT_BLOCKS)
        return;

    if (tile == 0 && y == 0)
        clear_halo(out, frame, block);

    vector pixels[OUTPUT];
    UNROLL for (int n = 0; n < OUTPUT; n++)
        pixels[n] = bias[block];

    /* The frequency at the end of a column that this row takes, and how often each. */
    const int end = y == OUTPUT - 1 ? SIDE - 1 : 0;
    const float share_of_end = y == 0 || y == OUTPUT - 1 ? 1 : 0;
    const float4 share = (float4)(POWER(POINT(1), y), POWER(POINT(2), y), POWER(POINT(3), y), POWER(POINT(4), y));
    const int first = FREQUENCY_OF(OUT_BLOCKS, frame, 0, block, tile), columns = UNKNOWN(COLUMNS);
    for (int column = 0; column < columns; column++) {
        vector value = share_of_end * PRODUCT(end) + share.s0 * PRODUCT(1) + share.s1 * PRODUCT(2);
#if OUTPUT == 4
        value += share.s2 * PRODUCT(3) + share.s3 * PRODUCT(4);
#endif
        const bool is_last = column == SIDE - 1;
        const float point = is_last ? 0 : POINT(column);
        float power = is_last ? 0 : 1;
        UNROLL for (int n = 0; n < OUTPUT; n++) {
            pixels[n] += (is_last && n == OUTPUT - 1 ? 1 : power) * value;
            power *= point;
        }
    }

    const int out_y = TILE_Y(tile) + y, out_x = TILE_X(tile);
    STORE_PIXEL(0)
    STORE_PIXEL(1)
#if OUTPUT == 4
    STORE_PIXEL(2)
    STORE_PIXEL(3)
#endif
}
