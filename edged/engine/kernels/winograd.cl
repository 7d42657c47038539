/* Winograd's minimal filtering: a 3 × 3 convolution with fewer multiplications.
 * Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).
 *
 * A tile of OUTPUT × OUTPUT pixels of the output is made of SIDE × SIDE pixels of the input. Seen as polynomials,
 * rows of the input and of the window are multiplied by their values at SIDE points: 0, ±1, ∞ for OUTPUT 2 and
 * 0, ±√½, ±√2, ∞ for OUTPUT 4, at which float32 errs four times less than at the paper's 0, ±1, ±2, ∞.
 * A value at a pair of points is called a frequency of the tile. Each takes one multiplication for every input and
 * output channel: 16 for 4 pixels, or 36 for 16, where the window takes 36 and 144.
 *
 * Tiles are counted row by row, and TILES of them make a group. What would stick out of the image, tile or group,
 * is moved back to end with it, and computes some pixels twice: the image must have room for a tile, and for TILES.
 */
#include "convolution.cl"

#ifndef OUTPUT
#define OUTPUT 2
#define TILES 8
#endif

#define SIDE (OUTPUT + 2)
#define TILES_X ((OUT_WIDTH + OUTPUT - 1) / OUTPUT)
#define TILES_Y ((OUT_HEIGHT + OUTPUT - 1) / OUTPUT)
#define GROUPS ((TILES_X * TILES_Y + TILES - 1) / TILES)

/* Tile t of a group, and its first pixel of the output. */
#define TILE(group, t) (min((group) * TILES, TILES_X * TILES_Y - TILES) + (t))
#define TILE_Y(tile) min((tile) / TILES_X * OUTPUT, OUT_HEIGHT - OUTPUT)
#define TILE_X(tile) min((tile) % TILES_X * OUTPUT, OUT_WIDTH - OUTPUT)

/* Whether pixel (y, x) is the tile's own. What a tile that was moved back shares with its neighbours is theirs: the
 * sums differ in their last bits, and must not depend on who comes last.
 */
#define IS_OWN(tile, y, x) ((y) >= (tile) / TILES_X * OUTPUT && (x) >= (tile) % TILES_X * OUTPUT)

/* The input's frequencies lie as [frame][group][SIDE × SIDE][block][TILES], each a vector of one block: those of all
 * frames, or of KEPT_FRAMES at a time where all would not fit into the cache.
 */
#ifndef KEPT_FRAMES
#define KEPT_FRAMES 0
#endif
#define PLACE_OF(frame) (KEPT_FRAMES ? (frame) % max(KEPT_FRAMES, 1) : (frame))
#define FREQUENCY(frame, group, frequency, block) \
    ((((PLACE_OF(frame) * GROUPS + (group)) * SIDE * SIDE + (frequency)) * IN_BLOCKS + (block)) * TILES)
