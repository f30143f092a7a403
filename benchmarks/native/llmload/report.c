/* report.c: what the reports share: metrics derived from a run, its exit status. */
#include "benchmarks/native/llmload/report_parts.h"

#include "base/stats.h"

#include <math.h>

const struct report_point report_points[REPORT_POINTS] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};
const char report_percentile_definition[] =
    "p-th of n values: the value of rank ceil(p n), to 0.05 %; its 95 % interval: values of the ranks that the binomial distribution allows. "
    "It is missing where there are too few values: at least two must be beyond it with 99 % certainty (p90 needs 64 values, p95 130, p99 662, p99.9 6636)";

void report_derive(struct report_derived *ret, const struct load_report *r)
{
    const struct outcome *o = r->outcome;
    const struct metrics *m = &o->m;
    double seconds = m->first_send_ns && m->last_end_ns > m->first_send_ns ? (double)(m->last_end_ns - m->first_send_ns) / 1e9 : NAN;
    double window = m->window_end_ns ? (double)(m->window_end_ns - m->window_begin_ns) / 1e9 : NAN;
    if (o->why_early && m->window_end_ns && o->wall_s < (double)(m->window_end_ns - o->begin_ns) / 1e9)
        window = o->wall_s - (double)(m->window_begin_ns - o->begin_ns) / 1e9;
    double flown_s = window > 0 ? window : seconds;
    *ret = (struct report_derived){
        .seconds = seconds,
        .has_rates = stats_has_rate((double)metrics_completed(m), seconds),
        .window_s = window,
        .completed = metrics_completed(m),
        .failed = metrics_failed(m),
        .cancelled = m->ended[PHASE_MEASURE][ENDING_CANCELLED],
        .unfinished = m->ended[PHASE_MEASURE][ENDING_UNFINISHED],
        .concurrency = m->window_in_flight_ns && flown_s > 0 ? (double)m->window_in_flight_ns / 1e9 / flown_s : NAN,
        .peak_tokens = steady_peak_tokens(o),
        .cpu_us_per_event = m->events_all ? o->m.cpu_s * 1e6 / (double)m->events_all : NAN,
        .reads_per_event = m->events_all ? (double)m->reads_all / (double)m->events_all : NAN,
    };
    ret->due = (double)(ret->completed + ret->failed + ret->unfinished + m->dropped);
    ret->good_share = ret->due > 0 ? (double)m->good / ret->due : NAN;
    double sending_s = window > 0 ? window : (double)(m->last_send_ns - m->first_send_ns) / 1e9;
    ret->sent_rate = m->sent > 1 && stats_has_rate((double)m->sent, sending_s) ? ((double)m->sent - !(window > 0)) / sending_s : NAN;
    ret->cached_share = m->cached_known ? (double)m->cached_tokens / (double)(m->cached_of ? m->cached_of : 1) : NAN;
    ret->surplus = o->expected > 0 ? o->arrivals / o->expected - 1 : NAN;
    report_client(&ret->client, o);
    ret->has_steady = steady_find(&ret->steady, r->load, o);
    ret->has_objectives =
        r->load->objectives.ttft_ns || r->load->objectives.itl_ns || r->load->objectives.tpot_ns || r->load->objectives.e2el_ns;
}

void report_window_ns(const struct outcome *o, const struct report_derived *d, double *ret_from_ns, double *ret_to_ns)
{
    bool timed = d->window_s > 0;
    *ret_from_ns = (double)(timed ? o->m.window_begin_ns : o->m.first_send_ns);
    *ret_to_ns = timed ? (double)o->m.window_begin_ns + d->window_s * 1e9 : (double)o->m.last_end_ns;
}

double report_per_second(const struct report_derived *d, double count)
{
    return d->has_rates ? count / d->seconds : NAN;
}

double report_mean(const struct metrics *m, int metric)
{
    const double allowed = 0.01;
    double scale = metric_rows[metric].scale;
    if (metric != METRIC_ITL || !m->itl_all)
        return hdr_mean(&m->h[metric]) / scale;
    return m->itl_unknown_ns <= allowed * m->itl_sum_ns ? m->itl_sum_ns / (double)m->itl_all / scale : NAN;
}

enum token_source report_source(const uint64_t counts[TOKENS_SOURCES], bool *ret_mixed)
{
    int best = TOKENS_UNKNOWN;
    unsigned kinds = 0;
    for (int i = 0; i < TOKENS_SOURCES; i++) {
        kinds += counts[i] > 0;
        if (counts[i] > counts[best])
            best = i;
    }
    *ret_mixed = kinds > 1;
    return (enum token_source)best;
}

int report_status(const struct outcome *o)
{
    if (o->signal)
        return 128 + o->signal;
    if (o->incomplete)
        return 1;
    return metrics_completed(&o->m) && o->m.ended[PHASE_MEASURE][ENDING_OK] ? 0 : 1;
}
