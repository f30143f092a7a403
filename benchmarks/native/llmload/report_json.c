/* report_json.c: a run's result as one JSON object: the key names of vLLM's benchmark at the top
 * level, everything else in members of its own. */
#include "benchmarks/native/llmload/report_parts.h"

#include "benchmarks/native/llmload/inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct writer {
    struct buf *to;
    const struct load_report *r;
    struct report_derived d;
};

static void put_json_key(struct buf *to, const char *name)
{
    if (to->n && to->p[to->n - 1] != '{' && to->p[to->n - 1] != '[')
        buf_putc(to, ',');
    buf_json(to, str_of(name));
    buf_putc(to, ':');
}

static void put_json_number(struct buf *to, const char *name, double v)
{
    put_json_key(to, name);
    buf_json_double(to, v);
}

static void put_json_whole(struct buf *to, const char *name, uint64_t v)
{
    put_json_key(to, name);
    buf_printf(to, "%llu", (unsigned long long)v);
}

static void put_json_text(struct buf *to, const char *name, const char *v)
{
    put_json_key(to, name);
    if (v)
        buf_json(to, str_of(v));
    else
        buf_puts(to, "null");
}

static void put_json_truth(struct buf *to, const char *name, bool v)
{
    put_json_key(to, name);
    buf_puts(to, v ? "true" : "false");
}

static void put_begin(struct writer *w)
{
    const struct load *l = w->r->load;
    const struct outcome *o = w->r->outcome;
    char date[40];
    time_t t = (time_t)(o->begin_wall_ms / 1000);
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_json_text(w->to, "date", date);
    put_json_text(w->to, "benchmark", "llmload");
    put_json_text(w->to, "version", BW_VERSION);
    put_json_text(w->to, "backend", dialects[l->dialect].name);
    put_json_text(w->to, "model_id", l->model);
    put_json_text(w->to, "url", l->shown_url);
    put_json_whole(w->to, "endpoints", l->url_count);
    put_json_whole(w->to, "num_prompts", o->m.scheduled);
    put_json_key(w->to, "request_rate");
    if (l->arrivals == ARRIVALS_CLOSED)
        buf_puts(w->to, "\"inf\"");
    else
        buf_double(w->to, l->rate.n == 1 && !l->rate.piece[0].seconds ? l->rate.piece[0].to : o->offered_rate);
    bool has_shape = l->arrivals == ARRIVALS_POISSON || l->arrivals == ARRIVALS_CLOSED; /* of all at once it prints 1 as well */
    put_json_number(w->to, "burstiness", l->arrivals == ARRIVALS_GAMMA ? l->burstiness : has_shape ? 1 : NAN);
    put_json_number(w->to, "max_concurrency", l->concurrency.n == 1 ? l->concurrency.piece[0].to : NAN);
}

static void put_totals(struct writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    const struct report_derived *d = &w->d;
    bool mixed;
    bool in = report_source(m->input_source, &mixed) != TOKENS_UNKNOWN, out = report_source(m->output_source, &mixed) != TOKENS_UNKNOWN;
    put_json_number(w->to, "duration", d->seconds);
    put_json_whole(w->to, "completed", d->completed);
    put_json_whole(w->to, "failed", d->failed);
    put_json_number(w->to, "total_input_tokens", in ? (double)m->input_tokens : NAN);
    put_json_number(w->to, "total_output_tokens", out ? (double)m->output_tokens : NAN);
    put_json_number(w->to, "request_throughput", report_per_second((double)d->completed, d->seconds));
    put_json_number(w->to, "request_goodput", d->has_objectives ? report_per_second((double)m->good, d->seconds) : NAN);
    put_json_number(w->to, "output_throughput", out ? report_per_second((double)m->output_tokens, d->seconds) : NAN);
    put_json_number(w->to, "total_token_throughput",
                    in && out ? report_per_second((double)(m->input_tokens + m->output_tokens), d->seconds) : NAN);
    put_json_number(w->to, "max_output_tokens_per_s", d->peak_tokens);
    put_json_whole(w->to, "max_concurrent_requests", m->in_flight_max);
}

/* Of few values too, as other tools print it; null where the value may be one of those that are not
 * known. */
static double flat_quantile(const struct hdr *h, double p)
{
    return hdr_may_be_open(h, p) ? NAN : hdr_quantile(h, p);
}

/* vLLM's own names: mean_ttft_ms …. Numbers wherever there is a sample, as its readers expect; what
 * they are worth is in `metrics`. */
