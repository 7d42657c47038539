/* What the convolutions by dot products share: tiles of pixels in registers, a word of input channels at a time.
 *
 * A word is an int: four bytes or two bfloat16, which lie side by side in memory. It is broadcast; the weights of
 * OUT_BLOCK output channels lie as [output block][input block][ky][kx][word][output channel] words. `sums` is the type
 * of OUT_BLOCK sums.
 */
#include "convolution.cl"
#include "prefetch.cl"
#ifndef CHANNELS_OF_WORD
#define CHANNELS_OF_WORD 2
typedef vector sums;
#endif
#include "dot_products.cl"

#ifndef TILE_H
#define TILE_H 1
#define TILE_W 4
#define TILE_RUN 1
#define OUTS 1
#define WORDS (IN_BLOCK / CHANNELS_OF_WORD)  /* of a block, without those that are beyond the last channel */
#endif
#include "tiles.cl"

typedef WIDE(int) words;

#define LINE 64
#define PIXEL_BYTES (IN_BLOCK * (int)sizeof(STORED(IN)))
#define PIXELS_IN_LINE (PIXEL_BYTES < LINE ? LINE / PIXEL_BYTES : 1)
#define DOT_WINDOW (SPAN * KERNEL_H * KERNEL_W * WORDS)  /* vectors of words of an output block */

/* Add the products of a tile to its sums, for OUTS output blocks from `block` on. */
__attribute__((always_inline))  /* else the sums lie in memory */
void add_tile(sums sum[OUTS][TILE_H][TILE_W], __global const STORED(IN) *in, __global const words *weights, int tile,
              int frame, int block)
{
    const int y0 = FIRST_ROW(tile), x0 = FIRST_COLUMN(tile);
    __global const words *w = weights + block * DOT_WINDOW;
    __global const uchar *ahead = (__global const uchar *)w + (AHEAD + TURN_OF(tile, frame) * SHARE) * LINE;
    for (int i = FIRST_BLOCK(block); i < FIRST_BLOCK(block) + SPAN; i++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++) {
                __global const uchar *pixels = (__global const uchar *)in + PIXEL_BYTES * PIXEL(IN, frame, i,
                    y0 * STRIDE_H - PAD_TOP + ky * DILATION_H, x0 * STRIDE_W - PAD_LEFT + kx * DILATION_W);
                UNROLL for (int o = 0; o < OUTS; o++)
                    UNROLL for (int line = 0; line < PREFETCH; line++)
                        ASK_FOR(ahead + o * DOT_WINDOW * (int)sizeof(words) + line * LINE);
                ahead += PREFETCH * LINE;
                UNROLL for (int y = 0; y < NEXT_PIXELS * TILE_H; y++)
                    UNROLL for (int x = 0; x < TILE_W; x += PIXELS_IN_LINE)
                        ASK_FOR_SOON(pixels + (IN_ROWS * IN_PITCH + y * STRIDE_H * IN_PITCH + x * STRIDE_W) * PIXEL_BYTES);
                UNROLL for (int c = 0; c < WORDS; c++) {
                    IN_ORDER;
                    words weight[OUTS];
                    UNROLL for (int o = 0; o < OUTS; o++)
                        weight[o] = w[o * DOT_WINDOW + c];
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++) {
                            const words word = WORD_OF(*(__global const int *)(
                                pixels + (y * STRIDE_H * IN_PITCH + x * STRIDE_W) * PIXEL_BYTES + 4 * c));
                            UNROLL for (int o = 0; o < OUTS; o++)
                                ADD_PRODUCTS(sum[o][y][x], word, weight[o]);
                        }
                }
                w += WORDS;
            }
}
