/* output_json.c: the JSON document. */
#include "base/json_out.h"
#include "benchmarks/native/taskrate/output.h"

#include "benchmarks/native/taskrate/provider.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[QUANTILES] = {"p50_s", "p90_s", "p95_s", "p99_s", "max_s"};

/* Left out where it does not apply. */
static void output_json_text_if(struct json_out *j, const char *name, const char *v)
{
    if (v)
        json_text(j, name, v);
}

/* Writes a value that is 0 where there is none. */
static void output_json_positive(struct json_out *j, const char *name, double v)
{
    json_known(j, name, v > 0 ? v : NAN);
}

static void output_json_quantiles(struct json_out *j, const char *name, const struct latency_quantiles *q)
{
    json_open(j, name, '{');
    json_uint(j, "n", q->n);
    for (int i = 0; q->n && i < QUANTILES; i++)
        json_known(j, names[i], q->at[i]);
    if (q->n)
        json_known(j, "mean_s", q->mean);
    else
        json_text(j, "missing", q->why);
    json_close(j, '}');
}

static void output_json_delta(struct json_out *j, const char *name, int64_t before, int64_t after)
{
    json_known(j, name,
               before >= 0 && after >= before ? (double)(after - before) : NAN); /* smaller: the controller has begun to count again */
}

static void mean_of(struct json_out *j, const char *name, int64_t n0, int64_t n1, int64_t us0, int64_t us1)
{
    json_known(j, name, n0 >= 0 && n1 > n0 && us1 >= us0 ? (double)(us1 - us0) / (double)(n1 - n0) / 1e6 : NAN);
}

/* Appends what the scheduler counted during the batch; null where it does not count. */
static void output_json_counters(struct json_out *j, const struct task_batch *x)
{
    const struct scheduler_counters *a = &x->before, *z = &x->after;
    if (!x->counted) {
        json_null(j, "scheduler_counts");
        return;
    }
    json_open(j, "scheduler_counts", '{');
    output_json_delta(j, "jobs_submitted", a->submitted, z->submitted);
    output_json_delta(j, "jobs_started", a->started, z->started);
    output_json_delta(j, "jobs_completed", a->completed, z->completed);
    output_json_delta(j, "jobs_failed", a->failed, z->failed);
    output_json_delta(j, "jobs_cancelled", a->cancelled, z->cancelled);
    output_json_delta(j, "submit_calls", a->submit_calls, z->submit_calls);
    mean_of(j, "submit_call_mean_s", a->submit_calls, z->submit_calls, a->submit_us, z->submit_us);
    output_json_delta(j, "step_create_calls", a->step_calls, z->step_calls);
    mean_of(j, "step_create_call_mean_s", a->step_calls, z->step_calls, a->step_us, z->step_us);
    output_json_delta(j, "cycles", a->cycles, z->cycles);
    mean_of(j, "cycle_mean_s", a->cycles, z->cycles, a->cycle_us, z->cycle_us);
    json_close(j, '}');
}

static void output_json_counts(struct json_out *j, const struct task_batch *x)
{
    json_uint(j, "submitted", x->submitted);
    json_uint(j, "refused", x->refused);
    json_uint(j, "ended", x->ended);
    json_uint(j, "self_stamped", x->stamped);
    json_uint(j, "failed", x->failed);
    json_uint(j, "lost", x->lost);
    json_uint(j, "cancelled", x->cancelled);
    json_uint(j, "duplicated", x->duplicates);
    json_uint(j, "retried", x->retried);
    json_uint(j, "foreign_reports", x->strangers);
}

static void output_json_clocks(struct json_out *j, const struct task_batch *x)
{
    json_open(j, "clock", '{');
    json_flag(j, "same_machine", x->clock_width == 0);
    if (x->clock_width > 0) {
        json_known(j, "offset_low_s", x->clock_low);
        json_known(j, "offset_high_s", x->clock_high);
        json_known(j, "interval_s", x->clock_width);
        json_known(j, "corrected_by_s", x->shift);
        json_flag(j, "start_latency_below_interval", x->too_short);
    }
    json_known(j, "stepped_s", x->stepped);
    json_close(j, '}');
}

