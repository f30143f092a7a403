/* report_json.c: a run's result as one JSON object: the key names of vLLM's benchmark at the top
 * level, everything else in members of its own. */
#include "benchmarks/native/llmload/report_parts.h"

#include "base/stats.h"
#include "benchmarks/native/llmload/inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct report_writer {
    struct json_out *j;
    const struct load_report *r;
    struct report_derived d;
};

static void put_begin(struct report_writer *w)
{
    const struct load *l = w->r->load;
    const struct outcome *o = w->r->outcome;
    char date[40];
    time_t t = (time_t)(o->begin_wall_ms / 1000);
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_text(w->j, "date", date);
    json_text(w->j, "benchmark", "llmload");
    json_text(w->j, "version", BW_VERSION);
    json_text(w->j, "backend", dialects[l->dialect].name);
    json_text(w->j, "model_id", l->model);
    json_text(w->j, "url", l->shown_url);
    json_uint(w->j, "endpoints", l->url_count);
    json_uint(w->j, "num_prompts", o->m.scheduled);
    if (l->arrivals == ARRIVALS_CLOSED)
        json_text(w->j, "request_rate", "inf");
    else
        json_known(w->j, "request_rate", l->rate.n == 1 && !l->rate.piece[0].seconds ? l->rate.piece[0].to : o->offered_rate);
    bool has_shape = l->arrivals == ARRIVALS_POISSON || l->arrivals == ARRIVALS_CLOSED; /* of all at once it prints 1 as well */
    json_known(w->j, "burstiness", l->arrivals == ARRIVALS_GAMMA ? l->burstiness : has_shape ? 1 : NAN);
    json_known(w->j, "max_concurrency", l->concurrency.n == 1 ? l->concurrency.piece[0].to : NAN);
}

static void put_totals(struct report_writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    const struct report_derived *d = &w->d;
    bool mixed;
    bool in = report_source(m->input_source, &mixed) != TOKENS_UNKNOWN, out = report_source(m->output_source, &mixed) != TOKENS_UNKNOWN;
    json_known(w->j, "duration", d->seconds);
    json_uint(w->j, "completed", d->completed);
    json_uint(w->j, "failed", d->failed);
    json_known(w->j, "total_input_tokens", in ? (double)m->input_tokens : NAN);
    json_known(w->j, "total_output_tokens", out ? (double)m->output_tokens : NAN);
    json_known(w->j, "request_throughput", report_per_second(d, (double)d->completed));
    json_known(w->j, "request_goodput", d->has_objectives ? report_per_second(d, (double)m->good) : NAN);
    json_known(w->j, "output_throughput", out ? report_per_second(d, (double)m->output_tokens) : NAN);
    json_known(w->j, "total_token_throughput", in && out ? report_per_second(d, (double)(m->input_tokens + m->output_tokens)) : NAN);
    json_known(w->j, "max_output_tokens_per_s", d->peak_tokens);
    json_uint(w->j, "max_concurrent_requests", m->in_flight_max);
}

/* Of few values too, as other tools print it; null where the value may be one of those that are not
 * known. */
static double flat_quantile(const struct hdr *h, double p)
{
    return hdr_may_be_open(h, p) ? NAN : hdr_quantile(h, p);
}

/* Appends the members under vLLM's names (mean_ttft_ms …): numbers wherever there is a sample, as
 * its readers expect. The member `metrics` has their uncertainty. */
static void put_flat(struct report_writer *w)
{
    static const int metrics[] = {METRIC_TTFT, METRIC_TPOT, METRIC_ITL, METRIC_E2EL, METRIC_TTFT_SCHED, METRIC_E2EL_SCHED};
    const struct metrics *m = &w->r->outcome->m;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct hdr *h = &m->h[metrics[i]];
        const struct load_metric_row *row = &metric_rows[metrics[i]];
        char name[80];
        snprintf(name, sizeof name, "mean_%s_ms", row->key);
        json_known(w->j, name, report_mean(m, metrics[i]));
        snprintf(name, sizeof name, "median_%s_ms", row->key);
        json_known(w->j, name, flat_quantile(h, 0.5) / row->scale);
        snprintf(name, sizeof name, "std_%s_ms", row->key);
        json_known(w->j, name, hdr_sd(h) / row->scale);
        for (int k = 0; k < REPORT_POINTS; k++) {
            double p = report_points[k].p;
            snprintf(name, sizeof name, "%s_%s_ms", report_points[k].name, row->key);
            json_known(w->j, name, flat_quantile(h, p) / row->scale);
        }
    }
}

