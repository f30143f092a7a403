/* campaign.c: execute a recipe, from its folder to its record: the main sequence. */
#include "recipe/campaign.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/http.h"
#include "launch/say.h"
#include "recipe/campaign_alerts.h"
#include "recipe/campaign_beats.h"
#include "recipe/campaign_changes.h"
#include "recipe/campaign_monitor.h"
#include "recipe/campaign_network.h"
#include "recipe/campaign_record.h"
#include "recipe/recipe_logs.h"
#include "run/spool.h"
#include "series/finish.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    LOGGER_END_MS = 4000,
    LOGGER_MORE_S = 600, /* a job's end would end the merging, too */
    LOGGER_WAKE_MS = 500,
    LOGS_REPORT_BYTES = 64 << 10,
    ALERTS_END_MS = 20000
};

void campaign_say(const struct campaign *c, const char *fmt, ...)
{
    va_list ap;
    CLEANUP_BUF struct buf text, shown;
    buf_init(&text, 8192);
    buf_init(&shown, 16384);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_plain(&shown, buf_text(&text), 4000);
    fprintf(c->notes, "benchwrap: recipe: %s\n", shown.p ? shown.p : "");
    fflush(c->notes);
}

/* ---- points ---- */

static void print_point_end(struct campaign *c, size_t number, const struct campaign_point *p, double point_s)
{
    char seconds[40];
    snprintf(seconds, sizeof seconds, "%.1f s", point_s);
    campaign_say(c, "[%zu/%zu] %s%s%s in %s%s%s", number, c->planned.count, p->label, p->label[0] ? ": " : "",
                 campaign_outcome_word(p->outcome), seconds, p->reason[0] ? ": " : "", p->reason);
}

/* One point from preflight to gate. 0; -1 with err. */
static int execute_point(struct campaign *c, const struct recipe_point *p, size_t number, struct err *err)
{
    struct campaign_point *state = campaign_point_add(&c->state, p);
    const char *why = NULL;
    int rc = 0;
    if (!state)
        return err_memory(err, "a point");
    state->start_ms = clock_wall_ms();
    for (int i = 0; i < PHASE_COUNT; i++)
        state->phase_s[i] = -1;
    int64_t begin = clock_mono_ns();
    size_t problems = campaign_preflight(c, p, &why);
    state->phase_s[PHASE_PREFLIGHT] = (double)(clock_mono_ns() - begin) / 1e9;
    if (c->signal) {
        state->outcome = OUTCOME_CANCELLED;
        state->reason = campaign_beats_cancelled(c);
    } else if (problems) {
        state->outcome = OUTCOME_REFUSED;
        state->reason = why;
    } else if (campaign_services_up(c, p, state, &why)) {
        state->outcome = c->signal ? OUTCOME_CANCELLED : OUTCOME_FAILED;
        state->reason = why ? why : "out of memory";
    } else
        rc = campaign_measure(c, p, state, err);
    double point_s = (double)(clock_mono_ns() - begin) / 1e9;
    state->end_ms = clock_wall_after_ms(state->start_ms, begin);
    if (rc < 0)
        return -1;
    bool has_failed = state->outcome == OUTCOME_FAILED || state->outcome == OUTCOME_REFUSED;
    const char *lost = has_failed ? campaign_slurm_lost(c) : NULL;
    if (lost) { /* not a failure of the point: it is measured again in another allocation */
        state->outcome = OUTCOME_CANCELLED;
        state->reason = lost;
        if (!c->signal)
            campaign_cancel(c, SIGTERM);
    }
    campaign_record_phases(c, state, number, point_s);
    campaign_custom_record(c, state, number);
    print_point_end(c, number, state, point_s);
    return campaign_note_point(&c->state, state, err);
}

int campaign_execute_point(struct campaign *c, const struct recipe_point *p, size_t number, struct err *err)
{
    const struct campaign_point *state = campaign_point_find(&c->state, p->id);
    const char *failure = recipe_scalar(c->recipe, c->recipe->root, "on_failure", "continue");
    if (c->signal || c->is_partial || c->is_over || (state && campaign_is_finished(c, state)))
        return 0;
    if (c->most_s > 0 && (double)(clock_mono_ns() - c->repeat.start_ns) / 1e9 >= c->most_s) {
        campaign_say(c, "the time of max_time is over");
        c->is_over = true;
        return 0;
    }
    if (c->options.points && c->done++ == c->options.points) {
        c->is_partial = true;
        return 0;
    }
    if (execute_point(c, p, number, err))
        return -1;
    state = campaign_point_find(&c->state, p->id);
    if (state && state->outcome != OUTCOME_VALID && strcmp(failure, "stop") == 0) {
        campaign_say(c, "on_failure: stop ends the campaign");
        c->is_over = true;
    }
    campaign_wait(c, 0);
    return 0;
}

