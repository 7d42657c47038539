/* The built-in functions that edged's kernels call, for PoCL; `compiling.py` puts them before a source.
 *
 * PoCL declares all that there are by clang's opencl-c.h, 895 kB that its compiler reads for each program, twice: an empty
 * kernel takes ten times as long with it as without. The option -D_OPENCL_H_ is the guard of that file, and PoCL's own
 * _clang_opencl.h, which includes it, looks at the guard too. The rest of PoCL's _kernel.h remains: _builtin_renames.h
 * gives the functions below their names in PoCL's library. Types, constants and as_type are there, too: they are in
 * opencl-c-base.h.
 *
 * Return types, attributes and address spaces are those of opencl-c.h for OpenCL C 1.2: the compilers of PoCL 3.1, 5, 6
 * and 7 make the same LLVM code of each kernel with both. A function is declared for all types of elements for which that
 * file has it: a call for one that were missing would convert its arguments to another, without a word. Vectors of
 * three are left out: no other converts to one, so that a call is an error.
 */

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define BUILTIN_IF_HALF(declarations) declarations
#else
#define BUILTIN_IF_HALF(declarations)
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define BUILTIN_IF_DOUBLE(declarations) declarations
#else
#define BUILTIN_IF_DOUBLE(declarations)
#endif

#define BUILTIN __attribute__((overloadable))
#define BUILTIN_CONST __attribute__((overloadable, const))
#define BUILTIN_PURE __attribute__((overloadable, pure))

/* DECLARE(type) for each integer, for each floating-point type, and for each vector of a type; the latter also as
 * DECLARE(vector, type).
 */
#define BUILTIN_EACH_INTEGER(DECLARE) \
    DECLARE(char) DECLARE(uchar) DECLARE(short) DECLARE(ushort) DECLARE(int) DECLARE(uint) DECLARE(long) DECLARE(ulong)