static void put_json_metric(struct report_writer *w, int which)
{
    const struct metrics *m = &w->r->outcome->m;
    const struct hdr *h = &m->h[which];
    const struct load_metric_row *row = &metric_rows[which];
    json_open(w->j, row->key, '{');
    json_text(w->j, "unit", row->unit);
    json_text(w->j, "definition", row->definition);
    json_uint(w->j, "n", h->n);
    json_uint(w->j, "not_known", h->open);
    if (h->n && h->open)
        json_text(w->j, "known_alone", "sd and min");
    if (h->n && !isfinite(report_mean(m, which)))
        json_text(w->j, "mean_reason", "times that are not known could change it by more than 1 %");
    if (which == METRIC_TTFT)
        json_known(w->j, "cached_prompt_share", w->d.cached_share);
    if (h->n) {
        json_known(w->j, "mean", report_mean(m, which));
        json_known(w->j, "sd", hdr_sd(h) / row->scale);
        json_known(w->j, "min", (double)h->min / row->scale);
        json_known(w->j, "max", hdr_max(h) / row->scale);
        for (int k = 0; k < REPORT_POINTS; k++) {
            double p = report_points[k].p, low, high;
            json_open(w->j, report_points[k].name, '{');
            if (!hdr_states(h, p)) {
                CLEANUP_BUF struct buf why;
                buf_init(&why, 200);
                hdr_why_not(h, p, &why);
                json_null(w->j, "value");
                json_text(w->j, "reason", why.p);
                json_close(w->j, '}');
                continue;
            }
            json_known(w->j, "value", hdr_quantile(h, p) / row->scale);
            if (hdr_interval(h, p, &low, &high)) {
                json_known(w->j, "ci_low", low / row->scale);
                json_known(w->j, "ci_high", high / row->scale);
            }
            json_close(w->j, '}');
        }
    }
    json_close(w->j, '}');
}

