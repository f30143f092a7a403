/* truth.h: what the files share that read a run's output again; private to wrapper/check. */
#ifndef CHECK_TRUTH_H
#define CHECK_TRUTH_H
#include "benchmarks/rules.h"
#include "check/parts.h"

/* One reading, and who is told of what differs. */
struct truth {
    void (*tell)(void *context, enum check_id id, const char *file, const char *text);
    void *context;
    enum check_id differs;      /* what a difference in the figures is */
    bool common;                /* only keys that the run has too; no verdict */
};
/* Reads the output with these rules and tells what differs from the run's claims. */
void truth_read(const struct truth *t, struct run_check *r, const struct rules *rules);
/* apart.c: the same in a process of its own, of bounded time and memory. */
void truth_apart(struct run_check *r, const struct rules *rules);
/* kin.c: runs whose figures are another run's: one test of a larger output. */
void check_kin(struct run_check *r);
#endif
