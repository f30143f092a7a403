/* run_nodes.c: the recorder's side of the other nodes: what their collectors tell is put into the spool. */
#include "wrapper/run_nodes.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "launch/node.h"
#include "probes/slurm_acct.h"
#include "wrapper/node.h"
#include "wrapper/run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 8 << 20,
    LOOK_MS = 1000,
    SHARED_MS = 10000, /* by then files of other nodes are seen, or the nodes share no file system */
    CLOCK_MS = 60000,
    STEP_AGAIN_MS = 60000,
    AT_ONCE_MS = 9000, /* a collector writes each sample at once so long */
    END_MS = 1500, /* so long the last words are waited for */
    QUIET_MS = 400, /* or so long without any, where ranks were killed with their step */
    OLD_S = 3 * 86400
};
static const int64_t MS = 1000000;
static const char KEPT[] = ".nodes"; /* in the cache */

/* A node as far as the recorder must know it while the run goes on. */
struct nodes_seen {
    char name[NODE_NAME_MAX + 1];
    uint64_t at; /* bytes of its file that have been taken */
    bool ended;
    int64_t error_ms; /* of its clock's offset to ours; the best that is known */
    int64_t start_ms; /* by its own clock */
    int64_t least_ms, most_ms; /* what its offset can be, by files: it was stamped between two looks */
};

/* ---- into the spool ---- */

