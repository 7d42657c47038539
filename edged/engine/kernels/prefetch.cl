/* How far ahead a kernel whose weights are vectors asks for them; conv_vector.cl explains the parameters. */
#ifndef PREFETCH
#define PREFETCH 0
#define AHEAD 0
#define SHARE 0
#define NEXT_PIXELS 0
#endif
