/* figures.h: from the book of a batch to its quantities; from batches to what is reported of all. */
#ifndef TASKRATE_FIGURES_H
#define TASKRATE_FIGURES_H
#include "base/stats.h"
#include "benchmarks/native/taskrate/bench.h"

/* Returns what a batch is to people: "floor", "warm-up", "chain" or "batch". */
const char *batch_kind(const struct task_batch *batch);
/* Fills the second half of `batch` from the book. Uses t->scratch. */
void figures_of(struct bench *b, struct task_batch *batch);

/* Batches of equal size and duration, the warm-up left out. */
struct batch_group {
    size_t tasks;
    double duration;
    bool chain;
    unsigned slots;
    size_t batches, usable; /* usable: complete and without losses */
    struct stats throughput, start50, start99, turnaround50, submit_rate, makespan; /* .n == 0: none */
    bool throttled;
    bool crowded; /* more tasks ran at once than there are slots: no share of them is known */
};

enum { GROUPS_MAX = SWEEP_MAX * SWEEP_MAX + 1 };
/* All groups, in the order in which they were measured; returns how many. */
size_t figures_groups(const struct bench *b, struct batch_group *ret);

/* Reuther's model: time beyond the ideal, dT = t_s * n^alpha, n tasks on each slot. */
struct model {
    bool known, alpha_assumed;
    double t_s, alpha;       /* seconds; exponent (1 where one size alone was measured) */
    double t_low, t_high, alpha_low, alpha_high; /* 95 %; NaN: too few points */
    size_t points;
};
/* Of groups without chain; the shortest duration of each size counts. */
void figures_model(const struct batch_group *g, size_t n, struct model *ret);

/* The shortest task that keeps 50 % of the slots busy. */
struct metg {
    double seconds;      /* NaN: not measured, and `how` states why */
    double low, high;    /* its range by the model of latency; NaN: not known, or measured */
    const char *how;     /* "interpolated between …", "from the model", "at most" */
    bool at_most, at_least;
};
/* Sets ret from the groups, or from the model; without either, ret->how states why. */
void figures_metg(const struct batch_group *g, size_t n, const struct model *m, struct metg *ret);
/* Has the mean a 95 % interval? Not of fewer than three values, nor where it would reach below zero, which none of these quantities can be. */
bool figures_has_interval(const struct stats *s);
/* Returns whether so many more tasks ran at once than the batch has slots that clocks do not explain it. */
bool figures_is_crowded(const struct task_batch *batch);
/* Tasks' own time over the time that all slots had: 0 … 1. NaN: no complete batch, or a crowded one. */
double figures_efficiency(const struct batch_group *g);
#endif