static void put_flat(struct writer *w)
{
    static const int metrics[] = {METRIC_TTFT, METRIC_TPOT, METRIC_ITL, METRIC_E2EL, METRIC_TTFT_SCHED, METRIC_E2EL_SCHED};
    const struct metrics *m = &w->r->outcome->m;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct hdr *h = &m->h[metrics[i]];
        const struct load_metric_row *row = &metric_rows[metrics[i]];
        char name[80];
        snprintf(name, sizeof name, "mean_%s_ms", row->key);
        put_json_number(w->to, name, report_mean(m, metrics[i]));
        snprintf(name, sizeof name, "median_%s_ms", row->key);
        put_json_number(w->to, name, flat_quantile(h, 0.5) / row->scale);
        snprintf(name, sizeof name, "std_%s_ms", row->key);
        put_json_number(w->to, name, hdr_sd(h) / row->scale);
        for (int k = 0; k < REPORT_POINTS; k++) {
            double p = report_points[k].p;
            snprintf(name, sizeof name, "%s_%s_ms", report_points[k].name, row->key);
            put_json_number(w->to, name, flat_quantile(h, p) / row->scale);
        }
    }
}

static void put_json_metric(struct writer *w, int which)
{
    const struct metrics *m = &w->r->outcome->m;
    const struct hdr *h = &m->h[which];
    const struct load_metric_row *row = &metric_rows[which];
    put_json_key(w->to, row->key);
    buf_putc(w->to, '{');
    put_json_text(w->to, "unit", row->unit);
    put_json_text(w->to, "definition", row->definition);
    put_json_whole(w->to, "n", h->n);
    put_json_whole(w->to, "not_known", h->open);
    if (h->n && h->open)
        put_json_text(w->to, "known_alone", "sd and min");
    if (h->n && !isfinite(report_mean(m, which)))
        put_json_text(w->to, "mean_reason", "times that are not known could change it by more than 1 %");
    if (which == METRIC_TTFT)
        put_json_number(w->to, "cached_prompt_share", w->d.cached_share);
    if (h->n) {
        put_json_number(w->to, "mean", report_mean(m, which));
        put_json_number(w->to, "sd", hdr_sd(h) / row->scale);
        put_json_number(w->to, "min", (double)h->min / row->scale);
        put_json_number(w->to, "max", hdr_max(h) / row->scale);
        for (int k = 0; k < REPORT_POINTS; k++) {
            double p = report_points[k].p, low, high;
            put_json_key(w->to, report_points[k].name);
            if (!hdr_states(h, p)) {
                CLEANUP_BUF struct buf why;
                buf_init(&why, 200);
                hdr_why_not(h, p, &why);
                buf_puts(w->to, "{\"value\":null");
                put_json_text(w->to, "reason", why.p);
                buf_putc(w->to, '}');
                continue;
            }
            buf_putc(w->to, '{');
            put_json_number(w->to, "value", hdr_quantile(h, p) / row->scale);
            if (hdr_interval(h, p, &low, &high)) {
                put_json_number(w->to, "ci_low", low / row->scale);
                put_json_number(w->to, "ci_high", high / row->scale);
            }
            buf_putc(w->to, '}');
        }
    }
    buf_putc(w->to, '}');
}

