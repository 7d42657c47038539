/* How tensors lie in memory, as `layout.py` has it; every other kernel file includes this one.
 *
 *   [frame][block][row][column][BLOCK channels]     rows and columns with their halo of zeros
 *
 * A kernel calls its tensors IN, RESIDUAL and OUT; the host gives the geometry of each as T_CHANNELS, T_BLOCK …
 * Their elements are float (T_TYPE 0), half (1), short (2) or uchar (3) for the steps of a quantized tensor, or the upper
 * half of a float (4); kernels compute in float in any case, but for those of quantized layers. A uchar of 0 is the step
 * T_LOWEST.
 * The defaults below are a 32 × 8 × 8 image, so that every file compiles alone.
 */
#ifndef GROUP
#define GROUP 1  /* work-items of dimension 0 in a work-group */
#endif
#ifndef IN_BLOCK
#define IN_CHANNELS 32
#define IN_BLOCK 4
#define IN_BLOCKS 8
#define IN_HEIGHT 8
#define IN_WIDTH 8
#define IN_TOP 1
#define IN_LEFT 1
#define IN_ROWS 10
#define IN_PITCH 10
#define IN_TYPE 0
#endif
#ifndef OUT_BLOCK
#define OUT_CHANNELS 32
#define OUT_BLOCK 4
#define OUT_BLOCKS 8
#define OUT_HEIGHT 8
#define OUT_WIDTH 8
#define OUT_TOP 0
#define OUT_LEFT 0
#define OUT_ROWS 8
#define OUT_PITCH 8
#define OUT_TYPE 0
#endif

