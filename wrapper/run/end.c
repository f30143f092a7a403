/* end.c: record the end of a run: usage, status, its files, and the probes after the program. */
#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "benchmarks/rules.h"
#include "run/counters.h"
#include "run/keep.h"
#include "run/rank_failure.h"
#include "run/script.h"
#include "run/shared.h"
#include "run/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_BEFORE_MS = 300, LOOK_AFTER_MS = 5000 /* usual maxima */ };

static double timeval_s(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Records the exit status, times, memory and counters of the program, and processes that it has
 * left behind. */
static void record_usage(struct run *run)
{
    struct record *r = &run->record;
    const struct wire_msg *e = &run->end;
    struct rusage own;
    int status = WIFEXITED(e->status) ? WEXITSTATUS(e->status) : 128 + WTERMSIG(e->status);
    int64_t at = e->wall_ms;
    const struct {
        const char *key, *unit;
        double value;
    } rows[] = {{"run.user_s", "s", timeval_s(e->usage.ru_utime)},
                {"run.system_s", "s", timeval_s(e->usage.ru_stime)},
                {"run.max_rss_MiB", "MiB", (double)e->usage.ru_maxrss / 1024}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (run->host.served)
            record_missing(r, rows[i].key, "%s", run->host.served);
        else
            record_metric(r, rows[i].key, rows[i].value, rows[i].unit, DIR_LOWER, 0, at);
    record_metric(r, "run.exit_status", status, "", DIR_NONE, 0, at);
    if (getrusage(RUSAGE_SELF, &own) == 0)
        record_metric(r, "run.overhead_s", timeval_s(own.ru_utime) + timeval_s(own.ru_stime) + (double)e->overhead_us / 1e6, "s", DIR_LOWER,
                      0, at);
    if (!run->host.served)
        counters_record(r, e->counters, at);
    else if (run->host.counters)
        record_missing(r, "counters", "%s", run->host.served);
    if (e->orphans)
        record_metric(r, "run.orphans", e->orphans, "", DIR_NONE, 0, at);
    if (e->left == WIRE_LEFT_UNKNOWN)
        record_missing(r, "run.left_running", "/proc does not show the PID namespace of this run");
    else if (e->left) {
        record_metric(r, "run.left_running", e->left, "", DIR_NONE, 0, at);
        record_warning(r, "%u process%s that the program left behind %s still running", e->left, e->left == 1 ? "" : "es",
                       e->left == 1 ? "was" : "were");
        if (!run->series && opt_on(&run->plan.opts, OPTION_SHARE_RUN) && !record_find(r, FACT_TAG, SHARED_TAG_RUN))
            record_warning(r, "what %s by MLflow after the program's end is in no record", e->left == 1 ? "it logs" : "they log");
    }
}

bool run_is_ending(int number)
{
    static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGKILL, SIGXCPU};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (number == ending[i])
            return true;
    return false;
}

/* Returns MLflow's status for the program's end, and writes the reason in words into `why` (size
 * bytes). */
static enum run_status run_end_status(struct run *run, char *why, size_t size)
{
    const struct wire_msg *e = &run->end;
    int sig = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
    char words[EXIT_WORDS_SIZE];
    exit_words(words, WEXITSTATUS(e->status), sig);
    snprintf(why, size, "%s", words);
    if (sig) {
        char number[16];
        snprintf(number, sizeof number, "%d", sig);
        record_tag(&run->record, "benchwrap.signal_number", str_of(number));
    }
    if (e->timed_out) {
        snprintf(why, size, "time limit of %g s reached", opt_seconds(&run->plan.opts, OPTION_TIMEOUT));
        return RUN_KILLED;
    }
    int caught = e->finish_signal ? (int)e->finish_signal : run->job.ignored ? 0 : run->job.signal;
    if (run_is_ending(sig))
        return RUN_KILLED;
    if (caught && e->status != 0) {
        size_t n = strlen(why);
        if (!sig && WEXITSTATUS(e->status) != 128 + caught && !run->job.by_scheduler) /* else it is clear, or is explained */
            snprintf(why + n, size - n, " after signal %s", sigabbrev_np(caught));
        return RUN_KILLED;
    }
    if (!e->status)
        return RUN_FINISHED;
    return job_explain_notice(run, why, size) ? RUN_KILLED : RUN_FAILED;
}

/* Closes the spool's streams at the end, and records the bytes that are missing in the record,
 * those that the real stream did not accept, and which stream a background process still has
 * open. */
static void record_streams(struct run *run)
{
    static const char *const names[] = {"stdout", "stderr"};
    struct buf open CLEANUP_BUF;
    buf_init(&open, 64);
    for (int i = 0; i < WIRE_STREAMS; i++) {
        uint64_t dropped = atomic_load(&run->wire->ring[i].dropped) + run->streams[i].lost;
        char key[48], text[24];
        if (dropped) {
            snprintf(key, sizeof key, "benchwrap.dropped.%s", names[i]);
            snprintf(text, sizeof text, "%llu", (unsigned long long)dropped);
            record_tag(&run->record, key, str_of(text));
            char why[200];
            snprintf(why, sizeof why, "%s: %s bytes are not in the record (%s)", names[i], text,
                     run->streams[i].error ? strerror(run->streams[i].error) : "the recorder was too slow");
            run_warn(run, why);
        }
        if (run->end.open_streams & 1U << i) {
            if (open.n)
                buf_putc(&open, ' ');
            buf_puts(&open, names[i]);
        }
        if (run->end.lost[i])
            record_warning(&run->record, "%s: the real stream did not take %llu byte%s", names[i], (unsigned long long)run->end.lost[i],
                           str_plural(run->end.lost[i]));
        spool_stream_deinit(&run->streams[i]);
    }
    if (open.n == 0)
        return;
    record_tag(&run->record, "benchwrap.open_streams", buf_text(&open));
    record_warning(&run->record,
                   "%s: still open in a background process when the program had ended; later output is passed on and not recorded", open.p);
}

/* Returns the offset of what was appended, which begins behind the end of a line. 0: the file was
 * written again. */
static uint64_t added_from(int spool, const char *file, uint64_t from)
{
    CLEANUP_FD int fd = openat(spool, file, O_RDONLY | O_CLOEXEC);
    char last = 0;
    return from && fd >= 0 && pread(fd, &last, 1, (off_t)from - 1) == 1 && last == '\n' ? from : 0;
}

/* Stores a file that the program wrote, for the rules to read, and records where its own part begins. */
static void keep_rules_file(struct run *run, size_t i, const struct file_chosen *chosen)
{
    struct record *r = &run->record;
    struct err err = {0};
    const char *path = chosen->file->path;
    char key[48], text[24];
    const struct fact *last = r->last;
    if (keep_file(r, run->spool.dir, path, str_base_name(path), &run->keep_left, &run->redaction.redact, &err)) {
        record_warning(r, "rules: %s", err.text);
        return;
    }
    if (r->last == last || r->last->kind != FACT_ARTIFACT)
        return;
    const char *kept = arena_dup(&r->arena, r->last->text.p, r->last->text.n);
    uint64_t from = kept ? added_from(run->spool.dir, kept, chosen->from) : 0;
    snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
    record_tag(r, key, str_of(kept));
    if (!from)
        return;
    record_warning(r, "rules: %s was there before: what the program added to it is read, from byte %" PRIu64, path, from);
    snprintf(key, sizeof key, "benchwrap.rules_file_from.%zu", i);
    snprintf(text, sizeof text, "%" PRIu64, from);
    record_tag(r, key, str_of(text));
}

/* Returns whether the file is kept for another pattern of a rule that reads both: it must not be
 * read twice. */
static bool kept_already(const struct rules *rules, const struct file_seen *const *kept, size_t n, const struct file_seen *f)
{
    for (size_t i = 0; i < n; i++)
        if (kept[i] && kept[i]->dev == f->dev && kept[i]->ino == f->ino && rules_files_share(rules, i, n))
            return true;
    return false;
}

/* Returns the one file that the program logged under the name of the i-th of the rules. NULL: it
 * logged none, or several, which is recorded as a warning. */
static const struct fact *logged_file(struct run *run, const struct rules *rules, size_t i)
{
    struct record *r = &run->record;
    const struct fact *found = NULL;
    size_t n = 0;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_ARTIFACT && strcmp(f->source, "log") == 0 && str_ends(f->key, rules_file(rules, i))) {
            found = f;
            n++;
        }
    if (n > 1)
        record_warning(r, "rules: the program logged %zu files %s: none is read", n, rules_file(rules, i));
    return n == 1 ? found : NULL;
}