/* Appends one batch. */
static void output_json_batch(struct json_out *j, const struct task_batch *x, double floor)
{
    json_open(j, NULL, '{');
    json_uint(j, "repetition", x->repetition);
    json_flag(j, "warmup", x->warmup);
    json_uint(j, "tasks", x->tasks);
    json_known(j, "duration_s", x->duration);
    json_int(j, "started_ms", x->begin_wall_ms);
    json_flag(j, "complete", x->complete);
    json_text(j, "reason", x->reason[0] ? x->reason : NULL);
    output_json_positive(j, "throughput_per_s", x->throughput);
    json_text(j, "no_throughput", x->no_throughput);
    json_text(j, "rates_missing", x->too_brief && !x->warmup && !x->chain ? "too short for rates: 10 tasks, or 0.1 s, show one" : NULL);
    output_json_positive(j, "client_throughput_per_s", x->client_throughput);
    output_json_positive(j, "steady_throughput_per_s", x->steady);
    output_json_positive(j, "ended_per_s", x->ended_rate);
    output_json_positive(j, "submit_rate_per_s", x->submit_rate);
    output_json_positive(j, "makespan_s", x->makespan);
    output_json_positive(j, "over_floor", x->throughput > 0 && floor > 0 && !x->chain ? x->throughput / floor : 0);
    json_uint(j, "submit_calls", x->calls);
    output_json_counts(j, x);
    json_uint(j, "slots", x->slots);
    output_json_positive(j, "concurrency_max", x->concurrency_max);
    output_json_positive(j, "concurrency_mean", x->concurrency_mean);
    json_known(j, "idle", x->concurrency_max > 0 ? x->idle : NAN);
    json_uint(j, "nodes", x->nodes);
    json_open(j, "latency", '{');
    output_json_quantiles(j, "submit", &x->submit);
    output_json_quantiles(j, "start", &x->start);
    output_json_quantiles(j, "run", &x->run);
    output_json_quantiles(j, "completion", &x->completed);
    output_json_quantiles(j, "turnaround", &x->turnaround);
    json_close(j, '}');
    json_text(j, "completion_known_by", x->completion);
    json_flag(j, "throttled", x->throttled);
    json_text(j, "throttled_why", x->throttled ? x->throttled_why : NULL);
    output_json_clocks(j, x);
    output_json_counters(j, x);
    json_close(j, '}');
}

/* Appends the statistics of one quantity over batches, and why it has no interval. */
static void output_json_statistics(struct json_out *j, const char *name, const struct stats *s)
{
    json_open(j, name, '{');
    json_uint(j, "n", s->n);
    if (s->n) {
        json_known(j, "mean", s->mean);
        json_known(j, "median", s->median);
        json_known(j, "min", s->min);
        json_known(j, "max", s->max);
        json_known(j, "sd", s->sd);
        json_known(j, "ci_low", figures_has_interval(s) ? s->ci_low : NAN);
        json_known(j, "ci_high", figures_has_interval(s) ? s->ci_high : NAN);
    }
    if (s->n >= 3 && !figures_has_interval(s))
        json_text(j, "words", "the repeats differ too much for an interval: it would reach below zero");
    if (s->n < 3)
        json_text(j, "words", s->n ? "too few repeats for an interval (3 are needed)" : "none");
    json_close(j, '}');
}

