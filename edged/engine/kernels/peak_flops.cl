/* As many multiply-adds as a device can do: nothing else stands in the loop.
 *
 * Each work-item keeps CHAINS sums of WIDTH floats in registers. The sums do not wait for one another, so that a
 * multiply-add unit is never idle while an earlier result is on its way.
 */
#ifndef WIDTH
#define WIDTH 4      /* floats that one instruction of the device works on */
#endif
#ifndef CHAINS
#define CHAINS 12    /* units × cycles until a result is there; more than the registers hold would spill */
#endif
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD mad  /* or fma: some devices compute the one slowly, some the other */
#endif
#ifndef GROUP
#define GROUP 1      /* work-items in a work-group */
#endif

#define PASTE(a, b) PASTE_NOW(a, b)
#define PASTE_NOW(a, b) a##b
#if WIDTH == 1
typedef float vector;
#else
typedef PASTE(float, WIDTH) vector;
#endif
#define UNROLL _Pragma("unroll")

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void peak_flops(__global vector *out, int steps, float factor, float term)
{
    vector sum[CHAINS];
    UNROLL for (int chain = 0; chain < CHAINS; chain++)
        sum[chain] = (vector)(float)(get_global_id(0) + chain);
    for (int step = 0; step < steps; step++)
        UNROLL for (int chain = 0; chain < CHAINS; chain++)
            sum[chain] = MULTIPLY_ADD(sum[chain], (vector)factor, (vector)term);
    UNROLL for (int chain = 1; chain < CHAINS; chain++)
        sum[0] += sum[chain];
    out[get_global_id(0)] = sum[0];
}
