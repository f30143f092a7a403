/* collectors.c: the recorder's side of the collectors on other nodes: find or start them, receive their
 * reports, and stop them. */
#include "run/collectors.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/hostlist.h"
#include "launch/collector.h"
#include "collector/node_name.h"
#include "probes/slurm_acct.h"
#include "run/collector_reports.h"
#include "run/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 8 << 20,
    LOOK_MS = 1000,
    SHARED_MS = 10000, /* files of other nodes are visible by then, or the nodes share no file system */
    CLOCK_MS = 60000,
    STEP_AGAIN_MS = 60000,
    END_MS = 1500, /* the wait for the last messages; for those of a step, which ends on request, --finish-wait applies */
    QUIET_MS = 400 /* or so long without any, where ranks were killed with their step */
};
static const int64_t MS = 1000000;
static const char KEPT[] = ".nodes"; /* in the cache */

/* Stores a line that states how the collectors were started, how many are expected, and this node's
 * name. */
static void note_way(struct run *run)
{
    char array[96 + NODE_NAME_MAX], own[NODE_NAME_MAX + 1] = "", host[256] = "";
    const char *name = env_text(run->host.env, "SLURMD_NODENAME");
    bool step = run->nodes.way == NODES_STEP;
    gethostname(host, sizeof host - 1);
    if (!step || name) /* a shell of salloc sits on none of the job's nodes */
        node_own_name(run->host.env, host, own);
    if (*own && run->host.public_profile)
        node_name_make(own, STR("node001"));
    bool launcher = strcmp(run->wire->scope, "launcher") == 0;
    snprintf(array, sizeof array, "[\"w\",%" PRId64 ",\"%s\",\"%s\"%s]", run->nodes.expected, step ? "step" : "ranks", own,
             launcher ? ",\"launcher\"" : "");
    collector_reports_note(run, "-", array);
}

/* Records that the other nodes are missing, with the reason made harmless. */
static void collectors_missing(struct run *run, const char *why)
{
    const char *source = run->record.source;
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 4096);
    buf_plain(&plain, str_of(why), 400);
    run->record.source = "nodes";
    record_missing(&run->record, "nodes", "%s", plain.p ? plain.p : "");
    run->record.source = source;
    run->dirty = true;
}

/* ---- the step ---- */

/* Returns the environment without the variables of this step or batch script: srun would apply them
 * to the new step. The caller frees the list, not its texts; NULL: out of memory. */
static char **step_environment(const struct run *run)
{
    static const char *const kept[] = {"SLURM_CONF=", "SLURM_CONF_SERVER=", "SLURM_CLUSTER_NAME=", "SLURM_JOB_ID=", "SLURM_JOBID="};
    size_t n = 0, to = 0;
    while (run->host.env[n])
        n++;
    char **env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        const char *e = run->host.env[i];
        bool slurm = strncmp(e, "SLURM_", 6) == 0 || strncmp(e, "SRUN_", 5) == 0 || strncmp(e, "SLURMD_", 7) == 0, keeps = !slurm;
        for (size_t k = 0; slurm && k < sizeof kept / sizeof *kept; k++)
            keeps |= strncmp(e, kept[k], strlen(kept[k])) == 0;
        if (keeps)
            env[to++] = run->host.env[i];
    }
    return env;
}

/* Starts a step of Slurm with a collector on each other node of the job. On failure the record
 * states why collectors are missing, unless this program's path is not known. */
