/* The frequencies of the input (see frequencies.cl). A work-item makes one row of those of a tile in one block. */
#include "frequencies.cl"

#define ADD_COLUMN(k, n) + TAP_OF(k, n) * row[TAP(k, n)]
#define PIXEL_OF_ROW(k) LOAD_VECTOR(IN, in, pixels.s##k + column)
#if OUTPUT == 2
#define READ_COLUMN(n) { const int column = n; row[n] = share.s0 * PIXEL_OF_ROW(0) + share.s1 * PIXEL_OF_ROW(1); }
#else
#define READ_COLUMN(n) { \
        const int column = n; \
        vector sum = share.s0 * PIXEL_OF_ROW(0); \
        sum += share.s1 * PIXEL_OF_ROW(1); \
        sum += share.s2 * PIXEL_OF_ROW(2); \
        row[n] = sum + share.s3 * PIXEL_OF_ROW(3); \
    }
#endif
#define STORE_FREQUENCY(n) \
    STORE_VECTOR(FREQUENCIES, 0.0f TAPS(ADD_COLUMN, n), frequencies, \
                 FREQUENCY_OF(IN_BLOCKS, frame, y * SIDE + n, block, tile));

KERNEL void conv_frequencies_input(__global const STORED(IN) *restrict in,
                                   __global STORED(FREQUENCIES) *restrict frequencies)
{
    const int item = get_global_id(0), frame = FRAME_ID;
    const int tile = item % GROUPS, y = item / GROUPS % SIDE, block = item / GROUPS / SIDE;
    if (block >= IN_BLOCKS)
        return;

    /* Where the rows that make row y begin, and how much of each is taken. */
    const int corner = PIXEL(IN, frame, block, TILE_Y(tile) - PAD_TOP, TILE_X(tile) - PAD_LEFT);
#if OUTPUT == 2
    const int2 pixels = corner + IN_PITCH * (int2)(TAP(0, y), TAP(1, y));
    const float2 share = (float2)(TAP_OF(0, y), TAP_OF(1, y));
#else
    const int4 pixels = corner + IN_PITCH * (int4)(TAP(0, y), TAP(1, y), TAP(2, y), TAP(3, y));
    const float4 share = (float4)(TAP_OF(0, y), TAP_OF(1, y), TAP_OF(2, y), TAP_OF(3, y));
#endif
    vector row[SIDE];
    EACH_FREQUENCY(READ_COLUMN, STORE_FREQUENCY)
}
