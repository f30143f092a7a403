/* repeat_record.c: the parent run of repetitions: its begin, notes of each repetition's values, its
 * publication in the tree. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/show.h"
#include "launch/say.h"
#include "run/commit.h"
#include "run/exports.h"
#include "run/profiler.h"
#include "repeat/repeat_state.h"
#include "run/summary.h"
#include "series/table.h"
#include "series/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LATE_MS = 30000,
    LATE_STEP_MS = 20,
    DETAIL_MAX = 64 << 20,
    LINE_MAX_BYTES = 16 << 20,
    HEAD_MAX_BYTES = 64 << 20,
    SUMMARY_MAX = 1 << 20,
    SUMMARY_METRICS = 12
};

void repeat_say(const char *fmt, ...)
{
    va_list ap;
    struct buf text CLEANUP_BUF;
    buf_init(&text, 8192);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    say_stderr("%s", text.p ? text.p : "");
}

static void repeat_report(uint32_t kind, const char *text)
{
    if (kind == WIRE_NOTE)
        repeat_say("%s", text);
}

/* ---- it begins ---- */

/* Returns the shared memory as a launcher would fill it, from aligned_alloc; NULL: out of
 * memory. */
static struct wire *make_wire(const struct repeat_state *s)
{
    struct wire *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    const char *parent = getenv("BENCHWRAP_RUN_ID");
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->start_wall_ms = clock_wall_ms();
    w->start_mono_ns = clock_mono_ns();
    w->launcher = getpid();
    record_new_id(w->run_id);
    if (s->id[0]) {
        memcpy(w->run_id, s->id, sizeof s->id);
        w->start_mono_ns -= (w->start_wall_ms - s->begun_ms) * 1000000; /* the wall clock alone knows how long ago that was */
        w->start_wall_ms = s->begun_ms;
    }
    if (parent && record_is_id(str_of(parent)))
        memcpy(w->parent_id, parent, 33);
    snprintf(w->scope, sizeof w->scope, "series");
    return w;
}

/* Records the plan of the series: its kind, numbers of repetitions and warm-ups, order and
 * sweep. */
static void record_plan(struct repeat_state *s)
{
    struct record *r = &s->run.record;
    const struct repeat_plan *w = &s->what;
    r->source = "series";
    record_tag(r, "benchwrap.series", w->sweep.count ? STR("sweep") : STR("repeat"));
    record_param_int(r, "series.points", (int64_t)w->sweep.points);
    record_param_int(r, "series.repeat", (int64_t)w->repeat);
    record_param_int(r, "series.warmup", (int64_t)w->warmup);
    if (w->until > 0) {
        record_param(r, "series.until_stable", str_of(opt_text(&s->plan.opts, OPTION_UNTIL_STABLE)));
        record_param_int(r, "series.max_repeat", (int64_t)w->most);
    }
    if (opt_on(&s->plan.opts, OPTION_PROFILE_CODE)) /* its statistics are of runs with a profiler */
        record_param_int(r, "code_profile.frequency_Hz", PROFILER_HZ);
    if (w->sweep.count)
        record_param(r, "series.order", str_of(repeat_order_words(w)));
    if (w->shuffle)
        record_param_int(r, "series.seed", (int64_t)w->seed);
    for (const struct opt_value *v = opt_find(&s->plan.opts, OPTION_SWEEP); v && v->text; v = v->next) {
        struct str values = str_of(v->text), name = str_cut(&values, '=');
        const char *key = arena_printf(&s->notes.arena, "sweep." STR_FMT, STR_ARG(name));
        if (key)
            record_param(r, key, values.p ? values : STR(""));
    }
    r->source = "recorder";
}

/* Sets the sweep of the notes to a redacted copy, as the record may have it. 0; -1 with err. */
static int clean_sweep(struct repeat_state *s, struct err *err)
{
    struct arena *a = &s->notes.arena;
    for (size_t i = 0; i < s->what.sweep.count; i++) {
        struct sweep_axis *axis = &s->notes.sweep.axes[i];
        const char **values = arena_get(a, axis->count * sizeof *values);
        for (size_t k = 0; values && k < axis->count; k++)
            values[k] = redaction_named(&s->run.redaction, axis->name, axis->values[k], a);
        axis->values = values;
    }
    if (s->what.sweep.table) {
        size_t n = s->what.sweep.count, cells = s->what.sweep.points * n;
        const char **table = arena_get(a, cells * sizeof *table + 1);
        for (size_t i = 0; table && i < cells; i++)
            table[i] = redaction_named(&s->run.redaction, s->what.sweep.axes[i % n].name, s->what.sweep.table[i], a);
        s->notes.sweep.table = table;
    }
    return a->failed ? err_memory(err, "the series") : 0;
}

