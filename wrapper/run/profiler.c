/* profiler.c: attaches `perf record` to the program and records the functions that `perf report` finds. */
#include "run/profiler.h"

#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "run/perf_report.h"
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERF_DATA "perf.data"
enum {
    ATTACH_MS = 15000,
    STOP_MS = 3000,
    REPORT_MS = 4000,
    LOOK_MS = 20,
    REPORT_BYTES = 64 << 20,
    REASON_CHARACTERS = 300,
    NOT_FOUND = 127
};

/* Returns perf's environment, in the arena, without the user's settings of perf and servers of
 * debug symbols. NULL: out of memory. */
static char **perf_environment(struct run *run)
{
    static const char *const own[] = {"PERF_CONFIG=/dev/null", "DEBUGINFOD_URLS="};
    size_t n = 0, kept = 0;
    while (run->host.env[n])
        n++;
    char **env = arena_get(&run->plan.arena, (n + 3) * sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(run->host.env[i], "PERF_CONFIG=", 12) != 0 && strncmp(run->host.env[i], "DEBUGINFOD_URLS=", 16) != 0)
            env[kept++] = run->host.env[i];
    for (size_t i = 0; env && i < sizeof own / sizeof *own; i++)
        env[kept++] = arena_printf(&run->plan.arena, "%s", own[i]);
    return run->plan.arena.failed ? NULL : env;
}

/* Returns the path of perf's file in the spool folder. NULL: it is not known, or out of memory. */
static const char *perf_data_path(struct run *run)
{
    CLEANUP_BUF struct buf path;
    buf_init(&path, 8192);
    return spool_path(&run->spool, &path) == 0 ? arena_printf(&run->plan.arena, "%s/" PERF_DATA, path.p) : NULL;
}

/* Starts perf with these arguments, NULL-terminated. False, with *ret_why. */
static bool perf_start(struct run *run, struct query *ret, const char *const *words, size_t max, int64_t limit_ms, unsigned flags,
                       const char **ret_why)
{
    struct err err = {0};
    size_t n = 0;
    char *argv[24];
    for (; n < sizeof argv / sizeof *argv - 1 && words[n]; n++)
        argv[n] = arena_dup(&run->plan.arena, words[n], strlen(words[n]));
    argv[n] = NULL;
    char **env = perf_environment(run);
    if (env && query_start(ret, argv, env, max, limit_ms, flags, &err) == 0)
        return true;
    *ret_why = env ? arena_printf(&run->plan.arena, "%s", err.text) : "out of memory";
    return false;
}

/* Returns why perf has ended, in the arena: its own words, without the heading "Error:". NULL: out
 * of memory. */
static const char *perf_reason(struct run *run, const struct query *q, const char *what)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * REASON_CHARACTERS);
    if (q->end == QUERY_DONE && WIFEXITED(q->status) && WEXITSTATUS(q->status) == NOT_FOUND)
        return "perf was not found in PATH";
    for (struct str rest = buf_text(&q->why); rest.n && !b.n;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (line.n && !str_is(line, "Error:"))
            buf_plain(&b, line, REASON_CHARACTERS);
    }
    char words[EXIT_WORDS_SIZE];
    exit_words(words, WIFEXITED(q->status) ? WEXITSTATUS(q->status) : 0, WIFSIGNALED(q->status) ? WTERMSIG(q->status) : 0);
    return arena_printf(&run->plan.arena, "%s: %s", what, b.n ? b.p : words);
}

/* Waits until until_ns (monotonic ns) for perf's answer "ack". Returns whether it came. */
static bool is_acknowledged(struct query *q, int64_t until_ns)
{
    while (query_poll(q) == QUERY_RUNS && clock_mono_ns() < until_ns) {
        struct pollfd p = {q->out, POLLIN, 0};
        if (str_starts(buf_text(&q->text), "ack\n"))
            return true;
        poll(&p, 1, LOOK_MS);
    }
    return str_starts(buf_text(&q->text), "ack\n");
}

/* Attaches perf to the program's process. Returns NULL, or why it could not. perf begins disabled,
 * so that its answer means that it samples. */
static const char *perf_attach(struct run *run, pid_t pid)
{
    struct profiler *p = &run->profiler;
    const char *why = NULL, *data = perf_data_path(run), *id = arena_printf(&run->plan.arena, "--pid=%d", (int)pid),
               *rate = arena_printf(&run->plan.arena, "--freq=%d", PROFILER_HZ);
    const char *words[] = {"perf",           "record",   id,   rate, "--delay=-1", "--control=fd:0,1", "--no-buildid", "--no-buildid-cache",
                           "--max-size=64M", "--output", data, NULL};
    if (run->host.served)
        return run->host.served;
    if (!data || !id || !rate)
        return "out of memory";
    if (!perf_start(run, &p->perf, words, 4096, 0, QUERY_INPUT | QUERY_NO_NICE, &why))
        return why;
    int64_t until = clock_mono_ns() + ATTACH_MS * INT64_C(1000000);
    (void)!write(p->perf.in, "enable\n", 7);
    if (is_acknowledged(&p->perf, until)) {
        p->is_attached = true;
        return NULL;
    }
    why = p->perf.end == QUERY_RUNS ? arena_printf(&run->plan.arena, "perf record was not ready within %d s", ATTACH_MS / 1000)
                                    : perf_reason(run, &p->perf, "perf record");
    return why ? why : "out of memory";
}

