/* A channel of an image's pixel, as the network wants it.
 *
 * SWAP: the network wants BGR. GRAY: it wants one channel, 0.299 R + 0.587 G + 0.114 B in whole numbers, as
 * `reference.luma` has it.
 */
#include "layout.cl"

#ifndef SWAP
#define SWAP 0
#endif
#ifndef GRAY
#define GRAY 0
#endif

int value_of(__global const uchar *pixel, const int c)
{
    if (GRAY)
        return (9798 * pixel[0] + 19235 * pixel[1] + 3735 * pixel[2] + (1 << 14)) >> 15;
    return pixel[SWAP ? 2 - c : c];
}