/* Prepares the notes, and creates their file in the spool where the series is recorded. 0; -1 with
 * err. */
static int open_notes(struct repeat_state *s, struct err *err)
{
    struct buf head CLEANUP_BUF;
    buf_init(&head, HEAD_MAX_BYTES);
    s->notes.sweep = s->what.sweep;
    if (s->recorded && clean_sweep(s, err))
        return -1;
    s->notes.keys = sweep_keys(&s->notes.sweep, &s->notes.arena);
    if (!s->notes.keys)
        return err_memory(err, "the series");
    if (!s->recorded)
        return 0;
    series_head_print(&s->notes, &head);
    if (head.failed)
        return err_set(err, ERR_SYSTEM, "series: the sweep's values are longer than %d MiB (or out of memory)", HEAD_MAX_BYTES >> 20);
    s->file = openat(s->run.spool.dir, SERIES_NOTES, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    return s->file < 0 || fs_append(s->file, head.p, head.n) ? err_sys(err, "series: cannot write %s", SERIES_NOTES) : 0;
}

/* Sets the tree for runs with --as steps, in the parent run's spool. 0; -1 with err. */
static int open_scratch(struct repeat_state *s, struct err *err)
{
    struct buf path CLEANUP_BUF;
    buf_init(&path, 8192);
    if (!s->what.steps)
        return 0;
    if (spool_path(&s->run.spool, &path))
        return err_sys(err, "series: the spool has no path");
    s->scratch = arena_printf(&s->notes.arena, "%s/steps/mlruns", path.p);
    return s->scratch ? 0 : err_memory(err, "the series");
}

int repeat_begin(struct repeat_state *s, int argc, char **argv, struct err *err)
{
    arena_init(&s->notes.arena, 0);
    s->notes.end = "";
    s->run.tell = repeat_report;
    s->run.series = true;
    s->run.wire = make_wire(s);
    int rc = s->run.wire ? run_begin(&s->run, argc, argv, s->env, err) : err_memory(err, "the series");
    s->recorded = rc == 0;
    if (s->recorded && s->held && fs_write(s->run.spool.dir, SPOOL_HELD, STR(""), 0600, false, err))
        repeat_say("%s", err->text);
    if (s->recorded) {
        setenv("BENCHWRAP_RUN_ID", s->run.wire->run_id, 1);
        unsetenv("BENCHWRAP_SOCKET");
        record_plan(s);
        journal_started(s->run.journal, s->run.wire->start_wall_ms, s->run.wire->start_mono_ns);
        if (journal_flush(s->run.journal, false, err) < 0)
            repeat_say("%s", err->text);
    }
    struct err more = {0};
    if (open_notes(s, &more) || (s->recorded && open_scratch(s, &more))) {
        if (!rc)
            *err = more;
        if (s->recorded)
            repeat_discard(s);
        s->recorded = false;
        return -1;
    }
    return rc;
}

void repeat_discard(struct repeat_state *s)
{
    struct err err = {0};
    if (!s->recorded)
        return;
    probes_end(&s->run.host);
    journal_close(s->run.journal);
    if (spool_discard(&s->run.spool, &err))
        repeat_say("%s", err.text);
    s->recorded = false;
}

/* ---- a run has ended ---- */

/* Opens the run's folder in the tree. Returns the descriptor; -1: it is not there. */
static int open_run(struct repeat_state *s, const struct series_repetition *run)
{
    const char *tree = s->scratch ? s->scratch : s->plan.tree, *wanted = s->scratch ? "series" : s->run.plan.experiment;
    struct err err = {0};
    char path[80];
    uint32_t id;
    struct str name;
    CLEANUP_FD int root = place_open_folder(tree, 0);
    if (root < 0 || !wanted || tree_experiment(root, str_of(wanted), &s->notes.arena, &id, &name, &err))
        return -1;
    snprintf(path, sizeof path, "%" PRIu32 "/%s", id, run->id);
    return place_open(root, path, O_RDONLY | O_DIRECTORY, 0);
}

/* Returns whether a recorder still works on the run. Where the disks are far behind, the launcher
 * ends before its recorder. */
static bool is_being_recorded(struct repeat_state *s, const struct series_repetition *run)
{
    struct spool spool;
    struct journal *lock = NULL;
    if (spool_open(&spool, s->run.plan.spool, run->id, NULL))
        return false;
    bool alive = journal_reopen(&lock, spool.dir, NULL) > 0;
    journal_close(lock);
    spool_close(&spool);
    return alive;
}

static bool is_series_ending(struct repeat_state *s)
{
    return s->is_ending ? s->is_ending(s->ending_context) : repeat_child_ending(&s->child) != 0;
}

/* Opens the run's folder. Waits for it as long as its recorder works on it, at most LATE_MS, but
 * not once the series ends. Returns the descriptor, or -1. */
static int wait_for_run(struct repeat_state *s, const struct series_repetition *run)
{
    const struct timespec pause = {0, LATE_STEP_MS * 1000000L};
    int folder = open_run(s, run), waited = 0;
    for (bool recorded = true; folder < 0 && recorded && waited < LATE_MS && !is_series_ending(s); waited += LATE_STEP_MS) {
        recorded = is_being_recorded(s, run); /* tested before the reading: it may end in between */
        if (recorded)
            nanosleep(&pause, NULL);
        folder = open_run(s, run);
    }
    return folder;
}

/* Adds the logs of a repetition to the parent run's files, up to --artifact-max for all of them.
 * Others become a warning each. */
static void keep_logs(struct repeat_state *s, int folder, const struct series_repetition *run)
{
    static const char *const logs[] = {"stdout.log", "stderr.log", CODE_PROFILE_FILE};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        char from[40], to[60];
        struct stat st;
        struct err err = {0};
        snprintf(from, sizeof from, "artifacts/%s", logs[i]);
        snprintf(to, sizeof to, "%s-%04zu-%s", run->warmup ? "warmup" : "run", run->order, logs[i]);
        if (fstatat(folder, from, &st, 0) || st.st_size == 0)
            continue;
        if (s->kept + (uint64_t)st.st_size > opt_bytes(&s->plan.opts, OPTION_ARTIFACT_MAX))
            record_warning(&s->run.record, "%s is not kept: the files of the series would be larger than --artifact-max", to);
        else if (fs_link(folder, from, s->run.spool.dir, to, 0644, &err))
            record_warning(&s->run.record, "%s is not kept: %s", to, err.text);
        else {
            s->kept += (uint64_t)st.st_size;
            record_artifact(&s->run.record, arena_printf(&s->run.record.arena, "runs/%s", to), to);
        }
    }
}

