/* The tiles of an image, TILE_H × TILE_W pixels each: the last of a row or column is moved back to end with the image.
 *
 * A work-item computes TILE_RUN tiles, one after another: a driver takes tens of nanoseconds to start one, and to find the
 * place of its tile, as long as it takes to sum a few channels.
 */
#define TILES_X ((OUT_WIDTH + TILE_W - 1) / TILE_W)
#define TILES (TILES_X * ((OUT_HEIGHT + TILE_H - 1) / TILE_H))
#define FIRST_ROW(tile) min((tile) / TILES_X * TILE_H, OUT_HEIGHT - TILE_H)
#define FIRST_COLUMN(tile) min((tile) % TILES_X * TILE_W, OUT_WIDTH - TILE_W)

#define FIRST_TILE ((int)get_global_id(0) * TILE_RUN)
#define END_OF_TILES min(FIRST_TILE + TILE_RUN, TILES)

/* How many tiles use the same weights before this one. */
#define TURN_OF(tile, frame) ((FRAMES_LAST ? 0 : (frame) * TILES) + (tile))
