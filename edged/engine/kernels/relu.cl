/* OUT = max(IN, 0), by element. A work-item a pixel and block. */
#include "layout.cl"

KERNEL void relu(__global const vector *restrict in, __global vector *restrict out)
{
    const int pixel = get_global_id(0), frame = get_global_id(1), block = get_global_id(2);
    const int y = pixel / OUT_WIDTH, x = pixel % OUT_WIDTH;
    if (y >= OUT_HEIGHT)
        return;

    const vector v = in[PIXEL(IN, frame, block, y, x)];
    out[PIXEL(OUT, frame, block, y, x)] = RELU_OF(v);
    if (pixel == 0)
        clear_halo((__global float *)out, frame, block);
}
