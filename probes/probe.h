/* probe.h: the contract of a probe: a file that looks at one thing of the machine and tells facts.
 *
 * Add one: write probes/x.c ending in `const struct probe probe_x = {…};` and a row PROBE(x) in probes.def (row order = running order). */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H
#include "base/buf.h"
#include "mlruns-format/record.h"

#include <stdbool.h>
#include <sys/types.h>

struct host {
    int root; /* descriptor of "/" or of a captured machine: all reads are relative to it ("proc/cpuinfo") */
    const char *root_path; /* the same as text, for hwloc; "/" for the machine itself */
    bool real; /* root is this machine: syscalls (uname, affinity, statfs) may be asked */
    char *const *env; /* environment to look at (the program's), NULL-terminated */
    char *const *argv; /* the program as really measured (launchers seen through), or NULL */
    char *const *full_argv; /* the whole command line */
    pid_t pid; /* of the program, 0 before */
    const char *cwd;
    int spool; /* directory descriptor where artifact files may be made, -1: none */
    const char *cache; /* directory for facts that last until reboot, or NULL */
    bool public_profile;
    struct probes_state *state; /* private to probes/: costs and the samplers' open files. NULL at the start; probes_end frees it */
};

/* When a hook runs. before: on the path to the program's start, must be fast and touch only proc, sys, memory (no data files, no executables,
 * no network file systems). after: when the program has ended (hashes, git, libraries). sample: each interval, into system/… metrics. */
struct probe {
    const char *name, *summary;
    int (*before)(struct host *, struct record *, struct err *);
    int (*after)(struct host *, struct record *, struct err *);
    int (*sample)(struct host *, struct record *, struct err *);
    bool nested; /* also in a run inside a run (else node facts are the parent's) */
    bool lasting; /* what `before` tells holds until the next boot: kept in host->cache and replayed from there */
};

extern const struct probe *const probes[];
extern const size_t probes_count;

/* Runs the hooks of one phase, setting record->source, catching errors as record_missing("probe.<name>", reason). Never fails. */
enum probe_phase { PROBE_BEFORE, PROBE_AFTER, PROBE_SAMPLE };
void probes_run(enum probe_phase phase, bool nested, struct host *, struct record *);
/* Closes what samplers hold open and frees host->state. Also fine when nothing ran. */
void probes_end(struct host *);

/* What each probe has cost so far, in the order of `probes`; NULL before anything ran. The facts and the reasons for missing
 * ones are in the record, with the source "probe:<name>". */
struct probe_cost {
    double ms[3]; /* wall time by phase, summed over its runs */
    unsigned runs[3];
    bool cached; /* `before` was answered from the cache */
};
const struct probe_cost *probes_costs(const struct host *);

/* The directory for host->cache: $XDG_RUNTIME_DIR/benchwrap, else $XDG_CACHE_HOME/benchwrap, else ~/.cache/benchwrap. Only text is
 * made here, no file is touched. False if env names none of them by an absolute path. */
bool probes_cache_dir(char *const *env, struct buf *ret);
/* May a public record hold this param or tag? By the allow-list probes/public.def. */
bool probes_public(const char *key);
#endif
