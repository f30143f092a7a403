/* output_json.c: the JSON document. */
#include "benchmarks/native/taskrate/output.h"

#include "benchmarks/native/taskrate/provider.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[QUANTILES] = {"p50_s", "p90_s", "p95_s", "p99_s", "max_s"};

static void output_json_number(struct buf *to, double v)
{
    if (isfinite(v))
        buf_double(to, v);
    else
        buf_puts(to, "null");
}

static void output_json_key(struct buf *to, const char *name)
{
    char last = to->n ? to->p[to->n - 1] : '{';
    if (last != '{' && last != '[' && last != ' ')
        buf_putc(to, ',');
    buf_printf(to, "\"%s\":", name);
}

static void output_json_text(struct buf *to, const char *name, const char *value)
{
    output_json_key(to, name);
    if (value)
        buf_json(to, str_of(value));
    else
        buf_puts(to, "null");
}

/* Left out where it does not apply. */
static void text_if(struct buf *to, const char *name, const char *v)
{
    if (v)
        output_json_text(to, name, v);
}

static void output_json_value(struct buf *to, const char *name, double v)
{
    output_json_key(to, name);
    output_json_number(to, v);
}

/* A figure that is 0 where there is none. */
static void output_json_positive(struct buf *to, const char *name, double v)
{
    output_json_value(to, name, v > 0 ? v : NAN);
}

static void output_json_count(struct buf *to, const char *name, size_t n)
{
    output_json_key(to, name);
    buf_printf(to, "%zu", n);
}

static void output_json_flag(struct buf *to, const char *name, bool on)
{
    output_json_key(to, name);
    buf_puts(to, on ? "true" : "false");
}

static void output_json_quantiles(struct buf *to, const char *name, const struct latency_quantiles *q)
{
    output_json_key(to, name);
    buf_putc(to, '{');
    output_json_count(to, "n", q->n);
    for (int i = 0; q->n && i < QUANTILES; i++)
        output_json_value(to, names[i], q->at[i]);
    if (q->n)
        output_json_value(to, "mean_s", q->mean);
    else
        output_json_text(to, "missing", q->why);
    buf_putc(to, '}');
}

static void output_json_delta(struct buf *to, const char *name, int64_t before, int64_t after)
{
    output_json_value(
        to, name, before >= 0 && after >= before ? (double)(after - before) : NAN); /* smaller: the controller has begun to count anew */
}

static void mean_of(struct buf *to, const char *name, int64_t n0, int64_t n1, int64_t us0, int64_t us1)
{
    output_json_value(to, name, n0 >= 0 && n1 > n0 && us1 >= us0 ? (double)(us1 - us0) / (double)(n1 - n0) / 1e6 : NAN);
}

static void output_json_counters(struct buf *to, const struct task_batch *x)
{
    const struct scheduler_counters *a = &x->before, *z = &x->after;
    output_json_key(to, "scheduler_counts");
    if (!x->counted) {
        buf_puts(to, "null");
        return;
    }
    buf_putc(to, '{');
    output_json_delta(to, "jobs_submitted", a->submitted, z->submitted);
    output_json_delta(to, "jobs_started", a->started, z->started);
    output_json_delta(to, "jobs_completed", a->completed, z->completed);
    output_json_delta(to, "jobs_failed", a->failed, z->failed);
    output_json_delta(to, "jobs_cancelled", a->cancelled, z->cancelled);
    output_json_delta(to, "submit_calls", a->submit_calls, z->submit_calls);
    mean_of(to, "submit_call_mean_s", a->submit_calls, z->submit_calls, a->submit_us, z->submit_us);
    output_json_delta(to, "step_create_calls", a->step_calls, z->step_calls);
    mean_of(to, "step_create_call_mean_s", a->step_calls, z->step_calls, a->step_us, z->step_us);
    output_json_delta(to, "cycles", a->cycles, z->cycles);
    mean_of(to, "cycle_mean_s", a->cycles, z->cycles, a->cycle_us, z->cycle_us);
    buf_putc(to, '}');
}

