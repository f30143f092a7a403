/* share.c: `llmload share`: makes one agent's share of a load, and reports it line by line; see
 * share.h. */
#include "benchmarks/native/llmload/agent/share.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/around.h"
#include "benchmarks/native/llmload/options.h"
#include "benchmarks/native/llmload/prompts/prompts.h"
#include "benchmarks/native/llmload/verbs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 256 << 20 };

/* ---- the lines ---- */

void share_print_live(const struct live_counts *l, struct json_out *j)
{
    json_open(j, "live", '{');
    json_known(j, "elapsed_s", l->elapsed_s);
    json_uint(j, "sent", l->sent);
    json_uint(j, "completed", l->completed);
    json_uint(j, "failed", l->failed);
    json_uint(j, "in_flight", l->in_flight);
    json_uint(j, "tokens", l->tokens);
    json_uint(j, "chunks", l->chunks);
    json_uint(j, "dropped", l->dropped);
    json_known(j, "ttft_s", l->ttft_s);
    json_known(j, "itl_s", l->itl_s);
    json_known(j, "e2el_s", l->e2el_s);
    json_known(j, "rate", l->rate);
    json_known(j, "latency_sum_s", l->latency_sum_s);
    json_open(j, "latency", '[');
    for (size_t i = 0; i <= LIVE_LATENCIES; i++)
        json_uint(j, NULL, l->latency[i]);
    json_close(j, ']');
    json_text(j, "phase", phase_names[l->phase]);
    json_flag(j, "draining", l->draining);
    json_close(j, '}');
}

static uint64_t share_read_whole(const struct json *j, const char *name)
{
    int64_t v = json_integer(json_get(j, name), 0);
    return v > 0 ? (uint64_t)v : 0;
}

void share_read_live(const struct json *j, struct live_counts *ret)
{
    *ret = (struct live_counts){.elapsed_s = json_number(json_get(j, "elapsed_s"), 0),
                                .sent = share_read_whole(j, "sent"),
                                .completed = share_read_whole(j, "completed"),
                                .failed = share_read_whole(j, "failed"),
                                .in_flight = share_read_whole(j, "in_flight"),
                                .tokens = share_read_whole(j, "tokens"),
                                .chunks = share_read_whole(j, "chunks"),
                                .dropped = share_read_whole(j, "dropped"),
                                .ttft_s = json_number(json_get(j, "ttft_s"), NAN),
                                .itl_s = json_number(json_get(j, "itl_s"), NAN),
                                .e2el_s = json_number(json_get(j, "e2el_s"), NAN),
                                .rate = json_number(json_get(j, "rate"), NAN),
                                .latency_sum_s = json_number(json_get(j, "latency_sum_s"), 0),
                                .draining = json_bool(json_get(j, "draining"), false)};
    for (size_t i = 0; i <= LIVE_LATENCIES; i++) {
        int64_t n = json_integer(json_at(json_get(j, "latency"), i), 0);
        ret->latency[i] = n > 0 ? (uint64_t)n : 0;
    }
    const char *phase = json_string(json_get(j, "phase"), "");
    for (int i = 0; i < PHASES; i++)
        if (strcmp(phase, phase_names[i]) == 0)
            ret->phase = (enum phase)i;
}

/* The member "final". */
static void share_print_outcome(const struct outcome *o, struct json_out *j)
{
    json_open(j, "final", '{');
    json_known(j, "wall_s", o->wall_s);
    json_known(j, "steal_percent", o->steal_percent);
    json_known(j, "offered_rate", o->offered_rate);
    json_known(j, "arrivals", o->arrivals);
    json_known(j, "expected", o->expected);
    json_known(j, "expected_sd", o->expected_sd);
    json_known(j, "schedule_length", (double)o->schedule_length);
    json_known(j, "threads", o->threads);
    json_known(j, "begin_ns", (double)o->begin_ns);
    json_known(j, "begin_wall_ms", (double)o->begin_wall_ms);
    json_known(j, "signal", o->signal);
    json_flag(j, "kernel_stamps", o->kernel_stamps);
    json_text(j, "schedule_sha256", o->schedule_hash);
    json_text(j, "trouble", o->trouble);
    json_text(j, "why_early", o->why_early);
    metrics_print(&o->m, "metrics", j);
    json_close(j, '}');
}