static int execute_points(struct campaign *c, struct err *err)
{
    str_duration(yaml_text(c->recipe->root, "max_time", "0"), &c->most_s);
    if (c->recipe->search.axis)
        return campaign_search(c, err);
    for (size_t i = 0; i < c->planned.count; i++)
        if (campaign_execute_point(c, &c->planned.points[c->planned.order[i]], i + 1, err))
            return -1;
    return 0;
}

/* ---- the end ---- */

static void count_outcomes(const struct campaign *c, size_t counts[OUTCOME_COUNT])
{
    memset(counts, 0, OUTCOME_COUNT * sizeof *counts);
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
        counts[p ? p->outcome : OUTCOME_NEVER_RAN]++;
    }
}

static void print_outcomes(struct campaign *c, const size_t counts[OUTCOME_COUNT])
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 400);
    for (int k = 1; k <= OUTCOME_COUNT; k++) {
        int i = k % OUTCOME_COUNT;
        if (counts[i])
            buf_printf(&b, "%s%zu %s", b.n ? ", " : "", counts[i], campaign_outcome_word((enum campaign_outcome)i));
    }
    campaign_say(c, "%s: %zu point%s: %s", c->recipe->name, c->planned.count, str_plural(c->planned.count), b.p ? b.p : "");
}

/* Prints the outcomes and completes the record of the parent run. After a signal or --points, the
 * record stays open so that the campaign can be resumed. Returns the exit status. */
static int finish_campaign(struct campaign *c)
{
    size_t counts[OUTCOME_COUNT];
    struct err err = {0};
    count_outcomes(c, counts);
    bool good = c->recipe->search.axis ? counts[OUTCOME_VALID] > 0 : counts[OUTCOME_VALID] == c->planned.count;
    int status = good ? 0 : 1;
    print_outcomes(c, counts);
    if (c->recipe->each_node)
        campaign_compare_nodes(c);
    if (c->signal) {
        journal_flush(c->repeat.run.journal, true, NULL);
        campaign_say(c, "interrupted; `benchwrap recipe run` with this recipe resumes it, `benchwrap recipe stop %s` closes its record",
                     c->recipe->name);
        return 128 + c->signal;
    }
    if (c->is_partial) {
        journal_flush(c->repeat.run.journal, true, NULL);
        return counts[OUTCOME_VALID] ? 0 : 1;
    }
    campaign_record_outcomes(c, counts);
    if (c->heat_unknown)
        campaign_say(c, "whether the node slowed down for heat is not known for %zu run%s: its kernel does not report it", c->heat_unknown,
                     str_plural(c->heat_unknown));
    c->repeat.why = counts[OUTCOME_NEVER_RAN] ? "not all points were run" : "all points were run";
    unlinkat(c->repeat.run.spool.dir, SPOOL_HELD, 0);
    repeat_end(&c->repeat, status, 0);
    c->state.closed = true;
    if (campaign_state_save(&c->state, &err))
        campaign_say(c, "%s", err.text);
    return status;
}

/* ---- the beginning ---- */

/* <prefix> of <prefix>/libexec/benchwrap/benchwrap-core, which this process is. */
static bool own_prefix(char *ret, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", ret, size - 1);
    ret[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 3 && strrchr(ret, '/'); up++)
        *strrchr(ret, '/') = 0;
    return n > 0;
}

const char *campaign_own_program(struct arena *a)
{
    char prefix[4096];
    return own_prefix(prefix, sizeof prefix) ? arena_printf(a, "%s/bin/benchwrap", prefix) : "benchwrap";
}

/* benchwrap's own programs (llmload, taskrate …) are found behind those of the user's PATH. */
static void extend_path(struct arena *a)
{
    char prefix[4096];
    const char *path = getenv("PATH");
    const char *extended = own_prefix(prefix, sizeof prefix) ? arena_printf(a, "%s:%s/bin", path ? path : "/usr/bin:/bin", prefix) : NULL;
    if (extended)
        setenv("PATH", extended, 1);
}

static int open_signals(struct campaign *c, struct err *err)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    c->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return c->signals < 0 ? err_sys(err, "cannot read signals") : 0;
}

static int open_client(struct campaign *c, struct err *err)
{
    const struct http_config config = {
        .agent = "benchwrap/" BW_VERSION, .connect_s = 1, .total_s = 2, .cancel_fd = c->signals, .proxy = ""};
    return http_new(&c->http, &config, err);
}

static const char *campaign_path(struct campaign *c, const char *tree)
{
    const char *slash = strrchr(tree, '/');
    return arena_printf(c->arena, "%.*s/.benchwrap/campaigns/%s", (int)(slash ? slash - tree : 0), tree, c->recipe->name);
}

/* Opens the campaign's folder, acquires its lock and reads its state. -1 with err: ERR_USAGE where
 * another process executes this campaign. */
