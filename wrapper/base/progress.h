/* progress.h: the progress of a long job on one terminal line that is overwritten; no output
 * elsewhere. */
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
    int64_t begin_ns, shown_ns;
    bool on, shown;
};

/* Begins a line of progress. out: usually standard error. Nothing is shown where it is no terminal, or
 * TERM is dumb. total: 0: not known. `what` must outlive it. */
void progress_begin(struct progress *p, FILE *out, const char *what, size_t total);
/* Shows "[###.......] checking run 3 of 20, 5 s left": number counts from 1, `more` (may be NULL)
 * follows. The bar needs a total; the time left appears after two seconds. On a narrow terminal
 * complete parts between commas are left out. Updates at most ten times a second. */
void progress_show(struct progress *p, size_t number, const char *more);
/* Clears the line, before other output or at the end. */
void progress_clear(struct progress *p);
#endif
