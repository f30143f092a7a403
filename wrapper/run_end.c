/* run_end.c: a run has ended: what it used, how it ended, the files that belong to it, what is looked at afterwards. */
#include "base/clock.h"
#include "benchmarks/rules.h"
#include "wrapper/run_keep.h"
#include "wrapper/run_state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    RULE_FILES_MAX = 16,
    CLOCK_GRAIN_MS = 20 /* file times come from the kernel's coarse clock */
};

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
            run_tell(run, WIRE_NOTE, 0, key);
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
    if (keep_file(r, run->spool.dir, path, base && base[1] ? base + 1 : path, &run->keep_left, &err))
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
    run->record.source = "rules";
    keep_rules_files(run);
    run->record.source = "option";
    for (const struct opt_value *v = opt_find(&run->plan.opts, "artifact"); v && v->text; v = v->next)
        keep_matching(&run->record, run->spool.dir, v->text, &run->keep_left);
}

void run_close(struct run *run)
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