/* Appends the groups with their batches: the chain alone, or all others. */
static void output_json_configurations(const struct bench *b, struct json_out *j, const char *name, bool chain,
                                       const struct batch_group *groups, size_t n, double floor)
{
    json_open(j, name, '[');
    for (size_t k = 0; k < n; k++) {
        const struct batch_group *g = &groups[k];
        char label[64];
        if (g->chain != chain)
            continue;
        output_label(g, label, sizeof label);
        json_line(j, 0);
        json_open(j, NULL, '{');
        json_text(j, "label", label);
        json_uint(j, "tasks", g->tasks);
        json_known(j, "duration_s", g->duration);
        json_uint(j, "slots", g->slots);
        json_known(j, "efficiency", g->duration > 0 ? figures_efficiency(g) : NAN);
        json_flag(j, "throttled", g->throttled);
        json_open(j, "summary", '{');
        output_json_statistics(j, "throughput_per_s", &g->throughput);
        output_json_statistics(j, "submit_rate_per_s", &g->submit_rate);
        output_json_statistics(j, "start_p50_s", &g->start50);
        output_json_statistics(j, "start_p99_s", &g->start99);
        output_json_statistics(j, "turnaround_p50_s", &g->turnaround50);
        output_json_statistics(j, "makespan_s", &g->makespan);
        json_close(j, '}');
        json_open(j, "batches", '[');
        for (size_t i = 0; i < b->batch_count; i++) {
            const struct task_batch *x = &b->batches[i];
            if (x->warmup || x->floor || x->tasks != g->tasks || x->duration != g->duration || x->chain != g->chain)
                continue;
            json_line(j, 1);
            output_json_batch(j, x, floor);
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void output_json_others(const struct bench *b, struct json_out *j, const char *name, bool warmup, double floor)
{
    json_open(j, name, '[');
    for (size_t i = 0; i < b->batch_count; i++)
        if (warmup ? b->batches[i].warmup : b->batches[i].floor && !b->batches[i].warmup) {
            json_line(j, 1);
            output_json_batch(j, &b->batches[i], floor);
        }
    json_close(j, ']');
}

const char *output_payload(const struct bench_settings *s)
{
    static const char *const words[] = {"stub", "true", "sh", "command", "call"};
    return words[s->payload];
}

void output_label(const struct batch_group *g, char *to, size_t size)
{
    char duration[32];
    double d = g->duration;
    if (d == 0)
        snprintf(duration, sizeof duration, "d0");
    else if (d >= 1)
        snprintf(duration, sizeof duration, "d%gs", d);
    else if (d >= 1e-3)
        snprintf(duration, sizeof duration, "d%gms", d * 1e3);
    else
        snprintf(duration, sizeof duration, "d%gus", d * 1e6);
    for (char *p = duration; *p; p++)
        if (*p == '.')
            *p = '_';
    if (g->chain)
        snprintf(to, size, "chain.%s", duration);
    else
        snprintf(to, size, "n%zu.%s", g->tasks, duration);
}

/* Appends what was measured, with which provider and settings. */
static void output_json_head(const struct bench *b, struct json_out *j)
{
    const struct bench_settings *s = &b->set;
    const struct task_provider *p = b->provider;
    json_text(j, "taskrate", BW_VERSION);
    json_uint(j, "schema", 1);
    json_open(j, "provider", '{');
    json_text(j, "name", p->name);
    json_text(j, "path", s->payload == PAYLOAD_CALL ? "client (a function call, no process)" : p->path);
    json_flag(j, "tried_on_live_system", p->live);
    output_json_text_if(j, "version", b->scheduler_version);
    output_json_text_if(j, "template", s->submit);
    output_json_text_if(j, "tool", strcmp(p->name, "parallel") == 0 ? s->with : NULL);
    json_close(j, '}');
    json_open(j, "payload", '{');
    json_text(j, "kind", output_payload(s));
    json_flag(j, "in_process", s->payload == PAYLOAD_CALL);
    json_flag(j, "self_stamped", s->payload == PAYLOAD_STUB || s->payload == PAYLOAD_CALL || s->wrap || strcmp(p->name, "local") != 0);
    output_json_text_if(j, "program", s->command.n ? str_base_name(s->command.word[0]) : NULL);
    json_uint(j, "argument_bytes", s->argsize);
    json_text(j, "spends_time", s->busy ? "computing" : "sleeping");
    json_close(j, '}');
    json_uint(j, "slots", s->slots ? s->slots : b->slots);
    json_text(j, "slots_from", s->slots ? "--slots" : b->slots_from);
    json_uint(j, "clients", s->clients);
    json_uint(j, "width", s->width);
    json_known(j, "rate_limit_per_s", s->rate > 0 ? s->rate : NAN);
    json_text(j, "reports", s->report_dir ? "file" : strcmp(p->name, "local") == 0 ? "memory" : "datagram");
}

static void output_json_facts(const struct bench *b, struct json_out *j)
{
    json_open(j, "scheduler", '{');
    for (size_t i = 0; i < b->fact_count; i++)
        json_text(j, b->facts[i].name, b->facts[i].value);
    json_close(j, '}');
    json_open(j, "nodes", '[');
    for (size_t i = 0; b->set.node_names && i < b->clocks.count; i++)
        json_text(j, NULL, b->clocks.node[i].name);
    json_close(j, ']');
    json_texts(j, "notes", (const char *const *)b->notes, b->note_count);
}

/* Appends the model of latency and METG50. */
static void output_json_derived(struct json_out *j, const struct batch_group *groups, size_t n)
{
    struct model m;
    struct metg metg;
    figures_model(groups, n, &m);
    figures_metg(groups, n, &m, &metg);
    json_open(j, "model", '{');
    json_text(j, "formula", "time beyond the ideal = t_s * n^alpha, n tasks on each slot");
    json_uint(j, "points", m.points);
    json_known(j, "t_s", m.known ? m.t_s : NAN);
    json_known(j, "t_s_low", m.t_low);
    json_known(j, "t_s_high", m.t_high);
    json_known(j, "alpha", m.known ? m.alpha : NAN);
    json_known(j, "alpha_low", m.alpha_low);
    json_known(j, "alpha_high", m.alpha_high);
    json_text(j, "words",
              !m.known          ? "no complete batch"
              : m.alpha_assumed ? "one size alone: alpha is assumed to be 1"
              : m.points < 3    ? "two sizes: too few for intervals"
                                : NULL);
    json_close(j, '}');
    json_open(j, "metg50", '{');
    json_known(j, "seconds", metg.seconds);
    json_known(j, "low", metg.low);
    json_known(j, "high", metg.high);
    json_text(j, "bound", metg.at_most ? "at most" : metg.at_least ? "at least" : NULL);
    json_text(j, "how", metg.how);
    json_close(j, '}');
}

/* When the batches of the one configuration ran, in Unix time: of several, each has a time of its own. */
static void output_json_window(const struct bench *b, struct json_out *j)
{
    const struct task_batch *first = NULL, *last = NULL;
    bool elsewhere = false;
    for (size_t i = 0; i < b->batch_count; i++) {
        const struct task_batch *x = &b->batches[i];
        if (x->floor || x->warmup || x->chain)
            continue;
        if (first && (x->tasks != first->tasks || x->duration != first->duration))
            return;
        first = first ? first : x;
        last = x;
        elsewhere = elsewhere || x->elsewhere;
    }
    if (!first)
        return;
    json_open(j, "window", '{');
    json_known(j, "from_s", (double)first->begin_wall_ms / 1e3);
    json_known(j, "to_s", (double)last->begin_wall_ms / 1e3 + (double)(last->end - last->begin) / 1e9);
    if (elsewhere)
        json_int(j, "elsewhere", 1);
    json_close(j, '}');
}

void output_json(const struct bench *b, struct buf *to)
{
    struct batch_group groups[GROUPS_MAX];
    size_t n = figures_groups(b, groups);
    double floor = 0;
    bool complete = !b->interrupted && n > 0;
    const char *why = b->interrupted ? "interrupted" : n ? NULL : "no batch was measured";
    for (size_t i = 0; i < b->batch_count; i++) {
        if (b->batches[i].floor && !b->batches[i].warmup && b->batches[i].throughput > 0)
            floor = b->batches[i].throughput;
        bool bad = !b->batches[i].warmup && (b->batches[i].no_throughput || !b->batches[i].complete);
        complete = complete && !bad;
        if (bad && !why)
            why = b->batches[i].reason[0] ? b->batches[i].reason : b->batches[i].no_throughput;
    }
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    output_json_head(b, &j);
    json_flag(&j, "complete", complete);
    json_text(&j, "reason", why);
    output_json_facts(b, &j);
    output_json_positive(&j, "floor_per_s", floor);
    output_json_others(b, &j, "floor", false, 0);
    output_json_others(b, &j, "warmups", true, 0);
    output_json_configurations(b, &j, "configurations", false, groups, n, floor);
    output_json_configurations(b, &j, "chain", true, groups, n, floor);
    output_json_derived(&j, groups, n);
    output_json_window(b, &j);
    json_close(&j, '}');
    buf_putc(to, '\n');
}
