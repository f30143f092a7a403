/* own.h: what this run has in a scheduler's queue is noted in a file, so that the next start can end what a killed one left there. */
#ifndef TASKRATE_OWN_H
#define TASKRATE_OWN_H
#include "benchmarks/native/taskrate/provider.h"

struct own_run {
    int fd;         /* locked as long as this process lives */
    char path[4096];
};

/* A file of this run's name below $XDG_STATE_HOME/benchwrap/taskrate (~/.local/state). `leftover`: a file to be removed with it, or NULL. */
int own_begin(struct own_run *o, const struct bench *b, const char *leftover, struct err *err);
/* cleaned: nothing is left in the queue; else the file stays for the next start. */
void own_end(struct own_run *o, bool cleaned);
/* Cancels the jobs of killed runs of this user and this machine, on the cluster of this scheduler. Notes what
 * it cancelled and what it could not. Returns how many runs it cleaned up. */
unsigned own_clean_up(struct bench *b);
#endif
