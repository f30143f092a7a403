/* peel.c: sees through `srun -n 64 numactl -N 0 ior …` to ior. */
#include "launch/peel.h"

#include "base/str.h"

#include <ctype.h>

/* One starter. Options are told by getopt's rules: a letter in `letters` and a name in `names` (blank-separated, without dashes) take the next
 * word unless the value is attached; every other option takes none. */
struct starter {
    const char *name;
    const char *letters;
    const char *names;
    const char *verbs; /* a word that must follow first: "exec run"; NULL: none */
    int operands; /* words of its own between options and program: timeout's duration */
    bool single_dash; /* long options may have one dash (mpirun -np 4) */
    bool assignments; /* NAME=VALUE words may come before the program */
    bool parallel;
    const char *tasks, *nodes, *per_node, *cpus; /* its options that tell the shape of the job, letters and names alike */
};

#define MPI_SHAPE .tasks = "n np", .per_node = "N npernode ppn perhost "
#define MPI_NAMES                                                                                                                                                    \
    "n np c N npernode npersocket ppn perhost H host hosts hostfile f machinefile machine x genv genvlist env envlist wdir wd path mca gmca map-by bind-to rank-by " \
    "rf rankfile cpu-set cpu-list oversubscribe-limit prefix output-filename report-uri timeout tune am app configfile launcher "                                    \
    "launcher-exec rmk iface bootstrap bootstrap-exec rsh agent soft arch ranks-per-proc l_core prepend-rank-file hosts-group prtemca pmixmca "                      \
    "dvm dvm-uri personality max-restarts xterm stdin preload-files display output display-map-file outfile-pattern errfile-pattern usize "                          \
    "info-file errfile"