static void output_json_counts(struct buf *to, const struct task_batch *x)
{
    output_json_count(to, "submitted", x->submitted);
    output_json_count(to, "refused", x->refused);
    output_json_count(to, "ended", x->ended);
    output_json_count(to, "self_stamped", x->stamped);
    output_json_count(to, "failed", x->failed);
    output_json_count(to, "lost", x->lost);
    output_json_count(to, "cancelled", x->cancelled);
    output_json_count(to, "duplicated", x->duplicates);
    output_json_count(to, "retried", x->retried);
    output_json_count(to, "foreign_reports", x->strangers);
}

static void output_json_clocks(struct buf *to, const struct task_batch *x)
{
    output_json_key(to, "clock");
    buf_putc(to, '{');
    output_json_flag(to, "same_machine", x->clock_width == 0);
    if (x->clock_width > 0) {
        output_json_value(to, "offset_low_s", x->clock_low);
        output_json_value(to, "offset_high_s", x->clock_high);
        output_json_value(to, "interval_s", x->clock_width);
        output_json_value(to, "corrected_by_s", x->shift);
        output_json_flag(to, "start_latency_below_interval", x->too_short);
    }
    output_json_value(to, "stepped_s", x->stepped);
    buf_putc(to, '}');
}

static void output_json_batch(const struct bench *b, struct buf *to, const struct task_batch *x, double floor)
{
    (void)b;
    buf_putc(to, '{');
    output_json_count(to, "repetition", x->repetition);
    output_json_flag(to, "warmup", x->warmup);
    output_json_count(to, "tasks", x->tasks);
    output_json_value(to, "duration_s", x->duration);
    output_json_key(to, "started_ms");
    buf_printf(to, "%lld", (long long)x->begin_wall_ms);
    output_json_flag(to, "complete", x->complete);
    output_json_text(to, "reason", x->reason[0] ? x->reason : NULL);
    output_json_positive(to, "throughput_per_s", x->throughput);
    output_json_text(to, "no_throughput", x->no_throughput);
    output_json_positive(to, "client_throughput_per_s", x->client_throughput);
    output_json_positive(to, "steady_throughput_per_s", x->steady);
    output_json_positive(to, "ended_per_s", x->ended_rate);
    output_json_positive(to, "submit_rate_per_s", x->submit_rate);
    output_json_positive(to, "makespan_s", x->makespan);
    output_json_positive(to, "over_floor", x->throughput > 0 && floor > 0 && !x->chain ? x->throughput / floor : 0);
    output_json_count(to, "submit_calls", x->calls);
    output_json_counts(to, x);
    output_json_count(to, "slots", x->slots);
    output_json_positive(to, "concurrency_max", x->concurrency_max);
    output_json_positive(to, "concurrency_mean", x->concurrency_mean);
    output_json_value(to, "idle", x->concurrency_max > 0 ? x->idle : NAN);
    output_json_count(to, "nodes", x->nodes);
    output_json_key(to, "latency");
    buf_putc(to, '{');
    output_json_quantiles(to, "submit", &x->submit);
    output_json_quantiles(to, "start", &x->start);
    output_json_quantiles(to, "run", &x->run);
    output_json_quantiles(to, "completion", &x->completed);
    output_json_quantiles(to, "turnaround", &x->turnaround);
    buf_putc(to, '}');
    output_json_text(to, "completion_known_by", x->completion);
    output_json_flag(to, "throttled", x->throttled);
    output_json_text(to, "throttled_why", x->throttled ? x->throttled_why : NULL);
    output_json_clocks(to, x);
    output_json_counters(to, x);
    buf_putc(to, '}');
}

