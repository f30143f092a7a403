/* starter_watch.h: finds starters among the processes of the program, also those that live for milliseconds. */
#ifndef WRAPPER_RUN_STARTER_WATCH_H
#define WRAPPER_RUN_STARTER_WATCH_H
#include "run/script.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct run;
/* A zeroed one watches nothing. */
struct starter_watch {
    bool open; /* fd is an inotify instance with the files of starters */
    int fd;
    int looks; /* of the processes since a file was opened */
    int64_t next_ns, begun_ns, used_ns; /* monotonic: the next reading; the watch's begin; processor time of all readings */
    struct script_starter found; /* the first one that leads to another machine, else the first one of a service */
};

/* Has the kernel report, for a program that runs here, when a starter's file in PATH is opened.
 * Nothing of the program is stopped or slowed. */
void starter_watch_begin(struct run *run);
/* Returns the descriptor to poll; -1: none. */
int starter_watch_fd(const struct starter_watch *w);
/* Returns when the next reading is due, monotonic ns; INT64_MAX: none is. */
int64_t starter_watch_next(const struct starter_watch *w);
/* Handles that a process, any one, opened a starter's file: searches the program's processes for a
 * starter at once, and some times soon after. */
void starter_watch_receive(struct run *run);
void starter_watch_on_time(struct run *run, int64_t now);
/* Called as `host->saw` for each process of the program, with the run as its context: checks
 * whether it is a starter. */
void starter_watch_saw(void *run, pid_t pid, const char *name);
void starter_watch_end(struct starter_watch *w);
#endif
