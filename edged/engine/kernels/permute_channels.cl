/* OUT[c] = IN[order[c]], where a block of OUT reads SOURCES blocks of IN at most, each permuted by an instruction.
 *
 * `table` has for each block of OUT: the lane of each channel in its block of IN; which of the blocks that is, or -1 beyond
 * the last channel; and the numbers of the blocks. A work-item computes a run of pixels of a block.
 */
#include "layout.cl"

#ifndef SOURCES
#define SOURCES 2
#endif

typedef WIDE(int) lanes;

#if defined(CLANG_BUILTINS) && OUT_BLOCK == 8 && defined(__AVX2__)
#define PERMUTED(v, lane) __builtin_ia32_permvarsf256(v, lane)
#elif defined(CLANG_BUILTINS) && OUT_BLOCK == 16 && defined(__AVX512F__)
#define PERMUTED(v, lane) __builtin_ia32_permvarsf512(v, lane)
#else
#define PERMUTED(v, lane) permuted(v, lane)
vector permuted(vector v, lanes lane)
{
    vector found;
    for (int c = 0; c < OUT_BLOCK; c++)
        ((float *)&found)[c] = ((float *)&v)[((int *)&lane)[c]];
    return found;
}
#endif

KERNEL void permute_channels(__global const STORED(IN) *restrict in, __global const lanes *restrict table,
                             __global STORED(OUT) *restrict out)
{
    const int run = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int y = ROW_OF(run);
    if (y >= OUT_HEIGHT)
        return;

    const lanes lane = table[3 * block], which = table[3 * block + 1], blocks = table[3 * block + 2];
    int from[SOURCES];
    UNROLL for (int n = 0; n < SOURCES; n++)
        from[n] = PIXEL(IN, frame, ((int *)&blocks)[n], y, 0);
    for (int x = START_OF(run); x < END_OF(run); x++) {
        vector v = 0;
        UNROLL for (int n = 0; n < SOURCES; n++)
            v = which == n ? PERMUTED(LOAD_VECTOR(IN, in, from[n] + x), lane) : v;
        STORE_VECTOR(OUT, v, out, PIXEL(OUT, frame, block, y, x));
    }
    if (run == 0)
        clear_halo(out, frame, block);
}