/* Reads the values of a run that has ended from its folder into *run; with a scratch tree keeps its
 * logs and removes that tree. False, with err: the run has no record that can be read. */
static bool read_repetition_values(struct repeat_state *s, struct series_repetition *run, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct err ignored = {0};
    struct json *detail = NULL;
    CLEANUP_FD int folder = s->recorded ? wait_for_run(s, run) : -1;
    buf_init(&text, DETAIL_MAX + 1);
    if (folder < 0)
        return err_set(err, ERR_SYSTEM, "its record was not there when it had ended"), false;
    if (fs_read(folder, "artifacts/benchwrap.json", DETAIL_MAX, 0, &text, err) || json_parse(&detail, buf_text(&text), NULL, err))
        return err_wrap(err, "its record"), false;
    series_values_take(run, detail, &s->notes.arena);
    json_free(detail);
    if (s->scratch) {
        keep_logs(s, folder, run);
        fs_remove_tree(s->run.spool.dir, "steps", &ignored);
    }
    return true;
}

bool repeat_note_run(struct repeat_state *s, struct series_repetition *run)
{
    struct buf line CLEANUP_BUF;
    struct err err = {0}, why = {0};
    bool there = read_repetition_values(s, run, &why), started = there || run->exit < 125 || run->exit > 127;
    buf_init(&line, LINE_MAX_BYTES);
    if (s->judge && !s->judge(s->judge_context, run))
        return started;
    series_add_run(&s->notes, run);
    if (!s->recorded || (!started && s->notes.count == 1))
        return started;
    if (!there)
        record_warning(&s->run.record, "run %zu (%.8s) is in no statistics: %s", run->order, run->id,
                       started ? why.text : "the program could not be started");
    series_run_print(run, &line);
    if (line.failed || fs_append(s->file, line.p, line.n))
        repeat_say("series: cannot write run %zu to " SERIES_NOTES ": %s; the statistics lack it", run->order,
                   line.failed ? "its values are longer than 16 MiB (or out of memory)" : err_words(errno));
    if (journal_flush(s->run.journal, false, &err) < 0)
        repeat_say("%s", err.text);
    return started;
}

/* ---- it ends ---- */

struct run_counts {
    size_t all, good, failed, warmups;
    int exit; /* of all that failed; -1: they differ, or none did */
};