static void put_json_endings(struct report_writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    json_open(w->j, "endings", '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_MEASURE][e])
            json_uint(w->j, ending_rows[e].name, m->ended[PHASE_MEASURE][e]);
    json_close(w->j, '}');
    json_open(w->j, "warmup_endings", '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_WARMUP][e])
            json_uint(w->j, ending_rows[e].name, m->ended[PHASE_WARMUP][e]);
    json_close(w->j, '}');
    json_open(w->j, "first_errors", '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->first_error[e][0] && ending_rows[e].failed)
            json_text(w->j, ending_rows[e].name, m->first_error[e]);
    json_close(w->j, '}');
    json_open(w->j, "http_status", '{');
    for (unsigned i = 100; i < 600; i++)
        if (m->status[i]) {
            char name[8];
            snprintf(name, sizeof name, "%u", i);
            json_uint(w->j, name, m->status[i]);
        }
    json_close(w->j, '}');
}

/* "dataset_sha256", "input_tokens_sha256" … */
static void put_json_input(void *context, const char *option, const char *hash)
{
    char name[80];
    snprintf(name, sizeof name, "%s_sha256", option);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    json_text(context, name, hash);
}

static void put_json_load(struct report_writer *w)
{
    const struct load *l = w->r->load;
    const struct outcome *o = w->r->outcome;
    const struct metrics *m = &o->m;
    json_open(w->j, "load", '{');
    json_text(w->j, "arrivals", arrivals_names[l->arrivals]);
    json_text(w->j, "trace", o->trace_kind);
    json_text(w->j, "schedule_sha256", o->schedule_hash);
    json_uint(w->j, "schedule_length", o->schedule_length);
    json_uint(w->j, "seed", l->seed);
    json_known(w->j, "offered_rate", l->arrivals == ARRIVALS_CLOSED ? NAN : o->offered_rate);
    json_known(w->j, "achieved_rate", w->d.sent_rate);
    json_uint(w->j, "sent", m->sent);
    json_known(w->j, "expected", o->expected > 0 ? o->expected : NAN);
    json_known(w->j, "surplus_percent", 100 * w->d.surplus);
    json_uint(w->j, "scheduled", m->scheduled);
    json_uint(w->j, "dropped", m->dropped);
    json_uint(w->j, "late", m->late);
    json_known(w->j, "warmup_s", l->warmup_s);
    json_known(w->j, "window_s", w->d.window_s);
    json_known(w->j, "grace_s", l->grace_s);
    json_uint(w->j, "turns", l->turns);
    json_flag(w->j, "stream", l->stream);
    json_uint(w->j, "max_tokens", l->max_tokens);
    json_text(w->j, "prompts", w->r->prompts->name);
    if (w->r->prompts->describe)
        w->r->prompts->describe(w->r->prompts, w->j);
    inputs_each(l->inputs, put_json_input, w->j);
    json_close(w->j, '}');
}

static void put_json_tokens(struct report_writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    bool mixed;
    json_open(w->j, "tokens", '{');
    json_text(w->j, "input_source", token_source_names[report_source(m->input_source, &mixed)]);
    json_flag(w->j, "input_source_mixed", mixed);
    json_text(w->j, "output_source", token_source_names[report_source(m->output_source, &mixed)]);
    json_flag(w->j, "output_source_mixed", mixed);
    json_known(w->j, "cached", m->cached_known ? (double)m->cached_tokens : NAN);
    json_known(w->j, "cached_share", w->d.cached_share);
    json_uint(w->j, "reasoning", m->reasoning_tokens);
    json_uint(w->j, "chunks", m->chunks);
    json_uint(w->j, "events", m->events);
    json_uint(w->j, "itl_gaps", m->itl_all);
    json_uint(w->j, "itl_gaps_shared_stamp", m->itl_shared);
    json_known(w->j, "itl_shared_share", m->itl_all ? (double)m->itl_shared / (double)m->itl_all : NAN);
    json_uint(w->j, "empty_answers", m->ended[PHASE_MEASURE][ENDING_EMPTY]);
    json_uint(w->j, "short_answers", m->short_answers);
    json_close(w->j, '}');
}

/* A time of CLOCK_MONOTONIC as Unix time. */
static double report_unix_s(const struct outcome *o, double mono_ns)
{
    return mono_ns > 0 && o->begin_wall_ms > 0 ? (double)o->begin_wall_ms / 1e3 + (mono_ns - (double)o->begin_ns) / 1e9 : NAN;
}

static void put_window(struct report_writer *w)
{
    const struct outcome *o = w->r->outcome;
    const struct metrics *m = &w->r->outcome->m;
    const struct steady *s = &w->d.steady;
    double from_ns, to_ns;
    bool has_rates = stats_has_rate((double)m->window_completed, w->d.window_s);
    report_window_ns(o, &w->d, &from_ns, &to_ns);
    json_open(w->j, "window", '{');
    json_known(w->j, "from_s", report_unix_s(o, from_ns));
    json_known(w->j, "to_s", report_unix_s(o, to_ns));
    json_known(w->j, "completed", w->d.window_s > 0 ? (double)m->window_completed : NAN);
    json_known(w->j, "request_throughput", has_rates ? (double)m->window_completed / w->d.window_s : NAN);
    json_known(w->j, "chunk_tokens_per_s", has_rates ? (double)m->window_tokens / w->d.window_s : NAN);
    json_known(w->j, "mean_concurrency", w->d.concurrency);
    json_close(w->j, '}');
    if (!w->d.has_steady) {
        json_null(w->j, "steady");
        return;
    }
    json_open(w->j, "steady", '{');
    json_known(w->j, "from_s", s->from_s);
    json_known(w->j, "to_s", s->to_s);
    json_known(w->j, "full_concurrency", s->reference);
    json_known(w->j, "request_throughput", s->requests_per_s);
    json_known(w->j, "chunk_tokens_per_s", s->tokens_per_s);
    json_known(w->j, "mean_concurrency", s->concurrency);
    json_flag(w->j, "long_enough", s->enough);
    json_close(w->j, '}');
}

static void put_goodput(struct report_writer *w)
{
    const struct objectives *j = &w->r->load->objectives;
    const struct metrics *m = &w->r->outcome->m;
    if (!w->d.has_objectives)
        return;
    json_open(w->j, "goodput", '{');
    json_text(w->j, "preset", w->r->load->objectives_name);
    json_known(w->j, "ttft_ms", j->ttft_ns ? (double)j->ttft_ns / 1e6 : NAN);
    json_known(w->j, "itl_ms", j->itl_ns ? (double)j->itl_ns / 1e6 : NAN);
    json_known(w->j, "tpot_ms", j->tpot_ns ? (double)j->tpot_ns / 1e6 : NAN);
    json_known(w->j, "e2el_ms", j->e2el_ns ? (double)j->e2el_ns / 1e6 : NAN);
    json_uint(w->j, "good", m->good);
    json_uint(w->j, "unknown", m->good_unknown);
    json_known(w->j, "share", w->d.good_share);
    json_close(w->j, '}');
}

static void put_lateness(struct report_writer *w)
{
    const struct metrics *m = &w->r->outcome->m;
    struct buf say CLEANUP_BUF;
    buf_init(&say, 4096);
    if (w->d.client.is_late)
        report_client_say(&w->d.client, &say);
    json_flag(w->j, "was_bottleneck", w->d.client.is_late);
    json_text(w->j, "bottleneck", say.n ? say.p : NULL);
    json_known(w->j, "late_share_allowed", CLIENT_LATE_SHARE);
    json_uint(w->j, "first_tokens_unknown", m->first_unknown);
    json_uint(w->j, "last_tokens_unknown", m->last_unknown);
    json_uint(w->j, "gaps_late", m->itl_late);
    json_uint(w->j, "reads", m->reads);
    json_uint(w->j, "reads_late", m->reads_late);
    json_uint(w->j, "sends_late", m->sends_late);
    json_known(w->j, "processor_wait_share", w->d.client.waited > 0 ? w->d.client.waited : NAN);
    json_uint(w->j, "stamps_refused", m->stamps_refused);
}

static void put_json_client(struct report_writer *w)
{
    const struct outcome *o = w->r->outcome;
    json_open(w->j, "client", '{');
    json_uint(w->j, "threads", o->threads);
    json_text(w->j, "clock", o->kernel_stamps ? "kernel receive stamps" : "after the read");
    json_uint(w->j, "connections", o->m.connections);
    json_uint(w->j, "reconnects", o->m.reconnects);
    json_known(w->j, "cpu_s", o->m.cpu_s);
    json_known(w->j, "cpu_us_per_event", w->d.cpu_us_per_event);
    json_known(w->j, "reads_per_event", w->d.reads_per_event);
    json_known(w->j, "cpu_share", o->wall_s > 0 ? o->m.cpu_s / o->wall_s / o->threads : NAN);
    json_known(w->j, "steal_percent", o->steal_percent < 0 ? NAN : o->steal_percent);
    put_lateness(w);
    json_known(w->j, "wall_s", o->wall_s);
    json_text(w->j, "trouble", o->trouble[0] ? o->trouble : NULL);
    json_text(w->j, "ended_early", o->why_early);
    json_close(w->j, '}');
}

static void put_json_warnings(struct report_writer *w)
{
    struct buf warnings CLEANUP_BUF;
    buf_init(&warnings, REPORT_WARNINGS_MAX);
    report_warnings(w->r, &w->d, &warnings);
    report_warning_list(buf_text(&warnings), w->j);
}

void report_json(const struct load_report *r, struct json_out *j)
{
    struct report_writer w = {.j = j, .r = r};
    report_derive(&w.d, r);
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
    json_text(j, "percentile_definition", report_percentile_definition);
    json_open(j, "metrics", '{');
    for (int i = 0; i < METRICS; i++)
        put_json_metric(&w, i);
    json_close(j, '}');
}