static int open_folder(struct campaign *c, const char *tree, struct err *err)
{
    const char *folder = campaign_path(c, tree);
    if (!folder)
        return err_memory(err, "the campaign");
    int rc = campaign_state_open(&c->state, folder, true, err);
    if (rc > 0) {
        const struct campaign_owner owner = campaign_state_owner(&c->state);
        err_set(err, ERR_USAGE, "process %ld on %s executes this campaign already", (long)owner.pid, owner.host);
        err_hint(err, "benchwrap recipe status %s", c->recipe->name);
    }
    if (rc)
        return -1;
    if (c->options.new_one && campaign_state_restart(&c->state, err))
        return -1;
    c->was_closed = c->state.closed;
    c->state.recipe = c->recipe->file;
    return fs_mkdirs(c->state.dir, "logs", 0700, err);
}

/* Returns true if every point is finished, so that nothing is left to do. */
static bool is_all_finished(const struct campaign *c)
{
    if (c->recipe->search.axis)
        return c->was_closed && campaign_search_is_done(c);
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
        if (!p || !campaign_is_finished(c, p))
            return false;
    }
    return c->was_closed;
}

static void say_all_finished(const struct campaign *c)
{
    campaign_say(c, "all %zu points are finished; --new measures them again", c->planned.count);
}

static void read_times(struct campaign *c)
{
    c->grace_s = 3;
    str_duration(yaml_text(c->recipe->root, "grace", "3s"), &c->grace_s);
}

/* Opens what the execution uses and begins its record. Returns 1 without a record for
 * --preflight-only or where every point is finished; -1 with err. */
static int begin_campaign(struct campaign *c, const char *tree, struct err *err)
{
    struct campaign_program *programs;
    int argc = 0;
    char **line = campaign_record_line(c, &argc);
    read_times(c);
    extend_path(c->arena);
    if (!line)
        return err_memory(err, "the campaign");
    if (open_signals(c, err) || open_client(c, err) || open_folder(c, tree, err) || campaign_record_plan(c, line, argc, err) ||
        campaign_alerts_begin(c, err) || campaign_network_begin(c, err) || campaign_changes_collect(c, &programs, err) ||
        campaign_changes_check(c, programs, err))
        return -1;
    c->state.programs = programs;
    if (c->options.preflight_only)
        return 1;
    if (is_all_finished(c)) {
        say_all_finished(c);
        return 1;
    }
    return campaign_record_begin(c, line, argc, err);
}

/* Checks all points for --preflight-only. Returns 0: every point may be measured; 1: some are
 * refused; 128 and the number of a signal that came. */
static int check_all_points(struct campaign *c)
{
    size_t refused = 0;
    for (size_t i = 0; i < c->planned.count && !c->signal; i++) {
        const char *why;
        refused += campaign_preflight(c, &c->planned.points[i], &why) > 0;
    }
    if (c->signal) {
        campaign_say(c, "preflight: interrupted");
        return 128 + c->signal;
    }
    campaign_say(c, "preflight: %zu of %zu points are refused", refused, c->planned.count);
    return refused ? 1 : 0;
}

/* Reports how many lines each process has printed. */
static void report_logs(struct campaign *c)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, LOGS_REPORT_BYTES);
    campaign_logs_report(c->state.dir, c->state.folder, &text);
    for (struct str rest = buf_text(&text), line; rest.p && (line = str_cut(&rest, '\n')).n;)
        campaign_say(c, STR_FMT, STR_ARG(line));
}

/* Waits until the logs are merged. A signal that comes now ends the waiting alone. */
static void end_logger(struct campaign *c, struct campaign_logger *logger)
{
    int before = c->signal;
    int64_t now = clock_mono_ns(), until = now + LOGGER_MORE_S * INT64_C(1000000000);
    bool done = campaign_logger_end(logger, campaign_left_ms(c, CAMPAIGN_LOGS, now + LOGGER_END_MS * INT64_C(1000000)));
    if (!done && !c->signal)
        campaign_say(c, "the logs are still being merged; an interrupt ends the waiting");
    while (!done && !c->signal && clock_mono_ns() < until) {
        campaign_wait(c, 0);
        done = campaign_logger_end(logger, LOGGER_WAKE_MS);
    }
    if (!done)
        campaign_say(c, "%s/logs: the merged files are not complete yet", c->state.folder);
    else if (logger->work.text.n)
        campaign_say(c, "the logs are not merged: " STR_FMT, STR_ARG(buf_text(&logger->work.text)));
    else if (!before)
        report_logs(c);
    campaign_logger_close(logger);
    c->signal = before;
}

static void init_keepers(struct campaign *c)
{
    c->monitor = CAMPAIGN_MONITOR_NONE;
    c->client.keeper = KEEPER_NONE;
    for (size_t i = 0; i < RECIPE_ROLES_MAX; i++)
        c->others[i].keeper = KEEPER_NONE;
}

