/* peel.h: finds the measured program behind its starters: ior in `srun -n 64 numactl -N 0 ior …`. */
#ifndef LAUNCH_PEEL_H
#define LAUNCH_PEEL_H
#include "base/str.h"

#include <stdbool.h>

/* Returns where in argv (NULL-terminated) the measured program begins: argv itself if no starter
 * precedes it, or if no word would be left. */
char *const *peel_program(char *const *argv);
/* Returns whether one of the starters begins parallel ranks (srun, mpirun …). */
bool peel_is_parallel(char *const *argv);

/* Where a starter runs its program. */
enum peel_where {
    PEEL_HERE,
    PEEL_HOSTS, /* on hosts, of which `hosts` is a list; the first one gets the first rank */
    PEEL_HOST_FILE, /* the same, by the file that `hosts` names */
    PEEL_LISTED, /* on the nodes of a job that `hosts` lists as Slurm does */
    PEEL_AWAY, /* maybe on another machine */
    PEEL_OTHER_NODES /* on the nodes of a job, and the environment does not show that this machine is one of them */
};
enum { PEEL_BY_SIZE = 64 };
struct peel_place {
    enum peel_where where;
    const char *starter;
    char by[PEEL_BY_SIZE]; /* what shows it: "its option --host", "DOCKER_HOST" */
    struct str hosts;
    bool submits; /* where there is no job, the starter makes one for the program */
    bool queues; /* it may return before the job that it makes has run: sbatch */
    bool own_job; /* the starter runs the program in another job than the one around it */
    bool served; /* a service starts the program: it is no descendant of the starter, */
    bool regrouped; /* or, it is one in control groups of its own */
    bool binds; /* it binds the program to processors of its choice */
};
/* Reads the starter at *at; argv begins there. Afterwards *at is the program that it starts, or
 * NULL where the line does not name it. False: it is no starter, or starts no program. */
bool peel_next(char *const **at, char *const *env, struct peel_place *ret);

/* Returns whether the starter of this name reaches the program through another machine, or a server
 * that may be anywhere. */
bool peel_connects(const char *starter);

/* Returns the starter of that name (static text) where, by its name and the environment alone,
 * its program is no process below it: ssh, srun; else NULL. *ret_away: it may run on another
 * machine. */
const char *peel_starts_outside(const char *name, char *const *env, bool *ret_away);

/* Iterates over the names of starters whose programs may run on another machine, or as no processes below them: *at is 0 at first.
 * Static text; NULL: there are no more. A name may come twice. */
const char *peel_outside_name(size_t *at);

/* Returns the name of the first parallel starter in argv; NULL: there is none. */
const char *peel_launcher(char *const *argv);

/* The shape that a parallel starter's own options request; 0: not given. */
struct peel_shape {
    int tasks, nodes, tasks_per_node, cpus_per_task;
    int per_round; /* ranks that each node gets before the first one gets more (mpiexec -ppn); 0: not given */
    bool several; /* it holds for each of several components of the job */
    bool hosts; /* they name hosts, which may be some of the job's or others, or choose the nodes in another way */
};
/* What a starter before the program determines about how the program runs: that it is there, one of
 * its options, or an operand. */
struct peel_setting {
    const char *starter;
    struct str name; /* the option's, or an assignment's; n 0: an operand, or the starter itself, which has no value either */
    struct str value; /* p NULL: none */
    size_t at, words; /* its words in argv */
};
/* Writes the settings of all starters of argv into ret, which has a place for each word of argv,
 * and returns their number. Left out are starters and options without influence on what is measured
 * (time, srun --job-name), and those that step.* records (srun -n). */
size_t peel_settings(char *const *argv, struct peel_setting *ret);
/* Reads the shape of the line's only parallel starter. False, with *ret zeroed: the line has no
 * parallel starter, several of them, or several programs (`mpirun -n 1 a : -n 3 b`). */
bool peel_read_shape(char *const *argv, struct peel_shape *ret);
#endif
