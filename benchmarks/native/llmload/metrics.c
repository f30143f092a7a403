/* metrics.c: the aggregate of a run; see metrics.h. */
#include "benchmarks/native/llmload/metrics.h"

#include "benchmarks/native/llmload/lateness.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

const struct load_metric_row metric_rows[METRICS] = {
#define METRIC(id, key, unit, scale, definition) {key, unit, definition, scale},
#include "benchmarks/native/llmload/metrics.def"
#undef METRIC
};
const struct ending_row ending_rows[ENDINGS] = {
#define ENDING(id, name, failed, help) {name, help, failed},
#include "benchmarks/native/llmload/endings.def"
#undef ENDING
};
const char *const phase_names[PHASES] = {"warmup", "measure", "cooldown"};
const char *const token_source_names[TOKENS_SOURCES] = {"unknown", "chunks", "asked", "tokenizer", "ids", "continuous_usage", "usage"};

enum { SERIES_WIDTH_NS = 100000000 };

int metrics_init(struct metrics *m, struct err *err)
{
    *m = (struct metrics){.series.width_ns = SERIES_WIDTH_NS};
    for (int i = 0; i < METRICS; i++)
        hdr_init(&m->h[i]);
    m->series.b = calloc(SERIES_MAX, sizeof *m->series.b);
    return m->series.b ? 0 : err_memory(err, "throughput in time");
}

void metrics_deinit(struct metrics *m)
{
    for (int i = 0; i < METRICS; i++)
        hdr_deinit(&m->h[i]);
    free(m->series.b);
    m->series.b = NULL;
}

/* Joins neighbouring buckets: each is twice as wide then. */
static void series_halve(struct load_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct series_bucket from = s->b[i], *to = &s->b[i / 2];
        if (i % 2 == 0)
            memset(to, 0, sizeof *to);
        to->sent += from.sent, to->completed += from.completed, to->failed += from.failed, to->good += from.good;
        to->tokens += from.tokens, to->chunks += from.chunks, to->in_flight_ns += from.in_flight_ns;
    }
    size_t n = (s->n + 1) / 2;
    memset(s->b + n, 0, (s->n - n) * sizeof *s->b);
    s->n = n;
    s->width_ns *= 2;
}

struct series_bucket *series_at(struct load_series *s, int64_t since_ns)
{
    if (since_ns < 0)
        since_ns = 0;
    while (since_ns / s->width_ns >= SERIES_MAX)
        series_halve(s);
    size_t i = (size_t)(since_ns / s->width_ns);
    if (i >= s->n)
        s->n = i + 1;
    return &s->b[i];
}

void series_in_flight(struct load_series *s, int64_t from_ns, int64_t to_ns)
{
    if (from_ns < 0)
        from_ns = 0;
    if (to_ns > from_ns)
        series_at(s, to_ns);
    while (from_ns < to_ns) {
        int64_t edge = (from_ns / s->width_ns + 1) * s->width_ns, until = edge < to_ns ? edge : to_ns;
        series_at(s, from_ns)->in_flight_ns += (uint64_t)(until - from_ns);
        from_ns = until;
    }
}

/* Adds the buckets of `from`. The wider width of the two remains. */
static void series_merge(struct load_series *into, const struct load_series *from)
{
    while (into->width_ns < from->width_ns)
        series_halve(into);
    int64_t step = into->width_ns / from->width_ns;
    for (size_t i = 0; i < from->n; i++) {
        const struct series_bucket *f = &from->b[i];
        struct series_bucket *t = series_at(into, (int64_t)i / step * into->width_ns);
        t->sent += f->sent, t->completed += f->completed, t->failed += f->failed, t->good += f->good;
        t->tokens += f->tokens, t->chunks += f->chunks, t->in_flight_ns += f->in_flight_ns;
    }
}

static int64_t earlier_time(int64_t a, int64_t b)
{
    return !a ? b : !b ? a : a < b ? a : b;
}

