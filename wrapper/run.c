/* run.c: the story of one run, told by the recorder: plan, journal, probes, the program runs, facts, tree. */
#include "wrapper/run.h"

#include "base/clock.h"
#include "base/fs.h"
#include "benchmarks/rules.h"
#include "launch/wire.h"
#include "probes/probe.h"
#include "wrapper/plan.h"
#include "wrapper/run_finish.h"
#include "wrapper/run_keep.h"
#include "wrapper/run_log.h"
#include "wrapper/run_stream.h"
#include "wrapper/run_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SYNC_S = 30,
    BEAT_S = 60, /* design: the journal is synced every 30 s, a heartbeat stands in it every minute */
    SETTLED_S = 60, /* published runs younger than this are left to a later sweep: the kernel has not written them yet */
    EAGER = WIRE_RING / 4, /* while bytes flow, wake at a quarter of the ring */
    FLOW_MS = 500, /* and at least so often: no byte stays unwritten for a second */
    RULE_FILES_MAX = 16,
    CLOCK_GRAIN_MS = 20 /* file times come from the kernel's coarse clock */
};
static const int64_t SECOND = 1000000000;

struct run {
    struct plan plan;
    struct wire *wire;
    const char *data; /* the rings' bytes */
    int signals; /* signalfd */
    struct spool spool;
    struct journal *journal;
    struct record record;
    struct stream streams[WIRE_STREAMS];
    struct host host;
    uint64_t log_max, artifact_max;
    int64_t sample_ns, next_sample, next_flush, next_sync, next_beat;
    bool idle; /* no byte came lately: wake at the first */
    bool dirty; /* facts came that are not in the journal's file yet */
    int64_t program_mono_ns; /* when the program started */
    bool nested; /* a run inside a run */
    bool nests; /* and in its parent's experiment, as MLflow's UI wants of a child */
    pid_t syncer; /* child that syncs the journal, 0: none yet */
    struct wire_msg end; /* kind 0 until the program has ended */
};

/* ---- messages to the launcher ---- */

