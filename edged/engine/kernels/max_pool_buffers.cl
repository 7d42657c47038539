/* SOURCE and OUTPUT, what a max pool read and wrote, for the kernels of its gradient. Where nothing else is said, SOURCE
 * lies as the gradient that is written (OUT), and OUTPUT as the one that is read (IN).
 */
#ifndef SOURCE_BLOCK
#define SOURCE_BLOCKS OUT_BLOCKS
#define SOURCE_ROWS OUT_ROWS
#define SOURCE_PITCH OUT_PITCH
#define SOURCE_TOP OUT_TOP
#define SOURCE_LEFT OUT_LEFT
#define SOURCE_TYPE OUT_TYPE
#define OUTPUT_BLOCKS IN_BLOCKS
#define OUTPUT_ROWS IN_ROWS
#define OUTPUT_PITCH IN_PITCH
#define OUTPUT_TOP IN_TOP
#define OUTPUT_LEFT IN_LEFT
#define OUTPUT_TYPE IN_TYPE
#endif
