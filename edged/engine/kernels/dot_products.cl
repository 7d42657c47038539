/* Dot products: of a CPU as inline assembly, of others as functions. DOT is the number of one; see `instructions.py`:
 *
 * 1, 2: sum += the products of four bytes each, those of `word` without a sign, those of `weight` with one: vpdpbusd of
 *       AVX-512 VNNI, and that of AVX-VNNI
 * 3:    sum += the products of two bfloat16 each: vdpbf16ps of AVX-512 BF16
 * 4:    as 1, for bytes of `word` less 128, which have a sign: sdot of Arm
 * 5:    as 1: usdot of Arm
 * 6:    as 1: the function of cl_khr_integer_dot_product, for each int of a vector
 * 0:    the same in plain OpenCL C
 *
 * WORD_OF makes of four bytes without a sign what ADD_PRODUCTS takes.
 */
#ifndef DOT
#define DOT 0
#endif

#if DOT == 4
#define WORD_OF(bytes) ((bytes) ^ (int)0x80808080)
#else
#define WORD_OF(bytes) (bytes)
#endif

/* No load before this is moved behind it, nor one behind it before: compilers load the weights of all words first, which
 * takes the registers of sums.
 */
#if DOT && DOT != 6
#define IN_ORDER __asm__ volatile("" ::: "memory")
#else
#define IN_ORDER
#endif

#if DOT == 1
#define ADD_PRODUCTS(sum, word, weight) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(word), "v"(weight))
#elif DOT == 2
#define ADD_PRODUCTS(sum, word, weight) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(word), "x"(weight))
#elif DOT == 3
#define ADD_PRODUCTS(sum, word, weight) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(word), "v"(weight))
#elif DOT == 4
#define ADD_PRODUCTS(sum, word, weight) ARM_PRODUCTS("0x4e809400", sum, word, weight)
#elif DOT == 5
#define ADD_PRODUCTS(sum, word, weight) ARM_PRODUCTS("0x4e809c00", sum, word, weight)
#elif DOT == 6
#ifndef DOT_LANES
#define DOT_LANES OUT_BLOCK
#endif
#define ADD_PRODUCTS(sum, word, weight) sum += PASTE(PRODUCTS_, DOT_LANES)(word, weight)
#define PRODUCTS_1(word, weight) dot_4x8packed_us_int(word, weight)
#define PRODUCTS_2(word, weight) (int2)(PRODUCTS_1((word).lo, (weight).lo), PRODUCTS_1((word).hi, (weight).hi))
#define PRODUCTS_4(word, weight) (int4)(PRODUCTS_2((word).lo, (weight).lo), PRODUCTS_2((word).hi, (weight).hi))
#define PRODUCTS_8(word, weight) (int8)(PRODUCTS_4((word).lo, (weight).lo), PRODUCTS_4((word).hi, (weight).hi))
#define PRODUCTS_16(word, weight) (int16)(PRODUCTS_8((word).lo, (weight).lo), PRODUCTS_8((word).hi, (weight).hi))
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

/* An instruction of Arm by its bits, which no assembler refuses: PoCL compiles for a processor without it where it does
 * not know this one, and then leaves the instruction out without a word. The symbol .Lv7 is the number of register v7.
 */
#define REGISTER(n) ".set .Lv" #n "," #n "\n"
#define REGISTERS(a, b, c, d, e, f, g, h) \
    REGISTER(a) REGISTER(b) REGISTER(c) REGISTER(d) REGISTER(e) REGISTER(f) REGISTER(g) REGISTER(h)
#define ARM_PRODUCTS(bits, sum, word, weight) \
    __asm__(REGISTERS(0, 1, 2, 3, 4, 5, 6, 7) REGISTERS(8, 9, 10, 11, 12, 13, 14, 15) \
            REGISTERS(16, 17, 18, 19, 20, 21, 22, 23) REGISTERS(24, 25, 26, 27, 28, 29, 30, 31) \
            ".inst " bits " | .L%2 << 16 | .L%1 << 5 | .L%0" : "+w"(sum) : "w"(word), "w"(weight))
