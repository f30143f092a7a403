/* active.h: the caller's runs that are in progress, as their journals and stored output have them so far.
 *
 * Everything is only read: no lock is acquired that a recorder needs, and a run's own files are not
 * written. Whether a run is alive
 * is decided by its writer's lock, which is queried; of a run on another host, whose lock may not be visible here, by the age of its
 * last line. */
#ifndef WRAPPER_RUN_ACTIVE_H
#define WRAPPER_RUN_ACTIVE_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct active_sample {
    char key[128], unit[24];
    double value;
    int64_t time_ms;
    bool is_logged; /* by benchwrap log */
};
enum { ACTIVE_SAMPLES = 256 };
struct active_run {
    char id[33], parent[33]; /* parent "": none */
    const char *name, *experiment, *command, *host, *job; /* job "": none; until the run is removed from the list */
    int64_t start_ms, heard_ms; /* its journal was written last */
    int64_t start_ns; /* start by this machine's CLOCK_MONOTONIC; 0: not known */
    bool is_series; /* the parent run of repetitions or of a sweep */
    bool is_certain; /* its writer's lock was found; else it may have died within the last 15 minutes */
    uint64_t output_bytes; /* that the program has written to both streams */
    double output_rate; /* bytes per second since the refresh before, at the first one since the start; NAN: not known */
    int64_t output_ms; /* when it wrote last; 0: never */
    char nodes[16], tasks[16]; /* of the step, else of the job; "": not known */
    const struct active_sample *samples; /* the last value of each metric, in the order in which they came first */
    size_t sample_count;
};

struct active_runs;
/* Returns an empty list for the runs in the folders of both spools (either may be NULL) that belong
 * to `tree`, an absolute path. Texts are borrowed. NULL: out of memory. */
struct active_runs *active_runs_new(const char *spool, const char *fallback, const char *tree);
void active_runs_free(struct active_runs *a); /* NULL is allowed */
/* Finds runs that began, removes those that ended, and reads what is new. The first call reads at most `facts` facts of each run, later ones the rest. */
void active_runs_refresh(struct active_runs *a, size_t facts);
size_t active_runs_count(const struct active_runs *a);
/* Returns run number i, in the order of start with the newest first, and parents before their
 * children. It is valid until the next refresh. */
const struct active_run *active_runs_at(const struct active_runs *a, size_t i);
/* Returns the seconds since its start. A wall clock that is set changes them only for runs of other
 * machines, and of earlier versions. */
double active_run_elapsed_s(const struct active_run *run);
/* Returns the last value of a metric; NULL: there is none yet. */
const struct active_sample *active_run_sample(const struct active_run *run, const char *key);
#endif