/* Pixels between the start of a tensor T and pixel (y, x) of one block of one frame. */
#define PIXEL(T, frame, block, y, x) \
    ((((frame) * T##_BLOCKS + (block)) * T##_ROWS + T##_TOP + (y)) * T##_PITCH + T##_LEFT + (x))

/* Elements between the start of a tensor T and one channel of a pixel. */
#define CHANNEL(T, frame, channel, y, x) \
    (PIXEL(T, frame, (channel) / T##_BLOCK, y, x) * T##_BLOCK + (channel) % T##_BLOCK)

/* `WIDE(float)` is the type of the channels of one block of the output; names of built-in functions end likewise:
 * `WIDE(convert_float)`.
 */
#if OUT_BLOCK == 1
#define WIDE(name) name
#else
#define WIDE(name) WIDE_BY(name, OUT_BLOCK)
#define WIDE_BY(name, channels) WIDE_NOW(name, channels)
#define WIDE_NOW(name, channels) name##channels
#endif
typedef WIDE(float) vector;
#define to_vector WIDE(convert_float)

/* The elements of T (a tensor, or WEIGHTS), and one of them, or one vector of OUT_BLOCK of them, at an index from
 * the pointer p. Half as a type of storage alone is in OpenCL C 1.2 itself; cl_khr_fp16 is not needed. Vectors lie at
 * multiples of their size: PoCL's vload and vstore, which take any address, cost twice the time of small types.
 */
#define STORED(T) PASTE(stored_, T##_TYPE)
#define LOAD(T, p, index) PASTE(load_, T##_TYPE)(T, p, index)
#define STORE(T, value, p, index) PASTE(store_, T##_TYPE)(T, value, p, index)
#define LOAD_VECTOR(T, p, index) PASTE(load_vector_, T##_TYPE)(T, p, index)
#define STORE_VECTOR(T, value, p, index) PASTE(store_vector_, T##_TYPE)(T, value, p, index)

#define PASTE(a, b) PASTE_NOW(a, b)
#define PASTE_NOW(a, b) a##b
#define stored_0 float
#define stored_1 half
#define stored_2 short
#define stored_3 uchar
#define stored_4 ushort
#define load_0(T, p, index) ((p)[index])
#define load_1(T, p, index) load_halves(p, index)
#define load_2(T, p, index) convert_float((p)[index])
#define load_3(T, p, index) (convert_float((p)[index]) + (float)(T##_LOWEST))
#define load_4(T, p, index) as_float(convert_uint((p)[index]) << 16)
#define store_0(T, value, p, index) (p)[index] = (value)
#define store_1(T, value, p, index) store_halves(value, p, index)
#define store_2(T, value, p, index) (p)[index] = convert_short(value)
#define store_3(T, value, p, index) (p)[index] = convert_uchar((value) - (float)(T##_LOWEST))
#define store_4(T, value, p, index) (p)[index] = convert_ushort(UPPER_OF(as_uint((float)(value))))
#define load_vector_0(T, p, index) (((__global const vector *)(p))[index])
#define load_vector_1(T, p, index) WIDE(load_halves)(p, index)
#define load_vector_2(T, p, index) to_vector(((__global const WIDE(short) *)(p))[index])
#define load_vector_3(T, p, index) (to_vector(((__global const WIDE(uchar) *)(p))[index]) + (float)(T##_LOWEST))
#define load_vector_4(T, p, index) \
    WIDE(as_float)(WIDE(convert_uint)(((__global const WIDE(ushort) *)(p))[index]) << 16)
#define store_vector_0(T, value, p, index) ((__global vector *)(p))[index] = (value)
#define store_vector_1(T, value, p, index) WIDE(store_halves)(value, p, index)
#define store_vector_2(T, value, p, index) ((__global WIDE(short) *)(p))[index] = WIDE(convert_short)(value)
#define store_vector_3(T, value, p, index) \
    ((__global WIDE(uchar) *)(p))[index] = WIDE(convert_uchar)(WIDE(convert_int)((value) - (float)(T##_LOWEST)))
#define store_vector_4(T, value, p, index) \
    ((__global WIDE(ushort) *)(p))[index] = WIDE(convert_ushort)(UPPER_OF(WIDE(as_uint)(value)))

/* The float vector of 1, 4, 8 or 16 halves, and back. Where the host says that half is a type of its own, they are
 * accessed at once: of vload_half and vstore_half Mesa's compilers for Mali make an access for each half, of a half8
 * two, so that more than four are words.
 */
#ifdef HALF_IS_A_TYPE
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define load_halves(p, index) convert_float((p)[index])
#define load_halves4(p, index) convert_float4(((__global const half4 *)(p))[index])
#define load_halves8(p, index) convert_float8(as_half8(((__global const uint4 *)(p))[index]))
#define load_halves16(p, index) convert_float16(as_half16(((__global const uint8 *)(p))[index]))
#define store_halves(value, p, index) (p)[index] = convert_half(value)
#define store_halves4(value, p, index) ((__global half4 *)(p))[index] = convert_half4(value)
#define store_halves8(value, p, index) ((__global uint4 *)(p))[index] = as_uint4(convert_half8(value))
#define store_halves16(value, p, index) ((__global uint8 *)(p))[index] = as_uint8(convert_half16(value))
#else
#define load_halves(p, index) vload_half(index, p)
#define load_halves4(p, index) vload_half4(index, p)
#define load_halves8(p, index) vload_half8(index, p)
#define load_halves16(p, index) vload_half16(index, p)
#define store_halves(value, p, index) vstore_half(value, index, p)
#define store_halves4(value, p, index) vstore_half4(value, index, p)
#define store_halves8(value, p, index) vstore_half8(value, index, p)
#define store_halves16(value, p, index) vstore_half16(value, index, p)
#endif

/* The number with which a vector enters a loop. Of vectors of eight it must be none that the compiler knows: Mesa's for
 * Midgard (25.0.7) has no such register, and writes beyond its memory.
 */
#if OUT_BLOCK == 8 && defined(HALF_IS_A_TYPE)
#define INITIAL(number) (get_num_groups(0) ? (number) : 1.0f)
#else
#define INITIAL(number) (number)
#endif

/* The upper half of a float's bits, rounded to the nearest, of two to the even one; of a NaN without a carry. */
#define UPPER_OF(bits) \
    ((((bits) & 0x7fffffff) > 0x7f800000 ? (bits) : (bits) + 0x7fff + (((bits) >> 16) & 1)) >> 16)

/* A work-item writes RUN neighbouring pixels of one row and block: a whole row on a CPU, one on a GPU.
 * `run` counts them row by row; its pixels are those of ROW_OF(run) from START_OF(run) up to END_OF(run).
 */
#ifndef RUN
#define RUN 1
#endif
#define RUNS_IN_A_ROW ((OUT_WIDTH + RUN - 1) / RUN)
#define ROW_OF(run) ((run) / RUNS_IN_A_ROW)
#define START_OF(run) ((run) % RUNS_IN_A_ROW * RUN)
#define END_OF(run) min(START_OF(run) + RUN, OUT_WIDTH)

/* Where a work-item is along the frames and the planes, of which the former come first unless FRAMES_LAST. */
#ifndef FRAMES_LAST
#define FRAMES_LAST 0
#endif
#define FRAME_ID get_global_id(FRAMES_LAST ? 2 : 1)
#define PLANE_ID get_global_id(FRAMES_LAST ? 1 : 2)

#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define UNROLL _Pragma("unroll")

/* Write `sum += a * b`, not mad: OpenCL lets every compiler fuse it, and PoCL takes mad for two instructions, which
 * leaves no unit of a CPU free to convert halves.
 */

/* fmax would turn a NaN into 0 and hide it. */
#define RELU_OF(v) (((v) < 0) ? 0 : (v))

/* A block with zeros beyond the last channel. */
vector without_padding(vector v, int block)
{
    if (OUT_CHANNELS % OUT_BLOCK == 0)
        return v;
    for (int c = OUT_CHANNELS - block * OUT_BLOCK; c < OUT_BLOCK; c++)
        ((float *)&v)[c] = 0;
    return v;
}

/* The zeros around one block of one frame of OUT: written by the first work-item of that block. */
void clear_halo(__global STORED(OUT) *out, int frame, int block)
{
    if (OUT_ROWS * OUT_PITCH == OUT_HEIGHT * OUT_WIDTH)
        return;
    for (int y = -OUT_TOP; y < OUT_ROWS - OUT_TOP; y++) {
        __global STORED(OUT) *row = out + PIXEL(OUT, frame, block, y, -OUT_LEFT) * OUT_BLOCK;
        const int image = y >= 0 && y < OUT_HEIGHT ? OUT_WIDTH : 0;
        for (int x = 0; x < OUT_PITCH - image; x++)
            for (int c = 0; c < OUT_BLOCK; c++)
                STORE(OUT, 0.0f, row, (x < OUT_LEFT ? x : x + image) * OUT_BLOCK + c);
    }
}