void profiler_attach(struct run *run, pid_t pid)
{
    run->profiler.why = perf_attach(run, pid);
    if (run->profiler.is_attached) {
        const char *source = run->record.source;
        run->record.source = "option"; /* an input: the program was measured together with perf */
        record_param_int(&run->record, "code_profile.frequency_Hz", PROFILER_HZ);
        run->record.source = source;
    } else
        query_close(&run->profiler.perf);
    run_report(run, WIRE_ATTACHED, 0, "");
}

/* Ends perf, which has ended already where no process of the program is left. */
static const char *perf_stop(struct run *run)
{
    struct query *q = &run->profiler.perf;
    if (query_poll(q) == QUERY_RUNS)
        (void)!write(q->in, "stop\n", 5);
    if (query_wait(q, STOP_MS) == QUERY_RUNS) /* one of before Linux 5.12 knows no "stop" */
        kill(q->pid, SIGTERM);
    if (query_wait(q, STOP_MS) != QUERY_DONE)
        return "perf record did not end";
    bool is_fine = WIFEXITED(q->status) ? WEXITSTATUS(q->status) == 0 : WTERMSIG(q->status) == SIGTERM;
    return is_fine ? NULL : perf_reason(run, q, "perf record");
}

/* Stores the functions as an artifact, without secrets and, in a public record, without identities. */
static int store_profile(struct run *run, const struct code_profile *profile, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, CODE_PROFILE_BYTES);
    code_profile_print(profile, &text);
    if (text.failed)
        return err_memory(err, "the profile");
    if (text.n > run->keep_left)
        return err_set(err, ERR_SYSTEM, "its %zu bytes exceed --artifact-max", text.n);
    redact_text(&run->redaction.redact, text.p, text.n);
    if (fs_write(run->spool.dir, CODE_PROFILE_FILE, buf_text(&text), 0644, false, err) < 0)
        return -1;
    run->keep_left -= text.n;
    record_artifact(&run->record, CODE_PROFILE_FILE, CODE_PROFILE_FILE);
    return 0;
}

/* Records the code profile in perf's report. Returns NULL, or why there is none. */
static const char *record_profile(struct run *run, struct str text)
{
    struct record *r = &run->record;
    struct err err = {0};
    struct perf_report found;
    struct arena a;
    const char *why = NULL;
    arena_init(&a, 0);
    perf_report_parse(text, &a, &found);
    if (a.failed)
        why = "out of memory";
    else if (!found.profile.samples)
        why = "perf has no sample: the program was too short, or changed its user";
    else if (store_profile(run, &found.profile, &err) < 0)
        why = arena_printf(&run->plan.arena, "%s", err.text);
    else {
        record_tag(r, "code_profile.event", str_of(found.event));
        record_metric(r, "code_profile.samples", (double)found.profile.samples, "", DIR_NONE, 0, run->end.wall_ms);
        record_metric(r, "code_profile.lost", (double)found.lost, "", DIR_LOWER, 0, run->end.wall_ms);
        if (found.unread)
            record_warning(r, "code profile: %zu line%s of perf report cannot be read, and the samples there do not count", found.unread,
                           str_plural(found.unread));
        if (str_has(buf_text(&run->profiler.perf.why), "size limit reached"))
            record_warning(r, "code profile: it has only the first part of the program: perf's file reached 64 MiB");
    }
    arena_deinit(&a);
    return why;
}

/* Runs perf report and records the code profile. Returns NULL, or why there is none. */
static const char *read_profile(struct run *run)
{
    const char *why = NULL, *data = perf_data_path(run);
    const char *const words[] = {"perf", "report", PERF_REPORT_OPTIONS, "--input", data, NULL};
    struct query q = QUERY_NONE;
    int64_t left_ms = run_answer_ms(run, REPORT_MS);
    if (!data)
        return "out of memory";
    if (!perf_start(run, &q, words, REPORT_BYTES, left_ms, 0, &why))
        return why;
    if (query_wait(&q, left_ms) != QUERY_DONE)
        why = q.end == QUERY_LONG ? "perf report printed more than 64 MiB" : "perf report did not end in time; use a longer --finish-wait";
    else if (!WIFEXITED(q.status) || WEXITSTATUS(q.status) != 0)
        why = perf_reason(run, &q, "perf report");
    else
        why = record_profile(run, buf_text(&q.text));
    query_close(&q);
    return why;
}

void profiler_end(struct run *run)
{
    const char *why = run->profiler.why;
    if (!opt_on(&run->plan.opts, OPTION_PROFILE_CODE) || run->series)
        return;
    if (run->profiler.is_attached) {
        why = perf_stop(run);
        why = why ? why : read_profile(run);
    }
    profiler_close(run);
    if (why)
        record_missing(&run->record, "code_profile.samples", "%s", why);
}

void profiler_close(struct run *run)
{
    query_close(&run->profiler.perf);
    unlinkat(run->spool.dir, PERF_DATA, 0);
}