/* Counts the runs of the notes. n.exit is the exit status of the failed ones, -1 where they
 * differ. */
static struct run_counts count_repetitions(const struct series_notes *notes)
{
    struct run_counts n = {0};
    for (const struct series_repetition *run = notes->first; run; run = run->next) {
        bool counts = series_counts(run);
        n.warmups += run->warmup;
        n.all += !run->warmup;
        n.good += !run->warmup && counts;
        if (!run->warmup && !counts)
            n.exit = !n.failed++ || n.exit == run->exit ? run->exit : -1;
    }
    return n;
}

/* Appends "failed (exit status 2)". */
static void put_failed(const struct screen *screen, int exit, struct buf *to)
{
    screen_puts(screen, STYLE_BAD, "failed", to);
    if (exit > 0)
        buf_printf(to, " (exit status %d)", exit);
}

/* Appends "fio, 2 points x 3 repetitions, 6 of 6 finished in 3.4 s", or "sh, 3 of 3 repetitions
 * failed (exit status 2) in 50 ms". */
static void print_repeat_outcome(const struct repeat_state *s, const struct finished *f, const struct screen *screen,
                                 const struct run_counts *n, struct buf *to)
{
    const struct fact *benchmark = record_find(&f->record, FACT_TAG, "benchmark");
    size_t points = s->what.sweep.points;
    bool varies = s->what.until > 0; /* each point has as many repetitions as it needs */
    buf_plain(to, benchmark ? benchmark->text : STR("run"), 60);
    if (s->what.sweep.count) {
        buf_printf(to, ", %zu point%s", points, str_plural(points));
        if (s->what.repeat > 1 && !varies)
            buf_printf(to, " x %zu repetitions", s->what.repeat);
    }
    buf_printf(to, ", %zu of %zu %s", n->good ? n->good : n->failed, n->all, s->what.sweep.count && !varies ? "" : "repetitions ");
    if (n->good)
        screen_puts(screen, STYLE_PLAIN, "finished", to);
    if (n->good && n->failed)
        buf_printf(to, ", %zu ", n->failed);
    if (n->failed)
        put_failed(screen, n->exit, to);
    buf_puts(to, !n->good && !n->failed ? "finished in " : " in ");
    show_duration(to, record_number(&f->record, "series.wall_s", 0));
    if (n->warmups)
        buf_printf(to, ", %zu for warm-up", n->warmups);
    if (f->record.status == RUN_KILLED) {
        buf_puts(to, ", ");
        screen_puts(screen, STYLE_BAD, "stopped", to);
    }
    buf_putc(to, '\n');
}

/* Returns the headline metric whose mean has the widest interval; wall time only where there is no
 * other. NULL: none has one. */
static const struct series_figure *widest_figure(const struct series_figure *figures)
{
    const struct series_figure *widest = NULL;
    for (int pass = 0; pass < 2 && !widest; pass++)
        for (const struct series_figure *f = figures; f; f = f->next) {
            bool wall = strcmp(f->key, "run.wall_s") == 0;
            if (f->headline && wall == (pass == 1) && !series_no_interval(f) &&
                (!widest || series_relative(&f->stats) > series_relative(&widest->stats)))
                widest = f;
        }
    return widest;
}

/* Appends the mean's widest interval if it is wide, and what makes it narrower. */
static void print_width_hint(struct repeat_state *s, const struct series_figure *figures, const struct screen *screen, struct buf *to)
{
    const struct series_figure *widest = widest_figure(figures);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    if (s->what.until > 0 || s->what.sweep.count || !widest || series_relative(&widest->stats) < 0.05)
        return;
    buf_puts(&b, "the mean of ");
    show_metric(&b, widest->key, widest->unit);
    buf_printf(&b, " is known to +-%.0f %%; for +-5 %% add --until-stable 5%%", 100 * series_relative(&widest->stats));
    summary_line(screen, STYLE_DIM, "hint: ", 6, buf_text(&b), to);
}

static void print_ending(struct repeat_state *s, const struct screen *screen, struct buf *to)
{
    bool all = s->what.until == 0 && !s->stop;
    if (s->why[0] && !all)
        summary_line(screen, STYLE_PLAIN, "", 0, str_of(s->why), to);
}

