/* output_json.c: the JSON document. */
#include "benchmarks/native/taskrate/output.h"

#include "benchmarks/native/taskrate/provider.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[QUANTILES] = {"p50_s", "p90_s", "p95_s", "p99_s", "max_s"};

static void number(struct buf *to, double v)
{
    if (isfinite(v))
        buf_double(to, v);
    else
        buf_puts(to, "null");
}

static void key(struct buf *to, const char *name)
{
    char last = to->n ? to->p[to->n - 1] : '{';
    if (last != '{' && last != '[' && last != ' ')
        buf_putc(to, ',');
    buf_printf(to, "\"%s\":", name);
}

static void text(struct buf *to, const char *name, const char *value)
{
    key(to, name);
    if (value)
        buf_json(to, str_of(value));
    else
        buf_puts(to, "null");
}

/* Left out where it does not apply. */
static void text_if(struct buf *to, const char *name, const char *v)
{
    if (v)
        text(to, name, v);
}

static void value(struct buf *to, const char *name, double v)
{
    key(to, name);
    number(to, v);
}

/* A figure that is 0 where there is none. */
static void figure(struct buf *to, const char *name, double v)
{
    value(to, name, v > 0 ? v : NAN);
}

static void count(struct buf *to, const char *name, size_t n)
{
    key(to, name);
    buf_printf(to, "%zu", n);
}

static void flag(struct buf *to, const char *name, bool on)
{
    key(to, name);
    buf_puts(to, on ? "true" : "false");
}

static void quantiles(struct buf *to, const char *name, const struct quantiles *q)
{
    key(to, name);
    buf_putc(to, '{');
    count(to, "n", q->n);
    for (int i = 0; q->n && i < QUANTILES; i++)
        value(to, names[i], q->at[i]);
    if (q->n)
        value(to, "mean_s", q->mean);
    else
        text(to, "missing", q->why);
    buf_putc(to, '}');
}

static void delta(struct buf *to, const char *name, int64_t before, int64_t after)
{
    value(to, name, before >= 0 && after >= before ? (double)(after - before) : NAN); /* smaller: the controller has begun to count anew */
}

static void mean_of(struct buf *to, const char *name, int64_t n0, int64_t n1, int64_t us0, int64_t us1)
{
    value(to, name, n0 >= 0 && n1 > n0 && us1 >= us0 ? (double)(us1 - us0) / (double)(n1 - n0) / 1e6 : NAN);
}

static void counters(struct buf *to, const struct batch *x)
{
    const struct counters *a = &x->before, *z = &x->after;
    key(to, "scheduler_counts");
    if (!x->counted) {
        buf_puts(to, "null");
        return;
    }
    buf_putc(to, '{');
    delta(to, "jobs_submitted", a->submitted, z->submitted);
    delta(to, "jobs_started", a->started, z->started);
    delta(to, "jobs_completed", a->completed, z->completed);
    delta(to, "jobs_failed", a->failed, z->failed);
    delta(to, "jobs_cancelled", a->cancelled, z->cancelled);
    delta(to, "submit_calls", a->submit_calls, z->submit_calls);
    mean_of(to, "submit_call_mean_s", a->submit_calls, z->submit_calls, a->submit_us, z->submit_us);
    delta(to, "step_create_calls", a->step_calls, z->step_calls);
    mean_of(to, "step_create_call_mean_s", a->step_calls, z->step_calls, a->step_us, z->step_us);
    delta(to, "cycles", a->cycles, z->cycles);
    mean_of(to, "cycle_mean_s", a->cycles, z->cycles, a->cycle_us, z->cycle_us);
    buf_putc(to, '}');
}

static void counts(struct buf *to, const struct batch *x)
{
    count(to, "submitted", x->submitted);
    count(to, "refused", x->refused);
    count(to, "ended", x->ended);
    count(to, "self_stamped", x->stamped);
    count(to, "failed", x->failed);
    count(to, "lost", x->lost);
    count(to, "cancelled", x->cancelled);
    count(to, "duplicated", x->duplicates);
    count(to, "retried", x->retried);
    count(to, "foreign_reports", x->strangers);
}

static void clocks(struct buf *to, const struct batch *x)
{
    key(to, "clock");
    buf_putc(to, '{');
    flag(to, "same_machine", x->clock_width == 0);
    if (x->clock_width > 0) {
        value(to, "offset_low_s", x->clock_low);
        value(to, "offset_high_s", x->clock_high);
        value(to, "interval_s", x->clock_width);
        value(to, "corrected_by_s", x->shift);
        flag(to, "start_latency_below_interval", x->too_short);
    }
    value(to, "stepped_s", x->stepped);
    buf_putc(to, '}');
}