/* Records which files that the program logged the rules read, as keep_rules_file does those on
 * disk. */
static void name_logged_files(struct run *run, const struct rules *rules)
{
    for (uint32_t i = 0; rules_file(rules, i); i++) {
        const struct fact *f = rules_file_is_logged(rules, i) ? logged_file(run, rules, i) : NULL;
        char key[48];
        snprintf(key, sizeof key, "benchwrap.rules_file.%" PRIu32, i);
        if (f)
            record_tag(&run->record, key, f->text);
    }
}

/* Stores the rules' files that the program wrote: an older file has another run's values. */
static void keep_rules_files(struct run *run, const struct rules *rules)
{
    struct child_work look;
    struct files_list before, after;
    struct record *r = &run->record;
    const struct file_seen *kept[FILES_RULES_MAX] = {0};
    if (!run->files.pid)
        return; /* the rules name no files */
    files_seen(&run->files, run_answer_ms(run, LOOK_BEFORE_MS), &run->plan.arena, &before);
    files_look_begin(&look, run->plan.rules, run->plan.program);
    int64_t after_ms = run_answer_ms(run, LOOK_AFTER_MS);
    files_seen(&look, after_ms, &run->plan.arena, &after);
    if (!after.known) {
        record_warning(r, "rules: the search for the files that they name did not end within %.3g s", (double)after_ms / 1000);
        return;
    }
    for (uint32_t i = 0; rules && i < FILES_RULES_MAX && rules_file(rules, i); i++) {
        struct file_chosen chosen;
        char key[48];
        files_choose(&before, after.first, i, run->wire->start_wall_ms, run->program_mono_ns, &chosen);
        if (chosen.too_many)
            record_warning(r, "rules: more than %d files match %s: none of them is read", FILES_SEEN_MAX, rules_file(rules, i));
        if (!chosen.file && chosen.stale)
            record_warning(r, "rules: %s is older than this run and is not read", chosen.stale->path);
        if (chosen.doubtful) { /* it may be the newest */
            record_warning(r, "rules: %s was written to, but what was in it before the program is not known: it is not read",
                           chosen.doubtful->path);
            chosen = (struct file_chosen){0};
        }
        if (chosen.file && chosen.fresh > 1 && rules_file_is_read(rules, i))
            record_warning(r, "rules: the program wrote %zu files that match %s; only the newest is read: %s", chosen.fresh,
                           rules_file(rules, i), chosen.file->path);
        snprintf(key, sizeof key, "benchwrap.rules_file.%" PRIu32, i);
        if (chosen.file && !rules_file_is_read(rules, i))
            record_tag(r, key, STR("found"));
        else if (chosen.file && !kept_already(rules, kept, i, chosen.file))
            keep_rules_file(run, i, &chosen);
        kept[i] = chosen.file && rules_file_is_read(rules, i) ? chosen.file : NULL;
    }
}