static void output_json_statistics(struct buf *to, const char *name, const struct stats *s)
{
    output_json_key(to, name);
    buf_putc(to, '{');
    output_json_count(to, "n", s->n);
    if (s->n) {
        output_json_value(to, "mean", s->mean);
        output_json_value(to, "median", s->median);
        output_json_value(to, "min", s->min);
        output_json_value(to, "max", s->max);
        output_json_value(to, "sd", s->sd);
        output_json_value(to, "ci_low", figures_has_interval(s) ? s->ci_low : NAN);
        output_json_value(to, "ci_high", figures_has_interval(s) ? s->ci_high : NAN);
    }
    if (s->n >= 3 && !figures_has_interval(s))
        output_json_text(to, "words", "the repeats differ too much for an interval: it would reach below zero");
    if (s->n < 3)
        output_json_text(to, "words", s->n ? "too few repeats for an interval (3 are needed)" : "none");
    buf_putc(to, '}');
}

static void output_json_configurations(const struct bench *b, struct buf *to, const char *name, bool chain,
                                       const struct batch_group *groups, size_t n, double floor)
{
    bool none = true;
    output_json_key(to, name);
    buf_putc(to, '[');
    for (size_t k = 0; k < n; k++) {
        const struct batch_group *g = &groups[k];
        char label[64];
        bool first = true;
        if (g->chain != chain)
            continue;
        output_label(g, label, sizeof label);
        buf_puts(to, none ? "\n{" : ",\n{");
        none = false;
        output_json_text(to, "label", label);
        output_json_count(to, "tasks", g->tasks);
        output_json_value(to, "duration_s", g->duration);
        output_json_count(to, "slots", g->slots);
        output_json_value(to, "efficiency", g->duration > 0 ? figures_efficiency(g) : NAN);
        output_json_flag(to, "throttled", g->throttled);
        output_json_key(to, "summary");
        buf_putc(to, '{');
        output_json_statistics(to, "throughput_per_s", &g->throughput);
        output_json_statistics(to, "submit_rate_per_s", &g->submit_rate);
        output_json_statistics(to, "start_p50_s", &g->start50);
        output_json_statistics(to, "start_p99_s", &g->start99);
        output_json_statistics(to, "turnaround_p50_s", &g->turnaround50);
        output_json_statistics(to, "makespan_s", &g->makespan);
        buf_putc(to, '}');
        output_json_key(to, "batches");
        buf_putc(to, '[');
        for (size_t i = 0; i < b->batch_count; i++) {
            const struct task_batch *x = &b->batches[i];
            if (x->warmup || x->floor || x->tasks != g->tasks || x->duration != g->duration || x->chain != g->chain)
                continue;
            buf_puts(to, first ? "\n " : ",\n ");
            first = false;
            output_json_batch(b, to, x, floor);
        }
        buf_puts(to, "]}");
    }
    buf_putc(to, ']');
}

