/* How the kernels that sum over a whole batch share it out: SLICES work-items for each block of channels, each with a
 * part of the lines of all frames. A line is cut into chunks of CHUNK pixels; slice s takes the chunks s, s + SLICES …,
 * so that neighbours on a GPU read neighbours. What slices found is put together in their order: always the same.
 */
#include "layout.cl"

#ifndef SLICES
#define SLICES 8
#define CHUNK 8
#define FRAMES 4
#endif

#define PIXELS (FRAMES * IN_HEIGHT * IN_WIDTH)
#define CHUNKS_IN_A_LINE ((IN_WIDTH + CHUNK - 1) / CHUNK)
#define CHUNKS (FRAMES * IN_HEIGHT * CHUNKS_IN_A_LINE)
#define LINE_OF(chunk) ((chunk) / CHUNKS_IN_A_LINE)
#define FRAME_OF(chunk) (LINE_OF(chunk) / IN_HEIGHT)
#define Y_OF(chunk) (LINE_OF(chunk) % IN_HEIGHT)
#define FIRST_X(chunk) ((chunk) % CHUNKS_IN_A_LINE * CHUNK)
#define LAST_X(chunk) (min(FIRST_X(chunk) + CHUNK, IN_WIDTH) - 1)

#define FOR_EACH_CHUNK(slice) for (int chunk = slice; chunk < CHUNKS; chunk += SLICES)
#define FOR_EACH_X(chunk) for (int x = FIRST_X(chunk); x <= LAST_X(chunk); x++)

/* Where a slice leaves its vectors for a block: [slice][block][3 vectors]. */
#define SHARE(slice, block) (((slice) * IN_BLOCKS + (block)) * 3)
