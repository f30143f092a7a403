/* campaign_measure.c: measure one point whose services are up: warm-up, repetitions, gate. */
#include "base/clock.h"
#include "base/exit_words.h"
#include "recipe/campaign_beats.h"
#include "recipe/campaign_live.h"
#include "series/figures.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum { CLIENT_MORE_MS = 15000 };

static int wait_status_exit(int status)
{
    return status & 0x7f ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
}

/* Why the client must end now; NULL: it may continue. */
static const char *reason_to_stop(struct campaign *c)
{
    const struct campaign_process *dead = campaign_dead_process(c);
    char words[EXIT_WORDS_SIZE];
    const char *why = campaign_beats_cancelled(c);
    if (why || !dead)
        return why;
    exit_words(words, wait_status_exit(dead->keeper.status) < 128 ? wait_status_exit(dead->keeper.status) : 0, dead->keeper.status & 0x7f);
    return arena_printf(c->arena, "the service %s ended during the measurement: %s%s", dead->component, words[0] ? words : "exit status 0",
                        campaign_last_line(c, campaign_log_name(dead->component, dead->seat, c->arena)));
}

/* Ends what the client has left. Its status stays readable. */
static void end_client(struct campaign *c, struct campaign_process *p, int64_t until_ns)
{
    if (!campaign_end_keeper(c, &p->keeper, until_ns))
        campaign_say(c, "%s has not ended yet; its keeper continues to end it", p->component);
    if (p->keeper.killed && !c->signal) /* srun did not end its step */
        campaign_slurm_clean(c, p->component);
}

int campaign_run_process(struct campaign *c, struct campaign_process *p, double limit_s, int *ret_exit, const char **ret_why)
{
    const char *why = NULL;
    int64_t due_ns = limit_s > 0 ? clock_mono_ns() + (int64_t)(limit_s * 1e9) : INT64_MAX;
    while (!p->keeper.ended && !(why = reason_to_stop(c))) {
        int64_t left_ms = (due_ns - clock_mono_ns()) / 1000000;
        if (left_ms <= 0) {
            why = arena_printf(c->arena, "%s still ran at the end of `timeout`", p->component);
            break;
        }
        campaign_wait(c, left_ms > 1000 ? 1000 : (int)left_ms);
    }
    end_client(c, p, campaign_grace_end(c, CLIENT_MORE_MS));
    *ret_exit = p->keeper.errnum ? 127 : p->keeper.ended ? wait_status_exit(p->keeper.status) : 128 + (c->signal ? c->signal : SIGKILL);
    if (p->keeper.errnum && !why)
        why = arena_printf(c->arena, "%s cannot be started: %s", p->component, err_words(p->keeper.errnum));
    *ret_why = why ? why : "";
    return why ? 1 : 0;
}

/* ---- clients that are not measured ---- */

static void stop_others(struct campaign *c)
{
    int64_t until = campaign_grace_end(c, CLIENT_MORE_MS);
    for (size_t i = 0; i < c->other_count; i++)
        keeper_stop(&c->others[i].keeper);
    for (size_t i = 0; i < c->other_count; i++)
        end_client(c, &c->others[i], until);
    c->other_count = 0;
}

/* Starts a client's process on one seat: its command, or with `warmup` its warm-up. 0; 1 with
 * *ret_why, in the campaign's arena. */
static int start_client(struct campaign *c, const struct recipe_point *p, const struct recipe_part *planned, struct campaign_seat *seats,
                        size_t seat, bool warmup, struct campaign_process *to, struct arena *a, const char **ret_why)
{
    struct campaign_scope scope = {c, NULL, &seats[seat], a};
    struct recipe_part part;
    struct err err = {0};
    if (recipe_part_init(&part, c->recipe, planned->role, &p->values, campaign_lookup, &scope, a, &err) == 0) {
        char **words = campaign_start_words(c, &part, seats, seat, warmup ? part.warmup : part.processes[0].words, a);
        if (campaign_start(c, to, part.role->name, &seats[seat], words, campaign_process_env(&part, a), false, a, &err) == 0)
            return 0;
    }
    *ret_why = arena_printf(c->arena, "%s", err.text);
    return 1;
}

/* Starts the clients that run while the measured instance does, and appends them to c->others. 0; 1
 * with *ret_why: those that were started stay in c->others. */