static void start_step(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    const char *own = env_text(run->host.env, "SLURMD_NODENAME");
    char core[4096], nodes[40], tasks[40], without[300] = "-Q", period[32];
    ssize_t k = readlink("/proc/self/exe", core, sizeof core - 1);
    struct err err = {0};
    if (k <= 0)
        return;
    core[k] = 0;
    snprintf(nodes, sizeof nodes, "-N%" PRId64, n->expected);
    snprintf(tasks, sizeof tasks, "-n%" PRId64, n->expected);
    if (own)
        snprintf(without, sizeof without, "-x%.250s", own);
    snprintf(period, sizeof period, "%" PRId64, run->sample_ns / MS);
    const char *line[] = {"srun",
                          "--overlap",
                          nodes,
                          tasks,
                          "--ntasks-per-node=1",
                          "-c1",
                          "--mem=0",
                          "--cpu-bind=none",
                          "--mpi=none",
                          "--chdir=/",
                          "--quiet",
                          "--kill-on-bad-exit=0",
                          ("--job-name=" SLURM_ACCT_OWN),
                          without,
                          core,
                          NODE_WORD,
                          "step",
                          run->host.public_profile ? "public" : "private",
                          period,
                          NULL};
    char **env = step_environment(run);
    n->way = NODES_STEP;
    n->look_ns = clock_mono_ns() + CLOCK_MS * MS;
    buf_init(&n->facts, 16 << 20);
    note_way(run);
    if (!env || query_start(&n->step, (char *const *)line, env, PIECE, 0, QUERY_INPUT, &err)) {
        collectors_missing(run, env ? err.text : "out of memory for the step of the collectors");
        n->way = NODES_NONE;
    }
    free(env);
}

/* Requests the time of every collector, which collectors_receive then reads. Where srun does not
 * read, the request is repeated later. */
static void request_clocks(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    char text[40];
    n->told = n->seen_count;
    n->asked_ns = clock_mono_ns();
    n->asked_wall_ms = clock_wall_ms();
    n->look_ns = n->asked_ns + CLOCK_MS * MS;
    int k = snprintf(text, sizeof text, "t %" PRId64 "\n", n->asked_ns);
    if (write(n->step.in, text, (size_t)k) != k)
        n->asked_ns = 0; /* srun does not read: another time */
}

/* Returns the line that has the cause in what srun printed: the first error, else the last line; notices precede both. */
static struct str step_cause(struct str why)
{
    struct str last = {"", 0};
    while (why.p) {
        struct str line = str_trim(str_cut(&why, '\n'));
        if (str_has(line, "error: "))
            return line;
        if (line.n)
            last = line;
    }
    return last;
}

/* Records why values of the other nodes are missing, in the words of the srun that failed. */
static void step_failed(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    char text[600];
    struct str cause = step_cause(n->step.why.n ? str_of(job_words(run, n->step.why.p)) : STR("srun ended and printed no message"));
    snprintf(text, sizeof text, "the step of the collectors: " STR_FMT, STR_ARG(str_sub(cause, 0, 400)));
    if (n->seen_count < (size_t)n->expected && run->end.kind == 0)
        collectors_missing(run, text);
}

static void read_step_output(struct run *run)
{
    struct buf *text = &run->nodes.step.text;
    size_t taken = text->n ? collector_reports_read(run, buf_text(text)) : 0;
    if (!taken)
        return;
    memmove(text->p, text->p + taken, text->n - taken + 1);
    text->n -= taken;
}

void collectors_receive(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    if (n->way != NODES_STEP || n->step.end != QUERY_RUNS)
        return;
    enum query_end end = query_poll(&n->step);
    read_step_output(run);
    if (end != QUERY_RUNS) {
        n->look_ns = INT64_MAX;
        step_failed(run);
    } else if (n->seen_count > n->told && n->step.in >= 0 && clock_mono_ns() - n->asked_ns > 20 * MS)
        request_clocks(run);
}

/* ---- the run's story ---- */

static bool slurm_env_count(const struct run *run, const char *name, int64_t *ret)
{
    const char *text = env_text(run->host.env, name);
    return text && str_int(str_of(text), ret) && *ret > 0;
}

