/* Dot products of a CPU as inline assembly. DOT is the number of an instruction; see `instructions.py`:
 *
 * 1, 2: sum += the products of four bytes each, those of `four` without a sign, those of `weight` with one: vpdpbusd of
 *       AVX-512 VNNI, and that of AVX-VNNI
 * 3:    sum += the products of two bfloat16 each: vdpbf16ps of AVX-512 BF16
 * 0:    what 1 and 2 compute, in plain OpenCL C
 */
#ifndef DOT
#define DOT 0
#endif

#if DOT == 1
#define ADD_PRODUCTS(sum, four, weight) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(four), "v"(weight))
#elif DOT == 2
#define ADD_PRODUCTS(sum, four, weight) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(four), "x"(weight))
#elif DOT == 3
#define ADD_PRODUCTS(sum, two, weight) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(two), "v"(weight))
#else
#define BYTE_PRODUCT(four, weight, at) ((((four) >> (at)) & 255) * (((weight) << (24 - (at))) >> 24))
#define ADD_PRODUCTS(sum, four, weight) \
    sum += BYTE_PRODUCT(four, weight, 0) + BYTE_PRODUCT(four, weight, 8) + \
           BYTE_PRODUCT(four, weight, 16) + BYTE_PRODUCT(four, weight, 24)
#endif
