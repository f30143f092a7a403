/* report_details.c: what --details and --define add to the result for people: counts, every metric
 * with its interval, the client, definitions. */
#include "benchmarks/native/llmload/report_parts.h"

#include "base/listing.h"

#include <math.h>

static void put_detail_line(struct buf *to, const char *what, double v, const char *unit)
{
    buf_printf(to, "  %-22s ", what);
    report_figure(to, v);
    buf_printf(to, "%s%s\n", *unit ? " " : "", unit);
}

/* Lines that begin with two blanks, broken at the screen's width. */
static void put_wrapped_lines(const struct screen *screen, struct str lines, struct buf *to)
{
    while (lines.n) {
        screen_wrap(screen, str_cut(&lines, '\n'), 0, 4, to);
        buf_putc(to, '\n');
    }
}

static void put_token_details(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    bool in_mixed, out_mixed;
    enum token_source in = report_source(m->input_source, &in_mixed), out = report_source(m->output_source, &out_mixed);
    buf_printf(to, "  %-22s %llu (counted by: %s%s)\n", "input tokens", (unsigned long long)m->input_tokens, token_source_names[in],
               in_mixed ? ", mixed" : "");
    if (m->cached_known)
        buf_printf(to, "  %-22s %llu of %llu\n", "from the cache", (unsigned long long)m->cached_tokens, (unsigned long long)m->cached_of);
    buf_printf(to, "  %-22s %llu (counted by: %s%s)\n", "output tokens", (unsigned long long)m->output_tokens, token_source_names[out],
               out_mixed ? ", mixed" : "");
    if (in && out)
        put_detail_line(to, "all tokens", report_per_second(d, (double)(m->input_tokens + m->output_tokens)), "tokens/s");
}

static void put_load_details(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    buf_printf(to, "  %-22s %.12s\n", "schedule", r->outcome->schedule_hash);
    put_detail_line(to, "really sent", d->sent_rate, "requests/s");
    put_detail_line(to, "requests at a time", d->concurrency, "on average");
    put_detail_line(to, "", (double)m->in_flight_max, "at most, in the whole run");
    if (r->load->arrivals != ARRIVALS_CLOSED) {
        put_detail_line(to, "arrivals scheduled", (double)m->scheduled, "");
        if (isfinite(d->surplus))
            put_detail_line(to, "surplus", 100 * d->surplus, "% of the arrivals that the rate requires");
        put_detail_line(to, "late", (double)m->late, "sent more than 10 ms behind the schedule");
    }
    if (m->reconnects)
        put_detail_line(to, "reconnects", (double)m->reconnects, "the server had closed a kept connection; the request was sent again");
    if (d->has_steady)
        buf_printf(to, "  %-22s %.1f s to %.1f s: %.4g requests/s, %.4g tokens/s%s\n", "steady state", d->steady.from_s, d->steady.to_s,
                   d->steady.requests_per_s, d->steady.tokens_per_s, d->steady.enough ? "" : " (short)");
}

/* The highest percentile that has an interval: "p95", "6.756 … 12.70". */
static void put_interval(const struct hdr *h, double scale, struct listing *l)
{
    double low, high;
    for (int k = REPORT_POINTS; k-- > 0;) {
        double p = report_points[k].p;
        if (!hdr_states(h, p) || !hdr_interval(h, p, &low, &high))
            continue;
        struct buf text CLEANUP_BUF;
        buf_init(&text, 200);
        report_figure(&text, low / scale);
        buf_puts(&text, " … ");
        report_figure(&text, high / scale);
        listing_text(l, report_points[k].name);
        report_cell(l, hdr_quantile(h, p) / scale);
        listing_str(l, buf_text(&text));
        return;
    }
    listing_none(l), listing_none(l), listing_none(l);
}

static void put_metric_details(const struct load_report *r, const struct screen *screen, struct buf *to)
{
    static const struct listing_column columns[] = {{.key = "metric", .heading = "metric", .whole = true},
                                                    {.key = "unit", .heading = "", .whole = true},
                                                    {.key = "n", .heading = "n", .right = true, .drop = 2},
                                                    {.key = "mean", .heading = "mean", .right = true},
                                                    {.key = "p50", .heading = "p50", .right = true},
                                                    {.key = "max", .heading = "max", .right = true, .drop = 1},
                                                    {.key = "highest", .heading = "highest", .right = true},
                                                    {.key = "value", .heading = "", .right = true},
                                                    {.key = "interval", .heading = "95 % interval", .drop = 3, .whole = true}};
    const struct metrics *m = &r->outcome->m;
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    l.indent = 2;
    for (int i = 0; i < METRICS; i++) {
        const struct hdr *h = &m->h[i];
        double scale = metric_rows[i].scale;
        if (!h->n)
            continue;
        listing_text(&l, metric_rows[i].key);
        listing_text(&l, metric_rows[i].unit[0] == 't' ? "t/s" : metric_rows[i].unit);
        report_cell(&l, (double)h->n);
        report_cell(&l, report_mean(m, i));
        report_cell(&l, hdr_states(h, 0.5) ? hdr_quantile(h, 0.5) / scale : NAN);
        report_cell(&l, hdr_max(h) / scale);
        put_interval(h, scale, &l);
    }
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    listing_deinit(&l);
    arena_deinit(&arena);
    if (m->itl_shared) {
        CLEANUP_BUF struct buf gaps;
        buf_init(&gaps, 400);
        buf_printf(&gaps, "  %llu of %llu gaps have no exact length (%llu because of late reads), and are left out of itl's percentiles",
                   (unsigned long long)m->itl_shared, (unsigned long long)m->itl_all, (unsigned long long)m->itl_late);
        put_wrapped_lines(screen, buf_text(&gaps), to);
    }
}

static void put_client_details(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct outcome *o = r->outcome;
    buf_printf(to, "  client: %u threads, arrivals by %s\n  %.2f s of processor time (%.1f %% of its threads)", o->threads,
               o->kernel_stamps ? "kernel receive stamps" : "the time after the read", o->m.cpu_s,
               o->wall_s > 0 ? 100 * o->m.cpu_s / o->wall_s / o->threads : 0);
    if (isfinite(d->cpu_us_per_event))
        buf_printf(to, ", %.2f us per event", d->cpu_us_per_event);
    if (o->steal_percent >= 0)
        buf_printf(to, ", steal %.1f %%", o->steal_percent);
    buf_putc(to, '\n');
}

void report_details(const struct load_report *r, const struct report_derived *d, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf lines;
    buf_init(&lines, 1 << 16);
    put_token_details(r, d, &lines);
    put_load_details(r, d, &lines);
    put_client_details(r, d, &lines);
    buf_puts(to, "\nDetails\n");
    put_wrapped_lines(screen, buf_text(&lines), to);
    to->failed |= lines.failed;
    if (d->completed) {
        buf_putc(to, '\n');
        put_metric_details(r, screen, to);
    }
}

void report_definitions(const struct screen *screen, struct buf *to)
{
    enum { LEFT = 24 };
    buf_puts(to, "\nDefinitions\n");
    for (int i = 0; i < METRICS; i++) {
        buf_printf(to, "  %-*s", LEFT - 2, metric_rows[i].key);
        screen_wrap(screen, str_of(metric_rows[i].definition), LEFT, LEFT, to);
        buf_putc(to, '\n');
    }
    buf_printf(to, "  %-*s", LEFT - 2, "percentiles");
    screen_wrap(screen, str_of(report_percentile_definition), LEFT, LEFT, to);
    buf_putc(to, '\n');
}
