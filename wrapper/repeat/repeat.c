/* repeat.c: run the repetitions: one run after the other, until there are enough, then the end. */
#include "repeat/repeat.h"

#include "base/clock.h"
#include "base/exit_words.h"
#include "launch/ending.h"
#include "repeat/repeat_state.h"
#include "series/figures.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one run ---- */

static int exit_status_of_wait(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns whether a line of progress is due: at a terminal before each run, else every PROGRESS_NS,
 * so that the log of a long series shows that it is alive, and that of a short one has none. */
static bool is_progress_due(struct repeat_state *s)
{
    const int64_t PROGRESS_NS = 10000000000;
    int64_t now = clock_mono_ns(), last = s->progress_ns ? s->progress_ns : s->start_ns;
    if (!isatty(2) && now - last < PROGRESS_NS)
        return false;
    s->progress_ns = now;
    return true;
}

/* Prints "[3/10] n=4 repetition 2" before a run, if several runs follow each other. */
static void print_progress(struct repeat_state *s, const struct series_repetition *run)
{
    const struct repeat_plan *w = &s->what;
    size_t all = w->sweep.points * (w->most + w->warmup);
    CLEANUP_BUF struct buf label;
    buf_init(&label, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    if (w->quiet || all < 2 || !is_progress_due(s))
        return;
    sweep_label(&w->sweep, run->point, &label);
    repeat_say("[%zu/%zu] %.200s%s%s %zu", run->order, all, label.n ? label.p : "", label.n ? " " : "",
               run->warmup ? "warm-up" : "repetition", run->repetition);
}

/* Ends the series after the current run; why: NULL: out of memory for the words. */
static void repeat_stop(struct repeat_state *s, const char *why)
{
    s->stop = true;
    s->why = why ? why : "out of memory";
}

/* Ends the series before its next run, as a failure with the exit status 125. */
static void repeat_stop_for_memory(struct repeat_state *s)
{
    repeat_say("out of memory for the next repetition");
    s->status = s->status ? s->status : 125 << 8;
    repeat_stop(s, NULL);
}

/* Notes the outcome of a run, and stops the series where the outcome or a signal ends it. */
static void handle_run_end(struct repeat_state *s, const struct series_repetition *run, int status, bool started)
{
    struct arena *a = &s->notes.arena;
    bool failed = status != 0 || (run->status[0] && strcmp(run->status, "FINISHED") != 0);
    int number = repeat_child_ending(&s->child);
    if (status && !s->status)
        s->status = status;
    if (!s->unfit && !run->warmup && strcmp(run->verdict, "pass") != 0) {
        s->unfit = run->order;
        s->unfit_verdict = strcmp(run->verdict, "fail") == 0 ? "has the verdict fail" : "has no verdict";
    }
    if (number) {
        char words[EXIT_WORDS_SIZE];
        exit_words(words, 0, number);
        const char *why = arena_dup(a, words, strlen(words));
        repeat_stop(s, why ? why : "ended by a signal");
    } else if (!started)
        repeat_stop(s, "the program could not be started");
    else if (failed && !s->what.keep_going)
        repeat_stop(s, arena_printf(a, "stopped at the first run that failed, run %zu; --keep-going continues after it", run->order));
}

/* Runs one repetition or warm-up of a point. False: the series is over. */
static bool run_repetition(struct repeat_state *s, size_t point, bool warmup, size_t repetition)
{
    struct err err = {0};
    int status = 0;
    struct series_repetition *run = series_run_new(&s->notes, s->notes.count + 1, point, warmup, repetition);
    if (!run)
        return repeat_stop_for_memory(s), false;
    if (s->what.max_time > 0 && (double)(clock_mono_ns() - s->start_ns) / 1e9 >= s->what.max_time)
        repeat_stop(s, "the time of --max-time is over");
    if (repeat_child_ending(&s->child))
        repeat_stop(s, "ended by a signal");
    if (s->stop)
        return false;
    struct arena line_arena;
    arena_init(&line_arena, 0);
    record_new_id(run->id);
    char **line = repeat_launcher_line(&s->what, &s->plan, run, s->scratch, NULL, &line_arena);
    print_progress(s, run);
    int rc = line ? repeat_child_run(&s->child, line, s->what.input, &status, &err) : err_memory(&err, "the repetitions");
    arena_deinit(&line_arena);
    if (rc) {
        repeat_say("%s", err.text);
        s->status = s->status ? s->status : 125 << 8;
        return repeat_stop(s, arena_printf(&s->notes.arena, "%s", err.text)), false;
    }
    run->exit = exit_status_of_wait(status);
    bool started = repeat_note_run(s, run);
    handle_run_end(s, run, status, started);
    return !s->stop;
}

/* ---- which runs ---- */

static uint64_t next_random(uint64_t *state) /* splitmix64: the same order for the same seed everywhere */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Shuffles the n points in place (Fisher and Yates), each order equally likely. */
static void shuffle_points(size_t *order, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        uint64_t limit = UINT64_MAX - UINT64_MAX % i, r; /* no value is more likely than another */
        do
            r = next_random(state);
        while (r >= limit);
        size_t k = (size_t)(r % i), was = order[i - 1];
        order[i - 1] = order[k];
        order[k] = was;
    }
}

bool repeat_point_done(struct repeat_state *s, size_t point, size_t done)
{
    if (done < s->what.repeat)
        return false;
    if (s->what.until == 0 || done >= s->what.most)
        return true;
    return series_stable(&s->notes, point, s->what.repeat, s->what.until, NULL);
}

/* Runs warm-ups and repetitions of one point after the other. Ends early where run_repetition ends
 * the series. */
static void run_point_by_point(struct repeat_state *s)
{
    for (size_t p = 0; p < s->what.sweep.points; p++) {
        for (size_t i = 1; i <= s->what.warmup; i++)
            if (!run_repetition(s, p, true, i))
                return;
        for (size_t i = 0; !repeat_point_done(s, p, i); i++)
            if (!run_repetition(s, p, false, i + 1))
                return;
    }
}

/* Runs the warm-ups, then rounds with one repetition of each point that is not done. Ends early
 * where run_repetition ends the series. */
static void run_interleaved(struct repeat_state *s)
{
    size_t n = s->what.sweep.points, *order = arena_get(&s->notes.arena, n * sizeof *order);
    bool *done = arena_get(&s->notes.arena, n);
    uint64_t state = s->what.seed;
    if (!order || !done) {
        repeat_stop_for_memory(s);
        return;
    }
    for (size_t i = 1; i <= s->what.warmup; i++)
        for (size_t p = 0; p < n; p++)
            if (!run_repetition(s, p, true, i))
                return;
    for (size_t round = 0, left = n; left; round++) {
        for (size_t p = 0; p < n; p++)
            order[p] = p;
        if (s->what.shuffle)
            shuffle_points(order, n, &state);
        for (size_t i = 0; i < n; i++)
            if (!done[order[i]] && !run_repetition(s, order[i], false, round + 1))
                return;
        for (size_t p = 0; p < n; p++)
            if (!done[p] && repeat_point_done(s, p, round + 1)) {
                done[p] = true;
                left--;
            }
    }
}

/* Returns the words that wall time decided, since no headline metric has a value of its own for each
 * repetition, as a table has none; else "". */
static const char *by_wall_time(struct repeat_state *s)
{
    const struct series_figure *f = series_figures(&s->notes);
    while (f && (!f->headline || strcmp(f->key, "run.wall_s") == 0))
        f = f->next;
    return f ? "" : ", by wall time (run.wall_s): no headline metric has one value for each repetition";
}

/* Records the stability of repetitions that ran to their end. */
static void record_stability(struct repeat_state *s)
{
    struct arena *a = &s->notes.arena;
    if (s->what.until == 0) {
        s->why = arena_printf(a, s->notes.count == 1 ? "its %zu run was made" : "all %zu runs were made", s->notes.count);
        return;
    }
    const char *worst = NULL;
    bool stable = true;
    CLEANUP_BUF struct buf at;
    buf_init(&at, 4096);
    for (size_t p = 0; stable && p < s->what.sweep.points; p++) {
        stable = series_stable(&s->notes, p, s->what.repeat, s->what.until, &worst);
        if (!stable && s->what.sweep.count) {
            buf_puts(&at, " at ");
            sweep_label(&s->what.sweep, p, &at);
        }
    }
    s->why = stable ? arena_printf(a, "stable: each interval is within +-%g %% of its mean%s", s->what.until * 100, by_wall_time(s))
                    : arena_printf(a, "not stable after %zu repetitions%s: %s (expected +-%g %%)%s", s->what.most, at.n ? at.p : "",
                                   worst ? worst : "no interval is known", s->what.until * 100, by_wall_time(s));
    if (s->recorded)
        record_tag(&s->run.record, "benchwrap.stable", stable ? STR("true") : STR("false"));
    if (s->recorded && !stable)
        record_warning(&s->run.record, "%s", s->why);
}

/* ---- all repetitions ---- */

void repeat_write_heartbeat(void *context)
{
    struct repeat_state *s = context;
    struct err err = {0};
    if (!s->recorded)
        return;
    journal_beat(s->run.journal, clock_wall_ms());
    if (journal_flush(s->run.journal, false, &err) < 0)
        repeat_say("%s", err.text);
}

/* Ends the repetitions: the parent run is published, or discarded where no program could start.
 * Returns the exit status, or ends by the signal that ended them. */
static int repeat_leave(struct repeat_state *s)
{
    int number = s->child.signals.finish_signal, status = s->status ? s->status : number;
    int code = status ? exit_status_of_wait(status) : s->what.gate && s->unfit ? 3 : 0;
    bool nothing = s->notes.count == 1 && s->notes.first->status[0] == 0 && (code == 125 || code == 126 || code == 127);
    if (nothing)
        repeat_discard(s);
    else
        repeat_end(s, code, number);
    if (!status && code)
        repeat_say("--gate: run %zu of the series %s: exit status 3", s->unfit, s->unfit_verdict);
    repeat_child_close(&s->child);
    if (status && WIFSIGNALED(status))
        ending_die_of(WTERMSIG(status));
    return code;
}

static int repeat_refuse(const struct err *err)
{
    repeat_say("%s", err->text);
    return 125;
}

int repeat_run(int argc, char **argv, char **env)
{
    static struct repeat_state s; /* the arenas inside live as long as the process */
    struct err err = {0};
    prctl(PR_SET_NAME, "benchwrap");
    s = (struct repeat_state){.env = env, .file = -1, .why = "", .run = {.spool = SPOOL_NONE, .signals = -1}, .start_ns = clock_mono_ns()};
    if (plan_make(&s.plan, argc, argv, env, &err) || repeat_plan_make(&s.what, &s.plan, &err))
        return repeat_refuse(&err);
    if (repeat_child_open(&s.child, &err))
        return repeat_refuse(&err);
    s.child.beat = repeat_write_heartbeat;
    s.child.context = &s;
    if (repeat_begin(&s, argc, argv, &err)) {
        bool strict = opt_on(&s.plan.opts, OPTION_STRICT);
        if (strict || err.kind == ERR_USAGE || err.kind == ERR_INPUT)
            return repeat_refuse(&err);
        repeat_say("%s; the runs continue, without a parent run", err.text);
    }
    if (s.what.interleave)
        run_interleaved(&s);
    else
        run_point_by_point(&s);
    if (!s.stop)
        record_stability(&s);
    return repeat_leave(&s);
}