static const struct starter starters[] = {
    {.name = "srun",
     .letters = "AaBbCcDdeFGiJLMmNnopqrStTUWwxZ",
     .names =
         "account acctg-freq batch bb bbf bcast-exclude begin chdir cluster-constraint clusters comment compress-with constraint container "
         "container-id context core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "
         "distribution epilog error exclude export extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task "
         "gres gres-flags hint input job-name jobid kill-on-bad-exit-after label-width licenses mail-type mail-user max-threads mcs-label "
         "mem mem-bind mem-per-cpu mem-per-gpu min-nodes mincpus mpi msg-timeout multi-prog-file network nice-value nodefile nodelist nodes "
         "ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition power prefer priority profile "
         "prolog propagate-limits qos relative reservation resv-ports-count send-libs-to signal slurmd-debug sockets-per-node spread-segment "
         "step-id switches task-epilog task-prolog thread-spec threads threads-per-core time time-min tmp tree-width tres-bind tres-per-task uid "
         "wait wckey x11-forward het-group mem-per-node oom-kill-step-of",
     .parallel = true,
     .tasks = "n ntasks",
     .nodes = "N nodes",
     .per_node = "ntasks-per-node",
     .cpus = "c cpus-per-task"},
    {.name = "mpirun", .letters = "ncNHfxl", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "mpiexec", .letters = "ncNHfxl", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "mpiexec.hydra", .letters = "nfl", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "orterun", .letters = "ncNHx", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "prterun", .letters = "ncNHx", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "prun", .letters = "ncNHx", .names = MPI_NAMES, .single_dash = true, .parallel = true, MPI_SHAPE},
    {.name = "mpirun_rsh",
     .letters = "n",
     .names = "np hostfile export-all-size",
     .single_dash = true,
     .assignments = true,
     .parallel = true,
     .tasks = "n np"},
    {.name = "aprun",
     .letters = "nNdSjLmMeBpPrtCcDFq",
     .names = "pes pes-per-node depth cpu-binding cc environment-override mem-per-pe access-mode",
     .parallel = true,
     .tasks = "n pes",
     .per_node = "N pes-per-node",
     .cpus = "d depth"},
    {.name = "jsrun",
     .letters = "nracgbdlELPKpmMUStoekhX",
     .names =
         "nrs rs_per_host tasks_per_rs cpu_per_rs gpu_per_rs bind launch_distribution latency_priority env memory_per_rs np smpiargs stdio_mode "
         "stdio_stdout stdio_stderr stdio_input exit_on_error erf_input chdir",
     .parallel = true,
     .tasks = "p np"},
    {.name = "ibrun", .letters = "no", .parallel = true, .tasks = "n"},
    {.name = "flux",
     .letters = "nNcgtloq",
     .names =
         "ntasks nodes cores cores-per-task gpus-per-task tasks-per-node tasks-per-core cores gpus-per-node time-limit queue bank requires env "
         "env-remove env-file setattr setopt output error input label-io cwd urgency job-name dependency begin-time signal taskmap unbuffered-of",
     .verbs = "run submit start alloc",
     .parallel = true,
     .tasks = "n ntasks",
     .nodes = "N nodes",
     .per_node = "tasks-per-node",
     .cpus = "c cores-per-task"},
    {.name = "env", .letters = "uCS", .names = "unset chdir split-string", .assignments = true},
    {.name = "time", .letters = "fo", .names = "format output"},
    {.name = "numactl",
     .letters = "iPpNCmlLof",
     .names =
         "interleave preferred preferred-many cpunodebind physcpubind membind weighted-interleave offset length strict-file shm shmid file"},
    {.name = "taskset", .letters = "", .names = "", .operands = 1},
    {.name = "nice", .letters = "n", .names = "adjustment"},
    {.name = "ionice", .letters = "cnpPu", .names = "class classdata pid"},
    {.name = "chrt", .letters = "TPDp", .names = "sched-runtime sched-period sched-deadline pid", .operands = 1},
    {.name = "stdbuf", .letters = "ioe", .names = "input output error"},
    {.name = "timeout", .letters = "ks", .names = "kill-after signal", .operands = 1},
    {.name = "nohup"},
    {.name = "setsid"},
    {.name = "setarch", .operands = 1},
    {.name = "prlimit", .letters = "", .names = ""},
    {.name = "hwloc-bind", .letters = "", .names = "membind mempolicy pid restrict", .operands = 1},
    {.name = "likwid-pin", .letters = "cst", .names = ""},
    {.name = "likwid-perfctr", .letters = "cCgtoTESOMVfs", .names = ""},
    {.name = "likwid-mpirun",
     .letters = "ndgomstO",
     .names = "np nperdomain hostfile pin omp mpi group",
     .single_dash = true,
     .parallel = true,
     .tasks = "n np"},
    {.name = "strace",
     .letters = "aEeIObopPsSuX",
     .names = "trace output columns attach env string-limit user const-print-style inject fault"},
    {.name = "ltrace", .letters = "aAeDFlnopsux", .names = "output library"},
    {.name = "perf",
     .letters = "oeFcpgGDIrBCMx",
     .names = "output event freq count repeat interval-print delay cpu call-graph",
     .verbs = "stat record trace"},
    {.name = "xvfb-run", .letters = "efnpsw", .names = "error-file auth-file server-num xauth-protocol server-args wait"},
    {.name = "catchsegv"},
    {.name = "caffeinate"},
    {.name = "apptainer",
     .letters = "BHWSscfhpio",
     .names =
         "bind home workdir scratch app add-caps apply-cgroups blkio-weight cpus cpuset-cpus cpuset-mems cpu-shares dns drop-caps env "
         "env-file fusemount hostname memory memory-reservation memory-swap mount net-args network overlay pem-path pwd cwd security shell",
     .verbs = "exec run",
     .operands = 1},
    {.name = "singularity",
     .letters = "BHWSscfhpio",
     .names =
         "bind home workdir scratch app add-caps apply-cgroups blkio-weight cpus cpuset-cpus cpuset-mems cpu-shares dns drop-caps env "
         "env-file fusemount hostname memory memory-reservation memory-swap mount net-args network overlay pem-path pwd cwd security shell",
     .verbs = "exec run",
     .operands = 1},
    {.name = "charliecloud", .operands = 1},
    {.name = "ch-run",
     .letters = "bcdgujms",
     .names = "bind cd set-env unset-env feature mount gid uid join-ct join-pid join-tag storage",
     .operands = 1},
    {.name = "shifter", .letters = "ieVvwE", .names = "image env env-file volume workdir entrypoint module"},
    {.name = "podman",
     .letters = "aceghlmpuvw",
     .names = "volume env device name network user workdir mount cpus memory entrypoint ipc pid security-opt ulimit",
     .verbs = "run",
     .operands = 1},
    {.name = "docker",
     .letters = "aceghlmpuvw",
     .names = "volume env device name network user workdir mount cpus memory entrypoint ipc pid security-opt ulimit gpus",
     .verbs = "run",
     .operands = 1},
};

static const struct starter *starter_of(const char *word)
{
    const char *name = str_base_name(word);
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (strcmp(starters[i].name, name) == 0)
            return &starters[i];
    if (strncmp(name, "mpirun.", 7) == 0 || strncmp(name, "mpiexec.", 8) == 0) /* Debian's mpirun.openmpi, mpiexec.mpich */
        return starter_of("mpirun");
    return NULL;
}

static bool listed(const char *words, struct str name)
{
    struct str rest = str_of(words);
    for (struct str word; (word = str_word(&rest)).n;)
        if (str_eq(word, name))
            return true;
    return false;
}