static void tell(uint32_t kind, int status, const char *text)
{
    struct wire_msg m = {.kind = kind, .status = status};
    snprintf(m.text, sizeof m.text, "%s", text ? text : "");
    while (send(WIRE_SOCKET_FD, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

/* ---- beginning ---- */

static int map_wire(struct run *run, struct err *err)
{
    void *p = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_MEMORY_FD, 0);
    if (p == MAP_FAILED)
        return err_sys(err, "recorder: cannot map the launcher's memory");
    run->wire = p;
    run->data = (const char *)p + WIRE_DATA;
    if (run->wire->magic != WIRE_MAGIC)
        return err_set(err, ERR_BUG, "recorder: it is of another build than the launcher");
    sigset_t all;
    sigfillset(&all);
    run->signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    return 0; /* without a signalfd the launcher still finds our pending set */
}

static const char *first_of(char *(*get)(const char *), const char *const *names)
{
    for (; *names; names++) {
        const char *v = get(*names);
        if (v && *v)
            return v;
    }
    return "";
}

/* The catalogue's name for the program, else the program's own. */
static const char *benchmark_name(const struct run *run)
{
    const char *program = run->plan.program && run->plan.program[0] ? run->plan.program[0] : "run";
    const char *base = strrchr(program, '/');
    return run->plan.benchmark ? run->plan.benchmark : base && base[1] ? base + 1 : program;
}

static const char *run_name(struct run *run)
{
    const char *given = opt_text(&run->plan.opts, "name");
    if (given && *given)
        return given;
    time_t now = (time_t)(run->wire->start_wall_ms / 1000);
    struct tm tm;
    char when[32] = "";
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_printf(&run->plan.arena, "%s %s", benchmark_name(run), when);
}

/* Who runs: in public records the site. /etc/passwd is read as a file, since the system's name service can hang on a dead server. */
static const char *user_name(struct run *run)
{
    static const char *const names[] = {"USER", "LOGNAME", NULL};
    if (run->host.public_profile) {
        const char *site = opt_text(&run->plan.opts, "site");
        return site ? site : "";
    }
    const char *name = first_of(getenv, names);
    if (*name)
        return name;
    FILE *passwd = fopen("/etc/passwd", "re");
    struct passwd entry, *p = NULL;
    char text[4096];
    while (passwd && fgetpwent_r(passwd, &entry, text, sizeof text, &p) == 0 && p->pw_uid != getuid())
        p = NULL;
    name = p ? arena_dup(&run->plan.arena, p->pw_name, strlen(p->pw_name)) : arena_printf(&run->plan.arena, "%u", (unsigned)getuid());
    if (passwd)
        fclose(passwd);
    return name ? name : "";
}

/* The journal's place: beside the tree, else in the user's state folder. */
static int open_spool(struct run *run, struct err *err)
{
    struct err first = {0};
    if (spool_create(&run->spool, run->plan.spool, run->wire->run_id, &first) == 0)
        return 0;
    if (run->plan.spool_fallback && spool_create(&run->spool, run->plan.spool_fallback, run->wire->run_id, err) == 0) {
        char text[1400];
        snprintf(text, sizeof text, "%s; the run is kept in %s", first.text, run->plan.spool_fallback);
        tell(WIRE_NOTE, 0, text);
        return 0;
    }
    *err = first;
    return -1;
}

static int open_journal(struct run *run, struct err *err)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", NULL};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct buf options CLEANUP_BUF;
    buf_init(&options, 64 * 1024);
    finish_options_print(&(struct finish_options){.log_max = run->log_max,
                                                  .artifact_max = run->artifact_max,
                                                  .rules = run->plan.rules,
                                                  .merged = run->wire->merged,
                                                  .public_profile = run->host.public_profile},
                         &options);
    if (options.failed)
        return err_set(err, ERR_SYSTEM, "recorder: no memory");
    struct journal_head head = {.host = host,
                                .experiment = run->plan.experiment,
                                .run_name = run_name(run),
                                .tree = run->plan.tree,
                                .user = user_name(run),
                                .job = first_of(getenv, jobs),
                                .options = options.p,
                                .argv = (char **)run->plan.argv,
                                .start_ms = run->wire->start_wall_ms};
    memcpy(head.id, run->wire->run_id, sizeof head.id);
    const char *boot = fs_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &run->plan.arena);
    snprintf(head.boot_id, sizeof head.boot_id, "%s", boot ? boot : "");
    return journal_create(&run->journal, run->spool.dir, &head, err);
}

static void record_pairs(struct run *run, const char *option, void (*put)(struct record *, const char *, struct str))
{
    for (const struct opt_value *v = opt_find(&run->plan.opts, option); v && v->text; v = v->next) {
        struct str rest = str_of(v->text), key = str_cut(&rest, '=');
        char *name = arena_dup(&run->plan.arena, key.p, key.n);
        if (name)
            put(&run->record, name, rest.p ? rest : STR(""));
    }
}

