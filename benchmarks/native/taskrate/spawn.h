/* spawn.h: starting a process at minimum cost, and waiting for it. The start is what is measured,
 * so no helper of wrapper/base is used. */
#ifndef TASKRATE_SPAWN_H
#define TASKRATE_SPAWN_H
#include <stdbool.h>
#include <sys/types.h>

struct spawner { /* one a thread */
    char *stack;
    const int *fd;        /* what the child has as 0, 1, 2; -1: as it is. NULL: all as they are */
    int keep;             /* a descriptor that stays open over exec under its number, or -1 */
    bool own_group;       /* the child leads a process group */
    int death;            /* signal that it gets when the thread that started it ends; 0: none */
};

/* What posix_spawn does (a child that borrows this process's memory until its exec, all signals
 * unblocked), without making a new stack for each: 10 to 30 % of the total cost of a tiny task.
 * *pidfd (unless NULL) is -1 where the kernel has none. -1 with errno, also that of a failed exec.
 * All signals must be blocked in the calling thread, and none handled by a function. */
pid_t spawn_task(struct spawner *s, char *const argv[], char *const env[], int *pidfd);
/* Allocates the stack. 0; -1 with errno. */
int spawner_init(struct spawner *s);
/* Frees the stack. */
void spawner_deinit(struct spawner *s);
/* Exit status, or 128 + signal, of a status from wait. */
int spawn_status(int wait_status);
#endif
