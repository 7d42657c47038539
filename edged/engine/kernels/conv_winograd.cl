/* The second kernel of a Winograd convolution (see winograd.cl): the frequencies of the input times those of the
 * window, summed over the input channels, become the output.
 *
 * A work-item computes a group of tiles of one output block. For one frequency after the other, it keeps the sums
 * of all tiles in registers, as conv_vector.cl does; those of a row of frequencies become OUTPUT values along x at
 * once. Weights lie as [output block][SIDE × SIDE][input channel][channel of the output block].
 * Without WITH_BIAS the output is a gradient, and ends as one.
 */
#include "winograd.cl"
#include "gradient.cl"

#ifndef WITH_BIAS
#define WITH_BIAS 1
#endif

#if WITH_BIAS
#define BIAS_PARAMETER , __global const vector *restrict bias
#define BIAS_OF(block) bias[block]
#else
#define BIAS_PARAMETER
#define BIAS_OF(block) 0
#endif

#define AHEAD 96  /* vectors of weights from the one that is prefetched to the one that is in use */
#define SQRT_2 1.41421356f

/* The pixels of the product, of which these are the values at the points: Aᵀ of the paper. */
void interpolate(const vector values[SIDE], vector out[OUTPUT])
{
    const vector sum = values[1] + values[2], difference = values[1] - values[2];
#if OUTPUT == 2
    out[0] = values[0] + sum;
    out[1] = difference + values[3];
#else
    const vector sum_too = values[3] + values[4], difference_too = values[3] - values[4];
    out[0] = values[0] + sum + sum_too;
    out[1] = SQRT_2 / 2 * difference + SQRT_2 * difference_too;
    out[2] = 0.5f * sum + 2 * sum_too;
    out[3] = SQRT_2 / 4 * difference + SQRT_2 * 2 * difference_too + values[5];
#endif
}

KERNEL void conv_winograd(__global const float *restrict frequencies,
                          __global const STORED(WEIGHTS) *restrict weights BIAS_PARAMETER,
                          __global STORED(OUT) *restrict out RESIDUAL_PARAMETER ENDING_PARAMETERS)
{
    const int group = get_global_id(0), frame = FRAME_ID, block = PLANE_ID;

    vector rows[SIDE][OUTPUT][TILES];
    __global const float *in = frequencies + FREQUENCY(frame, group, 0, 0) * IN_BLOCK;
    __global const STORED(WEIGHTS) *w = weights + block * SIDE * SIDE * IN_BLOCKS * IN_BLOCK * OUT_BLOCK;
    for (int y = 0; y < SIDE; y++) {
        vector products[SIDE][TILES];
        for (int x = 0; x < SIDE; x++) {
            vector sum[TILES];
            UNROLL for (int t = 0; t < TILES; t++)
                sum[t] = 0;
            for (int i = 0; i < IN_BLOCKS; i++) {
                for (int c = 0; c < IN_BLOCK; c++) {
                    const vector weight = LOAD_VECTOR(WEIGHTS, w, c);
                    ASK_FOR(w + (c + AHEAD) * OUT_BLOCK);
                    UNROLL for (int t = 0; t < TILES; t++)
                        sum[t] += weight * in[t * IN_BLOCK + c];
                }
                in += TILES * IN_BLOCK;
                w += IN_BLOCK * OUT_BLOCK;
            }
            UNROLL for (int t = 0; t < TILES; t++)
                products[x][t] = sum[t];
        }
        for (int t = 0; t < TILES; t++) {
            vector values[SIDE], pixels[OUTPUT];
            UNROLL for (int x = 0; x < SIDE; x++)
                values[x] = products[x][t];
            interpolate(values, pixels);
            UNROLL for (int x = 0; x < OUTPUT; x++)
                rows[y][x][t] = pixels[x];
        }
    }

    for (int t = 0; t < TILES; t++) {
        const int y0 = TILE_Y(TILE(group, t)), x0 = TILE_X(TILE(group, t));
        UNROLL for (int x = 0; x < OUTPUT; x++) {
            vector values[SIDE], pixels[OUTPUT];
            UNROLL for (int y = 0; y < SIDE; y++)
                values[y] = rows[y][x][t];
            interpolate(values, pixels);
            UNROLL for (int y = 0; y < OUTPUT; y++)
                if (IS_OWN(TILE(group, t), y0 + y, x0 + x)) {
                    const vector sum = BIAS_OF(block) + pixels[y] PLUS_RESIDUAL(frame, block, y0 + y, x0 + x);
                    STORE_GRADIENT(activate(sum), frame, block, y0 + y, x0 + x);
                }
        }
    }
    if (group == 0)
        clear_halo(out, frame, block);
}
