/* peel.h: sees through `srun -n 64 numactl -N 0 ior …` to ior. */
#ifndef LAUNCH_PEEL_H
#define LAUNCH_PEEL_H
#include <stdbool.h>

/* Where in argv (NULL-terminated) the really measured program begins. argv itself if nothing is peeled, or if nothing would be left. */
char *const *peel(char *const *argv);
/* Is one of the peeled commands a starter of parallel ranks (srun, mpirun …)? */
bool peel_is_parallel(char *const *argv);

/* The name of a peeled starter that runs the program on other machines than this one: srun on a login node, which gets or has an allocation elsewhere. NULL:
 * there is none, or the environment says that this machine is one of the job's. */
const char *peel_elsewhere(char *const *argv, char *const *env);

/* The name of the first parallel starter in argv; NULL: there is none. */
const char *peel_launcher(char *const *argv);

/* What a parallel starter's own options ask for; 0: they do not tell. */
struct peel_shape {
    int tasks, nodes, tasks_per_node, cpus_per_task;
    bool hosts; /* they name hosts, which may be some of the job's or others */
};
/* False, and nothing told, where the line has no parallel starter, several of them, or several programs (`mpirun -n 1 a : -n 3 b`). */
bool peel_shape(char *const *argv, struct peel_shape *ret);
#endif
