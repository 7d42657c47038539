/* A vector of OUT in which each value is 0 with the probability THRESHOLD ÷ 2³², else times the float whose bits are
 * SCALE. Which ones follows from seed and step, from SALT, which is the operator's own, and from the value's place.
 */
#include "layout.cl"
#include "random.cl"

#ifndef THRESHOLD
#define THRESHOLD 1073741824
#define SCALE 1068149419
#define SALT 0
#endif

vector dropped(vector v, int frame, int block, int y, int x, uint seed, uint step)
{
    for (int c = 0; c < OUT_BLOCK; c++) {
        const uint channel = frame * OUT_CHANNELS + block * OUT_BLOCK + c;
        const uint place = (channel * OUT_HEIGHT + y) * OUT_WIDTH + x;
        const bool stays = random_bits(seed ^ (uint)(SALT), step, place) >= (uint)(THRESHOLD);
        ((float *)&v)[c] *= stays ? as_float((int)(SCALE)) : 0;
    }
    return v;
}