/* Returns the number of other nodes with ranks of this launch; -1: not known. */
static int64_t count_other_nodes(const struct run *run)
{
    static const char *const locals[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"};
    int64_t n;
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++)
        if (slurm_env_count(run, locals[i], &n))
            return run->wire->ranks && n >= run->wire->ranks ? 0 : -1;
    return slurm_env_count(run, "SLURM_STEP_NUM_NODES", &n) || slurm_env_count(run, "FLUX_JOB_NNODES", &n) ? n - 1 : -1;
}

/* Prepares reading the files of the ranks' collectors. Does nothing where no rank is on another
 * node, or the launch has no id. */
static void begin_files(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    struct buf folder CLEANUP_BUF;
    char launch[33];
    buf_init(&folder, sizeof n->folder - 1);
    n->expected = count_other_nodes(run);
    if (run->wire->ranks == 1 || n->expected == 0)
        return; /* all ranks are here */
    if (n->expected < 0)
        n->expected = 0;
    if (!node_launch(run->host.env, launch))
        return;
    node_folder(run->plan.spool, launch, &folder);
    if (folder.failed)
        return;
    snprintf(n->folder, sizeof n->folder, "%s", folder.p);
    n->way = NODES_FILES;
    n->look_ns = n->start_ns + LOOK_MS * MS / 4;
    note_way(run);
}

/* Returns on how many other nodes of the job one step can run collectors. 0: on none; *ret_why is
 * then the reason, or NULL where there is no such node. */
static int64_t step_nodes(const struct run *run, const char **ret_why)
{
    int64_t n = 0, het;
    *ret_why = NULL;
    if (run->host.own_job || !env_text(run->host.env, "SLURM_JOB_ID") ||
        (!slurm_env_count(run, "SLURM_JOB_NUM_NODES", &n) && !slurm_env_count(run, "SLURM_NNODES", &n)))
        return 0;
    n -= env_text(run->host.env, "SLURMD_NODENAME") != NULL; /* a shell of salloc sits on none of them */
    if (n > 0 && slurm_env_count(run, "SLURM_HET_SIZE", &het) && het > 1)
        *ret_why = "the other nodes of a heterogeneous job are observed only where srun starts benchwrap";
    else if (n > 0 && env_text(run->host.env, "SLURM_ARRAY_JOB_ID"))
        *ret_why = "for tasks of an array no step is started to inspect the other nodes";
    else if (n > NODES_MAX)
        *ret_why = "more than 4096 nodes";
    return *ret_why ? 0 : n;
}

/* Reuses the nodes' facts from a recent step, since a job with many short runs must not double its
 * steps. False: there was no step within STEP_AGAIN_MS. */
static bool reuse_node_facts(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    struct buf text CLEANUP_BUF;
    int64_t age_ms;
    char why[160];
    buf_init(&text, 32 << 20);
    if (!job_cache_read(run, KEPT, &text, &age_ms) || age_ms > STEP_AGAIN_MS || age_ms < 0)
        return false;
    n->way = NODES_STEP;
    note_way(run);
    collector_reports_read(run, buf_text(&text));
    n->way = NODES_NONE;
    snprintf(why, sizeof why,
             "samples of the other nodes: a step for them was started in this job %" PRId64 " s ago, and there is at most one a minute",
             age_ms / 1000);
    collectors_missing(run, why);
    return true;
}

void collectors_begin(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    const char *scope = run->wire->scope, *why;
    n->start_ns = clock_mono_ns();
    if (run->nested || opt_on(&run->plan.opts, OPTION_NO_COLLECT))
        return;
    if (strcmp(scope, "rank0") == 0)
        begin_files(run);
    else if (strcmp(scope, "launcher") == 0) {
        n->expected = step_nodes(run, &why);
        if (why)
            collectors_missing(run, why);
        if (n->expected > 0 && !reuse_node_facts(run))
            start_step(run);
    }
}

int collectors_fd(const struct run *run)
{
    return run->nodes.step.out;
}

int64_t collectors_next(const struct run *run)
{
    const struct run_collectors *n = &run->nodes;
    if (n->way == NODES_STEP && n->step.end == QUERY_RUNS && n->step.out < 0)
        return clock_mono_ns() + 2 * MS;
    return n->look_ns;
}