static int start_others(struct campaign *c, const struct recipe_point *p, struct arena *a, const char **ret_why)
{
    for (size_t i = 0; i < p->part_count; i++) {
        const struct recipe_part *part = &p->parts[i];
        bool measured = part->role == c->recipe->measured;
        if (part->role->is_service)
            continue;
        struct campaign_seat *seats = campaign_seats(c, p, part, a, ret_why);
        if (!seats)
            return 1;
        size_t n = part->tasks ? 1 : part->nodes * part->instances;
        for (size_t k = measured ? 1 : 0; k < n; k++) {
            if (c->other_count == RECIPE_ROLES_MAX)
                return *ret_why = "too many client processes; use `tasks`, or agents of llmload", 1;
            if (start_client(c, p, part, seats, k, false, &c->others[c->other_count], a, ret_why))
                return 1;
            c->other_count++;
        }
    }
    return 0;
}

/* `timeout` in seconds; 0: none. */
static double measurement_limit(const struct campaign *c)
{
    double seconds = 0;
    str_duration(yaml_text(c->recipe->root, "timeout", "0"), &seconds);
    return seconds;
}

/* Waits for the other clients, which may need some more time than the measured one. begin_ns: of the
 * measurement, to which `timeout` applies. 0; 1: one failed. */
static int wait_others(struct campaign *c, int64_t begin_ns, const char **ret_why)
{
    double limit_s = measurement_limit(c);
    int rc = 0;
    for (size_t i = 0; i < c->other_count && rc == 0; i++) {
        int code;
        double left_s = limit_s - (double)(clock_mono_ns() - begin_ns) / 1e9;
        rc = campaign_run_process(c, &c->others[i], limit_s <= 0 ? 0 : left_s > 0.001 ? left_s : 0.001, &code, ret_why);
        if (rc == 0 && code) {
            *ret_why = arena_printf(c->arena, "%s, instance %zu, ended with exit status %d", c->others[i].component,
                                    c->others[i].seat->instance, code);
            rc = 1;
        }
    }
    stop_others(c);
    return rc;
}

/* Runs the warm-up commands of the roles, one after the other. 1: one failed; *ret_why states why,
 * in an arena. */
static int run_warmups(struct campaign *c, const struct recipe_point *p, struct arena *a, const char **ret_why)
{
    for (size_t i = 0; i < p->part_count; i++) {
        const struct recipe_part *part = &p->parts[i];
        int code;
        if (!part->warmup)
            continue;
        struct campaign_seat *seats = campaign_seats(c, p, part, a, ret_why);
        if (!seats || start_client(c, p, part, seats, 0, true, &c->client, a, ret_why) ||
            campaign_run_process(c, &c->client, measurement_limit(c), &code, ret_why)) {
            *ret_why = c->signal ? *ret_why : arena_printf(c->arena, "the warm-up of %s: %s", part->role->name, *ret_why);
            return 1;
        }
        if (code) {
            *ret_why = arena_printf(c->arena, "the warm-up of %s ended with exit status %d", part->role->name, code);
            return 1;
        }
    }
    return 0;
}

/* ---- one run ---- */

struct point_measuring {
    struct campaign *c;
    const struct recipe_point *p;
    struct campaign_point *state;
    struct campaign_run run;
    const char *err_file; /* name of the measured client's logs; NULL: it was not started */
    bool stopped; /* it did not end by itself */
    const char *why;
};

/* Applies the gate between reading a run's values and noting them: sets m->run.invalid and the
 * run's status. False: the run does not count, as a resumed campaign makes it again. */
static bool judge_run(void *context, struct series_repetition *run)
{
    struct point_measuring *m = context;
    if ((m->stopped || !run->status[0]) && m->c->signal)
        return false; /* the campaign is resumed, and then the run is made again */
    if (m->stopped && strcmp(run->status, "FINISHED") == 0)
        run->status = "KILLED";
    if (m->stopped)
        return true;
    bool good = strcmp(run->status, "FINISHED") == 0 && !run->exit;
    const char *invalid = good ? campaign_gate(m->c, &m->p->values, run) : campaign_unmet(m->c, &m->p->values, run);
    if (invalid) {
        m->run.invalid = invalid;
        run->status = "INVALID"; /* counts in no statistic */
        run->reason = arena_printf(&m->c->repeat.notes.arena, "invalid: %s", invalid);
        run->reason = run->reason ? run->reason : "invalid";
    }
    return true;
}