/* Compares the recipe with an earlier execution, if there is one; the job itself compares programs,
 * on its node. 0; 1: all points are finished; -1 with err. */
static int check_earlier_execution(struct campaign *c, const char *tree, struct err *err)
{
    const char *folder = campaign_path(c, tree);
    if (!folder)
        return err_memory(err, "the campaign");
    int rc = c->options.new_one ? 1 : campaign_state_open(&c->state, folder, false, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    c->was_closed = c->state.closed;
    rc = campaign_changes_check(c, NULL, err);
    if (rc == 0 && is_all_finished(c)) {
        say_all_finished(c);
        rc = 1;
    }
    campaign_state_close(&c->state);
    return rc;
}

int campaign_before_submit(struct campaign *c, const char *tree, struct err *err)
{
    sigset_t before;
    int rc = check_earlier_execution(c, tree, err);
    if (rc || !yaml_get(c->recipe->root, "prepare"))
        return rc;
    c->options.new_one = false; /* the job begins again */
    init_keepers(c);
    read_times(c);
    extend_path(c->arena);
    sigprocmask(SIG_BLOCK, NULL, &before);
    if (open_signals(c, err))
        return -1;
    rc = open_folder(c, tree, err);
    if (rc == 0) {
        rc = campaign_prepare(c, err);
        campaign_state_close(&c->state);
    }
    fs_close(&c->signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Without Slurm a client of several tasks is one process. An axis of the sweep may change that. */
static void report_single_tasks(struct campaign *c)
{
    for (size_t k = 0; k < c->recipe->role_count; k++)
        for (size_t i = 0; i < c->planned.count && !c->hosts.is_slurm; i++)
            if (c->planned.points[i].parts[k].tasks > 1) {
                const char *role = c->recipe->roles[k].name;
                campaign_say(c, "%s: `tasks` needs Slurm; the role runs as one process", role);
                record_warning(&c->repeat.run.record, "%s: `tasks` needs Slurm; the role ran as one process", role);
                break;
            }
}

/* For repetitions that wait for a run's record. */
static bool is_cancelled(void *context)
{
    struct campaign *c = context;
    campaign_wait(c, 0);
    return c->signal;
}

int campaign_execute(struct campaign *c, const char *tree, struct err *err)
{
    size_t counts[OUTCOME_COUNT];
    init_keepers(c);
    c->repeat.env = c->env;
    c->repeat.file = -1;
    c->repeat.why = "";
    c->repeat.run = (struct run){.spool = SPOOL_NONE, .signals = -1};
    c->repeat.start_ns = clock_mono_ns();
    c->repeat.is_ending = is_cancelled;
    c->repeat.ending_context = c;
    int rc = begin_campaign(c, tree, err);
    if (rc > 0 && c->options.preflight_only)
        return check_all_points(c);
    if (rc) {
        count_outcomes(c, counts);
        return rc < 0 ? -1 : counts[OUTCOME_VALID] == c->planned.count ? 0 : 1;
    }
    struct campaign_logger logger;
    struct err log_err = {0};
    if (campaign_logger_begin(&logger, c->state.folder, c->recipe, &log_err))
        campaign_say(c, "%s", log_err.text);
    if (campaign_monitor_begin(&c->monitor, c, &log_err))
        campaign_say(c, "%s", log_err.text);
    report_single_tasks(c);
    if (campaign_beats_begin(c, &log_err))
        campaign_say(c, "%s", log_err.text);
    rc = campaign_prepare(c, err) || campaign_record_adopt(c, err);
    c->initialise_s = (double)(clock_mono_ns() - c->repeat.start_ns) / 1e9;
    rc = rc || execute_points(c, err);
    int64_t ended = clock_mono_ns();
    campaign_beats_stop(c); /* its step ends while services do */
    campaign_services_down(c, NULL);
    campaign_beats_end(c);
    c->teardown_s = (double)(clock_mono_ns() - ended) / 1e9;
    ended = clock_mono_ns();
    campaign_monitor_end(&c->monitor, c);
    campaign_slurm_clean(c, NULL);
    end_logger(c, &logger);
    c->report_s = (double)(clock_mono_ns() - ended) / 1e9;
    campaign_alerts_end(c, campaign_left_ms(c, CAMPAIGN_LOGS, clock_mono_ns() + ALERTS_END_MS * INT64_C(1000000)));
    size_t removed = campaign_logs_keep(c->state.dir, c->recipe);
    if (removed)
        campaign_say(c, "logs.keep: the logs of %zu earlier execution%s are removed", removed, str_plural(removed));
    int status = rc ? -1 : finish_campaign(c);
    http_free(c->http);
    campaign_state_close(&c->state);
    return status;
}