#define BUILTIN_EACH_FLOAT(DECLARE) DECLARE(float) BUILTIN_IF_DOUBLE(DECLARE(double)) BUILTIN_IF_HALF(DECLARE(half))
#define BUILTIN_EACH_WIDTH(DECLARE, type) \
    DECLARE(type) DECLARE(type##2) DECLARE(type##4) DECLARE(type##8) DECLARE(type##16)
#define BUILTIN_EACH_VECTOR(DECLARE, type) \
    DECLARE(type##2, type) DECLARE(type##4, type) DECLARE(type##8, type) DECLARE(type##16, type)

/* Work-items. */
size_t BUILTIN_CONST get_global_id(uint);
size_t BUILTIN_CONST get_local_id(uint);
size_t BUILTIN_CONST get_num_groups(uint);
size_t BUILTIN_CONST get_group_id(uint);

/* What other work-items see. */
void BUILTIN __attribute__((convergent)) barrier(cl_mem_fence_flags);
void BUILTIN mem_fence(cl_mem_fence_flags);

#define BUILTIN_ATOMICS(space, type) \
    type BUILTIN atomic_add(volatile space type *, type); \
    type BUILTIN atomic_inc(volatile space type *);
BUILTIN_ATOMICS(__global, int)
BUILTIN_ATOMICS(__global, uint)
BUILTIN_ATOMICS(__local, int)
BUILTIN_ATOMICS(__local, uint)

/* Numbers of any type. */
#define BUILTIN_LIMITS(type) \
    type BUILTIN_CONST min(type, type); \
    type BUILTIN_CONST max(type, type); \
    type BUILTIN_CONST clamp(type, type, type);
#define BUILTIN_LIMITS_OF_ALL(vector, type) \
    vector BUILTIN_CONST min(vector, type); \
    vector BUILTIN_CONST max(vector, type); \
    vector BUILTIN_CONST clamp(vector, type, type);
#define BUILTIN_LIMITED(type) \
    BUILTIN_EACH_WIDTH(BUILTIN_LIMITS, type) BUILTIN_EACH_VECTOR(BUILTIN_LIMITS_OF_ALL, type)
BUILTIN_EACH_INTEGER(BUILTIN_LIMITED)
BUILTIN_EACH_FLOAT(BUILTIN_LIMITED)

/* Floating-point numbers. */
#define BUILTIN_MATH(type) \
    type BUILTIN_CONST erf(type); \
    type BUILTIN_CONST exp(type); \
    type BUILTIN_CONST expm1(type); \
    type BUILTIN_CONST fabs(type); \
    type BUILTIN_CONST floor(type); \
    type BUILTIN_CONST fma(type, type, type); \
    type BUILTIN_CONST fmax(type, type); \
    type BUILTIN_CONST log(type); \
    type BUILTIN_CONST log1p(type); \
    type BUILTIN_CONST mad(type, type, type); \
    type BUILTIN_CONST pow(type, type); \
    type BUILTIN_CONST rint(type); \
    type BUILTIN_CONST sqrt(type); \
    type BUILTIN_CONST tanh(type);
#define BUILTIN_MATH_OF_ALL(vector, type) vector BUILTIN_CONST fmax(vector, type);
#define BUILTIN_COMPUTED(type) BUILTIN_EACH_WIDTH(BUILTIN_MATH, type) BUILTIN_EACH_VECTOR(BUILTIN_MATH_OF_ALL, type)
BUILTIN_EACH_FLOAT(BUILTIN_COMPUTED)

/* Conversions. */
#define BUILTIN_CONVERT(to, from) \
    to BUILTIN_CONST convert_##to(from); \
    to##2 BUILTIN_CONST convert_##to##2(from##2); \
    to##4 BUILTIN_CONST convert_##to##4(from##4); \
    to##8 BUILTIN_CONST convert_##to##8(from##8); \
    to##16 BUILTIN_CONST convert_##to##16(from##16);
#define BUILTIN_CONVERT_FROM(from) \
    BUILTIN_CONVERT(uchar, from) BUILTIN_CONVERT(short, from) BUILTIN_CONVERT(ushort, from) \
    BUILTIN_CONVERT(int, from) BUILTIN_CONVERT(uint, from) BUILTIN_CONVERT(float, from)
BUILTIN_EACH_INTEGER(BUILTIN_CONVERT_FROM)
BUILTIN_EACH_FLOAT(BUILTIN_CONVERT_FROM)

/* Memory. */
#define BUILTIN_LOAD_FROM(space, type) \
    type##2 BUILTIN_PURE vload2(size_t, const space type *); \
    type##4 BUILTIN_PURE vload4(size_t, const space type *); \
    type##8 BUILTIN_PURE vload8(size_t, const space type *); \
    type##16 BUILTIN_PURE vload16(size_t, const space type *);
#define BUILTIN_LOAD(type) \
    BUILTIN_LOAD_FROM(__constant, type) BUILTIN_LOAD_FROM(__global, type) \
    BUILTIN_LOAD_FROM(__local, type) BUILTIN_LOAD_FROM(__private, type)
BUILTIN_EACH_INTEGER(BUILTIN_LOAD)
BUILTIN_EACH_FLOAT(BUILTIN_LOAD)

#define BUILTIN_LOAD_HALF(space) \
    float BUILTIN_PURE vload_half(size_t, const space half *); \
    float2 BUILTIN_PURE vload_half2(size_t, const space half *); \
    float4 BUILTIN_PURE vload_half4(size_t, const space half *); \
    float8 BUILTIN_PURE vload_half8(size_t, const space half *); \
    float16 BUILTIN_PURE vload_half16(size_t, const space half *);
BUILTIN_LOAD_HALF(__constant)
BUILTIN_LOAD_HALF(__global)
BUILTIN_LOAD_HALF(__local)
BUILTIN_LOAD_HALF(__private)

#define BUILTIN_STORE_HALF(space, type) \
    void BUILTIN vstore_half(type, size_t, space half *); \
    void BUILTIN vstore_half2(type##2, size_t, space half *); \
    void BUILTIN vstore_half4(type##4, size_t, space half *); \
    void BUILTIN vstore_half8(type##8, size_t, space half *); \
    void BUILTIN vstore_half16(type##16, size_t, space half *);
#define BUILTIN_STORE_HALVES(type) \
    BUILTIN_STORE_HALF(__global, type) BUILTIN_STORE_HALF(__local, type) BUILTIN_STORE_HALF(__private, type)
BUILTIN_STORE_HALVES(float)
BUILTIN_IF_DOUBLE(BUILTIN_STORE_HALVES(double))

/* As PoCL's _kernel.h leaves it. */
#pragma OPENCL EXTENSION all : disable
