/* The channels of IN become those of OUT from FIRST_CHANNEL on; a launch for each input, in their order.
 *
 * Where FIRST_CHANNEL begins a block, whole vectors move, and the zeros beyond the last channel of IN with them: the
 * next input overwrites those that are its own. A work-item a run of pixels of TOGETHER blocks of IN, which are along
 * dimension 2; those of vectors (IS_VECTOR) along dimension 0, so that a work-group has many.
 */
#include "layout.cl"

#ifndef FIRST_CHANNEL
#define FIRST_CHANNEL 0
#endif
#ifndef TOGETHER
#define TOGETHER 1
#define IS_VECTOR 0
#endif
#define SHIFT (FIRST_CHANNEL % OUT_BLOCK)  /* channels of OUT's block that are before the first of IN */

void copy_run(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out, int frame, int block, int run)
{
    const int y = ROW_OF(run), first = FIRST_CHANNEL / OUT_BLOCK + block;
    for (int x = START_OF(run); x < END_OF(run); x++) {
        const vector v = LOAD_VECTOR(IN, in, PIXEL(IN, frame, block, y, x));
#if SHIFT == 0
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, first, y, x));
#else
        UNROLL for (int c = 0; c < OUT_BLOCK - SHIFT; c++)
            STORE(OUT, ((float *)&v)[c], out, PIXEL(OUT, frame, first, y, x) * OUT_BLOCK + SHIFT + c);
        if (first + 1 < OUT_BLOCKS) {  /* zeros beyond the last channel of IN may go further */
            UNROLL for (int c = 0; c < SHIFT; c++)
                STORE(OUT, ((float *)&v)[OUT_BLOCK - SHIFT + c], out, PIXEL(OUT, frame, first + 1, y, x) * OUT_BLOCK + c);
            if (block == IN_BLOCKS - 1)  /* whose last channel may be OUT's, too */
                UNROLL for (int c = SHIFT; c < OUT_BLOCK; c++)
                    STORE(OUT, 0.0f, out, PIXEL(OUT, frame, first + 1, y, x) * OUT_BLOCK + c);
        }
#endif
    }
}

KERNEL void concat(__global const STORED(IN) *restrict in, __global STORED(OUT) *restrict out)
{
    const int item = get_global_id(0), frame = FRAME_ID;
    const int run = IS_VECTOR ? 0 : item, plane = IS_VECTOR ? item : PLANE_ID;
    if (ROW_OF(run) >= OUT_HEIGHT)
        return;

    for (int block = plane * TOGETHER; block < min((plane + 1) * TOGETHER, IN_BLOCKS); block++)
        copy_run(in, out, frame, block, run);
    if (FIRST_CHANNEL == 0 && item == 0 && plane == 0)
        for (int each = 0; each < OUT_BLOCKS; each++)
            clear_halo(out, frame, each);
}
