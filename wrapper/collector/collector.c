/* collector.c: the collector on a node without a recorder: reports the hardware once, then samples, as lines. */
#include "collector/collector.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "base/place.h"
#include "launch/collector.h"
#include "launch/rank.h"
#include "launch/wire.h"
#include "collector/collector_lines.h"
#include "collector/node_name.h"
#include "plan/plan.h"
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NAMES_MAX = 400, /* series of one node */
    FACT_MAX = 4096,
    EAGER_MS = 10000, /* so long each sample is written at once, */
    SILENCE_MS = 600000, /* the recorder requests the time each minute */
    LAZY_MS = 5000 /* then so often, as 1,000 nodes that write each second would load a file server */
};
static const int64_t MS = 1000000, SECOND = 1000000000;

struct collecting_node {
    struct plan plan;
    struct host host;
    struct record record;
    char name[NODE_NAME_MAX + 1];
    struct buf out;
    char *names[NAMES_MAX];
    size_t names_count;
    const char *folder; /* of the file, which has the node's name; NULL: standard output */
    bool made; /* the file has been made */
    bool lost; /* no process reads the reports any more */
    int end; /* readable when it is over: pidfd, standard input; -1: the collector searches for the rank */
    pid_t rank;
    int64_t base_ns, start_ns, written_ns, heard_ns;
};

