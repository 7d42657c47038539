/* How the image of a frame is changed at random, as (seed, step, frame) say, so that a step can be done again: moved
 * by up to SHIFT pixels down or up and to either side (black where it was not) and, if FLIP, mirrored in half of the
 * cases before. RANDOM_PARAMETERS are a kernel's last.
 */
#include "random.cl"

#ifndef FLIP
#define FLIP 0
#define SHIFT 0
#endif
#define AUGMENT (FLIP || SHIFT)

typedef struct {
    int down, right, flip;
} motion;

#if AUGMENT
#define RANDOM_PARAMETERS , const uint seed, const uint step
#define MOTION_OF(frame) motion_of(random_bits(seed, step, frame))
#else
#define RANDOM_PARAMETERS
#define MOTION_OF(frame) motion_of(0)
#endif

motion motion_of(const uint random)
{
    motion found = {0, 0, 0};
    if (AUGMENT) {
        found.down = (int)((random >> 1 & 0x7fff) % (2 * SHIFT + 1)) - SHIFT;
        found.right = (int)((random >> 16) % (2 * SHIFT + 1)) - SHIFT;
        found.flip = FLIP && (random & 1);
    }
    return found;
}