static void shift_times(struct metrics *m, int64_t offset_ns)
{
    int64_t *const times[] = {&m->first_send_ns,   &m->last_send_ns,  &m->last_end_ns,
                              &m->window_begin_ns, &m->window_end_ns, &m->series_begin_ns};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (*times[i])
            *times[i] -= offset_ns;
}

/* Adds what is no metric of an agent's result. Records where the agents' schedules differ. */
static void share_add_rest(struct outcome *o, const struct json *j, int64_t offset_ns, bool first)
{
    double wall = json_number(json_get(j, "wall_s"), 0), steal = json_number(json_get(j, "steal_percent"), -1);
    const char *trouble = json_string(json_get(j, "trouble"), ""), *hash = json_string(json_get(j, "schedule_sha256"), "");
    o->wall_s = fmax(o->wall_s, wall);
    o->steal_percent = first ? steal : fmax(o->steal_percent, steal);
    o->threads += (unsigned)share_read_whole(j, "threads");
    o->schedule_length += share_read_whole(j, "schedule_length");
    o->offered_rate = fmax(o->offered_rate, json_number(json_get(j, "offered_rate"), 0));
    o->arrivals = fmax(o->arrivals, json_number(json_get(j, "arrivals"), 0)); /* of the complete schedule, the same from each */
    o->expected = fmax(o->expected, json_number(json_get(j, "expected"), 0));
    o->expected_sd = fmax(o->expected_sd, json_number(json_get(j, "expected_sd"), 0));
    o->kernel_stamps = (first || o->kernel_stamps) && json_bool(json_get(j, "kernel_stamps"), false);
    if (!o->trouble[0])
        snprintf(o->trouble, sizeof o->trouble, "%.290s", trouble);
    if (first) {
        o->begin_ns = json_integer(json_get(j, "begin_ns"), 0) - offset_ns;
        o->begin_wall_ms = json_integer(json_get(j, "begin_wall_ms"), 0);
        snprintf(o->schedule_hash, sizeof o->schedule_hash, "%.64s", hash);
    } else if (strcmp(o->schedule_hash, hash) != 0)
        snprintf(o->trouble, sizeof o->trouble,
                 "the agents did not make the same schedule (%.12s, %.12s): different versions of llmload, or of the trace",
                 o->schedule_hash, hash);
    if (json_string(json_get(j, "why_early"), NULL) && !o->why_early)
        o->why_early = "an agent ended early";
}

int share_add_outcome(struct outcome *o, const struct json *j, int64_t offset_ns, bool first, struct err *err)
{
    struct metrics m;
    if (metrics_init(&m, err) < 0)
        return -1;
    int rc = metrics_read(&m, json_get(j, "metrics"), err);
    if (rc == 0) {
        uint64_t most = o->m.in_flight_max + m.in_flight_max;
        shift_times(&m, offset_ns);
        metrics_merge(&o->m, &m);
        o->m.in_flight_max = most; /* of all together, at most */
        share_add_rest(o, j, offset_ns, first);
    }
    metrics_deinit(&m);
    return rc < 0 ? err_wrap(err, "an agent's result") : 0;
}

/* ---- the process ---- */

static int share_write_line(struct buf *line, struct err *err)
{
    buf_putc(line, '\n');
    if (line->failed)
        return err_memory(err, "the result");
    return fs_write_all(SHARE_FD, line->p, line->n) < 0 ? err_sys(err, "writing to the agent") : 0;
}

/* Writes the counts as a line. Stops the load where the agent no longer reads. */
static void share_send_live(void *context, const struct live_counts *l)
{
    struct buf line CLEANUP_BUF;
    (void)context;
    buf_init(&line, 4096);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    share_print_live(l, &j);
    json_close(&j, '}');
    if (share_write_line(&line, NULL) < 0)
        engine_stop(SIGTERM); /* the agent is gone */
}

/* Reports "ready", and reads the time to begin from standard input, in ns of CLOCK_MONOTONIC; 0: at
 * once. Returns 0, or -1 with *err. */
