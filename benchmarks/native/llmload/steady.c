/* steady.c: the part of a run in which the load was steady; see steady.h. */
#include "benchmarks/native/llmload/steady.h"

#include "base/stats.h"

#include <math.h>

static double in_flight(const struct load_series *s, size_t i)
{
    return (double)s->b[i].in_flight_ns / (double)s->width_ns;
}

/* True if the bucket is completely in the measured window. Warm-up and cool-down may be just as
 * full, but are no part of the result. */
static bool bucket_is_measured(const struct metrics *m, size_t i)
{
    int64_t from = m->series_begin_ns + (int64_t)i * m->series.width_ns;
    return from >= m->window_begin_ns && (!m->window_end_ns || from + m->series.width_ns <= m->window_end_ns);
}

bool steady_find(struct steady *ret, const struct load *load, const struct outcome *o)
{
    const struct load_series *s = &o->m.series;
    double full = 0, width = (double)s->width_ns / 1e9;
    if (load->arrivals == ARRIVALS_CLOSED && load->concurrency.n == 1 && load->turns <= 1)
        full = load->concurrency.piece[0].to;
    else
        for (size_t i = 0; i < s->n; i++)
            full = fmax(full, in_flight(s, i));
    size_t best = 0, length = 0;
    for (size_t i = 0, from = 0; i < s->n && full > 0; i++) {
        if (!bucket_is_measured(&o->m, i) || in_flight(s, i) < 0.95 * full)
            from = i + 1;
        else if (i + 1 - from > length)
            best = from, length = i + 1 - from;
    }
    if (!length)
        return false;
    double requests = 0, tokens = 0, flying = 0;
    for (size_t i = best; i < best + length; i++)
        requests += s->b[i].completed, tokens += (double)s->b[i].tokens, flying += in_flight(s, i);
    double seconds = (double)length * width;
    *ret = (struct steady){(double)best * width,    (double)(best + length) * width,     full, requests / seconds, tokens / seconds,
                           flying / (double)length, seconds >= fmax(10, 0.1 * o->wall_s)};
    return true;
}

static double bucket_count(const struct series_bucket *b, enum steady_rate which)
{
    return which == STEADY_REQUESTS ? b->completed : which == STEADY_GOOD ? b->good : (double)b->tokens;
}

double steady_uncertainty(const struct outcome *o, enum steady_rate which)
{
    enum { TENTHS = 10 };
    const struct metrics *m = &o->m;
    const struct load_series *s = &m->series;
    int64_t begin = m->window_begin_ns > m->first_send_ns ? m->window_begin_ns : m->first_send_ns;
    int64_t end = m->window_end_ns && m->window_end_ns < m->last_end_ns ? m->window_end_ns : m->last_end_ns;
    int64_t first = (begin - m->series_begin_ns + s->width_ns - 1) / s->width_ns, last = (end - m->series_begin_ns) / s->width_ns;
    double sums[TENTHS] = {0};
    struct stats stats;
    size_t size = last > first ? (size_t)(last - first) / TENTHS : 0;
    for (size_t i = 0; i < TENTHS * size && (size_t)first + i < s->n; i++)
        sums[i / size] += bucket_count(&s->b[(size_t)first + i], which);
    if (!size)
        return NAN;
    stats_of(sums, TENTHS, &stats);
    return stats.mean > 0 ? (stats.ci_high - stats.mean) / stats.mean : NAN;
}

double steady_peak_tokens(const struct outcome *o)
{
    enum { SECOND_NS = 1000000000 };
    const struct load_series *s = &o->m.series;
    const size_t per_second = s->width_ns < SECOND_NS ? (size_t)(SECOND_NS / s->width_ns) : 1;
    double best = 0;
    if (o->m.last_end_ns - o->m.first_send_ns < SECOND_NS)
        return NAN;
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (size_t k = i; k < i + per_second && k < s->n; k++)
            sum += (double)s->b[k].tokens;
        best = fmax(best, sum);
    }
    return best * 1e9 / (double)(s->width_ns * (int64_t)per_second);
}