static void output_json_others(const struct bench *b, struct buf *to, const char *name, bool warmup, double floor)
{
    bool first = true;
    output_json_key(to, name);
    buf_putc(to, '[');
    for (size_t i = 0; i < b->batch_count; i++)
        if (warmup ? b->batches[i].warmup : b->batches[i].floor && !b->batches[i].warmup) {
            buf_puts(to, first ? "\n " : ",\n ");
            first = false;
            output_json_batch(b, to, &b->batches[i], floor);
        }
    buf_putc(to, ']');
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

static void output_json_head(const struct bench *b, struct buf *to)
{
    const struct bench_settings *s = &b->set;
    const struct task_provider *p = b->provider;
    output_json_text(to, "taskrate", BW_VERSION);
    output_json_count(to, "schema", 1);
    output_json_key(to, "provider");
    buf_putc(to, '{');
    output_json_text(to, "name", p->name);
    output_json_text(to, "path", s->payload == PAYLOAD_CALL ? "client (a function call, no process)" : p->path);
    output_json_flag(to, "tried_on_live_system", p->live);
    text_if(to, "version", b->scheduler_version);
    text_if(to, "template", s->submit);
    text_if(to, "tool", strcmp(p->name, "parallel") == 0 ? s->with : NULL);
    buf_putc(to, '}');
    output_json_key(to, "payload");
    buf_putc(to, '{');
    output_json_text(to, "kind", output_payload(s));
    output_json_flag(to, "in_process", s->payload == PAYLOAD_CALL);
    output_json_flag(to, "self_stamped",
                     s->payload == PAYLOAD_STUB || s->payload == PAYLOAD_CALL || s->wrap || strcmp(p->name, "local") != 0);
    text_if(to, "program", s->command.n ? str_base_name(s->command.word[0]) : NULL);
    output_json_count(to, "argument_bytes", s->argsize);
    output_json_text(to, "spends_time", s->busy ? "computing" : "sleeping");
    buf_putc(to, '}');
    output_json_count(to, "slots", s->slots ? s->slots : b->slots);
    output_json_text(to, "slots_from", s->slots ? "--slots" : b->slots_from);
    output_json_count(to, "clients", s->clients);
    output_json_count(to, "width", s->width);
    output_json_value(to, "rate_limit_per_s", s->rate > 0 ? s->rate : NAN);
    output_json_text(to, "reports", s->report_dir ? "file" : strcmp(p->name, "local") == 0 ? "memory" : "datagram");
}

static void output_json_facts(const struct bench *b, struct buf *to)
{
    output_json_key(to, "scheduler");
    buf_putc(to, '{');
    for (size_t i = 0; i < b->fact_count; i++)
        output_json_text(to, b->facts[i].name, b->facts[i].value);
    buf_putc(to, '}');
    output_json_key(to, "nodes");
    buf_putc(to, '[');
    for (size_t i = 0; b->set.node_names && i < b->clocks.count; i++) {
        if (i)
            buf_putc(to, ',');
        buf_json(to, str_of(b->clocks.node[i].name));
    }
    buf_putc(to, ']');
    output_json_key(to, "notes");
    buf_putc(to, '[');
    for (size_t i = 0; i < b->note_count; i++) {
        if (i)
            buf_putc(to, ',');
        buf_json(to, str_of(b->notes[i]));
    }
    buf_putc(to, ']');
}

static void output_json_derived(struct buf *to, const struct batch_group *groups, size_t n)
{
    struct model m;
    struct metg metg;
    figures_model(groups, n, &m);
    figures_metg(groups, n, &m, &metg);
    output_json_key(to, "model");
    buf_putc(to, '{');
    output_json_text(to, "formula", "time beyond the ideal = t_s * n^alpha, n tasks on each slot");
    output_json_count(to, "points", m.points);
    output_json_value(to, "t_s", m.known ? m.t_s : NAN);
    output_json_value(to, "t_s_low", m.t_low);
    output_json_value(to, "t_s_high", m.t_high);
    output_json_value(to, "alpha", m.known ? m.alpha : NAN);
    output_json_value(to, "alpha_low", m.alpha_low);
    output_json_value(to, "alpha_high", m.alpha_high);
    output_json_text(to, "words",
                     !m.known          ? "no complete batch"
                     : m.alpha_assumed ? "one size alone: alpha is taken to be 1"
                     : m.points < 3    ? "two sizes: too few for intervals"
                                       : NULL);
    buf_putc(to, '}');
    output_json_key(to, "metg50");
    buf_putc(to, '{');
    output_json_value(to, "seconds", metg.seconds);
    output_json_value(to, "low", metg.low);
    output_json_value(to, "high", metg.high);
    output_json_text(to, "bound", metg.at_most ? "at most" : metg.at_least ? "at least" : NULL);
    output_json_text(to, "how", metg.how);
    buf_putc(to, '}');
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
    buf_putc(to, '{');
    output_json_head(b, to);
    output_json_flag(to, "complete", complete);
    output_json_text(to, "reason", why);
    output_json_facts(b, to);
    output_json_positive(to, "floor_per_s", floor);
    output_json_others(b, to, "floor", false, 0);
    output_json_others(b, to, "warmups", true, 0);
    output_json_configurations(b, to, "configurations", false, groups, n, floor);
    output_json_configurations(b, to, "chain", true, groups, n, floor);
    output_json_derived(to, groups, n);
    buf_puts(to, "}\n");
}