static void put_json_endings(struct writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    put_json_key(w->to, "endings");
    buf_putc(w->to, '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_MEASURE][e])
            put_json_whole(w->to, ending_rows[e].name, m->ended[PHASE_MEASURE][e]);
    buf_putc(w->to, '}');
    put_json_key(w->to, "warmup_endings");
    buf_putc(w->to, '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_WARMUP][e])
            put_json_whole(w->to, ending_rows[e].name, m->ended[PHASE_WARMUP][e]);
    buf_putc(w->to, '}');
    put_json_key(w->to, "first_errors");
    buf_putc(w->to, '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->first_error[e][0] && ending_rows[e].failed)
            put_json_text(w->to, ending_rows[e].name, m->first_error[e]);
    buf_putc(w->to, '}');
    put_json_key(w->to, "http_status");
    buf_putc(w->to, '{');
    for (unsigned i = 100; i < 600; i++)
        if (m->status[i]) {
            char name[8];
            snprintf(name, sizeof name, "%u", i);
            put_json_whole(w->to, name, m->status[i]);
        }
    buf_putc(w->to, '}');
}

/* "dataset_sha256", "input_tokens_sha256" … */
static void put_json_input(void *context, const char *option, const char *hash)
{
    char name[80];
    snprintf(name, sizeof name, "%s_sha256", option);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    put_json_text(context, name, hash);
}

static void put_json_load(struct writer *w)
{
    const struct load *l = w->r->load;
    const struct outcome *o = w->r->outcome;
    const struct metrics *m = &o->m;
    put_json_key(w->to, "load");
    buf_putc(w->to, '{');
    put_json_text(w->to, "arrivals", arrivals_names[l->arrivals]);
    put_json_text(w->to, "trace", o->trace_kind);
    put_json_text(w->to, "schedule_sha256", o->schedule_hash);
    put_json_whole(w->to, "schedule_length", o->schedule_length);
    put_json_whole(w->to, "seed", l->seed);
    put_json_number(w->to, "offered_rate", l->arrivals == ARRIVALS_CLOSED ? NAN : o->offered_rate);
    put_json_number(w->to, "achieved_rate", w->d.sent_rate);
    put_json_whole(w->to, "sent", m->sent);
    put_json_number(w->to, "expected", o->expected > 0 ? o->expected : NAN);
    put_json_number(w->to, "surplus_percent", 100 * w->d.surplus);
    put_json_whole(w->to, "scheduled", m->scheduled);
    put_json_whole(w->to, "dropped", m->dropped);
    put_json_whole(w->to, "late", m->late);
    put_json_number(w->to, "warmup_s", l->warmup_s);
    put_json_number(w->to, "window_s", w->d.window_s);
    put_json_number(w->to, "grace_s", l->grace_s);
    put_json_whole(w->to, "turns", l->turns);
    put_json_truth(w->to, "stream", l->stream);
    put_json_whole(w->to, "max_tokens", l->max_tokens);
    put_json_text(w->to, "prompts", w->r->prompts->name);
    if (w->r->prompts->describe)
        w->r->prompts->describe(w->r->prompts, w->to);
    inputs_each(l->inputs, put_json_input, w->to);
    buf_putc(w->to, '}');
}

static void put_json_tokens(struct writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    bool mixed;
    put_json_key(w->to, "tokens");
    buf_putc(w->to, '{');
    put_json_text(w->to, "input_source", token_source_names[report_source(m->input_source, &mixed)]);
    put_json_truth(w->to, "input_source_mixed", mixed);
    put_json_text(w->to, "output_source", token_source_names[report_source(m->output_source, &mixed)]);
    put_json_truth(w->to, "output_source_mixed", mixed);
    put_json_number(w->to, "cached", m->cached_known ? (double)m->cached_tokens : NAN);
    put_json_number(w->to, "cached_share", w->d.cached_share);
    put_json_whole(w->to, "reasoning", m->reasoning_tokens);
    put_json_whole(w->to, "chunks", m->chunks);
    put_json_whole(w->to, "events", m->events);
    put_json_whole(w->to, "itl_gaps", m->itl_all);
    put_json_whole(w->to, "itl_gaps_shared_stamp", m->itl_shared);
    put_json_number(w->to, "itl_shared_share", m->itl_all ? (double)m->itl_shared / (double)m->itl_all : NAN);
    put_json_whole(w->to, "empty_answers", m->ended[PHASE_MEASURE][ENDING_EMPTY]);
    put_json_whole(w->to, "short_answers", m->short_answers);
    buf_putc(w->to, '}');
}

static void put_window(struct writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    const struct steady *s = &w->d.steady;
    put_json_key(w->to, "window");
    buf_putc(w->to, '{');
    put_json_number(w->to, "completed", w->d.window_s > 0 ? (double)m->window_completed : NAN);
    put_json_number(w->to, "request_throughput", report_per_second((double)m->window_completed, w->d.window_s));
    put_json_number(w->to, "chunk_tokens_per_s", report_per_second((double)m->window_tokens, w->d.window_s));
    put_json_number(w->to, "mean_concurrency", w->d.concurrency);
    buf_putc(w->to, '}');
    put_json_key(w->to, "steady");
    if (!w->d.has_steady) {
        buf_puts(w->to, "null");
        return;
    }
    buf_putc(w->to, '{');
    put_json_number(w->to, "from_s", s->from_s);
    put_json_number(w->to, "to_s", s->to_s);
    put_json_number(w->to, "full_concurrency", s->reference);
    put_json_number(w->to, "request_throughput", s->requests_per_s);
    put_json_number(w->to, "chunk_tokens_per_s", s->tokens_per_s);
    put_json_number(w->to, "mean_concurrency", s->concurrency);
    put_json_truth(w->to, "long_enough", s->enough);
    buf_putc(w->to, '}');
}

static void put_goodput(struct writer *w)
{
    const struct objectives *j = &w->r->load->objectives;
    const struct metrics *m = &w->r->outcome->m;
    if (!w->d.has_objectives)
        return;
    put_json_key(w->to, "goodput");
    buf_putc(w->to, '{');
    put_json_text(w->to, "preset", w->r->load->objectives_name);
    put_json_number(w->to, "ttft_ms", j->ttft_ns ? (double)j->ttft_ns / 1e6 : NAN);
    put_json_number(w->to, "itl_ms", j->itl_ns ? (double)j->itl_ns / 1e6 : NAN);
    put_json_number(w->to, "tpot_ms", j->tpot_ns ? (double)j->tpot_ns / 1e6 : NAN);
    put_json_number(w->to, "e2el_ms", j->e2el_ns ? (double)j->e2el_ns / 1e6 : NAN);
    put_json_whole(w->to, "good", m->good);
    put_json_whole(w->to, "unknown", m->good_unknown);
    put_json_number(w->to, "share", w->d.good_share);
    buf_putc(w->to, '}');
}

static void put_lateness(struct writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    struct buf say CLEANUP_BUF;
    buf_init(&say, 4096);
    if (w->d.client.is_late)
        report_client_say(&w->d.client, &say);
    put_json_truth(w->to, "was_bottleneck", w->d.client.is_late);
    put_json_text(w->to, "bottleneck", say.n ? say.p : NULL);
    put_json_number(w->to, "late_share_allowed", CLIENT_LATE_SHARE);
    put_json_whole(w->to, "first_tokens_unknown", m->first_unknown);
    put_json_whole(w->to, "last_tokens_unknown", m->last_unknown);
    put_json_whole(w->to, "gaps_late", m->itl_late);
    put_json_whole(w->to, "reads", m->reads);
    put_json_whole(w->to, "reads_late", m->reads_late);
    put_json_whole(w->to, "sends_late", m->sends_late);
    put_json_whole(w->to, "stamps_refused", m->stamps_refused);
}

static void put_json_client(struct writer *w)
{
    const struct outcome *o = w->r->outcome;
    put_json_key(w->to, "client");
    buf_putc(w->to, '{');
    put_json_whole(w->to, "threads", o->threads);
    put_json_text(w->to, "clock", o->kernel_stamps ? "kernel receive stamps" : "after the read");
    put_json_whole(w->to, "connections", o->m.connections);
    put_json_whole(w->to, "reconnects", o->m.reconnects);
    put_json_number(w->to, "cpu_s", o->m.cpu_s);
    put_json_number(w->to, "cpu_us_per_event", w->d.cpu_us_per_event);
    put_json_number(w->to, "reads_per_event", w->d.reads_per_event);
    put_json_number(w->to, "cpu_share", o->wall_s > 0 ? o->m.cpu_s / o->wall_s / o->threads : NAN);
    put_json_number(w->to, "steal_percent", o->steal_percent < 0 ? NAN : o->steal_percent);
    put_lateness(w);
    put_json_number(w->to, "wall_s", o->wall_s);
    put_json_text(w->to, "trouble", o->trouble[0] ? o->trouble : NULL);
    put_json_text(w->to, "ended_early", o->why_early);
    buf_putc(w->to, '}');
}

static void put_json_warnings(struct writer *w)
{
    struct buf warnings CLEANUP_BUF;
    buf_init(&warnings, REPORT_WARNINGS_MAX);
    report_warnings(w->r, &w->d, &warnings);
    put_json_key(w->to, "warnings");
    report_warning_list(buf_text(&warnings), w->to);
}

void report_json(const struct load_report *r, struct buf *to)
{
    struct writer w = {.to = to, .r = r};
    report_derive(&w.d, r);
    buf_putc(to, '{');
    put_begin(&w);
    put_totals(&w);
    put_json_warnings(&w);
    put_flat(&w);
    put_json_endings(&w);
    put_json_load(&w);
    put_json_tokens(&w);
    put_window(&w);
    put_goodput(&w);
    put_json_client(&w);
    put_json_text(to, "percentile_definition", report_percentile_definition);
    put_json_key(to, "metrics");
    buf_putc(to, '{');
    for (int i = 0; i < METRICS; i++)
        put_json_metric(&w, i);
    buf_putc(to, '}');
    if (r->more.n)
        buf_str(to, r->more);
    buf_puts(to, "}\n");
}