/* Stores files that the arguments name for reading, such as a configuration. None of them is
 * executed. */
static void keep_inputs(struct run *run, const struct rules *rules)
{
    size_t i = 0;
    for (const char *path; (path = rules_input(rules, &i, run->plan.program, &run->plan.arena));) {
        struct err err = {0};
        struct stat st;
        if (stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 > run->wire->start_wall_ms)
            record_warning(&run->record, "rules: %s changed while the program ran: it is kept as it is now", path);
        if (keep_file(&run->record, run->spool.dir, path, str_base_name(path), &run->keep_left, &run->redaction.redact, &err))
            record_warning(&run->record, "rules: %s", err.text);
    }
}

/* Copies the files that the rules and the user name, while they are as the program left them. */
static void keep_files(struct run *run)
{
    struct rules *rules = run->plan.loaded;
    run->record.source = "rules";
    if (!rules && run->plan.rules && rules_load(&rules, run->plan.rules, NULL))
        rules = NULL; /* finish_run reports it */
    if (rules)
        name_logged_files(run, rules);
    keep_rules_files(run, rules);
    if (rules)
        keep_inputs(run, rules);
    if (rules != run->plan.loaded)
        rules_free(rules);
    run->record.source = "option";
    for (const struct opt_value *v = opt_find(&run->plan.opts, OPTION_ARTIFACT); v && v->text; v = v->next)
        keep_matching(&run->record, run->spool.dir, v->text, &run->keep_left, &run->redaction.redact);
}