struct option {
    struct str name;  /* a letter is one too; n 0: not one that takes a value */
    struct str value; /* attached, or the next word; p NULL: there is none */
    int words;        /* that it takes of the line */
};

/* Open MPI's and Hydra's pairs: -mca KEY VALUE, -genv KEY VALUE; KEY=VALUE is one word. */
static bool takes_pair(const struct starter *s, struct str name)
{
    return s->single_dash && listed("mca gmca prtemca pmixmca genv env", name);
}

/* The option at argv[0], which begins with '-'. */
static struct option option_at(const struct starter *s, char *const *argv)
{
    const char *word = argv[0];
    bool two = word[1] == '-';
    struct str rest = str_of(word + (two ? 2 : 1)), name = str_cut(&rest, '=');
    struct str next = argv[1] ? str_of(argv[1]) : (struct str){0};
    if ((two || s->single_dash) && rest.p)
        return (struct option){two || listed(s->names, name) ? name : (struct str){0}, rest, 1};
    if ((two || s->single_dash) && listed(s->names, name)) {
        bool pair = takes_pair(s, name) && argv[1] && argv[2] && !strchr(argv[1], '=');
        return (struct option){name, next, pair ? 3 : 2};
    }
    if (two)
        return (struct option){name, next, 1};
    if (s->single_dash && name.n > 2 && !isdigit((unsigned char)word[2])) /* a long one that is not known, not letters: -n16 */
        return (struct option){.words = 1};
    for (const char *p = word + 1; *p; p++)
        if (s->letters && strchr(s->letters, *p))
            return (struct option){{p, 1}, p[1] ? str_of(p + 1 + (p[1] == '=')) : next, p[1] ? 1 : 2};
    return (struct option){.words = 1};
}

static void shape_option(const struct starter *s, const struct option *o, struct peel_shape *shape)
{
    struct {
        const char *names;
        int *to;
    } rows[] = {
        {s->tasks, &shape->tasks}, {s->nodes, &shape->nodes}, {s->per_node, &shape->tasks_per_node}, {s->cpus, &shape->cpus_per_task}};
    int64_t n;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (o->name.n && rows[i].names && listed(rows[i].names, o->name))
            *rows[i].to = o->value.p && str_int(o->value, &n) && n > 0 && n < 100000000 ? (int)n : 0; /* the last one counts */
}

static bool is_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals && equals != word;
}

/* The word behind one starter's own words, or NULL when nothing is left. What its options say goes to shape, unless that is NULL. */
static char *const *peel_one(const struct starter *s, char *const *at, struct peel_shape *shape)
{
    int operands = s->operands;
    at++;
    if (s->verbs) {
        while (*at && **at == '-') /* global options before the verb: apptainer -q exec */
            at++;
        if (!*at || !listed(s->verbs, str_of(*at)))
            return NULL;
        at++;
    }
    while (*at) {
        if (strcmp(*at, "--") == 0) {
            at++;
        } else if ((*at)[0] == '-' && (*at)[1]) {
            struct option o = option_at(s, at);
            if (shape)
                shape_option(s, &o, shape);
            while (o.words-- && *at)
                at++;
            continue;
        } else if (s->assignments && is_assignment(*at)) {
            at++;
            continue;
        }
        while (operands && *at)
            operands--, at++;
        if (s->assignments)
            while (*at && is_assignment(*at))
                at++;
        return *at ? at : NULL;
    }
    return NULL;
}

/* ret_parallel: how many of the starters begin several ranks; shape is that of the last one. */
static char *const *walk(char *const *argv, int *ret_parallel, struct peel_shape *shape)
{
    char *const *at = argv;
    *ret_parallel = 0;
    for (int depth = 0; depth < 16 && *at; depth++) {
        const struct starter *s = starter_of(*at);
        char *const *next = s ? peel_one(s, at, s->parallel ? shape : NULL) : NULL;
        if (!next)
            break;
        *ret_parallel += s->parallel;
        at = next;
    }
    return at;
}

char *const *peel(char *const *argv)
{
    int parallel;
    return walk(argv, &parallel, NULL);
}

bool peel_is_parallel(char *const *argv)
{
    int parallel;
    walk(argv, &parallel, NULL);
    return parallel > 0;
}

bool peel_shape(char *const *argv, struct peel_shape *ret)
{
    int parallel;
    *ret = (struct peel_shape){0};
    char *const *program = walk(argv, &parallel, ret);
    bool several = false;
    for (char *const *a = program; *a; a++)
        several |= strcmp(*a, ":") == 0;
    if (parallel == 1 && !several)
        return true;
    *ret = (struct peel_shape){0};
    return false;
}
