/* progress.h: how far a long job is, on one line of a terminal that is written over; nothing at all elsewhere. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out;
    const char *what;     /* "checking run" */
    size_t total;
    int64_t begin_ns, told_ns;
    bool on, shown;
};

/* out: standard error, mostly. Nothing is shown where it is no terminal, or TERM is dumb. total: 0: not known. */
void progress_begin(struct progress *p, FILE *out, const char *what, size_t total);
/* "checking run 3 of 20"; number counts from 1, `more` (may be NULL) follows. On a narrow terminal whole parts between commas are left out. At most ten times a second. */
void progress_show(struct progress *p, size_t number, const char *more);
/* Takes the line away, so that something else can be printed, or at the end. */
void progress_clear(struct progress *p);
#endif