int64_t node_period(int64_t base_ns, int64_t since_start_ns)
{
    static const struct {
        int64_t after_s, period_s;
    } rows[] = {{86400, 300}, {6 * 3600, 60}, {600, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (since_start_ns >= rows[i].after_s * SECOND && base_ns < rows[i].period_s * SECOND)
            return rows[i].period_s * SECOND;
    return base_ns;
}

/* ---- names ---- */

/* Sets the node's name. In public records nodes have numbers, the recorder's being 1. by_slurm:
 * Slurm's variables are about this rank. */
static void choose_name(struct collecting_node *n, int first, bool by_slurm)
{
    char host[256] = "", text[64];
    const char *id = env_text(n->host.env, "SLURM_NODEID");
    int64_t number;
    gethostname(host, sizeof host - 1);
    if (!n->host.public_profile) {
        node_own_name(n->host.env, host, n->name);
        return;
    }
    if (id && by_slurm && str_int(str_of(id), &number))
        snprintf(text, sizeof text, "node%03lld", (long long)number + first);
    else {
        char random[33];
        record_new_id(random);
        snprintf(text, sizeof text, "node-%.8s", random);
    }
    node_name_make(n->name, str_of(text));
}

/* Makes the file. Where names are the hosts' own, two nodes may have one (containers, "localhost"): the second is another all the same. */
static void claim_name(struct collecting_node *n, int folder)
{
    char first[NODE_NAME_MAX - 5];
    snprintf(first, sizeof first, "%.*s", (int)sizeof first - 1, n->name);
    for (int i = 1; i < 10000; i++) {
        if (i > 1)
            snprintf(n->name, sizeof n->name, "%s-%d", first, i);
        CLEANUP_FD int fd = openat(folder, n->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        n->made = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            return;
    }
}

/* ---- reports ---- */

/* Appends n->out to the node's file and clears it; on failure the file stays as it was, and
 * n->out for the next time: samples that are there twice would count twice. Sets n->lost where
 * the folder or the file has been removed. */
static void collector_append_file(struct collecting_node *n)
{
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (n->made ? 0 : O_CREAT);
    struct stat st;
    CLEANUP_FD int folder = place_open_below(n->folder, NODE_FOLDER_LEVELS, 0);
    CLEANUP_FD int fd = folder < 0 ? -1
                                   : openat(folder, n->name, flags | O_NONBLOCK,
                                            0600); /* opened each time: with NFS, only closing makes it visible on other nodes */
    if (fd < 0 && errno == ENOENT)
        n->lost = true; /* the recorder has gone, and the folder with it */
    if (fd < 0 || !place_is_own(folder) || fstat(fd, &st) || !S_ISREG(st.st_mode) || fs_append(fd, n->out.p, n->out.n))
        return;
    n->made = true;
    buf_clear(&n->out);
}

/* Writes n->out to the node's file, or without a folder to standard output. A failure of standard
 * output sets n->lost, after which nothing is written. */
static void collector_flush(struct collecting_node *n)
{
    if (n->out.n == 0 || n->lost)
        return;
    if (n->folder)
        collector_append_file(n);
    else if (fs_write_all(1, n->out.p, n->out.n))
        n->lost = true;
    else
        buf_clear(&n->out);
    n->written_ns = clock_mono_ns();
}

/* Appends the line ["KIND",a,b] to n->out; a negative number is left out. */
static void collector_send_event(struct collecting_node *n, const char *fmt, long long a, long long b)
{
    char text[100];
    int k = snprintf(text, sizeof text, "[\"%s\"", fmt);
    if (a >= 0)
        k += snprintf(text + k, sizeof text - (size_t)k, ",%lld", a);
    if (b >= 0)
        k += snprintf(text + k, sizeof text - (size_t)k, ",%lld", b);
    snprintf(text + k, sizeof text - (size_t)k, "]");
    node_line(&n->out, n->name, str_of(text));
}

/* Returns whether the fact is about the node itself, not the job or the program that is observed on
 * it. */
static bool of_node(const struct fact *f)
{
    static const char *const others[] = {"probe:scheduler", "probe:environment", "probe:software", "probe:source"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(f->source, others[i]) == 0)
            return false;
    return true;
}

static void collector_send_facts(struct collecting_node *n)
{
    for (const struct fact *f = n->record.first; f; f = f->next)
        if ((f->kind == FACT_PARAM || f->kind == FACT_MISSING) && of_node(f) && f->key.n < 200)
            node_line_text(&n->out, n->name, f->kind == FACT_PARAM ? "p" : "x", f->key, str_sub(f->text, 0, FACT_MAX));
}

/* Returns the number of the series; a new one is announced by a line ["k",number,name]. -1:
 * NAMES_MAX are there, the name is too long, or out of memory. */
static ptrdiff_t collector_series_number(struct collecting_node *n, struct str name)
{
    struct buf array CLEANUP_BUF;
    buf_init(&array, NODE_LINE_MAX);
    for (size_t i = 0; i < n->names_count; i++)
        if (str_is(name, n->names[i]))
            return (ptrdiff_t)i;
    if (n->names_count == NAMES_MAX || name.n > 200 || !(n->names[n->names_count] = strndup(name.p, name.n)))
        return -1;
    struct json_out j = json_begin(&array, JSON_TIGHT, '[');
    json_text(&j, NULL, "k");
    json_uint(&j, NULL, n->names_count);
    json_str(&j, NULL, name);
    json_close(&j, ']');
    node_line(&n->out, n->name, buf_text(&array));
    return (ptrdiff_t)n->names_count++;
}

/* Appends the samples in n->record to n->out, as lines ["s",time,number,value,…] of limited
 * length. */
static void collector_send_samples(struct collecting_node *n)
{
    struct buf array CLEANUP_BUF;
    struct json_out j;
    int64_t now = clock_wall_ms();
    buf_init(&array, NODE_LINE_MAX);
    for (const struct fact *f = n->record.first; f; f = f->next) {
        ptrdiff_t i = f->kind == FACT_METRIC && str_starts(f->key, "system/") ? collector_series_number(n, f->key) : -1;
        if (i < 0)
            continue;
        if (array.n == 0) {
            j = json_begin(&array, JSON_TIGHT, '[');
            json_text(&j, NULL, "s");
            json_int(&j, NULL, now);
        }
        json_int(&j, NULL, i);
        json_known(&j, NULL, f->value);
        if (array.n < 800 && f->next)
            continue;
        json_close(&j, ']');
        node_line(&n->out, n->name, buf_text(&array));
        buf_clear(&array);
    }
    if (array.n) {
        json_close(&j, ']');
        node_line(&n->out, n->name, buf_text(&array));
    }
}

static void new_record(struct collecting_node *n)
{
    char id[33];
    record_new_id(id);
    record_init(&n->record, id, clock_wall_ms());
}

/* Reads and sends one sample. The first one is a base for counters; its own values mean little. */
static void collector_sample(struct collecting_node *n)
{
    probes_run(PROBE_SAMPLE, false, &n->host, &n->record);
    collector_send_samples(n);
    record_deinit(&n->record); /* its memory is that of one sample, for however long */
    new_record(n);
}

/* ---- the end ---- */

/* Answers the recorder's requests for the time ("t <token>"). False: the end of the input, or an
 * error of reading it. */
static bool collector_read_input(struct collecting_node *n)
{
    char text[512];
    ssize_t got = read(0, text, sizeof text - 1);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    text[got] = 0;
    n->heard_ns = clock_mono_ns();
    for (struct str rest = {text, (size_t)got}; rest.p;) {
        struct str line = str_cut(&rest, '\n'), word = str_word(&line);
        int64_t token;
        if (str_is(word, "t") && str_int(str_trim(line), &token))
            collector_send_event(n, "c", (long long)token, (long long)clock_wall_ms());
    }
    collector_flush(n);
    return true;
}

/* Waits until a time or a message of the recorder. False: this is the end. */
static bool collector_wait_until(struct collecting_node *n, int64_t until_ns)
{
    for (;;) {
        int64_t ms = (until_ns - clock_mono_ns() + MS - 1) / MS;
        struct pollfd p = {.fd = n->end, .events = POLLIN};
        if (n->end < 0 && (ms > 500 || ms < 1)) /* without pidfd search for the rank twice a second */
            ms = ms < 1 ? 0 : 500;
        int rc = poll(&p, 1, ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms);
        if (rc > 0 && (n->folder || !collector_read_input(n)))
            return false;
        if (!n->folder && clock_mono_ns() - n->heard_ns > SILENCE_MS * MS)
            return false; /* srun was killed, and the end of its input got lost */
        if (n->lost || (n->end < 0 && kill(n->rank, 0) != 0 && errno == ESRCH))
            return false;
        if (clock_mono_ns() >= until_ns)
            return true;
    }
}

/* Reports facts, then samples until collector_wait_until reports the end, then the last sample and
 * the event "e". */
static void collector_run(struct collecting_node *n)
{
    probes_run(PROBE_BEFORE, false, &n->host, &n->record);
    collector_send_facts(n);
    if (n->base_ns > 0)
        collector_sample(n);
    collector_flush(n);
    for (int64_t next = clock_mono_ns();;) {
        int64_t now = clock_mono_ns(), period = n->base_ns > 0 ? node_period(n->base_ns, now - n->start_ns) : 3600 * SECOND;
        next = next + period > now ? next + period : now + period;
        if (!collector_wait_until(n, next))
            break;
        if (n->base_ns > 0)
            collector_sample(n);
        now = clock_mono_ns();
        if (!n->folder || now - n->start_ns < EAGER_MS * MS || now - n->written_ns >= LAZY_MS * MS)
            collector_flush(n);
    }
    if (n->base_ns > 0)
        collector_sample(n); /* what the last moments were like */
    collector_send_event(n, "e", -1, -1);
    collector_flush(n);
}

/* ---- the beginning ---- */

/* Prepares this process, which stays until the program has ended, and begins its first record. public: of the public profile. */
static void collector_begin(struct collecting_node *n, char **env, bool public)
{
    struct buf cache CLEANUP_BUF;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* a signal to the job is the program's: this process ends with it */
    prctl(PR_SET_NAME, "benchwrap-node");
    setpriority(PRIO_PROCESS, 0, 10); /* idle priority would starve on a node that is busy, as nodes should be */
    n->start_ns = n->heard_ns = clock_mono_ns();
    buf_init(&n->out, 4 << 20);
    n->host = (struct host){.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
                            .root_path = "/",
                            .real = true,
                            .env = env,
                            .cwd = "/",
                            .spool = -1,
                            .public_profile = public};
    buf_init(&cache, 4096);
    if (probes_cache_dir(env, &cache))
        n->host.cache = strdup(cache.p);
    new_record(n);
}

static void collector_send_slurm_name(struct collecting_node *n)
{
    char name[NODE_NAME_MAX + 1], array[NODE_NAME_MAX + 16];
    const char *own = env_text(n->host.env, "SLURMD_NODENAME");
    node_name_make(name, str_of(own ? own : ""));
    snprintf(array, sizeof array, "[\"n\",\"%s\"]", name);
    node_line(&n->out, n->name, str_of(array));
}

/* Collects as a process of the step that the recorder started, with reports to standard output.
 * Returns the exit status: 1 where the reports could not be written. */
static int node_step(struct collecting_node *n, char **env, const char *profile, const char *period_ms)
{
    int64_t ms = 0;
    collector_begin(n, env, strcmp(profile, "public") == 0);
    choose_name(n, 2, true); /* the recorder's node is none of the step's */
    n->base_ns = str_int(str_of(period_ms), &ms) && ms > 0 ? ms * MS : 0;
    n->end = 0;
    collector_send_event(n, "h", (long long)clock_wall_ms(), -1);
    if (n->host.public_profile)
        collector_send_slurm_name(n);
    collector_flush(n); /* that it is there, before it is known what it is */
    collector_run(n);
    return n->lost;
}

/* Collects for a rank of the launch, whose pid is argv[0], into a file of the launch's folder.
 * Returns the exit status: 0 also where the rank has ended or nothing is to be collected; 1 where
 * the launch is not known or the reports cannot be stored. */
static int node_rank(struct collecting_node *n, int argc, char **argv, char **env)
{
    struct buf path CLEANUP_BUF;
    struct err err = {0};
    char launch[33];
    int64_t pid;
    buf_init(&path, 8192);
    if (!str_int(str_of(argv[0]), &pid) || pid <= 1 || !node_launch(env, launch))
        return 1;
    n->rank = (pid_t)pid;
    n->end = (int)syscall(SYS_pidfd_open, n->rank, 0);
    if (n->end < 0 && errno == ESRCH)
        return 0;
    if (plan_make(&n->plan, argc, argv, env, &err) || opt_on(&n->plan.opts, OPTION_NO_COLLECT))
        return 0;
    collector_begin(n, env, strcmp(opt_text(&n->plan.opts, OPTION_PROFILE), "public") == 0);
    choose_name(n, 1, rank_is_slurms(env));
    n->host.counters = opt_on(&n->plan.opts, OPTION_COUNTERS);
    n->base_ns = (int64_t)(opt_seconds(&n->plan.opts, OPTION_SAMPLE) * 1e9);
    node_folder(n->plan.spool, launch, &path);
    CLEANUP_FD int folder = path.failed ? -1 : place_open_below(path.p, NODE_FOLDER_LEVELS, 0700);
    if (folder < 0 || !place_is_own(folder))
        return 1;
    if (!rank_is_slurms(env))
        claim_name(n, folder);
    fs_close(&folder);
    n->folder = path.p;
    (void)!chdir("/"); /* else the working directory is held a little longer */
    collector_send_event(n, "h", (long long)clock_wall_ms(), -1);
    collector_run(n);
    return n->lost;
}

int node_main(int argc, char **argv, char **env)
{
    static struct collecting_node n = {.end = -1};
    if (argc == 3 && strcmp(argv[0], "step") == 0)
        return node_step(&n, env, argv[1], argv[2]);
    return argc > 1 ? node_rank(&n, argc, argv, env) : 1;
}
