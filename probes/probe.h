/* probe.h: the contract of a probe: a file that inspects one subject and records facts about it.
 *
 * Add one: write probes/x.c ending in `const struct probe probe_x = {…};` and a row PROBE(x) in
 * probes.def (row order = running order). */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H
#include "base/buf.h"
#include "mlruns-format/record.h"

#include <stdbool.h>
#include <sys/types.h>

struct host {
    int root; /* descriptor of "/" or of a captured machine: all reads are relative to it ("proc/cpuinfo") */
    const char *root_path; /* the same as text, for hwloc; "/" for the machine itself */
    bool real; /* root is this machine: system calls (uname, affinity, statfs) describe it */
    char *const *env; /* benchwrap's environment, NULL-terminated */
    const struct variables *variables; /* what the program gets of it; NULL: all of it */
    char *const *argv; /* the measured program, behind its launchers, or NULL */
    char *const *full_argv; /* the complete command line */
    pid_t pid; /* of the program, 0 before its start */
    const uint64_t *soft_limits; /* that the program gets, by RLIMIT_…; NULL: those of this process */
    const char *cwd; /* of the program */
    int spool; /* directory descriptor for artifact files, -1: none */
    const char *cache; /* directory for facts that last until reboot, or NULL */
    const char *metadata; /* the cloud's metadata service to query: "auto" or its URL; NULL: none */
    const char *power_command; /* --power-command: prints the watts of the node; NULL: none */
    bool public_profile;
    /* Why the program may run on another machine, so that no fact of this one is recorded; NULL: it
     * runs here. */
    const char *elsewhere;
    /* Why the program is no descendant of the launcher, so that the launcher's resource usage is
     * another process's; NULL: it is a descendant. */
    const char *served;
    /* Why the program's control groups differ from those of this process; NULL: they did not at its
     * start. */
    const char *regrouped;
    /* Why the program is a file of another root folder, such as a container image; NULL: it is one of
     * this. */
    const char *other_root;
    const char *other_folder; /* the same of its working directory, which containers for HPC have in common with the node */
    const char *submits; /* the starter in the command line that makes a job of its own where there is none; NULL: none does */
    const char *own_job; /* the starter that runs the program in another job than this process is in; NULL: none does */
    const char *hidden_job; /* what shows that this process is in a job, where the environment may not: "slurmstepd"; NULL: nothing */
    bool starts_ranks; /* the command line starts the program by srun, mpirun …: the step around this process is not the program's */
    bool counters; /* --counters: also open hardware counters */
    /* Called with each process of the program that a sample, or processes_visit, finds, and with the
     * kernel's name of it; NULL: not needed. */
    void (*saw)(void *context, pid_t pid, const char *name);
    void *saw_context;
    int64_t (*clock)(void); /* monotonic time in ns between samples; NULL: the machine's */
    struct redact *redact; /* removes secrets (and identities); NULL: only environment.txt does so */
    struct probes_state *state; /* private to probes/. NULL at the start; probes_end frees it */
};

enum probe_phase { PROBE_BEFORE, PROBE_BESIDE, PROBE_AFTER, PROBE_SAMPLE, PROBE_PHASES };
typedef int probe_hook(struct host *, struct record *, struct err *);

/* When a hook runs.
 *   before  before the program starts: fast, and only proc, sys and memory (no data files, no
 *           executables, no network file systems)
 *   `beside`  in a child process that starts when the program may start: drivers, file systems,
 *           servers, which can hang. It is waited for only after the program's end.
 *   after   when the program has ended (hashes, git, libraries); with `aside` in a child process
 *   sample  each interval, into system/… metrics
 * A child process has limit_ms (0: 2500) after the program's end. Then it is killed, and facts that
 * it has not sent are missing. A hook returns 0, or another value with *err, which is recorded as
 * missing fact "probe.<name>". */
struct probe {
    const char *name, *summary;
    probe_hook *before, *beside, *after, *sample;
    /* Returns whether the hook of this phase has anything to do; NULL: always. No child process
     * starts for nothing. */
    bool (*wanted)(enum probe_phase, const struct host *, const struct record *);
    int limit_ms;
    bool aside; /* `after` can hang: it runs in a child process */
    bool nested; /* also in a run inside a run (else node facts are the parent's) */
    bool anywhere; /* its facts (job, environment, working directory) hold on every machine */
    bool lasting; /* facts of `before` hold until the next boot: host->cache stores them */
    bool beside_lasts; /* the same for `beside` */
    size_t keeps; /* bytes of its data, which all hooks share, zeroed at first: probe_data */
    void (*drop)(void *kept); /* closes what the data hold, before they are freed; may be NULL */
};

extern const struct probe *const probes[];
extern const size_t probes_count;

/* Runs the hooks of one phase with record->source set, and records errors as missing facts
 * "probe.<name>". nested: a run inside a run, for which only probes with .nested run.
 * PROBE_AFTER also waits for the children of PROBE_BESIDE, and records the costs of all probes (tag
 * benchwrap.probe_costs_ms, metrics probe.*_ms). On a captured machine no child starts. A sampler
 * that uses more than 0.02 % of a core runs less often. */
void probes_run(enum probe_phase phase, bool nested, struct host *, struct record *);
/* Kills children that still run, closes the samplers' files and frees host->state, which is NULL
 * then. Valid also when nothing ran. */
void probes_end(struct host *);

/* The cost of one probe so far. */
struct probe_cost {
    double ms[PROBE_PHASES]; /* wall time by phase, summed over its runs */
    unsigned runs[PROBE_PHASES];
    bool cached; /* the facts of `before` or `beside` came from the cache */
};
/* Returns the costs in the order of `probes`, [probes_count], owned by host->state; NULL before
 * anything ran. */
const struct probe_cost *probes_costs(const struct host *);

/* Appends the directory for host->cache: $XDG_RUNTIME_DIR/benchwrap, else
 * $XDG_CACHE_HOME/benchwrap, else ~/.cache/benchwrap. Touches no file. Returns false if env names
 * none of them by an absolute path, or out of memory. */
bool probes_cache_dir(char *const *env, struct buf *ret);
/* Opens host->cache. Returns a descriptor, which the caller closes, or -1 where the directory does
 * not exist, has another owner, or others can write to it. */
int probes_cache_open(const struct host *h);
/* Returns whether a public record may hold this param or tag: the allow-list probes/public.def. */
bool probes_is_public(const char *key);
#endif
