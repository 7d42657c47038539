/* Dot products of a CPU as inline assembly. DOT is the number of an instruction; see `instructions.py`:
 *
 * 1, 2: sum += the products of four bytes each, those of `word` without a sign, those of `weight` with one: vpdpbusd of
 *       AVX-512 VNNI, and that of AVX-VNNI
 * 3:    sum += the products of two bfloat16 each: vdpbf16ps of AVX-512 BF16
 * 0:    the same in plain OpenCL C
 */
#ifndef DOT
#define DOT 0
#endif

#if DOT == 1
#define ADD_PRODUCTS(sum, word, weight) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(word), "v"(weight))
#elif DOT == 2
#define ADD_PRODUCTS(sum, word, weight) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(word), "x"(weight))
#elif DOT == 3
#define ADD_PRODUCTS(sum, word, weight) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(word), "v"(weight))
#elif defined(CHANNELS_OF_WORD) && CHANNELS_OF_WORD == 2
#define ADD_PRODUCTS(sum, word, weight) \
    sum += WIDE(as_float)((word) & ~0xffff) * WIDE(as_float)((weight) & ~0xffff) + \
           WIDE(as_float)((word) << 16) * WIDE(as_float)((weight) << 16)
#else
#define BYTE_PRODUCT(word, weight, at) ((((word) >> (at)) & 255) * (((weight) << (24 - (at))) >> 24))
#define ADD_PRODUCTS(sum, word, weight) \
    sum += BYTE_PRODUCT(word, weight, 0) + BYTE_PRODUCT(word, weight, 8) + \
           BYTE_PRODUCT(word, weight, 16) + BYTE_PRODUCT(word, weight, 24)
#endif
