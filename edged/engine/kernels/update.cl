/* What the kernels of optimizers share: all weights lie in one buffer of COUNT floats, their gradients likewise in
 * another. A work-item updates CHUNK neighbours: many on a CPU, whose compiler makes vectors of the loop, one on a
 * GPU. The first DECAYED decay, the rest (biases, norms) do not.
 */
#ifndef GROUP
#define GROUP 1
#endif
#ifndef COUNT
#define COUNT 1024
#define DECAYED 512
#define CHUNK 64
#endif

#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define START (get_global_id(0) * CHUNK)
#define END min(START + CHUNK, (size_t)COUNT)
#define DECAY_OF(i, decay) ((i) < DECAYED ? (decay) : 0)