/* A run that an interrupted execution had begun: it counts if it was recorded to its end. */
static bool judge_begun_run(void *context, struct series_repetition *run)
{
    struct point_measuring *m = context;
    m->stopped = strcmp(run->status, "FINISHED") != 0;
    return !m->stopped && judge_run(context, run);
}

/* The measured client's launcher line. */
static char **measured_line(struct campaign *c, const struct recipe_point *p, const struct series_repetition *run,
                            struct campaign_seat *seats, char ***ret_env, struct arena *a, struct err *err)
{
    struct campaign_scope scope = {c, NULL, &seats[0], a};
    struct recipe_part part;
    if (recipe_part_init(&part, c->recipe, c->recipe->measured, &p->values, campaign_lookup, &scope, a, err))
        return NULL;
    char **program = campaign_start_words(c, &part, seats, 0, part.processes[0].words, a);
    *ret_env = campaign_process_env(&part, a);
    char **line = program ? repeat_launcher_line(&c->repeat.what, &c->repeat.plan, run, NULL, program, a) : NULL;
    if (!line || !*ret_env)
        err_memory(err, "the command of a point");
    return line;
}

static const struct recipe_part *measured_part(const struct campaign *c, const struct recipe_point *p)
{
    return &p->parts[c->recipe->measured - c->recipe->roles];
}

/* Notes the end of a run in the campaign's events and sets the point's outcome and reason where the
 * run is invalid, failed or was cancelled. A valid run leaves the outcome unchanged. An event that
 * cannot be written is only reported. */
static void note_repetition(struct point_measuring *m, const struct series_repetition *run)
{
    struct err err = {0};
    bool has_words = run->reason[0] && (!str_starts(str_of(run->reason), "exit status") || strstr(run->reason, "; "));
    m->run.exit = run->exit;
    m->run.end_ms = run->end_ms ? run->end_ms : clock_wall_ms();
    if (!m->run.ended /* of an adopted run it may be in the journal already */ && campaign_note_end(&m->c->state, m->state, &m->run, &err))
        campaign_say(m->c, "%s", err.text);
    if (strcmp(run->status, "INVALID") == 0) {
        m->state->outcome = OUTCOME_INVALID;
        m->state->reason = m->run.invalid;
    } else if (run->exit || strcmp(run->status, "FINISHED") != 0) {
        m->state->outcome = m->c->signal ? OUTCOME_CANCELLED : OUTCOME_FAILED;
        m->state->reason = m->why && m->why[0] ? m->why
                           : has_words         ? arena_printf(m->c->arena, "%.300s", run->reason)
                           : run->exit ? arena_printf(m->c->arena, "exit status %d%s", run->exit, campaign_last_line(m->c, m->err_file))
                                       : "its record was not written";
    }
}

/* Measures once. 0: the point continues; 1: it is over; -1 with err. */
static int measure_once(struct point_measuring *m, bool warmup, size_t repetition, struct err *err)
{
    struct campaign *c = m->c;
    struct series_repetition *run = series_run_new(&c->repeat.notes, ++c->order, m->p->index, warmup, repetition);
    struct arena a;
    char **env;
    if (!run)
        return err_memory(err, "a run");
    record_new_id(run->id);
    m->run =
        (struct campaign_run){.repetition = repetition, .order = run->order, .warmup = warmup, .invalid = "", .start_ms = clock_wall_ms()};
    memcpy(m->run.id, run->id, sizeof m->run.id);
    arena_init(&a, 0);
    struct campaign_seat *seats = campaign_seats(c, m->p, measured_part(c, m->p), &a, &m->why);
    char **line = seats ? measured_line(c, m->p, run, seats, &env, &a, err) : NULL;
    int rc = line ? campaign_note_begin(&c->state, m->state, &m->run, err) : seats ? -1 : err_set(err, ERR_SYSTEM, "%s", m->why);
    m->why = NULL;
    if (rc == 0 && start_others(c, m->p, &a, &m->why)) {
        m->state->outcome = OUTCOME_FAILED;
        m->state->reason = m->why;
        rc = 1;
    }
    if (rc == 0)
        campaign_gate_begin(c);
    if (rc == 0)
        rc = campaign_start(c, &c->client, c->recipe->measured->name, &seats[0], line, env, true, &a, err);
    if (rc == 0)
        m->err_file = campaign_log_name(c->recipe->measured->name, &seats[0], c->arena);
    if (rc == 0) {
        c->results.is_running = true;
        campaign_live_write(c);
        int64_t begin = clock_mono_ns();
        m->stopped = campaign_run_process(c, &c->client, 0, &run->exit, &m->why) != 0;
        if (!m->stopped && run->exit == 0 && wait_others(c, begin, &m->why)) {
            m->stopped = true;
            run->exit = c->signal ? 128 + c->signal : 0; /* measured again, with the other clients */
        }
        if (!m->stopped && run->exit == 0 && (m->why = campaign_slurm_lost(c))) { /* srun may end with 0 though its node is gone */
            m->stopped = true;
            run->exit = 128 + SIGTERM;
            if (!c->signal)
                campaign_cancel(c, SIGTERM);
        }
        if (!m->stopped && run->exit == 0 && (m->why = campaign_services_silent(c, m->p)))
            m->stopped = true;
        if (m->stopped && run->exit == 0) /* so that no later execution adopts it */
            m->run.invalid = m->why;
        run->end_ms = clock_wall_ms();
        c->repeat.judge = judge_run;
        c->repeat.judge_context = m;
        repeat_note_run(&c->repeat, run);
        c->results.is_running = false;
        campaign_live_add(c, run);
        campaign_live_write(c);
        note_repetition(m, run);
        rc = m->state->outcome == OUTCOME_VALID ? 0 : 1;
    }
    stop_others(c);
    arena_deinit(&a);
    return rc;
}

