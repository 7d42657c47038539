/* Many layers in one launch: the host composes the kernels of a plan into one (see composition.py).
 *
 * Each work-group claims shares of a layer's work-items, computes them, and waits until all of the layer is computed
 * before it begins the next. OpenCL does not promise that two groups progress together, so no group depends on one
 * that has not started:
 *
 *   - shares are claimed by atomic counters, first of the group's own part of a layer, then of the others' parts:
 *     a group that runs alone computes everything;
 *   - a group waits only for shares that others are computing now, and no longer than WAITS looks at their counter.
 *     Then it leaves, and the other one continues alone: a group that leaves has no share left to compute.
 *
 * Hence all layers are complete when the last group leaves, however groups are scheduled. It resets the counters.
 * (Persistent threads with an atomic work counter: Aila and Laine, "Understanding the efficiency of ray traversal on
 * GPUs", 2009.)
 *
 * A group has the same part of each layer. So it reads mostly what it wrote itself, and processors that share no cache
 * pass on little. (Affinity with stealing: Acar, Blelloch and Blumofe, "The data locality of work stealing", 2000.)
 */
#ifndef WAITS
#define WAITS 20000  /* looks, of some 20 ns each with a pause between them */
#define SHARES 16    /* shares of each part of a layer */
#endif

/* Leaves the units of a core to the other thread that it may run; defined by the host where the compiler takes it. */
#ifndef PAUSE
#define PAUSE
#endif

/* The counters of a layer, each in a cache line of its own: the work-items computed, and those claimed of each part.
 * Before them, how many groups have left, and beside it how many have given up a wait since the host made the counters.
 */
#define LINE_OF_COUNTER 16
#define GIVEN_UP 1
#define COMPUTED(layer) (((parts + 1) * (layer) + 1) * LINE_OF_COUNTER)
#define CLAIMED(layer, part) (COMPUTED(layer) + ((part) + 1) * LINE_OF_COUNTER)

typedef volatile __global int *counters;

/* Where a share of a part of so many work-items begins that is this group's now; none is left from `items` on. */
int claimed(counters counter, const int share, const int items)
{
    return *counter < items ? atomic_add(counter, share) : items;
}

/* Whether all work-items of a layer are computed; waits for those that others are computing. The last group of all
 * to compute some of them always finds them complete.
 */
int is_complete(counters state, const int parts, const int layer, const int items)
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

void leave(counters state, const int parts, const int layers)
{
    if (atomic_inc(state) < (int)get_num_groups(0) - 1)
        return;
    for (int layer = 0; layer < layers; layer++) {
        state[COMPUTED(layer)] = 0;
        for (int part = 0; part < parts; part++)
            state[CLAIMED(layer, part)] = 0;
    }
    *state = 0;
}

/* Compute a layer of `width` work-items in each of `rows` rows, each by the statement COMPUTE, which is given its place:
 * `column`, `row`. A part of it is all rows of some columns where BY_COLUMNS, else some rows. A counter is looked at
 * before it is counted on: what another processor only reads stays in its cache.
 */
#define LAYER(layer, BY_COLUMNS, width, rows, COMPUTE) \
    if (is_here) { \
        const int all = (width) * (rows), share = max(1, all / (parts * SHARES)); \
        for (int turn = 0; turn < parts; turn++) { \
            const int part = (own + turn) % parts; \
            const int left = BY_COLUMNS ? (width) * part / parts : 0; \
            const int columns = BY_COLUMNS ? (width) * (part + 1) / parts - left : (width); \
            const int begin = BY_COLUMNS ? 0 : all * part / parts; \
            const int stop = BY_COLUMNS ? columns * (rows) : all * (part + 1) / parts; \
            for (int first; (first = begin + claimed(state + CLAIMED(layer, part), share, stop - begin)) < stop;) { \
                const int end = min(first + share, stop); \
                for (int item = first; item < end; item++) { \
                    const int column = left + item % columns, row = item / columns; \
                    COMPUTE; \
                } \
                mem_fence(CLK_GLOBAL_MEM_FENCE); \
                atomic_add(state + COMPUTED(layer), end - first); \
            } \
        } \
        is_here = is_complete(state, parts, layer, all); \
    }

/* In a composed kernel this is of the layer, not of the launch: see composition.py. */
#define get_global_id(dimension) ((dimension) == 0 ? launch_place.x : (dimension) == 1 ? launch_place.y : launch_place.z)
