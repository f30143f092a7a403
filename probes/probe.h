/* probe.h: the contract of a probe: a file that looks at one thing of the machine and tells facts.
 *
 * Add one: write probes/x.c ending in `const struct probe probe_x = {…};` and a row PROBE(x) in probes.def (row order = running order). */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H
#include "mlruns-format/record.h"

struct host {
    int root;                 /* descriptor of "/" or of a captured machine: all reads are relative to it ("proc/cpuinfo") */
    const char *root_path;    /* the same as text, for hwloc; "/" for the machine itself */
    bool real;                /* root is this machine: syscalls (uname, affinity, statfs) may be asked */
    char *const *env;         /* environment to look at (the program's), NULL-terminated */
    char *const *argv;        /* the program as really measured (launchers seen through), or NULL */
    char *const *full_argv;   /* the whole command line */
    pid_t pid;                /* of the program, 0 before */
    const char *cwd;
    int spool;                /* directory descriptor where artifact files may be made, -1: none */
    const char *cache;        /* directory for facts that last until reboot, or NULL */
    bool public_profile;
};

/* When a hook runs. before: on the path to the program's start, must be fast and touch only proc, sys, memory (no data files, no executables,
 * no network file systems). after: when the program has ended (hashes, git, libraries). sample: each interval, into system/… metrics. */
struct probe {
    const char *name, *summary;
    int (*before)(struct host *, struct record *, struct err *);
    int (*after)(struct host *, struct record *, struct err *);
    int (*sample)(struct host *, struct record *, struct err *);
    bool nested;              /* also in a run inside a run (else node facts are the parent's) */
};

extern const struct probe *const probes[];
extern const size_t probes_count;

/* Runs the hooks of one phase, setting record->source, catching errors as record_missing("probe.<name>", reason). Never fails. */
enum probe_phase { PROBE_BEFORE, PROBE_AFTER, PROBE_SAMPLE };
void probes_run(enum probe_phase phase, bool nested, struct host *, struct record *);
#endif