static void record_identity(struct run *run)
{
    struct record *r = &run->record;
    const struct wire *w = run->wire;
    const char *const *program = (const char *const *)run->plan.program;
    const char *cluster = opt_text(&run->plan.opts, "cluster"), *site = opt_text(&run->plan.opts, "site"),
               *note = opt_text(&run->plan.opts, "note");
    r->source = "recorder";
    record_tag(r, "benchwrap.run_id", str_of(w->run_id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(&run->plan.arena, "%d", MLRUNS_FORMAT)));
    record_tag(r, "benchwrap.scope", str_of(w->scope));
    record_tag(r, "benchwrap.streams", w->merged ? STR("merged") : w->ring[0].used || w->ring[1].used ? STR("separate") : STR("none"));
    record_tag(r, "benchmark", str_of(benchmark_name(run)));
    record_tag(r, "mlflow.source.type", STR("LOCAL"));
    if (*user_name(run))
        record_tag(r, "mlflow.user", str_of(user_name(run)));
    if (program && program[0])
        record_tag(r, "mlflow.source.name", str_of(run->host.public_profile ? benchmark_name(run) : program[0]));
    if (w->parent_id[0])
        record_tag(r, run->nests ? "mlflow.parentRunId" : "benchwrap.parent_run_id", str_of(w->parent_id));
    if (w->ranks > 1 || opt_on(&run->plan.opts, "per-rank"))
        record_param_int(r, "job.rank", w->rank);
    r->source = "option";
    if (site)
        record_tag(r, "site", str_of(site));
    if (cluster)
        record_tag(r, "cluster", str_of(cluster));
    if (note)
        record_tag(r, "mlflow.note.content", str_of(note));
    record_pairs(run, "tag", record_tag);
    record_pairs(run, "param", record_param);
    r->source = "recorder";
    struct buf line CLEANUP_BUF;
    buf_init(&line, 64 * 1024);
    for (char *const *a = run->plan.argv; *a; a++) {
        if (a != run->plan.argv)
            buf_putc(&line, ' ');
        buf_puts(&line, *a);
    }
    if (!run->host.public_profile)
        record_tag(r, "benchwrap.command", buf_text(&line));
    for (const struct plan_warning *x = run->plan.warnings; x; x = x->next) {
        record_warning(r, "%s", x->text);
        tell(WIRE_NOTE, 0, x->text);
    }
}

/* A run inside a run goes where its parent is, unless it was told another experiment. The parent's journal tells where that is. */
static void follow_parent(struct run *run)
{
    struct spool parent;
    struct record r;
    struct journal_head head;
    struct journal_state state;
    const char *roots[] = {run->plan.spool, run->plan.spool_fallback};
    run->nested = run->wire->parent_id[0] != 0;
    for (size_t i = 0; run->nested && i < 2; i++) {
        if (!roots[i] || spool_open(&parent, roots[i], run->wire->parent_id, NULL))
            continue;
        if (journal_read(parent.dir, &r, &head, &state, NULL) == 0) {
            if (strcmp(run->plan.experiment_where, "--experiment") != 0)
                run->plan.experiment = arena_dup(&run->plan.arena, head.experiment, strlen(head.experiment));
            run->nests = run->plan.experiment && strcmp(run->plan.experiment, head.experiment) == 0;
            record_deinit(&r);
        }
        spool_close(&parent);
        return;
    }
}

static void set_host(struct run *run, char **env)
{
    run->host = (struct host){.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                              .root_path = "/",
                              .real = true,
                              .env = env,
                              .argv = run->plan.program,
                              .full_argv = run->plan.argv,
                              .cwd = run->plan.cwd,
                              .spool = -1,
                              .public_profile = strcmp(opt_text(&run->plan.opts, "profile"), "public") == 0};
}

/* All that must be there before the program may start: journal with its first line, quick facts. */
static int begin(struct run *run, int argc, char **argv, char **env, struct err *err)
{
    if (plan_make(&run->plan, argc, argv, env, err))
        return -1;
    set_host(run, env);
    run->log_max = opt_bytes(&run->plan.opts, "log-max");
    run->artifact_max = opt_bytes(&run->plan.opts, "artifact-max");
    run->sample_ns = (int64_t)(opt_seconds(&run->plan.opts, "sample") * 1e9);
    follow_parent(run);
    if (!run->plan.experiment)
        return err_set(err, ERR_SYSTEM, "recorder: no memory");
    if (open_spool(run, err) || open_journal(run, err))
        return -1;
    record_init(&run->record, run->wire->run_id, run->wire->start_wall_ms);
    run->record.listen = journal_fact;
    run->record.context = run->journal;
    stream_init(&run->streams[0], run->spool.dir, "stdout.log", run->log_max);
    stream_init(&run->streams[1], run->spool.dir, "stderr.log", run->log_max);
    run->host.spool = run->spool.dir;
    struct buf cache CLEANUP_BUF;
    buf_init(&cache, 4096);
    if (probes_cache_dir(env, &cache))
        run->host.cache = arena_dup(&run->plan.arena, cache.p, cache.n);
    record_identity(run);
    journal_flush(run->journal, false, NULL);
    probes_run(PROBE_BEFORE, run->nested, &run->host, &run->record);
    return 0;
}

