/* peel.h: sees through `srun -n 64 numactl -N 0 ior …` to ior. */
#ifndef LAUNCH_PEEL_H
#define LAUNCH_PEEL_H
#include <stdbool.h>

/* Where in argv (NULL-terminated) the really measured program begins. argv itself if nothing is peeled, or if nothing would be left. */
char *const *peel(char *const *argv);
/* Is one of the peeled commands a starter of parallel ranks (srun, mpirun …)? */
bool peel_is_parallel(char *const *argv);
#endif
