/* Reads a large buffer once, as fast as the device's memory can give it.
 *
 * Work-item i reads STEPS vectors of WIDTH floats from i · START on, each STRIDE after the last: a stretch of its own
 * (STRIDE 1) for a CPU, where each core runs ahead in its own stream; side by side with its neighbours (START 1)
 * for a GPU, where they read at the same time.
 */
#ifndef WIDTH
#define WIDTH 4   /* floats of a vector */
#endif
#ifndef STEPS
#define STEPS 64  /* vectors that a work-item reads: a multiple of 4 */
#define START 64
#define STRIDE 1
#endif
#ifndef GROUP
#define GROUP 1   /* work-items in a work-group */
#endif

#define PASTE(a, b) PASTE_NOW(a, b)
#define PASTE_NOW(a, b) a##b
typedef PASTE(float, WIDTH) vector;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void peak_bytes(__global const vector *restrict in, __global vector *restrict out)
{
    __global const vector *next = in + get_global_id(0) * START;
    vector sum[4] = {0, 0, 0, 0};
    for (int step = 0; step < STEPS; step += 4, next += 4 * STRIDE) {
        sum[0] += next[0];
        sum[1] += next[STRIDE];
        sum[2] += next[2 * STRIDE];
        sum[3] += next[3 * STRIDE];
    }
    out[get_global_id(0)] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