/* Records how many secrets and identities were replaced, so that readers know that the program
 * printed no stars. */
static void record_redaction(struct run *run)
{
    const struct redact *done = &run->redaction.streams;
    char text[32];
    if (done->secrets > 0) {
        snprintf(text, sizeof text, "%zu", done->secrets);
        record_tag(&run->record, "benchwrap.secrets_redacted", str_of(text));
    }
    if (done->identities > 0) {
        snprintf(text, sizeof text, "%zu", done->identities);
        record_tag(&run->record, "benchwrap.identities_replaced", str_of(text));
    }
    size_t numbers = done->numbers + run->redaction.redact.numbers;
    if (numbers > 0)
        record_warning(
            &run->record,
            "%zu number%s replaced, for the whole name before %s is that of a secret: if it is a result, print it with another name",
            numbers, numbers == 1 ? " was" : "s were", numbers == 1 ? "it" : "each");
}

/* Warns where a script or a process of the program started programs elsewhere: the facts are only
 * those of this machine, and of processes below the launcher. */
static void warn_of_starters(struct run *run)
{
    static const char uncounted[] = "run.user_s, run.system_s and run.max_rss_MiB do not count them";
    struct script_starter found = script_find_starter(run->plan.argv, run->host.env, &run->plan.arena);
    const struct script_starter *seen = &run->starters.found;
    if (seen->name && !found.away && (seen->away || !found.name))
        found = *seen;
    if (!found.name || run->host.elsewhere || run->host.served)
        return;
    if (found.away)
        record_warning(
            &run->record,
            "%s starts %s, which may run programs on another machine: the hardware and system metrics of this run are those of this "
            "one, and %s",
            found.where, found.name, uncounted);
    else
        record_warning(&run->record, "%s starts %s, whose programs are no processes of this run: %s", found.where, found.name, uncounted);
}

void run_record_end(struct run *run)
{
    struct record *r = &run->record;
    char why[256];
    r->source = "recorder";
    int64_t end = clock_wall_after_ms(run->wire->start_wall_ms, run->wire->start_mono_ns);
    r->status = RUN_KILLED;
    if (run->end.kind == WIRE_ENDED) {
        end = run->end.wall_ms;
        double wall = (double)(run->end.mono_ns - run->program_mono_ns) / 1e9;
        record_metric(r, "run.wall_s", wall, "s", DIR_LOWER, 0, end);
        record_usage(run);
        r->status = run_end_status(run, why, sizeof why);
    } else {
        if (run->program_mono_ns)
            record_missing(r, "run.wall_s", "the launcher ended %.3g s after the start, and the program may have run longer",
                           (double)(clock_mono_ns() - run->program_mono_ns) / 1e9);
        snprintf(why, sizeof why, "the launcher ended without a report, so the program's end was not observed");
    }
    record_streams(run);
    if (run->end.kind == WIRE_ENDED && r->status == RUN_KILLED && !run->end.timed_out)
        job_explain(run, why, sizeof why);
    else if (r->status == RUN_FINISHED) {
        rank_failure_warn(run);
        job_warn_of_early_end(run);
    } else if (r->status == RUN_FAILED && job_ended_steps(run, why, sizeof why))
        r->status = RUN_KILLED;
    warn_of_starters(run);
    profiler_end(run);
    keep_files(run);
    probes_run(PROBE_AFTER, run->nested, &run->host, r);
    pause_record(&run->pause, r);
    int64_t from = clock_mono_ns(), answer_ms = run_answer_ms(run, JOB_END_MS);
    step_end(run, from + answer_ms * INT64_C(1000000));
    int64_t waited_ms = (clock_mono_ns() - from) / 1000000;
    collectors_end(run);
    sacct_end(run);
    job_end(run, answer_ms, waited_ms);
    r->source = "recorder";
    record_redaction(run);
    if (why[0])
        record_tag(r, "benchwrap.ended", str_of(why));
    r->end_ms = end;
    journal_ended(run->journal, end, r->status, why);
}