static void keep(struct run *run, struct str lines)
{
    struct run_nodes *n = &run->nodes;
    if (n->file < 0)
        n->file = openat(run->spool.dir, NODES_LINES, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (n->file < 0 || n->bytes + lines.n > NODES_FILE_MAX || fs_write_all(n->file, lines.p, lines.n))
        n->cut += lines.n;
    else
        n->bytes += lines.n;
}

static void note(struct run *run, const char *node, const char *array)
{
    struct buf line CLEANUP_BUF;
    buf_init(&line, 2 * NODE_LINE_MAX);
    if (node_line(&line, node, str_of(array)))
        keep(run, buf_text(&line));
}

static void note_way(struct run *run)
{
    char array[64 + NODE_NAME_MAX], own[NODE_NAME_MAX + 1] = "", host[256] = "";
    const char *name = env_text(run->host.env, "SLURMD_NODENAME");
    bool step = run->nodes.way == NODES_STEP;
    gethostname(host, sizeof host - 1);
    if (!step || name) /* a shell of salloc sits on none of the job's nodes */
        node_own_name(run->host.env, host, own);
    if (*own && run->host.public_profile)
        node_name_make(own, STR("node001"));
    snprintf(array, sizeof array, "[\"w\",%" PRId64 ",\"%s\",\"%s\"]", run->nodes.expected, step ? "step" : "ranks", own);
    note(run, "-", array);
}

static void missing(struct run *run, const char *why)
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

/* ---- what is heard ---- */

static struct nodes_seen *seen_of(struct run *run, struct str name)
{
    struct run_nodes *n = &run->nodes;
    for (size_t i = 0; i < n->seen_count; i++)
        if (str_is(name, n->seen[i].name))
            return &n->seen[i];
    if (n->seen_count == NODES_MAX)
        return NULL;
    if (n->seen_count % 64 == 0) {
        struct nodes_seen *more = realloc(n->seen, (n->seen_count + 64) * sizeof *more);
        if (!more)
            return NULL;
        n->seen = more;
    }
    struct nodes_seen *s = &n->seen[n->seen_count++];
    *s = (struct nodes_seen){.error_ms = INT64_MAX, .least_ms = INT64_MIN / 4, .most_ms = INT64_MAX / 4};
    snprintf(s->name, sizeof s->name, STR_FMT, STR_ARG(name));
    return s;
}

static void set_clock(struct run *run, struct nodes_seen *s, int64_t offset_ms, int64_t error_ms)
{
    char array[80];
    if (error_ms >= s->error_ms)
        return;
    s->error_ms = error_ms;
    snprintf(array, sizeof array, "[\"o\",%" PRId64 ",%" PRId64 "]", offset_ms, error_ms);
    note(run, s->name, array);
}

/* The number behind the kind in ["c",12,34], and cuts it off. */
static bool number_cut(struct str *rest, int64_t *ret)
{
    struct str word = str_cut(rest, ',');
    if (str_ends(word, "]"))
        word.n--;
    return str_int(word, ret);
}

/* The answer to the clocks' question: read at once, so its clock's offset is known to half the time that it took. */
static void take_clock(struct run *run, struct nodes_seen *s, struct str array)
{
    struct run_nodes *n = &run->nodes;
    int64_t token, wall, now = clock_mono_ns();
    str_cut(&array, ',');
    if (!number_cut(&array, &token) || !number_cut(&array, &wall) || token != n->asked_ns)
        return;
    int64_t half = (now - n->asked_ns) / MS / 2;
    set_clock(run, s, wall - (n->asked_wall_ms + half), half + 1);
}

/* A line of a file: it was not there at the look before, and it was written at once where the node has just begun. */
static void take_stamp(struct run *run, struct nodes_seen *s, struct str array)
{
    struct run_nodes *n = &run->nodes;
    int64_t wall;
    bool begins = str_starts(array, "[\"h\"");
    if (n->way != NODES_FILES || (!begins && !str_starts(array, "[\"s\"")))
        return;
    str_cut(&array, ',');
    if (!number_cut(&array, &wall))
        return;
    s->start_ms = begins ? wall : s->start_ms;
    if (wall - s->start_ms > AT_ONCE_MS || !n->looked_ms)
        return;
    int64_t least = wall - clock_wall_ms(), most = wall - n->looked_ms;
    s->least_ms = least > s->least_ms ? least : s->least_ms;
    s->most_ms = most < s->most_ms ? most : s->most_ms;
    if (s->most_ms >= s->least_ms)
        set_clock(run, s, (s->least_ms + s->most_ms) / 2, (s->most_ms - s->least_ms) / 2 + 1);
}

static void take_line(struct run *run, struct str line, struct buf *good)
{
    struct run_nodes *n = &run->nodes;
    struct str node, array;
    if (!node_line_read(line, &node, &array) || str_is(node, "-"))
        return;
    struct nodes_seen *s = seen_of(run, node);
    if (!s)
        return;
    if (str_starts(array, "[\"c\""))
        take_clock(run, s, array);
    else {
        take_stamp(run, s, array);
        n->ended += str_starts(array, "[\"e\"") && !s->ended;
        s->ended |= str_starts(array, "[\"e\"");
        if (n->way == NODES_STEP && (str_starts(array, "[\"h\"") || str_starts(array, "[\"p\"") || str_starts(array, "[\"x\""))) {
            buf_str(&n->facts, line);
            buf_putc(&n->facts, '\n');
        }
        buf_str(good, line);
        buf_putc(good, '\n');
    }
}

/* Whole lines of text; returns how many bytes they were. */
static size_t take_lines(struct run *run, struct str text)
{
    struct buf good CLEANUP_BUF;
    size_t taken = 0;
    buf_init(&good, text.n + 16);
    while (taken < text.n) {
        const char *end = memchr(text.p + taken, '\n', text.n - taken);
        if (!end)
            break;
        take_line(run, (struct str){text.p + taken, (size_t)(end - text.p) - taken}, &good);
        taken = (size_t)(end - text.p) + 1;
    }
    if (good.n)
        keep(run, buf_text(&good));
    return taken;
}

/* ---- files of ranks' collectors ---- */

static void read_file(struct run *run, int dir, const char *name)
{
    struct nodes_seen *s = seen_of(run, str_of(name));
    struct buf text CLEANUP_BUF;
    struct stat st;
    buf_init(&text, PIECE + 1);
    CLEANUP_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (!s || fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= s->at)
        return;
    size_t want = (uint64_t)st.st_size - s->at < PIECE ? (size_t)((uint64_t)st.st_size - s->at) : PIECE;
    char *room = buf_room(&text, want);
    ssize_t got = room ? pread(fd, room, want, (off_t)s->at) : -1;
    if (got <= 0)
        return;
    s->at += take_lines(run, (struct str){room, (size_t)got});
}

static void look_into_folder(struct run *run)
{
    struct fs_list list;
    struct statfs fs;
    int64_t now_ms = clock_wall_ms();
    CLEANUP_FD int dir = open(run->nodes.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool there = dir >= 0 && fs_list(dir, ".", &list, NULL) == 0;
    for (size_t i = 0; there && i < list.count; i++) {
        char name[NODE_NAME_MAX + 1];
        node_name_make(name, str_of(list.names[i]));
        if (strcmp(name, list.names[i]) == 0)
            read_file(run, dir, name);
    }
    if (there)
        fs_list_deinit(&list);
    bool late =
        fstatfs(run->spool.dir, &fs) != 0 || fs.f_type == NFS_SUPER_MAGIC; /* NFS shows files when it likes: they tell nothing of clocks */
    run->nodes.looked_ms = late ? 0 : now_ms;
}

/* Folders of launches whose recorder was killed. */
static void sweep_folders(const char *folder)
{
    struct fs_list list;
    struct stat st;
    char parent[4200];
    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = 0;
    CLEANUP_FD int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0 || fs_list(dir, ".", &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++)
        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && clock_wall_ms() / 1000 - st.st_mtime > OLD_S)
            fs_remove_tree(dir, list.names[i], NULL);
    fs_list_deinit(&list);
}

/* ---- the step ---- */

/* Without what our own step or batch script was given: it would be taken for the new step's. */
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

static void start_step(struct run *run)
{
    struct run_nodes *n = &run->nodes;
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
    if (!env || ask_start(&n->step, (char *const *)line, env, PIECE, 0, ASK_INPUT, &err)) {
        missing(run, env ? err.text : "no memory for the step of the collectors");
        n->way = NODES_NONE;
    }
    free(env);
}

static void ask_clocks(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    char text[40];
    n->told = n->seen_count;
    n->asked_ns = clock_mono_ns();
    n->asked_wall_ms = clock_wall_ms();
    n->look_ns = n->asked_ns + CLOCK_MS * MS;
    int k = snprintf(text, sizeof text, "t %" PRId64 "\n", n->asked_ns);
    if (write(n->step.in, text, (size_t)k) != k)
        n->asked_ns = 0; /* srun does not read: another time */
}

/* What srun said when it failed, without its own prefix. */
static void step_failed(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    char text[600];
    struct str why = n->step.why.n ? str_of(job_words(run, n->step.why.p)) : STR("srun ended without a word");
    struct str first = str_cut(&why, '\n');
    snprintf(text, sizeof text, "the step of the collectors: " STR_FMT, STR_ARG(str_sub(first, 0, 400)));
    if (n->seen_count < (size_t)n->expected && run->end.kind == 0)
        missing(run, text);
}

static void take_text(struct run *run)
{
    struct buf *text = &run->nodes.step.text;
    size_t taken = text->n ? take_lines(run, buf_text(text)) : 0;
    if (!taken)
        return;
    memmove(text->p, text->p + taken, text->n - taken + 1);
    text->n -= taken;
}

void nodes_hear(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    if (n->way != NODES_STEP || n->step.end != ASK_RUNS)
        return;
    enum ask_end end = ask_hear(&n->step);
    take_text(run);
    if (end != ASK_RUNS) {
        n->look_ns = INT64_MAX;
        step_failed(run);
    } else if (n->seen_count > n->told && n->step.in >= 0 && clock_mono_ns() - n->asked_ns > 20 * MS)
        ask_clocks(run);
}

/* ---- the run's story ---- */

static bool count_of(const struct run *run, const char *name, int64_t *ret)
{
    const char *text = env_text(run->host.env, name);
    return text && str_int(str_of(text), ret) && *ret > 0;
}

/* Nodes beside ours on which ranks of this launch sit; -1: not told. */
static int64_t rank_nodes(const struct run *run)
{
    static const char *const locals[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"};
    int64_t n;
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++)
        if (count_of(run, locals[i], &n))
            return run->wire->ranks && n >= run->wire->ranks ? 0 : -1;
    return count_of(run, "SLURM_STEP_NUM_NODES", &n) || count_of(run, "FLUX_JOB_NNODES", &n) ? n - 1 : -1;
}

static void begin_files(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    struct buf folder CLEANUP_BUF;
    char launch[33];
    buf_init(&folder, sizeof n->folder - 1);
    n->expected = rank_nodes(run);
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

/* The job's nodes, of which one step can run collectors. 0: there is nothing to start; *ret_why, if it is a pity. */
static int64_t step_nodes(const struct run *run, const char **ret_why)
{
    int64_t n = 0, het;
    *ret_why = NULL;
    if (!env_text(run->host.env, "SLURM_JOB_ID") || (!count_of(run, "SLURM_JOB_NUM_NODES", &n) && !count_of(run, "SLURM_NNODES", &n)))
        return 0;
    n -= env_text(run->host.env, "SLURMD_NODENAME") != NULL; /* a shell of salloc sits on none of them */
    if (n > 0 && count_of(run, "SLURM_HET_SIZE", &het) && het > 1)
        *ret_why = "the other nodes of a heterogeneous job are looked at only where benchwrap stands behind srun";
    else if (n > 0 && env_text(run->host.env, "SLURM_ARRAY_JOB_ID"))
        *ret_why = "for tasks of an array no step is started to look at the other nodes";
    else if (n > NODES_MAX)
        *ret_why = "more than 4096 nodes";
    return *ret_why ? 0 : n;
}

/* A job with many short runs shall not double its steps: what the nodes are is known from a step of a moment ago. */
static bool take_kept(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    struct buf text CLEANUP_BUF;
    int64_t age_ms;
    char why[160];
    buf_init(&text, 32 << 20);
    if (!job_kept(run, KEPT, &text, &age_ms) || age_ms > STEP_AGAIN_MS || age_ms < 0)
        return false;
    n->way = NODES_STEP;
    note_way(run);
    n->way = NODES_NONE;
    keep(run, buf_text(&text));
    snprintf(why, sizeof why,
             "samples of the other nodes: a step for them was started in this job %" PRId64 " s ago, and there is at most one a minute",
             age_ms / 1000);
    missing(run, why);
    return true;
}

void nodes_begin(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    const char *scope = run->wire->scope, *why;
    n->start_ns = clock_mono_ns();
    if (run->nested || opt_on(&run->plan.opts, "no-collect"))
        return;
    if (strcmp(scope, "rank0") == 0)
        begin_files(run);
    else if (strcmp(scope, "launcher") == 0) {
        n->expected = step_nodes(run, &why);
        if (why)
            missing(run, why);
        if (n->expected > 0 && !take_kept(run))
            start_step(run);
    }
}

int nodes_fd(const struct run *run)
{
    return run->nodes.step.out;
}

int64_t nodes_next(const struct run *run)
{
    const struct run_nodes *n = &run->nodes;
    if (n->way == NODES_STEP && n->step.end == ASK_RUNS && n->step.out < 0)
        return clock_mono_ns() + 2 * MS;
    return n->look_ns;
}

/* Ranks write where nobody here reads: then the scheduler brings what they tell. */
static void look_for_files(struct run *run, int64_t now_ns)
{
    struct run_nodes *n = &run->nodes;
    const char *why;
    look_into_folder(run);
    int64_t all = (int64_t)n->seen_count, since = now_ns - n->start_ns;
    n->look_ns = now_ns + (since > 60 * 1000 * MS ? 5 : 1) * LOOK_MS * MS;
    if (all == 0 && n->expected > 0 && since > SHARED_MS * MS && step_nodes(run, &why) == n->expected)
        start_step(run);
}

void nodes_on_time(struct run *run, int64_t now_ns)
{
    struct run_nodes *n = &run->nodes;
    if (n->way == NODES_FILES && now_ns >= n->look_ns)
        look_for_files(run, now_ns);
    if (n->way == NODES_STEP && now_ns >= n->look_ns)
        ask_clocks(run);
    nodes_hear(run);
}

static void end_files(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    struct timespec nap = {.tv_nsec = 20 * MS};
    uint64_t bytes = 0;
    int64_t start = clock_mono_ns(), quiet = start;
    bool hurry = job_hurries(run);
    for (;;) {
        int64_t now = clock_mono_ns();
        look_into_folder(run);
        if (n->bytes != bytes)
            quiet = now;
        bytes = n->bytes;
        bool all = n->seen_count && n->ended == n->seen_count && (int64_t)n->seen_count >= n->expected;
        if (all || now - quiet > (hurry ? QUIET_MS / 4 : QUIET_MS) * MS || now - start > (hurry ? END_MS / 4 : END_MS) * MS)
            break;
        nanosleep(&nap, NULL);
    }
    fs_remove_tree(AT_FDCWD, n->folder, NULL);
    sweep_folders(n->folder);
}

void nodes_end(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    int64_t until = clock_mono_ns() + (job_hurries(run) ? END_MS / 4 : END_MS) * MS;
    if (n->way == NODES_FILES)
        end_files(run);
    if (n->way == NODES_STEP) {
        fs_close(&n->step.in); /* which tells the collectors */
        while (n->step.end == ASK_RUNS && clock_mono_ns() < until) {
            ask_wait(&n->step, 10);
            take_text(run);
        }
    }
    if (n->way == NODES_STEP && !n->facts.failed && (int64_t)n->seen_count == n->expected && n->ended == n->seen_count)
        job_keep(run, KEPT, buf_text(&n->facts));
    if (n->cut)
        missing(run, "not all that the nodes told could be kept");
    nodes_close(run);
}

void nodes_close(struct run *run)
{
    struct run_nodes *n = &run->nodes;
    ask_close(&n->step);
    fs_close(&n->file);
    free(n->seen);
    buf_deinit(&n->facts);
    *n = RUN_NODES_NONE;
}