static int64_t later_time(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void metrics_merge(struct metrics *into, const struct metrics *from)
{
    for (int i = 0; i < METRICS; i++)
        hdr_merge(&into->h[i], &from->h[i]);
#define SUM(field) into->field += from->field;
    METRICS_SUMS(SUM)
#undef SUM
    into->itl_sum_ns += from->itl_sum_ns;
    into->itl_unknown_ns += from->itl_unknown_ns;
    into->cpu_s += from->cpu_s;
    for (int p = 0; p < PHASES; p++)
        for (int e = 0; e < ENDINGS; e++)
            into->ended[p][e] += from->ended[p][e];
    for (size_t i = 0; i < sizeof into->status / sizeof *into->status; i++)
        into->status[i] += from->status[i];
    for (int i = 0; i < TOKENS_SOURCES; i++) {
        into->input_source[i] += from->input_source[i];
        into->output_source[i] += from->output_source[i];
    }
    into->first_send_ns = earlier_time(into->first_send_ns, from->first_send_ns);
    into->last_end_ns = later_time(into->last_end_ns, from->last_end_ns);
    into->last_send_ns = later_time(into->last_send_ns, from->last_send_ns);
    into->window_begin_ns = earlier_time(into->window_begin_ns, from->window_begin_ns);
    into->window_end_ns = later_time(into->window_end_ns, from->window_end_ns);
    into->series_begin_ns = earlier_time(into->series_begin_ns, from->series_begin_ns);
    into->in_flight_max = into->in_flight_max > from->in_flight_max ? into->in_flight_max : from->in_flight_max;
    series_merge(&into->series, &from->series);
    for (int e = 0; e < ENDINGS; e++)
        if (!into->first_error[e][0])
            memcpy(into->first_error[e], from->first_error[e], sizeof from->first_error[e]);
}

/* Adds the difference of two times, if both happened. !known: it is a bound, as the first may be
 * from_early_ns earlier. */
static void metrics_add_span(struct metrics *m, enum metric which, int64_t from_ns, int64_t from_early_ns, int64_t to_ns, bool known)
{
    if (!from_ns || !to_ns)
        return;
    if (known)
        hdr_add(&m->h[which], to_ns - from_ns);
    else
        hdr_add_open(&m->h[which], to_ns - from_ns + from_early_ns, 1);
}

/* The same from a time of the client's own, which is exact. */
static void metrics_add_gap(struct metrics *m, enum metric which, int64_t from_ns, int64_t to_ns, bool known)
{
    metrics_add_span(m, which, from_ns, 0, to_ns, known);
}

/* Adds the tokens of a request and their rates. last: when the last token came. */
static void take_tokens(struct metrics *m, const struct request_result *r, int64_t last)
{
    m->input_tokens += r->input_tokens, m->output_tokens += r->output_tokens;
    m->cached_known += r->has_cached, m->cached_of += r->has_cached ? r->input_tokens : 0;
    m->cached_tokens += r->cached_tokens, m->reasoning_tokens += r->reasoning_tokens;
    m->input_source[r->input_source]++, m->output_source[r->output_source]++;
    if (r->input_source)
        hdr_add(&m->h[METRIC_INPUT], r->input_tokens);
    if (r->output_source)
        hdr_add(&m->h[METRIC_OUTPUT], r->output_tokens);
    int64_t paced = (int64_t)result_sent_tokens(r) - 1;
    if (paced > 0 && r->chunks > 1 && !r->several) {
        bool known = result_span_known(r);
        int64_t early = known ? 0 : r->first_early_ns; /* the first may have come earlier, and the span be longer */
        (known ? hdr_add_many : hdr_add_open)(&m->h[METRIC_TPOT], (last - r->first_ns + early) / paced, 1);
        if (!known)
            hdr_add_open(&m->h[METRIC_RATE_USER], INT64_MAX, 1);
        else if (last > r->first_ns)
            hdr_add(&m->h[METRIC_RATE_USER], (int64_t)((double)paced * 1e12 / (double)(last - r->first_ns)));
    }
    if (r->input_tokens && r->first_ns > r->sent_ns) {
        if (result_first_known(r))
            hdr_add(&m->h[METRIC_RATE_PREFILL], (int64_t)((double)r->input_tokens * 1e12 / (double)(r->first_ns - r->sent_ns)));
        else
            hdr_add_open(&m->h[METRIC_RATE_PREFILL], INT64_MAX, 1);
    }
}

/* Adds the times of a complete request to the histograms: known ones as values, the others as
 * bounds. */
static void take_times(struct metrics *m, const struct request_result *r)
{
    int64_t last = r->last_ns ? r->last_ns : r->end_ns;
    bool first_known = result_first_known(r), last_known = result_last_known(r);
    m->first_unknown += r->first_ns && !first_known;
    m->last_unknown += !last_known;
    metrics_add_gap(m, METRIC_TTFT, r->sent_ns, r->first_ns, first_known);
    metrics_add_gap(m, METRIC_TTFT_SCHED, r->scheduled_ns, r->first_ns, first_known);
    metrics_add_gap(m, METRIC_TTFO, r->sent_ns, r->first_output_ns, result_output_known(r));
    if (!r->several)
        metrics_add_span(m, METRIC_TTST, r->first_ns, r->first_early_ns, r->second_ns, result_second_known(r));
    metrics_add_gap(m, METRIC_E2EL, r->sent_ns, last, last_known);
    metrics_add_gap(m, METRIC_E2EL_SCHED, r->scheduled_ns, last, last_known);
    metrics_add_gap(m, METRIC_WAIT, r->sent_ns, r->first_byte_ns, lateness_known(r->byte_early_ns, r->first_byte_ns - r->sent_ns));
    metrics_add_span(m, METRIC_RECEIVE, r->first_byte_ns, r->byte_early_ns, r->end_ns,
                     lateness_known(r->byte_early_ns + r->last_early_ns, r->end_ns - r->first_byte_ns));
    if (r->chunks > 1)
        metrics_add_span(m, METRIC_DECODE, r->first_ns, r->first_early_ns, r->last_ns, result_span_known(r));
    take_tokens(m, r, last);
}

void metrics_take(struct metrics *m, const struct request_result *r)
{
    const struct ending_row *e = &ending_rows[r->ending];
    m->ended[r->phase][r->ending]++;
    m->reconnects += r->reconnects;
    if (r->error && !m->first_error[r->ending][0])
        strncpy(m->first_error[r->ending], r->error, sizeof m->first_error[0] - 1);
    if (r->phase != PHASE_MEASURE)
        return;
    if (r->status < sizeof m->status / sizeof *m->status)
        m->status[r->status]++;
    m->first_send_ns = earlier_time(m->first_send_ns, r->sent_ns);
    m->last_end_ns = later_time(m->last_end_ns, r->end_ns);
    metrics_add_gap(m, METRIC_LAG, r->scheduled_ns, r->sent_ns, true);
    m->late += r->sent_ns - r->scheduled_ns > LATENESS_LATE_NS;
    metrics_add_gap(m, METRIC_CONNECT, r->begin_ns, r->connected_ns, lateness_known(r->connect_early_ns, r->connected_ns - r->begin_ns));
    if (r->chunks > 1 && !r->several) { /* gaps were counted as they came, so their sum must know the same streams */
        m->itl_all += r->chunks - 1;
        m->itl_sum_ns += (double)(r->last_ns - r->first_ns);
        m->itl_unknown_ns += result_span_known(r) ? 0 : (double)(r->first_early_ns + r->last_early_ns);
    }
    if (e->failed || (r->ending != ENDING_OK && r->ending != ENDING_EMPTY))
        return;
    m->short_answers += r->short_answer;
    m->several += r->several, m->in_one_piece += r->in_one_piece;
    m->good += r->good, m->good_unknown += r->good_unknown;
    m->events += r->events, m->chunks += r->chunks, m->bytes += r->bytes;
    take_times(m, r);
}

uint64_t metrics_completed(const struct metrics *m)
{
    return m->ended[PHASE_MEASURE][ENDING_OK] + m->ended[PHASE_MEASURE][ENDING_EMPTY];
}

uint64_t metrics_failed(const struct metrics *m)
{
    uint64_t n = 0;
    for (int e = 0; e < ENDINGS; e++)
        n += ending_rows[e].failed ? m->ended[PHASE_MEASURE][e] : 0;
    return n;
}
