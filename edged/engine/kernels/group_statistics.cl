/* OUT[c] = the mean of channel c of IN at pixel (0, 0), and the mean of the squared distances from it at (0, 1).
 * A work-item a block.
 */
#include "layout.cl"

KERNEL void group_statistics(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int frame = FRAME_ID, block = PLANE_ID;
    vector mean = INITIAL(0), squares = INITIAL(0);
    for (int y = 0; y < IN_HEIGHT; y++)
        for (int x = 0; x < IN_WIDTH; x++)
            mean += LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
    mean /= IN_HEIGHT * IN_WIDTH;
    for (int y = 0; y < IN_HEIGHT; y++)
        for (int x = 0; x < IN_WIDTH; x++) {
            const vector distance = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x)) - mean;
            squares += distance * distance;
        }
    STORE_VECTOR(OUT, mean, out, PIXEL(OUT, frame, block, 0, 0));
    STORE_VECTOR(OUT, squares / (IN_HEIGHT * IN_WIDTH), out, PIXEL(OUT, frame, block, 0, 1));
}
