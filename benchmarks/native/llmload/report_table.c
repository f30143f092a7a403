/* report_table.c: a run's result for people: what was asked, what came, and what each figure means. */
#include "benchmarks/native/llmload/report_parts.h"

#include <math.h>

static void figure(struct buf *to, double v)
{
    if (!isfinite(v))
        buf_printf(to, " %11s", "-");
    else if (v == (double)(int64_t)v)
        buf_printf(to, " %11lld", (long long)v);
    else
        buf_printf(to, " %11.*f", v != 0 && fabs(v) < 10 ? 3 : fabs(v) < 1000 ? 2 : 0, v);
}

static void line(struct buf *to, const char *what, double v, const char *unit)
{
    buf_printf(to, "%-34s", what);
    figure(to, v);
    buf_printf(to, " %s\n", unit);
}

static void put_head(const struct report *r, const struct derived *d, struct buf *to)
{
    const struct load *l = r->load;
    const struct outcome *o = r->outcome;
    buf_puts(to, "llmload ");
    buf_plain(to, str_of(l->shown_url), 200);
    if (l->url_count > 1)
        buf_printf(to, " and %zu more", l->url_count - 1);
    buf_printf(to, "  %s%s", dialects[l->dialect].name, l->stream ? "" : ", not streamed");
    if (l->model)
        buf_puts(to, "  model "), buf_plain(to, str_of(l->model), 100);
    buf_putc(to, '\n');
    if (l->arrivals == ARRIVALS_CLOSED)
        buf_printf(to, "closed loop, %g streams", l->concurrency.piece[l->concurrency.n - 1].to);
    else
        buf_printf(to, "open loop, %s, %.6g requests/s offered", o->trace_kind ? o->trace_kind : arrivals_names[l->arrivals],
                   o->offered_rate);
    buf_printf(to, ", schedule %.12s\n\n", o->schedule_hash);
    if (o->why_early)
        buf_printf(to, "ENDED EARLY: %s. What follows is what was measured until then.\n", o->why_early);
    if (!d->completed)
        buf_puts(to, "NO REQUEST SUCCEEDED: this run measured nothing.\n");
    if (o->steal_percent > 1)
        buf_printf(to, "WARNING: the hypervisor kept %.1f %% of this machine's time during the run; times are not to be trusted.\n",
                   o->steal_percent);
    if (o->trouble[0])
        buf_puts(to, "WARNING: "), buf_plain(to, str_of(o->trouble), 300), buf_putc(to, '\n');
}

static void put_counts(const struct report *r, const struct derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    line(to, "requests completed", (double)d->completed, "");
    line(to, "requests failed", (double)d->failed, "");
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_MEASURE][e] && e != ENDING_OK) {
            buf_printf(to, "  %-32s %10llu  %s", ending_rows[e].name, (unsigned long long)m->ended[PHASE_MEASURE][e], ending_rows[e].help);
            if (m->first_error[e][0]) /* printable already */
                buf_puts(to, "; first: "), buf_plain(to, str_of(m->first_error[e]), 160);
            buf_putc(to, '\n');
        }
    if (m->short_answers)
        line(to, "short answers", (double)m->short_answers, "fewer tokens than were forced");
    if (r->load->arrivals != ARRIVALS_CLOSED) {
        line(to, "arrivals scheduled", (double)m->scheduled, "");
        line(to, "  dropped", (double)m->dropped, "never sent");
        line(to, "  late", (double)m->late, "sent more than 10 ms behind the schedule");
    }
    if (m->reconnects)
        line(to, "reconnects", (double)m->reconnects, "a kept connection had been closed; the request was sent again");
}