static void batch(const struct bench *b, struct buf *to, const struct batch *x, double floor)
{
    (void)b;
    buf_putc(to, '{');
    count(to, "repetition", x->repetition);
    flag(to, "warmup", x->warmup);
    count(to, "tasks", x->tasks);
    value(to, "duration_s", x->duration);
    key(to, "started_ms");
    buf_printf(to, "%lld", (long long)x->begin_wall_ms);
    flag(to, "complete", x->complete);
    text(to, "reason", x->reason[0] ? x->reason : NULL);
    figure(to, "throughput_per_s", x->throughput);
    text(to, "no_throughput", x->no_throughput);
    figure(to, "client_throughput_per_s", x->client_throughput);
    figure(to, "steady_throughput_per_s", x->steady);
    figure(to, "ended_per_s", x->ended_rate);
    figure(to, "submit_rate_per_s", x->submit_rate);
    figure(to, "makespan_s", x->makespan);
    figure(to, "over_floor", x->throughput > 0 && floor > 0 && !x->chain ? x->throughput / floor : 0);
    count(to, "submit_calls", x->calls);
    counts(to, x);
    count(to, "slots", x->slots);
    figure(to, "concurrency_max", x->concurrency_max);
    figure(to, "concurrency_mean", x->concurrency_mean);
    value(to, "idle", x->concurrency_max > 0 ? x->idle : NAN);
    count(to, "nodes", x->nodes);
    key(to, "latency");
    buf_putc(to, '{');
    quantiles(to, "submit", &x->submit);
    quantiles(to, "start", &x->start);
    quantiles(to, "run", &x->run);
    quantiles(to, "completion", &x->completed);
    quantiles(to, "turnaround", &x->turnaround);
    buf_putc(to, '}');
    text(to, "completion_known_by", x->completion);
    flag(to, "throttled", x->throttled);
    text(to, "throttled_why", x->throttled ? x->throttled_why : NULL);
    clocks(to, x);
    counters(to, x);
    buf_putc(to, '}');
}

static void statistics(struct buf *to, const char *name, const struct stats *s)
{
    key(to, name);
    buf_putc(to, '{');
    count(to, "n", s->n);
    if (s->n) {
        value(to, "mean", s->mean);
        value(to, "median", s->median);
        value(to, "min", s->min);
        value(to, "max", s->max);
        value(to, "sd", s->sd);
        value(to, "ci_low", figures_has_interval(s) ? s->ci_low : NAN);
        value(to, "ci_high", figures_has_interval(s) ? s->ci_high : NAN);
    }
    if (s->n >= 3 && !figures_has_interval(s))
        text(to, "words", "the repeats differ too much for an interval: it would reach below zero");
    if (s->n < 3)
        text(to, "words", s->n ? "too few repeats for an interval (3 are needed)" : "none");
    buf_putc(to, '}');
}

static void configurations(const struct bench *b, struct buf *to, const char *name, bool chain, const struct group *groups, size_t n,
                           double floor)
{
    bool none = true;
    key(to, name);
    buf_putc(to, '[');
    for (size_t k = 0; k < n; k++) {
        const struct group *g = &groups[k];
        char label[64];
        bool first = true;
        if (g->chain != chain)
            continue;
        output_label(g, label, sizeof label);
        buf_puts(to, none ? "\n{" : ",\n{");
        none = false;
        text(to, "label", label);
        count(to, "tasks", g->tasks);
        value(to, "duration_s", g->duration);
        count(to, "slots", g->slots);
        value(to, "efficiency", g->duration > 0 ? figures_efficiency(g) : NAN);
        flag(to, "throttled", g->throttled);
        key(to, "summary");
        buf_putc(to, '{');
        statistics(to, "throughput_per_s", &g->throughput);
        statistics(to, "submit_rate_per_s", &g->submit_rate);
        statistics(to, "start_p50_s", &g->start50);
        statistics(to, "start_p99_s", &g->start99);
        statistics(to, "turnaround_p50_s", &g->turnaround50);
        statistics(to, "makespan_s", &g->makespan);
        buf_putc(to, '}');
        key(to, "batches");
        buf_putc(to, '[');
        for (size_t i = 0; i < b->batch_count; i++) {
            const struct batch *x = &b->batches[i];
            if (x->warmup || x->floor || x->tasks != g->tasks || x->duration != g->duration || x->chain != g->chain)
                continue;
            buf_puts(to, first ? "\n " : ",\n ");
            first = false;
            batch(b, to, x, floor);
        }
        buf_puts(to, "]}");
    }
    buf_putc(to, ']');
}

static void others(const struct bench *b, struct buf *to, const char *name, bool warmup, double floor)
{
    bool first = true;
    key(to, name);
    buf_putc(to, '[');
    for (size_t i = 0; i < b->batch_count; i++)
        if (warmup ? b->batches[i].warmup : b->batches[i].floor && !b->batches[i].warmup) {
            buf_puts(to, first ? "\n " : ",\n ");
            first = false;
            batch(b, to, &b->batches[i], floor);
        }
    buf_putc(to, ']');
}