/* ---- while the program runs ---- */

/* Takes what lies in one ring. Returns the number of bytes taken. */
static uint64_t drain(struct run *run, int i)
{
    struct wire_ring *ring = &run->wire->ring[i];
    const char *base = run->data + (size_t)i * WIRE_RING;
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed), start = tail;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    while (tail < head) {
        size_t at = tail % WIRE_RING, n = head - tail < WIRE_RING - at ? (size_t)(head - tail) : WIRE_RING - at;
        if (n > WIRE_RING / 8)
            n = WIRE_RING / 8; /* give room back early */
        stream_write(&run->streams[i], base + at, n);
        tail += n;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    return tail - start;
}

static bool drain_all(struct run *run)
{
    uint64_t taken = 0;
    for (int i = 0; i < WIRE_STREAMS; i++)
        if (run->wire->ring[i].used)
            taken += drain(run, i);
    return taken > 0;
}

/* Says when the launcher is to wake us; false if bytes came meanwhile. */
static bool set_wake(struct run *run)
{
    bool quiet = true;
    for (int i = 0; i < WIRE_STREAMS; i++) {
        struct wire_ring *ring = &run->wire->ring[i];
        if (!ring->used)
            continue;
        uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed) + (run->idle ? 1 : EAGER);
        atomic_store(&ring->wake_at, at);
        if (atomic_load(&ring->head) >= at)
            quiet = false;
    }
    return quiet;
}

static void take_signals(struct run *run)
{
    struct signalfd_siginfo s[8];
    ssize_t n;
    while (run->signals >= 0 && (n = read(run->signals, s, sizeof s)) > 0)
        for (size_t i = 0; i < (size_t)n / sizeof *s; i++)
            if (s[i].ssi_signo < WIRE_SIGNALS)
                atomic_fetch_add(&run->wire->seen[s[i].ssi_signo], 1);
}

static void started(struct run *run, const struct wire_msg *m)
{
    run->host.pid = m->pid;
    run->program_mono_ns = m->mono_ns;
    journal_started(run->journal, m->wall_ms);
    run->dirty = true;
    int64_t now = clock_mono_ns();
    run->next_sample = run->sample_ns > 0 ? now + run->sample_ns : INT64_MAX;
}

/* One message, or the launcher's end. False: no more will come. */
static bool take_message(struct run *run)
{
    struct wire_msg m = {0};
    ssize_t n = recv(WIRE_SOCKET_FD, &m, sizeof m, MSG_DONTWAIT);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0)
        return false;
    if (m.kind == WIRE_STARTED)
        started(run, &m);
    else if (m.kind == WIRE_ENDED || m.kind == WIRE_NOEXEC)
        run->end = m;
    return true;
}

/* The journal by a descriptor of its own: the recorder's carries the lock, which must not live on in a child whose sync takes long. */
static void sync_journal(int spool)
{
    int fd = openat(spool, "journal", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, 0) != 0)
        return;
    if (close_range(1, ~0u, 0) != 0) /* before Linux 5.9 */
        for (fd = 1; fd < 4096; fd++)
            close(fd);
    fdatasync(0);
}

/* A busy disk takes long to sync, and meanwhile the rings would fill: a child does it. One at a time. */
static void sync_aside(struct run *run)
{
    if (run->syncer > 0 && waitpid(run->syncer, NULL, WNOHANG) == 0)
        return;
    run->syncer = fork();
    if (run->syncer != 0)
        return;
    sync_journal(run->spool.dir);
    _exit(0);
}