static void print_repeat_summary(struct repeat_state *s, const struct finished *f, const struct screen *screen, struct buf *to)
{
    const struct opt_value *tree = opt_find(&s->plan.opts, OPTION_TREE);
    const struct summary parts = {
        .f = f, .screen = screen, .spool = -1, .tree_option = tree && tree->origin == OPT_COMMAND_LINE ? tree->text : NULL};
    const struct series_figure *figures = series_figures(&s->notes);
    const struct run_counts n = count_repetitions(&s->notes);
    size_t before;
    print_repeat_outcome(s, f, screen, &n, to);
    buf_putc(to, '\n');
    before = to->n;
    print_ending(s, screen, to);
    summary_print_reason(&parts, to);
    if (to->n > before && n.good)
        buf_putc(to, '\n');
    before = to->n;
    series_table(&s->notes, figures, false, SUMMARY_METRICS, screen, to);
    if (series_no_metrics(&s->notes))
        summary_print_no_metrics(&parts, to);
    if (to->n > before)
        buf_putc(to, '\n');
    before = to->n;
    summary_print_warnings(&parts, "series", to);
    print_width_hint(s, figures, screen, to);
    if (to->n > before)
        buf_putc(to, '\n');
    summary_print_place(&parts, to);
}

/* Ends notes and record of the parent run. `number`: the signal that ended the series, 0 for
 * none. */
static void repeat_close_record(struct repeat_state *s, int exit_status, int number)
{
    struct record *r = &s->run.record;
    struct buf line CLEANUP_BUF;
    bool failed = exit_status && exit_status != 3;
    buf_init(&line, 8192);
    series_end_print(s->why, &line);
    if (s->file >= 0 && (line.failed || fs_append(s->file, line.p, line.n)))
        repeat_say("series: cannot write its end to " SERIES_NOTES ": %s",
                   line.failed ? "it is longer than 8,192 bytes (or out of memory)" : err_words(errno));
    r->source = "recorder";
    r->end_ms = clock_wall_after_ms(s->run.wire->start_wall_ms, s->run.wire->start_mono_ns);
    r->status = number ? RUN_KILLED : failed ? RUN_FAILED : RUN_FINISHED;
    double wall_s = (double)(clock_mono_ns() - s->run.wire->start_mono_ns) / 1e9;
    record_metric(r, "series.wall_s", wall_s, "s", DIR_LOWER, 0, r->end_ms);
    record_metric(r, "run.exit_status", exit_status, "", DIR_NONE, 0, r->end_ms);
    probes_run(PROBE_AFTER, s->run.nested, &s->run.host, r);
    r->source = "recorder";
    if (number)
        record_tag(r, "benchwrap.ended", str_of(s->why));
    journal_ended(s->run.journal, r->end_ms, r->status, number ? s->why : "");
}

void repeat_end(struct repeat_state *s, int exit_status, int number)
{
    struct finished f = {0};
    struct err err = {0};
    if (!s->recorded)
        return;
    repeat_close_record(s, exit_status, number);
    int rc = journal_flush(s->run.journal, true, &err);
    if (rc == 0)
        rc = finish_run(&s->run.spool, &(struct finish_program){s->env, s->run.redaction.redact.ids}, &f, &err);
    const struct screen screen = screen_of(2);
    struct buf text CLEANUP_BUF, server CLEANUP_BUF, shown CLEANUP_BUF;
    bool sent = true;
    buf_init(&text, SUMMARY_MAX);
    buf_init(&server, 8192);
    buf_init(&shown, SUMMARY_MAX);
    if (rc == 0 && !s->what.quiet)
        print_repeat_summary(s, &f, &screen, &text);
    if (rc == 0)
        sent =
            run_server_finish(&s->run, clock_mono_ns() + (int64_t)(opt_seconds(&s->plan.opts, OPTION_FINISH_WAIT) * 1e9), &screen, &server);
    if (!s->what.quiet || !sent)
        buf_str(&text, buf_text(&server));
    screen_prefix(&screen, "benchwrap", buf_text(&text), &shown);
    run_server_close(&s->run);
    if (rc == 0)
        run_exports_wait(&s->run);
    if (f.note[0])
        repeat_say("%s", f.note);
    if (shown.n) {
        struct out out;
        out_open(&out, 2);
        say_text(&out, shown.p);
        out_close(&out);
    }
    if (rc) {
        struct buf where CLEANUP_BUF;
        buf_init(&where, 4096);
        spool_path(&s->run.spool, &where);
        repeat_say("%s; the series is kept in %s, finish it with \"benchwrap sync --local\"", err.text, where.p ? where.p : "its spool");
    }
    if (rc == 0) {
        run_exports_start(&s->run);
        run_commit_report(&s->run, &f);
        run_commit_in_background(&s->run);
    }
    finished_deinit(&f);
    probes_end(&s->run.host);
    journal_close(s->run.journal);
}