const char *output_payload(const struct settings *s)
{
    static const char *const words[] = {"stub", "true", "sh", "command", "call"};
    return words[s->payload];
}

void output_label(const struct group *g, char *to, size_t size)
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

static void head(const struct bench *b, struct buf *to)
{
    const struct settings *s = &b->set;
    const struct provider *p = b->provider;
    text(to, "taskrate", BW_VERSION);
    count(to, "schema", 1);
    key(to, "provider");
    buf_putc(to, '{');
    text(to, "name", p->name);
    text(to, "path", s->payload == PAYLOAD_CALL ? "client (a function call, no process)" : p->path);
    flag(to, "tried_on_live_system", p->live);
    text_if(to, "version", b->scheduler_version);
    text_if(to, "template", s->submit);
    text_if(to, "tool", strcmp(p->name, "parallel") == 0 ? s->with : NULL);
    buf_putc(to, '}');
    key(to, "payload");
    buf_putc(to, '{');
    text(to, "kind", output_payload(s));
    flag(to, "in_process", s->payload == PAYLOAD_CALL);
    flag(to, "self_stamped", s->payload == PAYLOAD_STUB || s->payload == PAYLOAD_CALL || s->wrap || strcmp(p->name, "local") != 0);
    text_if(to, "program", s->command.n ? str_base_name(s->command.word[0]) : NULL);
    count(to, "argument_bytes", s->argsize);
    text(to, "spends_time", s->busy ? "computing" : "sleeping");
    buf_putc(to, '}');
    count(to, "slots", s->slots ? s->slots : b->slots);
    text(to, "slots_from", s->slots ? "--slots" : b->slots_from);
    count(to, "clients", s->clients);
    count(to, "width", s->width);
    value(to, "rate_limit_per_s", s->rate > 0 ? s->rate : NAN);
    text(to, "reports", s->report_dir ? "file" : strcmp(p->name, "local") == 0 ? "memory" : "datagram");
}

static void facts(const struct bench *b, struct buf *to)
{
    key(to, "scheduler");
    buf_putc(to, '{');
    for (size_t i = 0; i < b->fact_count; i++)
        text(to, b->facts[i].name, b->facts[i].value);
    buf_putc(to, '}');
    key(to, "nodes");
    buf_putc(to, '[');
    for (size_t i = 0; b->set.node_names && i < b->clocks.count; i++) {
        if (i)
            buf_putc(to, ',');
        buf_json(to, str_of(b->clocks.node[i].name));
    }
    buf_putc(to, ']');
    key(to, "notes");
    buf_putc(to, '[');
    for (size_t i = 0; i < b->note_count; i++) {
        if (i)
            buf_putc(to, ',');
        buf_json(to, str_of(b->notes[i]));
    }
    buf_putc(to, ']');
}

static void derived(struct buf *to, const struct group *groups, size_t n)
{
    struct model m;
    struct metg metg;
    figures_model(groups, n, &m);
    figures_metg(groups, n, &m, &metg);
    key(to, "model");
    buf_putc(to, '{');
    text(to, "formula", "time beyond the ideal = t_s * n^alpha, n tasks on each slot");
    count(to, "points", m.points);
    value(to, "t_s", m.known ? m.t_s : NAN);
    value(to, "t_s_low", m.t_low);
    value(to, "t_s_high", m.t_high);
    value(to, "alpha", m.known ? m.alpha : NAN);
    value(to, "alpha_low", m.alpha_low);
    value(to, "alpha_high", m.alpha_high);
    text(to, "words",
         !m.known          ? "no complete batch"
         : m.alpha_assumed ? "one size alone: alpha is taken to be 1"
         : m.points < 3    ? "two sizes: too few for intervals"
                           : NULL);
    buf_putc(to, '}');
    key(to, "metg50");
    buf_putc(to, '{');
    value(to, "seconds", metg.seconds);
    value(to, "low", metg.low);
    value(to, "high", metg.high);
    text(to, "bound", metg.at_most ? "at most" : metg.at_least ? "at least" : NULL);
    text(to, "how", metg.how);
    buf_putc(to, '}');
}

void output_json(const struct bench *b, struct buf *to)
{
    struct group groups[GROUPS_MAX];
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
    head(b, to);
    flag(to, "complete", complete);
    text(to, "reason", why);
    facts(b, to);
    figure(to, "floor_per_s", floor);
    others(b, to, "floor", false, 0);
    others(b, to, "warmups", true, 0);
    configurations(b, to, "configurations", false, groups, n, floor);
    configurations(b, to, "chain", true, groups, n, floor);
    derived(to, groups, n);
    buf_puts(to, "}\n");
}
