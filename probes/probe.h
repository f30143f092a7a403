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
    const char *metadata; /* cloud's metadata service may be asked: "auto" or its URL; NULL: no */
    bool public_profile;
    const char *elsewhere; /* why the program may run on another machine, so that no fact of this one is recorded; NULL: it runs here */
    const char *
        served; /* why the program is no descendant of the launcher, whose count of what it uses is then of another process; NULL: it is one */
    const char *regrouped; /* why its control groups are others than those of this process; NULL: they are not, at its start */
    bool counters; /* --counters: what costs to be counted is asked for */
    int64_t (*clock)(void); /* monotonic time in ns for what is counted between samples; NULL: the machine's */
    struct redact *redact; /* what leaves secrets (and identities) out of texts; NULL: environment.txt does it by itself */
    struct probes_state *state; /* private to probes/: costs and the samplers' open files. NULL at the start; probes_end frees it */
};

enum probe_phase { PROBE_BEFORE, PROBE_BESIDE, PROBE_AFTER, PROBE_SAMPLE, PROBE_PHASES };
typedef int probe_hook(struct host *, struct record *, struct err *);

/* When a hook runs. before: on the path to the program's start, must be fast and touch only proc, sys, memory (no data files, no executables,
 * no network file systems). beside: in a process of its own that begins when the program may start and is never waited for before its end
 * (drivers, file systems, servers: what can hang). after: when the program has ended (hashes, git, libraries); with `aside` in a process of its
 * own, too. sample: each interval, into system/… metrics.
 * A process of its own has limit_ms (0: 2500) after the program's end; then it is ended and what it had not told is missing. */
struct probe {
    const char *name, *summary;
    probe_hook *before, *beside, *after, *sample;
    bool (*wanted)(enum probe_phase, const struct host *,
                   const struct record *); /* is there anything to look at? NULL: always. No process is started for nothing */
    int limit_ms;
    bool aside; /* `after` can hang: it runs in a process of its own */
    bool nested; /* also in a run inside a run (else node facts are the parent's) */
    bool anywhere; /* its facts are of the job, the environment or the working directory, and hold on whatever machine this is */
    bool lasting; /* what `before` tells holds until the next boot: kept in host->cache and replayed from there */
    bool beside_lasts; /* the same of `beside` */
    size_t keeps; /* bytes kept between its hooks, zeroed at first: probe_data */
    void (*drop)(void *kept); /* closes what is kept, before it is freed; NULL: nothing to close */
};

extern const struct probe *const probes[];
extern const size_t probes_count;

/* Runs the hooks of one phase, setting record->source, catching errors as record_missing("probe.<name>", reason). Never fails.
 * PROBE_AFTER collects what PROBE_BESIDE began, and tells the costs of all (tag benchwrap.probe_costs, metrics probe.*_ms). On a captured machine no
 * process is started. A sampler whose look costs more than 0.02 % of a core is asked less often (`benchwrap probe` and the tag of costs show it). */
void probes_run(enum probe_phase phase, bool nested, struct host *, struct record *);
/* Ends what still runs aside, closes what samplers hold open and frees host->state. Also fine when nothing ran. */
void probes_end(struct host *);

/* What each probe has cost so far, in the order of `probes`; NULL before anything ran. The facts and the reasons for missing
 * ones are in the record, with the source "probe:<name>". */
struct probe_cost {
    double ms[PROBE_PHASES]; /* wall time by phase, summed over its runs */
    unsigned runs[PROBE_PHASES];
    bool cached; /* `before` or `beside` was answered from the cache */
};
const struct probe_cost *probes_costs(const struct host *);

/* The directory for host->cache: $XDG_RUNTIME_DIR/benchwrap, else $XDG_CACHE_HOME/benchwrap, else ~/.cache/benchwrap. Only text is
 * made here, no file is touched. False if env names none of them by an absolute path. */
bool probes_cache_dir(char *const *env, struct buf *ret);
/* That directory (host->cache), if it is there, ours and nobody else's; -1: else. */
int probes_cache_open(const struct host *h);
/* May a public record hold this param or tag? By the allow-list probes/public.def. */
bool probes_is_public(const char *key);
#endif
