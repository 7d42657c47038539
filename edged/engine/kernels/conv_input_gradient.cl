/* The gradient of what a convolution read, from that of what it wrote (IN, with a halo of zeros):
 *
 * OUT[i][y][x] = Σ over o, ky, kx of weight[o][i][ky][kx] · IN[o][(y + PAD_TOP − ky · DILATION_H) ÷ STRIDE_H][…]
 *
 * where the division has no remainder: no zeros are multiplied. Pixels whose rows and columns leave the same remainder
 * when divided by the strides meet the same taps: they are a phase, and a work-item keeps a tile of TILE_H × TILE_W
 * pixels of one phase, a vector of input channels each, as conv_vector.cl does. The last tile is moved back to end
 * with the phase. Weights are turned: [input block][output block][ky][kx][output channel][input channel].
 * It ends as gradient.cl has it. PHASES_H and PHASES_W are the strides, or the image if that is smaller.
 */
#include "gradient.cl"
#include "conv_window.cl"

#ifndef PHASES_H
#define PHASES_H 1
#define PHASES_W 1
#define TILE_H 2
#define TILE_W 4
#endif

/* Tiles of the largest phase; the others may be through with fewer, and compute the last again. */
#define TILES_Y (((OUT_HEIGHT + PHASES_H - 1) / PHASES_H + TILE_H - 1) / TILE_H)
#define TILES_X (((OUT_WIDTH + PHASES_W - 1) / PHASES_W + TILE_W - 1) / TILE_W)

/* Pixels of a phase along an axis of `size`. */
#define OF_PHASE(size, phase, phases) (((size) - (phase) + (phases) - 1) / (phases))

KERNEL void conv_input_gradient(__global const float *restrict in, __global const vector *restrict weights,
                                __global STORED(OUT) *restrict out ENDING_PARAMETERS)
{
    const int item = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;
    const int tile = item % (TILES_Y * TILES_X), phase = item / (TILES_Y * TILES_X);
    if (phase >= PHASES_H * PHASES_W)
        return;
    const int phase_y = phase / PHASES_W, phase_x = phase % PHASES_W;
    const int row = min(tile / TILES_X * TILE_H, OF_PHASE(OUT_HEIGHT, phase_y, PHASES_H) - TILE_H);
    const int column = min(tile % TILES_X * TILE_W, OF_PHASE(OUT_WIDTH, phase_x, PHASES_W) - TILE_W);

    vector sum[TILE_H][TILE_W];
    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            sum[y][x] = 0;

    __global const vector *w = weights + block * (IN_BLOCKS * KERNEL_H * KERNEL_W * IN_BLOCK);
    for (int o = 0; o < IN_BLOCKS; o++)
        for (int ky = 0; ky < KERNEL_H; ky++)
            for (int kx = 0; kx < KERNEL_W; kx++, w += IN_BLOCK) {
                const int up = phase_y + PAD_TOP - ky * DILATION_H, left = phase_x + PAD_LEFT - kx * DILATION_W;
                if (up % STRIDE_H != 0 || left % STRIDE_W != 0)
                    continue;
                __global const float *pixels =
                    in + IN_BLOCK * PIXEL(IN, frame, o, row + up / STRIDE_H, column + left / STRIDE_W);
                for (int c = 0; c < IN_BLOCK; c++) {
                    const vector weight = w[c];
                    UNROLL for (int y = 0; y < TILE_H; y++)
                        UNROLL for (int x = 0; x < TILE_W; x++)
                            sum[y][x] += weight * pixels[(y * IN_PITCH + x) * IN_BLOCK + c];
                }
            }

    UNROLL for (int y = 0; y < TILE_H; y++)
        UNROLL for (int x = 0; x < TILE_W; x++)
            STORE_GRADIENT(sum[y][x], frame, block, (row + y) * PHASES_H + phase_y,
                           (column + x) * PHASES_W + phase_x);
    if (item == 0)
        clear_halo(out, frame, block);
}
