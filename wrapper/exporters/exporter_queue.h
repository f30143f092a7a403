/* exporter_queue.h: the spool of exporters: which published runs each of them has still to deliver.
 *
 * `.benchwrap/export/NAME` (mode 0700, next to the spool of runs) belongs to one exporter of one
 * user. An
 * entry is a small file, named by the run's end and id, so that names sort by time and one run has one
 * entry. Recorders on several hosts add entries without a lock. One process at a time delivers, and
 * removes an entry once the destination has the run: what is left is the exporter's cursor.
 * `dead` holds dead letters, `state` counts and the last failure. */
#ifndef EXPORTERS_EXPORTER_QUEUE_H
#define EXPORTERS_EXPORTER_QUEUE_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { EXPORTER_ENTRY_SIZE = 13 + 1 + 32 + 1 /* "<end in ms>-<run id>" */, EXPORTER_WHY_MAX = 1200 /* bytes of a reason */ };
#define EXPORTER_DEAD "dead"

struct exporter_queue {
    int dir; /* the exporter's folder, -1: not open */
    int lock; /* -1: not held */
};
#define EXPORTER_QUEUE_NONE ((struct exporter_queue){-1, -1})
struct exporter_entry {
    char name[EXPORTER_ENTRY_SIZE];
};
struct exporter_item { /* the content of an entry */
    const char *tree; /* the folder mlruns, absolute or relative to the exporter's folder */
    const char *why; /* of a dead letter or a failure; "" */
    uint64_t done; /* parts of the run that are delivered */
    int64_t failed_ms; /* when it became a dead letter; 0 */
    uint64_t tries; /* how often it failed while others did not */
};
struct exporter_state {
    uint64_t sent, dropped; /* runs delivered; runs that max-pending or max-size dropped */
    uint64_t failures; /* passes since the last delivery that delivered nothing; 0: all is well */
    int64_t since_ms; /* when that began; 0 */
    int64_t not_before_ms; /* no pass after a run before this time; 0 */
    bool asked; /* the destination requested that */
    char why[EXPORTER_WHY_MAX];
};

/* Opens the folder of an exporter; make: also where it does not exist yet. 1: it does not exist. -1 with
 * err: another user owns it, or it cannot be opened. */
int exporter_queue_open(struct exporter_queue *ret, const char *spool, const char *name, bool make, struct err *err);
/* Closes the folder, which releases the lock. */
void exporter_queue_close(struct exporter_queue *q);
/* Lets this process alone deliver; waits at most wait_ms. 1: another process delivers. */
int exporter_queue_lock(struct exporter_queue *q, int64_t wait_ms);

/* Adds a run. 0, also where it is there already. */
int exporter_queue_add(const struct exporter_queue *q, const char *run_id, int64_t end_ms, const char *tree, struct err *err);
/* The first entries by name behind `after` ("": from the beginning), at most max; folder: "." or
 * EXPORTER_DEAD. Returns how many; *ret_total all of the folder. Constant memory. */
size_t exporter_queue_first(const struct exporter_queue *q, const char *folder, const char *after, struct exporter_entry *ret, size_t max,
                            size_t *ret_total);
/* Reads an entry; its texts are in the arena. 0; 1: it is not there; -1: it cannot be read, or is damaged. err: NULL, or set for 1 and -1. */
int exporter_queue_read(const struct exporter_queue *q, const char *folder, const char *name, struct arena *a, struct exporter_item *ret,
                        struct err *err);
/* Writes the entry `name` in the folder, complete or not at all, and replaces an existing one. 0;
 * -1 with err. */
int exporter_queue_write(const struct exporter_queue *q, const char *folder, const char *name, const struct exporter_item *item,
                         struct err *err);
/* Removes the entry from the folder, if it is there. */
void exporter_queue_remove(const struct exporter_queue *q, const char *folder, const char *name);
/* Makes the entry a dead letter. 0; -1 with err, and it stays in the queue. */
int exporter_queue_set_aside(const struct exporter_queue *q, const char *name, const struct exporter_item *item, struct err *err);
/* Makes a dead letter an entry of the queue again. 0; -1 with err. */
int exporter_queue_resend(const struct exporter_queue *q, const char *name, struct err *err);
/* Removes the oldest entries until at most max are left, and these occupy at most max_bytes of the disk. Returns how many it removed. */
size_t exporter_queue_trim(const struct exporter_queue *q, const char *folder, size_t max, uint64_t max_bytes);
/* The id of the run in an entry's name. */
const char *exporter_entry_run(const char *name);

/* Reads the queue's state: what was sent, and when it may be tried again. Without a readable file
 * everything is 0. */
void exporter_state_read(const struct exporter_queue *q, struct exporter_state *ret);
/* Writes the queue's state, complete or not at all. 0; -1 with err. */
int exporter_state_write(const struct exporter_queue *q, const struct exporter_state *s, struct err *err);
#endif