static void put_throughput(const struct report *r, const struct derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    bool in_mixed, out_mixed;
    enum token_source in = report_source(m->input_source, &in_mixed), out = report_source(m->output_source, &out_mixed);
    line(to, "duration", d->seconds, "s, first actual send to last completion");
    line(to, "request throughput", report_per_second((double)d->completed, d->seconds), "requests/s over that");
    if (out)
        line(to, "output throughput", report_per_second((double)m->output_tokens, d->seconds), "tokens/s over that");
    if (in && out)
        line(to, "total token throughput", report_per_second((double)(m->input_tokens + m->output_tokens), d->seconds),
             "tokens/s over that");
    buf_printf(to, "%-34s %10llu input (%s%s), %llu output (%s%s)\n", "tokens", (unsigned long long)m->input_tokens, token_source_names[in],
               in_mixed ? ", mixed" : "", (unsigned long long)m->output_tokens, token_source_names[out], out_mixed ? ", mixed" : "");
    line(to, "concurrency, mean", d->concurrency, "in the window");
    line(to, "concurrency, peak", (double)m->in_flight_max, "in the whole run");
    if (d->has_steady) {
        buf_printf(to, "%-34s %10.1f s to %.1f s (>= 95 %% of %.4g in flight): %.6g requests/s, %.6g tokens/s%s\n", "steady state",
                   d->steady.from_s, d->steady.to_s, d->steady.reference, d->steady.requests_per_s, d->steady.tokens_per_s,
                   d->steady.enough ? "" : " (short: under 10 s or a tenth of the run)");
    }
    if (d->has_objectives) {
        buf_printf(to, "%-34s", "goodput");
        figure(to, report_per_second((double)m->good, d->seconds));
        buf_printf(to, " requests/s met every objective: %llu requests, %.4g %% of all, failed, unfinished and dropped ones counted in\n",
                   (unsigned long long)m->good, 100 * d->good_share);
    }
}

static void put_metric(const struct metrics *m, int which, struct buf *to)
{
    const struct hdr *h = &m->h[which];
    const struct metric_row *row = &metric_rows[which];
    double low, high;
    if (!h->n)
        return;
    buf_printf(to, "%-22s %-3s", row->key, *row->unit == 't' ? "t/s" : row->unit);
    figure(to, report_mean(m, which));
    for (int k = 0; k < REPORT_POINTS; k++) {
        double p = report_points[k].p;
        if (h->n < hdr_least(p))
            buf_printf(to, " %11s", "n too small");
        else
            figure(to, hdr_quantile(h, p) / row->scale);
    }
    figure(to, (double)h->max / row->scale);
    buf_printf(to, " %10llu", (unsigned long long)h->n);
    for (int k = REPORT_POINTS; k-- > 0;) {
        double p = report_points[k].p;
        if (p < 0.9991 && p > 0.5 && h->n >= hdr_least(p) && hdr_interval(h, p, &low, &high)) {
            buf_printf(to, "  %s %.4g..%.4g", report_points[k].name, low / row->scale, high / row->scale);
            break;
        }
    }
    buf_putc(to, '\n');
}

static void put_metrics(const struct report *r, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    buf_printf(to, "\n%-26s %11s", "", "mean");
    for (int k = 0; k < REPORT_POINTS; k++)
        buf_printf(to, " %11s", report_points[k].name);
    buf_printf(to, " %11s %10s  95 %% interval\n", "max", "n");
    for (int i = 0; i < METRICS; i++)
        put_metric(m, i, to);
    if (m->itl_shared)
        buf_printf(to,
                   "%llu of %llu gaps between chunks share a stamp with another event (%.1f %%) and are left out of itl's percentiles.\n",
                   (unsigned long long)m->itl_shared, (unsigned long long)m->itl_all, 100 * (double)m->itl_shared / (double)m->itl_all);
    buf_puts(to, "\nWhat these are:\n");
    for (int i = 0; i < METRICS; i++)
        if (m->h[i].n)
            buf_printf(to, "  %-22s %s\n", metric_rows[i].key, metric_rows[i].definition);
    buf_printf(to, "  %-22s %s\n", "percentiles", report_percentile_definition);
}

static void put_client(const struct report *r, const struct derived *d, struct buf *to)
{
    const struct outcome *o = r->outcome;
    buf_printf(to, "\nclient: %u threads, arrivals by %s, %.2f s CPU (%.1f %% of its threads)", o->threads,
               o->kernel_stamps ? "kernel receive stamps" : "the time after the read", o->m.cpu_s,
               o->wall_s > 0 ? 100 * o->m.cpu_s / o->wall_s / o->threads : 0);
    if (isfinite(d->cpu_us_per_event))
        buf_printf(to, ", %.2f us per event", d->cpu_us_per_event);
    if (o->steal_percent >= 0)
        buf_printf(to, "; hypervisor steal %.1f %%", o->steal_percent);
    buf_putc(to, '\n');
}

void report_table(const struct report *r, struct buf *to)
{
    struct derived d;
    report_derive(&d, r);
    put_head(r, &d, to);
    put_counts(r, &d, to);
    put_throughput(r, &d, to);
    put_metrics(r, to);
    put_client(r, &d, to);
}