static void on_time(struct run *run, int64_t now)
{
    if (now >= run->next_sample) {
        probes_run(PROBE_SAMPLE, run->nested, &run->host, &run->record);
        run->dirty = true;
        run->next_sample += ((now - run->next_sample) / run->sample_ns + 1) * run->sample_ns;
    }
    if (now >= run->next_beat) {
        journal_beat(run->journal, clock_wall_ms());
        run->dirty = true;
        run->next_beat = now + BEAT_S * SECOND;
    }
    if (now >= run->next_flush && (run->dirty || now >= run->next_sync)) {
        run->dirty = false;
        struct err err = {0};
        if (journal_flush(run->journal, false, &err) < 0)
            tell(WIRE_NOTE, 0, err.text);
        run->next_flush = now + SECOND;
        if (now >= run->next_sync) {
            sync_aside(run);
            run->next_sync = now + SYNC_S * SECOND;
        }
    }
}

/* Milliseconds until something is due. */
static int time_out(const struct run *run, int64_t now)
{
    int64_t next = run->next_sample < run->next_beat ? run->next_sample : run->next_beat;
    if (next > run->next_sync)
        next = run->next_sync;
    if (run->dirty && next > run->next_flush)
        next = run->next_flush;
    int64_t ms = (next - now + 999999) / 1000000;
    if (!run->idle && ms > FLOW_MS)
        ms = FLOW_MS;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void watch(struct run *run)
{
    struct pollfd fds[] = {
        {WIRE_SOCKET_FD, POLLIN, 0}, {run->signals, POLLIN, 0}, {run->wire->has_log_socket ? WIRE_LOG_FD : -1, POLLIN, 0}};
    int64_t now = clock_mono_ns();
    run->next_sample = INT64_MAX;
    run->next_flush = now;
    run->next_sync = now + SECOND; /* the first: not while the program is starting, and never for the shortest of runs */
    run->next_beat = now + BEAT_S * SECOND;
    run->idle = true;
    for (bool more = true; more && run->end.kind == 0;) {
        now = clock_mono_ns();
        on_time(run, now);
        if (!set_wake(run)) {
            run->idle = false;
            drain_all(run);
            continue;
        }
        int n = poll(fds, 3, time_out(run, now));
        if (n < 0 && errno != EINTR)
            break;
        if (fds[1].revents)
            take_signals(run);
        run->idle = !drain_all(run) && n == 0;
        if (n > 0 && fds[2].revents) {
            log_receive(WIRE_LOG_FD, run->spool.dir, run->artifact_max, &run->record);
            run->dirty = true;
        }
        if (n > 0 && fds[0].revents)
            more = take_message(run);
    }
}

/* ---- end ---- */

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void record_usage(struct run *run)
{
    struct record *r = &run->record;
    const struct wire_msg *e = &run->end;
    struct rusage own;
    int status = WIFEXITED(e->status) ? WEXITSTATUS(e->status) : 128 + WTERMSIG(e->status);
    int64_t at = e->wall_ms;
    record_metric(r, "run.user_s", seconds(e->usage.ru_utime), "s", DIR_LOWER, 0, at);
    record_metric(r, "run.system_s", seconds(e->usage.ru_stime), "s", DIR_LOWER, 0, at);
    record_metric(r, "run.max_rss_MiB", (double)e->usage.ru_maxrss / 1024, "MiB", DIR_LOWER, 0, at);
    record_metric(r, "run.exit_status", status, "", DIR_NONE, 0, at);
    if (getrusage(RUSAGE_SELF, &own) == 0)
        record_metric(r, "run.overhead_s", seconds(own.ru_utime) + seconds(own.ru_stime) + (double)e->overhead_us / 1e6, "s", DIR_LOWER, 0,
                      at);
    if (e->orphans)
        record_metric(r, "run.orphans", e->orphans, "", DIR_NONE, 0, at);
    if (e->left) {
        record_metric(r, "run.left_running", e->left, "", DIR_NONE, 0, at);
        record_warning(r, "%u processes that the program left behind were still running", e->left);
    }
}

/* Why the program's end was what it was, in words, and MLflow's status for it. */
static enum run_status status_of(struct run *run, char *why, size_t size)
{
    static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGKILL, SIGXCPU};
    const struct wire_msg *e = &run->end;
    int sig = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
    const char *abbrev = sig ? sigabbrev_np(sig) : NULL;
    why[0] = 0;
    if (sig) {
        char number[16];
        snprintf(number, sizeof number, "%d", sig);
        record_tag(&run->record, "benchwrap.signal_number", str_of(number));
        snprintf(why, size, "ended by signal %s", abbrev ? abbrev : number);
    } else if (WEXITSTATUS(e->status))
        snprintf(why, size, "exit status %d", WEXITSTATUS(e->status));
    if (e->timed_out) {
        snprintf(why, size, "time limit of %s s reached", opt_text(&run->plan.opts, "timeout"));
        return RUN_KILLED;
    }
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sig == ending[i] || (e->finish_signal && e->status != 0))
            return RUN_KILLED;
    return e->status ? RUN_FAILED : RUN_FINISHED;
}

