/* tasks.h: the book of one batch: five times a task in columns, at most 64 bytes a task, in memory that only it uses.
 *
 * All times are CLOCK_MONOTONIC of the client in nanoseconds, 0: not known. Times of other machines are brought to that clock by clocks.h. */
#ifndef TASKRATE_TASKS_H
#define TASKRATE_TASKS_H
#include "base/err.h"
#include "benchmarks/native/taskrate/wire.h"

#include <stdbool.h>
#include <stddef.h>

enum tasks_flags {
    TASK_SUBMITTED = 1,  /* the submit call was made */
    TASK_REFUSED = 2,    /* … and was refused: the task never was in the queue */
    TASK_STAMPED = 4,    /* the task has reported its own times */
    TASK_ENDED = 8,      /* the client knows that it is over */
    TASK_TWICE = 16,     /* it ran more than once */
    TASK_RETRIED = 32    /* the scheduler had started it before, or its submission was repeated */
};

enum { TASKS_AGAIN = 1024 };

struct tasks {
    size_t n, room;
    int64_t *submit, *submitted, *known; /* before the submit call; it returned; the client learned of the end */
    struct wire_stamps *self;            /* first and last instruction; written by local tasks themselves through self_fd */
    int64_t *scratch;                    /* [2 * `room`]: for sorting */
    uint16_t *node;                      /* index into struct clocks_table; 0: this machine */
    int16_t *status;                     /* exit status; 128 + signal; -1: not known */
    uint8_t *flags;                      /* enum tasks_flags */
    int self_fd;
    size_t duplicates;                   /* runs of a task beyond its first */
    struct {
        size_t task;
        int64_t start;
    } again[TASKS_AGAIN];                /* the last of these: a report that is repeated is no further run */
    size_t strangers;                    /* reports that belonged to no task of this batch */
};

enum { TASK_BYTES = 3 * 8 + 16 + 2 * 8 + 2 + 2 + 1 };
_Static_assert(TASK_BYTES <= 64, "bookkeeping is promised to be at most 64 bytes a task");

/* Memory for `room` tasks, used again by each batch. */
int tasks_init(struct tasks *t, size_t room, struct err *err);
/* Clears the tables for n <= `room` tasks. The memory of a larger batch before is returned to the
 * system. */
int tasks_begin(struct tasks *t, size_t n, struct err *err);
/* Frees the tables and closes their descriptor. Valid again after the first call. */
void tasks_deinit(struct tasks *t);
/* Sorts in place, without further memory (heap sort): a million in less than a second. */
void tasks_sort(int64_t *v, size_t n);
/* Quantile 0..1 of sorted v, as stats_quantile (type 7). n >= 1 */
double tasks_quantile(const int64_t *sorted, size_t n, double q);
#endif