static int wait_for_start(int64_t *ret, struct err *err)
{
    char text[40] = "";
    size_t n = 0;
    struct buf line CLEANUP_BUF;
    buf_init(&line, 64);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_flag(&j, "ready", true);
    json_close(&j, '}');
    if (share_write_line(&line, err) < 0)
        return -1;
    while (n < sizeof text - 1) {
        ssize_t got = read(STDIN_FILENO, text + n, 1);
        if (got < 0 && errno == EINTR)
            return err_set(err, ERR_SYSTEM, "stopped before the start");
        if (got <= 0)
            return err_set(err, ERR_SYSTEM, "the agent has gone before the start");
        if (text[n] == '\n')
            break;
        n++;
    }
    return str_int((struct str){text, n}, ret)
               ? 0
               : err_set(err, ERR_INPUT, "standard input: expected the time to start in ns, got \"%.*s\"", (int)n, text);
}

/* Reads LLMLOAD_SHARE, "K/N", where it is set. Returns 0, or -1 with *err. */
static int read_share(struct load *l, struct err *err)
{
    struct str rest = str_of(getenv("LLMLOAD_SHARE")), k = str_cut(&rest, '/');
    uint64_t share, shares;
    if (!rest.p)
        return 0;
    if (!str_uint(k, &share) || !str_uint(rest, &shares) || share >= shares || shares > 100000)
        return err_set(err, ERR_USAGE, "LLMLOAD_SHARE: expected SHARE/SHARES as in 0/2, got \"%.40s\"", getenv("LLMLOAD_SHARE"));
    l->share = (unsigned)share;
    l->shares = (unsigned)shares;
    return 0;
}

/* Makes this agent's part of the load at the common start time, and prints its outcome as a line of
 * JSON. -1 with err. */
static int make_share(const struct opt_set *set, struct load *load, struct prompt_source *prompts, struct err *err)
{
    struct around around;
    struct outcome o = {0};
    struct buf line CLEANUP_BUF;
    buf_init(&line, LINE_MAX_BYTES);
    around_catch_signals();
    int rc = around_begin(&around, set, load, prompts, true, err);
    around.hooks.tick = share_send_live;
    around.hooks.ready = NULL; /* the leader warns about the load of all agents */
    if (rc == 0)
        rc = wait_for_start(&around.hooks.start_at_ns, err);
    if (rc == 0)
        rc = engine_run(&o, load, prompts, around.sinks, &around.hooks, err);
    if (rc == 0) {
        share_send_live(NULL, &o.last);
        struct json_out j = json_begin(&line, JSON_TIGHT, '{');
        share_print_outcome(&o, &j);
        json_close(&j, '}');
        rc = share_write_line(&line, err);
    }
    outcome_deinit(&o);
    around_deinit(&around);
    return rc;
}

/* Makes the share of the load that the options and LLMLOAD_SHARE describe. Returns 0, or -1 with
 * *err. */
static int read_and_make(const struct opt_set *set, struct err *err)
{
    struct load load;
    struct arena arena;
    struct prompt_source *prompts = NULL;
    arena_init(&arena, 64 << 20);
    int rc = load_read(&load, set, &arena, err);
    if (rc == 0)
        rc = read_share(&load, err);
    if (rc == 0)
        rc = prompts_open(&prompts, set, &load, err);
    if (rc == 0)
        rc = make_share(set, &load, prompts, err);
    if (prompts)
        prompts->close(prompts);
    arena_deinit(&arena);
    return rc;
}

int verb_share(int argc, char **argv, struct err *err)
{
    struct opt_value values[LOAD_ROWS];
    struct opt_set set = {.rows = load_rows, .count = LOAD_ROWS, .values = values};
    struct err why = {0};
    int next;
    opt_defaults(&set, getenv);
    int rc = opt_parse(&set, argc, argv, &next, &why);
    if (rc == 0)
        rc = read_and_make(&set, &why);
    opt_deinit(&set);
    if (rc == 0)
        return 0;
    struct buf line CLEANUP_BUF;
    buf_init(&line, 4096);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_text(&j, "error", why.text);
    json_close(&j, '}');
    if (share_write_line(&line, NULL) < 0)
        return err_set(err, why.kind, "%.900s", why.text);
    return 1;
}