static void record_streams(struct run *run)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (int i = 0; i < WIRE_STREAMS; i++) {
        uint64_t dropped = atomic_load(&run->wire->ring[i].dropped) + run->streams[i].lost;
        char key[48], text[24];
        if (dropped) {
            snprintf(key, sizeof key, "benchwrap.dropped.%s", names[i]);
            snprintf(text, sizeof text, "%llu", (unsigned long long)dropped);
            record_tag(&run->record, key, str_of(text));
            record_warning(&run->record, "%s: %s bytes could not be recorded (%s)", names[i], text,
                           run->streams[i].error ? strerror(run->streams[i].error) : "the recorder was too slow");
            snprintf(key, sizeof key, "%s: %s bytes are not in the record", names[i], text);
            tell(WIRE_NOTE, 0, key);
        }
        if (run->end.lost[i])
            record_warning(&run->record, "%s: %llu bytes were not taken by the real stream", names[i],
                           (unsigned long long)run->end.lost[i]);
        stream_deinit(&run->streams[i]);
    }
}

/* A file that the rules read is kept, if the program wrote it: one from before would tell another run's numbers. */
static void keep_rules_file(struct run *run, size_t i, const char *path)
{
    struct record *r = &run->record;
    struct stat st;
    struct err err = {0};
    const char *base = strrchr(path, '/');
    char key[48];
    if (stat(path, &st))
        return; /* the rules say themselves what they miss */
    if ((int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 + CLOCK_GRAIN_MS < run->wire->start_wall_ms) {
        record_warning(r, "rules: %s is older than this run and is not read", path);
        return;
    }
    const struct fact *last = r->last;
    if (keep_file(r, run->spool.dir, path, base && base[1] ? base + 1 : path, run->artifact_max, &err))
        record_warning(r, "rules: %s", err.text);
    else if (r->last != last && r->last->kind == FACT_ARTIFACT) {
        snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
        record_tag(r, key, r->last->text);
    }
}

static void keep_rules_files(struct run *run)
{
    struct rules *rules = run->plan.loaded;
    struct err err = {0};
    if (!rules && (!run->plan.rules || rules_load(&rules, run->plan.rules, &err)))
        return; /* finish_run tells */
    for (size_t i = 0; i < RULE_FILES_MAX && rules_file(rules, i); i++) {
        const char *path = rules_file_path(rules, i, run->plan.program, &run->plan.arena);
        if (path)
            keep_rules_file(run, i, path);
    }
    if (rules != run->plan.loaded)
        rules_free(rules);
}

/* Files that the rules and the user name are copied while they are as the program left them. */
static void keep_files(struct run *run)
{
    keep_rules_files(run);
    for (const struct opt_value *v = opt_find(&run->plan.opts, "artifact"); v && v->text; v = v->next)
        keep_matching(&run->record, run->spool.dir, v->text, run->artifact_max);
}

static void close_facts(struct run *run)
{
    struct record *r = &run->record;
    char why[128];
    r->source = "recorder";
    int64_t end = clock_wall_ms();
    r->status = RUN_KILLED;
    if (run->end.kind == WIRE_ENDED) {
        end = run->end.wall_ms;
        double wall = (double)(run->end.mono_ns - run->program_mono_ns) / 1e9;
        record_metric(r, "run.wall_s", wall, "s", DIR_LOWER, 0, end);
        record_usage(run);
        r->status = status_of(run, why, sizeof why);
    } else
        snprintf(why, sizeof why, "the launcher was killed, so the program's end was not seen");
    record_streams(run);
    keep_files(run);
    probes_run(PROBE_AFTER, run->nested, &run->host, r);
    r->source = "recorder";
    if (why[0])
        record_tag(r, "benchwrap.ended", str_of(why));
    r->end_ms = end;
    journal_ended(run->journal, end, r->status, why);
}

/* The record is safe; now it becomes a run in the tree. */
static int finish(struct run *run, char **env)
{
    struct finished f = {0};
    struct err err = {0};
    int verdict = 0;
    close_facts(run);
    int rc = journal_flush(run->journal, false, &err);
    if (rc < 0)
        tell(WIRE_NOTE, 0, err.text);
    if (rc)
        err_set(&err, ERR_SYSTEM, "the journal is not whole");
    else
        rc = finish_run(&run->spool, env, &f, &err);
    if (rc == 0) {
        struct buf text CLEANUP_BUF;
        buf_init(&text, sizeof((struct wire_msg *)0)->text - 1);
        summary_print(&f, &text);
        verdict = strcmp(f.verdict, "pass") != 0;
        if (!opt_on(&run->plan.opts, "quiet"))
            tell(WIRE_SUMMARY, 0, buf_text(&text).p);
    } else {
        struct buf where CLEANUP_BUF;
        char text[1400];
        buf_init(&where, 4096);
        spool_path(&run->spool, &where);
        snprintf(text, sizeof text, "%.900s; the run is kept in %.300s, finish it with \"benchwrap sync --local\"", err.text,
                 buf_text(&where).p);
        tell(WIRE_NOTE, 0, text);
        verdict = 1;
    }
    tell(WIRE_DONE, verdict, "");
    finished_deinit(&f);
    return rc;
}

/* After the launcher has gone: the journal is synced, and what earlier runs left is closed or released. Lowest priority: the next
 * measurement may have begun. Our own run is left to a later one: by then the kernel has written most of it without being pushed. */
static void tidy(struct run *run)
{
    enum { IOPRIO_IDLE = 3 << 13 };
    struct err err = {0};
    struct swept swept;
    close(WIRE_SOCKET_FD);
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, 1, 0, IOPRIO_IDLE);
    journal_flush(run->journal, true, &err);
    finish_leftovers(run->plan.spool, run->spool.name, SETTLED_S, NULL, NULL, &swept);
}

int run_record(int argc, char **argv, char **env)
{
    struct run run = {.spool = SPOOL_NONE, .signals = -1};
    struct err err = {0};
    prctl(PR_SET_NAME, "benchwrap-rec");
    if (map_wire(&run, &err) || begin(&run, argc, argv, env, &err)) {
        bool refuse = err.kind == ERR_USAGE || err.kind == ERR_INPUT || (run.plan.opts.count && opt_on(&run.plan.opts, "strict"));
        tell(refuse ? WIRE_REFUSE : WIRE_NOTE, 0, err.text);
        return 1;
    }
    tell(WIRE_READY, 0, "");
    watch(&run);
    if (run.end.kind == WIRE_NOEXEC) {
        journal_close(run.journal);
        spool_discard(&run.spool, &err);
        tell(WIRE_DONE, 0, "");
        return 0;
    }
    drain_all(&run);
    take_signals(&run);
    int rc = finish(&run, env);
    probes_end(&run.host);
    tidy(&run);
    journal_close(run.journal);
    return rc ? 1 : 0;
}
