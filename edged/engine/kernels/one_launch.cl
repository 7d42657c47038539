/* Many layers in one launch: the host composes the kernels of a plan into one (see composition.py).
 *
 * Each work-group claims shares of a layer's work-items, computes them, and waits until all of the layer is computed
 * before it begins the next. OpenCL does not promise that two groups progress together, so no group depends on one
 * that has not started:
 *
 *   - shares are claimed by an atomic counter: a group that runs alone computes everything;
 *   - a group waits only for shares that others are computing now, and no longer than WAITS looks at their counter.
 *     Then it leaves, and the other one continues alone: a group that leaves has no share left to compute.
 *
 * Hence all layers are complete when the last group leaves, however groups are scheduled. It resets the counters.
 * (Persistent threads with an atomic work counter: Aila and Laine, "Understanding the efficiency of ray traversal on
 * GPUs", 2009.)
 */
#ifndef WAITS
#define WAITS 20000  /* looks, of some 20 ns each with a pause between them */
#define SHARES 16    /* shares of a layer for each group */
#endif

/* Leaves the units of a core to the other thread that it may run; defined by the host where the compiler takes it. */
#ifndef PAUSE
#define PAUSE
#endif

/* The counters of a layer, each in a cache line of its own; before them, how many groups have left, and beside it
 * how many have given up a wait since the host made the counters.
 */
#define LINE_OF_COUNTER 16
#define GIVEN_UP 1
#define CLAIMED(layer) ((2 * (layer) + 1) * LINE_OF_COUNTER)
#define COMPUTED(layer) ((2 * (layer) + 2) * LINE_OF_COUNTER)

typedef volatile __global int *counters;

/* Whether all work-items of a layer are computed; waits for those that others are computing. The last group of all
 * to compute some of them always finds them complete.
 */
int is_complete(counters state, const int layer, const int items)
{
    for (int look = 0; look <= WAITS; look++) {
        if (state[COMPUTED(layer)] >= items) {
            atomic_add(state + COMPUTED(layer), 0);  /* what was written before is visible after it: also on Arm */
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            return 1;
        }
        PAUSE;
    }
    atomic_inc(state + GIVEN_UP);
    return 0;
}

void leave(counters state, const int layers, const int groups)
{
    if (atomic_inc(state) < groups - 1)
        return;
    for (int layer = 0; layer < layers; layer++)
        state[CLAIMED(layer)] = state[COMPUTED(layer)] = 0;
    *state = 0;
}

/* Compute a layer of so many work-items, each by the statement COMPUTE, which is given their number `item`. */
#define LAYER(layer, items, COMPUTE) \
    if (is_here) { \
        const int all = items, share = max(1, all / (groups * SHARES)); \
        for (int first; (first = atomic_add(state + CLAIMED(layer), share)) < all;) { \
            const int end = min(first + share, all); \
            for (int item = first; item < end; item++) \
                COMPUTE; \
            mem_fence(CLK_GLOBAL_MEM_FENCE); \
            atomic_add(state + COMPUTED(layer), end - first); \
        } \
        is_here = is_complete(state, layer, all); \
    }

/* In a composed kernel these are of the layer, not of the launch: see composition.py. */
#define get_global_id(dimension) ((dimension) == 0 ? launch_place.x : (dimension) == 1 ? launch_place.y : launch_place.z)
#define get_global_size(dimension) (launch_items)