/* Scans the collectors' files. If none appear, the nodes share no file system: starts a step instead. */
static void scan_collector_files(struct run *run, int64_t now_ns)
{
    struct run_collectors *n = &run->nodes;
    const char *why;
    collector_reports_scan(run);
    int64_t all = (int64_t)n->seen_count, since = now_ns - n->start_ns;
    n->look_ns = now_ns + (since > 60 * 1000 * MS ? 5 : 1) * LOOK_MS * MS;
    if (all == 0 && n->expected > 0 && since > SHARED_MS * MS && step_nodes(run, &why) == n->expected)
        start_step(run);
}

void collectors_on_time(struct run *run, int64_t now_ns)
{
    struct run_collectors *n = &run->nodes;
    if (n->way == NODES_FILES && now_ns >= n->look_ns)
        scan_collector_files(run, now_ns);
    if (n->way == NODES_STEP && now_ns >= n->look_ns)
        request_clocks(run);
    collectors_receive(run);
}

/* Reads the files until all collectors have ended, no bytes come for QUIET_MS, or END_MS are over;
 * a quarter of that if the scheduler has sent a signal. Removes the folder. */
static void end_files(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    struct timespec nap = {.tv_nsec = 20 * MS};
    uint64_t bytes = 0;
    int64_t start = clock_mono_ns(), quiet = start;
    bool hurry = job_hurries(run);
    for (;;) {
        int64_t now = clock_mono_ns();
        collector_reports_scan(run);
        if (n->bytes != bytes)
            quiet = now;
        bytes = n->bytes;
        bool all = n->seen_count && n->ended == n->seen_count && (int64_t)n->seen_count >= n->expected;
        if (all || now - quiet > (hurry ? QUIET_MS / 4 : QUIET_MS) * MS || now - start > (hurry ? END_MS / 4 : END_MS) * MS)
            break;
        nanosleep(&nap, NULL);
    }
    collector_reports_remove(n->folder);
}

/* Reports which nodes of the job ran the program: statistics cover only those. */
static void note_used(struct run *run)
{
    const struct run_step *s = &run->step;
    const char *own = env_text(run->host.env, "SLURMD_NODENAME");
    const struct fact *nodes = record_find(&run->record, FACT_PARAM, "step.nodes");
    char array[96];
    if (strcmp(run->wire->scope, "launcher") != 0 || !s->known || !nodes || run->nodes.file < 0)
        return;
    bool here = own && (s->all || hostlist_has(buf_text(&s->list), str_of(own)));
    snprintf(array, sizeof array, "[\"u\",%d,%.20s]", here, nodes->text.p);
    collector_reports_note(run, "-", array);
    collector_reports_note_used(run, s->all ? NULL : &s->list);
}

void collectors_end(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    int64_t until = clock_mono_ns() + run_answer_ms(run, job_hurries(run) ? END_MS / 4 : END_MS) * MS;
    if (n->way == NODES_FILES)
        end_files(run);
    if (n->way == NODES_STEP) {
        fs_close(&n->step.in); /* which notifies the collectors */
        while (n->step.end == QUERY_RUNS && clock_mono_ns() < until) {
            query_wait(&n->step, 10);
            read_step_output(run);
        }
    }
    if (n->way == NODES_STEP && !n->facts.failed && (int64_t)n->seen_count == n->expected && n->ended == n->seen_count)
        job_cache_store(run, KEPT, buf_text(&n->facts));
    note_used(run);
    if (n->cut)
        collectors_missing(run, "not everything that the nodes reported could be stored");
    collectors_close(run);
}

void collectors_close(struct run *run)
{
    struct run_collectors *n = &run->nodes;
    query_close(&n->step);
    fs_close(&n->file);
    free(n->seen);
    buf_deinit(&n->facts);
    *n = RUN_COLLECTORS_NONE;
}