/* Returns true if the point has clients besides the measured process. Their outcome is not known
 * after an execution that was killed. */
static bool has_other_clients(const struct campaign *c, const struct recipe_point *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->part_count; i++)
        if (!p->parts[i].role->is_service)
            n += p->parts[i].role != c->recipe->measured || p->parts[i].tasks ? 1 : p->parts[i].nodes * p->parts[i].instances;
    return n > 1;
}

/* Returns true if an interrupted execution has made this run of the point to its end, and notes it:
 * then it counts. */
static bool adopt_begun_run(struct point_measuring *m, bool warmup, size_t repetition)
{
    struct campaign *c = m->c;
    for (const struct campaign_run *r = m->state->runs; r; r = r->next) {
        if (r->warmup != warmup || r->repetition != repetition || (r->ended && (r->exit || r->invalid[0])) ||
            strcmp(m->state->parent, c->state.parent) != 0 || (!r->ended && has_other_clients(c, m->p)))
            continue;
        struct series_repetition *run = series_run_new(&c->repeat.notes, r->order, m->p->index, warmup, repetition);
        if (!run)
            return false;
        memcpy(run->id, r->id, sizeof run->id);
        m->run = *r;
        m->run.invalid = "";
        c->repeat.judge = judge_begun_run;
        c->repeat.judge_context = m;
        repeat_note_run(&c->repeat, run);
        if (m->stopped)
            continue;
        note_repetition(m, run);
        return true;
    }
    m->stopped = false;
    return false;
}

int campaign_measure(struct campaign *c, const struct recipe_point *p, struct campaign_point *state, struct err *err)
{
    struct point_measuring m = {.c = c, .p = p, .state = state};
    const struct repeat_plan *what = &c->repeat.what;
    struct arena a;
    int64_t begin = clock_mono_ns();
    int rc = 0;
    state->outcome = OUTCOME_VALID;
    state->reason = "";
    arena_init(&a, 0);
    if (run_warmups(c, p, &a, &m.why)) {
        state->outcome = c->signal ? OUTCOME_CANCELLED : OUTCOME_FAILED;
        state->reason = m.why;
        rc = 1;
    }
    arena_deinit(&a);
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].warmup)
            state->phase_s[PHASE_WARMUP] = (double)(clock_mono_ns() - begin) / 1e9;
    begin = clock_mono_ns();
    for (size_t i = 1; rc == 0 && i <= what->warmup; i++)
        rc = adopt_begun_run(&m, true, i) ? state->outcome != OUTCOME_VALID : measure_once(&m, true, i, err);
    for (size_t i = 0; rc == 0 && !repeat_point_done(&c->repeat, p->index, i); i++)
        rc = adopt_begun_run(&m, false, i + 1) ? state->outcome != OUTCOME_VALID : measure_once(&m, false, i + 1, err);
    state->phase_s[PHASE_MEASURE] = (double)(clock_mono_ns() - begin) / 1e9;
    return rc < 0 ? -1 : 0;
}
