/* report_table.c: a run's result for people: the load, the answer, the latencies, and one hint. The
 * catalogue's rules read it. */
#include "benchmarks/native/llmload/report_parts.h"

#include "base/listing.h"
#include "base/stats.h"
#include "benchmarks/native/llmload/inputs.h"

#include <math.h>
#include <string.h>

/* The rows of the table: the catalogue's rules know them by these words. */
static const struct {
    const char *label;
    enum metric metric;
} shown[] = {{"first token", METRIC_TTFT},      {"first, scheduled", METRIC_TTFT_SCHED}, {"between tokens", METRIC_ITL},
             {"per output token", METRIC_TPOT}, {"whole request", METRIC_E2EL},          {"whole, scheduled", METRIC_E2EL_SCHED}};
enum { SHOWN = sizeof shown / sizeof *shown };

void report_figure(struct buf *to, double v)
{
    if (!isfinite(v)) {
        buf_putc(to, '-');
        return;
    }
    int decimals = v == (double)(int64_t)v ? 0 : 3 - (int)floor(log10(fabs(v)));
    buf_printf(to, "%.*f", decimals < 0 ? 0 : decimals > 6 ? 6 : decimals, v);
}

void report_cell(struct listing *l, double v)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 100);
    if (isfinite(v))
        report_figure(&text, v), listing_str(l, buf_text(&text));
    else
        listing_none(l);
}

/* Appends the rate that was scheduled, and, where it is another, the one of --rate. */
static void put_rate(const struct load *l, const struct outcome *o, struct buf *to)
{
    double asked = l->rate.n == 1 ? l->rate.piece[0].to : NAN;
    buf_printf(to, ", %s arrivals, %.4g requests/s", o->trace_kind ? o->trace_kind : arrivals_names[l->arrivals], o->offered_rate);
    if (fabs(o->offered_rate - asked) >= 0.0005 * asked)
        buf_printf(to, " (--rate %g)", asked);
}

static void put_table_head(const struct load_report *r, struct buf *to)
{
    const struct load *l = r->load;
    const struct outcome *o = r->outcome;
    buf_puts(to, "llmload: ");
    buf_plain(to, str_of(l->shown_url), 200);
    if (l->url_count > 1)
        buf_printf(to, " and %zu more", l->url_count - 1);
    if (l->dialect != DIALECT_CHAT)
        buf_printf(to, ", %s", dialects[l->dialect].name);
    if (l->model)
        buf_puts(to, ", model "), buf_plain(to, str_of(l->model), 100);
    if (!l->stream)
        buf_puts(to, ", not streamed");
    if (l->arrivals == ARRIVALS_CLOSED) {
        double streams = l->concurrency.piece[l->concurrency.n - 1].to;
        buf_printf(to, ", %g stream%s", streams, str_plural(streams));
    } else
        put_rate(l, o, to);
    if (l->requests)
        buf_printf(to, ", %llu request%s", (unsigned long long)l->requests, str_plural(l->requests));
    else if (l->duration_s > 0)
        buf_printf(to, ", %g s", l->duration_s);
    buf_puts(to, "\n\n");
}

/* Returns the message of the ending that most requests had, which *ret_ending is; -1: none was
 * sent. */
static const char *main_error(const struct metrics *m, int *ret_ending)
{
    int best = -1;
    for (int e = 0; e < ENDINGS; e++)
        if (e != ENDING_OK && m->ended[PHASE_MEASURE][e] && (best < 0 || m->ended[PHASE_MEASURE][e] > m->ended[PHASE_MEASURE][best]))
            best = e;
    *ret_ending = best;
    return best < 0 ? "none was sent" : m->first_error[best][0] ? m->first_error[best] : ending_rows[best].help;
}

static const char *hint_for(int ending)
{
    switch (ending) {
    case ENDING_REFUSED:
    case ENDING_CONNECT_TIMEOUT:
    case ENDING_DNS:
    case ENDING_HTTP_503: return "is the server up? --wait-ready 10m waits for it";
    case ENDING_HTTP_401: return "--key-env VARIABLE or --key-file FILE names the API key";
    case ENDING_HTTP_4XX:
    case ENDING_HTTP_OTHER:
    case ENDING_WRONG_TYPE:
    case ENDING_MALFORMED: return "does the server speak this API? --api lists others, --model NAME and --path PATH set the rest";
    case ENDING_TLS: return "--ca-file FILE names the certificates to trust";
    default: return "--records FILE writes every request with its reason";
    }
}

static void put_request_counts(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    uint64_t all = 0;
    for (int e = 0; e < ENDINGS; e++)
        all += m->ended[PHASE_MEASURE][e];
    buf_printf(to, "  %llu of %llu requests succeeded, %llu failed", (unsigned long long)d->completed, (unsigned long long)all,
               (unsigned long long)d->failed);
    if (isfinite(d->seconds))
        buf_puts(to, ", in "), report_figure(to, d->seconds), buf_puts(to, " s");
    buf_putc(to, '\n');
}

/* Appends the rate that was really sent, and all tokens of the completed requests. */
static void put_sent(const struct metrics *m, const struct report_derived *d, struct buf *to)
{
    bool mixed;
    buf_puts(to, "  ");
    report_figure(to, d->sent_rate);
    buf_puts(to, " requests/s sent");
    const char *before = "     ";
    if (report_source(m->input_source, &mixed))
        buf_printf(to, "%s%llu input tokens", before, (unsigned long long)m->input_tokens), before = ", ";
    if (report_source(m->output_source, &mixed))
        buf_printf(to, "%s%llu output tokens", before, (unsigned long long)m->output_tokens);
    buf_putc(to, '\n');
}

static void put_throughput(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct metrics *m = &r->outcome->m;
    bool mixed;
    buf_puts(to, "  ");
    report_figure(to, report_per_second(d, (double)d->completed));
    buf_puts(to, " requests/s");
    if (report_source(m->output_source, &mixed)) {
        buf_puts(to, "     ");
        report_figure(to, report_per_second(d, (double)m->output_tokens));
        buf_puts(to, " output tokens/s");
    }
    buf_putc(to, '\n');
    put_sent(m, d, to);
    if (d->has_objectives) {
        buf_puts(to, "  ");
        report_figure(to, report_per_second(d, (double)m->good));
        buf_printf(to, " requests/s met every objective: %llu requests, %.4g %%, %llu unknown\n", (unsigned long long)m->good,
                   100 * d->good_share, (unsigned long long)m->good_unknown);
    }
}

/* Adds a cell of six characters at most up to 1000 s, so that the table fits in 60 columns: the
 * rules of the catalogue read every row. */
static void latency_cell(struct listing *l, double ms)
{
    enum { TENTHS_US = 10000 };
    report_cell(l, ms < 0.1 ? round(ms * TENTHS_US) / TENTHS_US : ms);
}

/* The cells of a row that are "-", each a bit: mean, the percentiles, maximum. */
enum { ROW_CELLS = REPORT_TABLE_POINTS + 2 };
struct row_gaps {
    unsigned few; /* there are too few values */
    unsigned open; /* times that are not known may change it */
};

/* Returns which cells of the metric's row are "-", and why. */
static struct row_gaps find_row_gaps(const struct metrics *m, enum metric metric)
{
    const struct hdr *h = &m->h[metric];
    struct row_gaps gaps = {.open = (unsigned)!isfinite(report_mean(m, (int)metric)) | (unsigned)!isfinite(hdr_max(h)) << (ROW_CELLS - 1)};
    for (unsigned k = 0; k < REPORT_TABLE_POINTS; k++) {
        double p = report_points[k].p;
        gaps.few |= (unsigned)(h->n < stats_quantile_needs(p)) << (k + 1);
        gaps.open |= (unsigned)(h->n >= stats_quantile_needs(p) && hdr_may_be_open(h, p)) << (k + 1);
    }
    return gaps;
}

static bool row_is_shown(const struct hdr *h)
{
    return h->n || h->open;
}

/* Appends "mean, p90 and max", the names of the cells whose bits are set. */
static void put_cell_names(unsigned cells, struct buf *to)
{
    const char *before = "";
    for (unsigned c = 0; c < ROW_CELLS; c++) {
        if (!(cells >> c & 1))
            continue;
        buf_printf(to, "%s%s", before, c == 0 ? "mean" : c == ROW_CELLS - 1 ? "max" : report_points[c - 1].name);
        before = (cells >> c >> 1) & ((cells >> c >> 1) - 1) ? ", " : " and ";
    }
}

/* Returns whether two rows lack the same cells because of as many times. */
static bool rows_lack_the_same(const struct metrics *m, enum metric a, enum metric b)
{
    struct row_gaps x = find_row_gaps(m, a), y = find_row_gaps(m, b);
    return m->h[a].n == m->h[b].n && m->h[a].open == m->h[b].open && x.few == y.few && x.open == y.open;
}

/* Appends a line of the explanation of "-", its first line behind a blank one. */
static void put_note(const struct screen *screen, const struct buf *note, bool is_first, struct buf *to)
{
    buf_puts(to, is_first ? "\n  " : "  ");
    screen_wrap(screen, buf_text(note), 2, 6, to);
    buf_putc(to, '\n');
}

/* Appends why cells are "-": which percentiles need more values, then, for the rows that lack times,
 * how many and which cells may depend on them. Nothing where no cell is "-". */
static void put_missing_reasons(const struct metrics *m, const struct screen *screen, struct buf *to)
{
    struct buf line CLEANUP_BUF;
    unsigned few = 0;
    bool is_first = true, is_few_open = false;
    buf_init(&line, 2400);
    for (int i = 0; i < SHOWN; i++) {
        const struct hdr *h = &m->h[shown[i].metric];
        unsigned row_few = row_is_shown(h) ? find_row_gaps(m, shown[i].metric).few : 0;
        few |= row_few;
        is_few_open |= row_few && h->open;
    }
    for (int k = 0; k < REPORT_TABLE_POINTS; k++)
        if (few >> (k + 1) & 1)
            buf_printf(&line, "%s%s needs %llu values", line.n ? ", " : "- : ", report_points[k].name,
                       (unsigned long long)stats_quantile_needs(report_points[k].p));
    if (line.n) {
        buf_puts(&line, is_few_open ? "; times that are not known do not count" : "");
        put_note(screen, &line, is_first, to);
        is_first = false;
    }
    for (int i = 0; i < SHOWN; i++) {
        const struct hdr *h = &m->h[shown[i].metric];
        struct row_gaps gaps = find_row_gaps(m, shown[i].metric);
        if (!h->open || !(gaps.few | gaps.open))
            continue;
        buf_clear(&line);
        buf_printf(&line, "- : \"%s\"", shown[i].label);
        for (; i + 1 < SHOWN && rows_lack_the_same(m, shown[i].metric, shown[i + 1].metric); i++)
            buf_printf(&line, ", \"%s\"", shown[i + 1].label);
        buf_printf(&line, ": %llu of %llu times are not known", (unsigned long long)h->open, (unsigned long long)(h->n + h->open));
        if (shown[i].metric == METRIC_ITL)
            buf_printf(&line, " (%llu because of late reads)", (unsigned long long)m->itl_late);
        if (gaps.open)
            buf_puts(&line, ", and "), put_cell_names(gaps.open, &line), buf_puts(&line, " may depend on them");
        put_note(screen, &line, is_first, to);
        is_first = false;
    }
}

/* Appends the latencies, the share of prompts that the server had in its cache, and the reason of
 * each "-". */
static void put_latencies(const struct metrics *m, const struct report_derived *d, const struct screen *screen, struct buf *to)
{
    static const struct listing_column columns[] = {
        {.key = "what", .heading = "latency, ms", .whole = true}, {.key = "mean", .heading = "mean", .right = true},
        {.key = "p50", .heading = "p50", .right = true},          {.key = "p90", .heading = "p90", .right = true},
        {.key = "p95", .heading = "p95", .right = true},          {.key = "p99", .heading = "p99", .right = true},
        {.key = "max", .heading = "max", .right = true}};
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    l.indent = 2;
    for (int i = 0; i < SHOWN; i++) {
        const struct hdr *h = &m->h[shown[i].metric];
        double scale = metric_rows[shown[i].metric].scale;
        if (!row_is_shown(h))
            continue;
        listing_text(&l, shown[i].label);
        latency_cell(&l, report_mean(m, (int)shown[i].metric));
        for (int k = 0; k < REPORT_TABLE_POINTS; k++) {
            double p = report_points[k].p;
            latency_cell(&l, hdr_states(h, p) ? hdr_quantile(h, p) / scale : NAN);
        }
        latency_cell(&l, hdr_max(h) / scale);
    }
    if (listing_rows(&l))
        buf_putc(to, '\n');
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    if (m->cached_known)
        buf_printf(to, "\n  first token: %.3g %% of the prompt tokens came from the server's cache\n", 100 * d->cached_share);
    put_missing_reasons(m, screen, to);
    listing_deinit(&l);
    arena_deinit(&arena);
}

/* "  ! WARNING" for each line, broken at the screen's width. */
static void put_table_warnings(const struct load_report *r, const struct report_derived *d, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf warnings;
    buf_init(&warnings, REPORT_WARNINGS_MAX);
    report_warnings(r, d, &warnings);
    struct str rest = buf_text(&warnings);
    buf_puts(to, rest.n ? "\n" : "");
    report_warning_lines(screen, rest, to);
    to->failed |= warnings.failed;
}

static void put_table_input(void *context, const char *option, const char *hash)
{
    buf_printf(context, "  %-13s %s\n", option, hash);
}

/* Appends the files that describe the load, with their hashes. The rules of the catalogue read
 * these lines, so they are never broken. */
static void put_table_inputs(const struct load_report *r, struct buf *to)
{
    struct buf lines CLEANUP_BUF;
    buf_init(&lines, 4096);
    inputs_each(r->load->inputs, put_table_input, &lines);
    if (!lines.n)
        return;
    buf_puts(to, "\n  Input files by SHA-256");
    if (r->prompts->rows)
        buf_printf(to, "; the data set has %zu row%s", r->prompts->rows, str_plural(r->prompts->rows));
    buf_putc(to, '\n');
    buf_str(to, buf_text(&lines));
}

/* Appends why nothing was measured, and what to do. */
static void put_failure(const struct load_report *r, const struct report_derived *d, const struct screen *screen, struct buf *to)
{
    int ending;
    struct buf b CLEANUP_BUF;
    const char *why = main_error(&r->outcome->m, &ending);
    buf_init(&b, 4096);
    buf_puts(&b, "llmload: no request succeeded: ");
    buf_plain(&b, str_of(r->load->shown_url), 200);
    buf_puts(&b, ": ");
    buf_plain(&b, str_of(r->outcome->trouble[0] && ending < 0 ? r->outcome->trouble : why), 300);
    screen_wrap(screen, buf_text(&b), 0, 2, to);
    buf_putc(to, '\n');
    put_request_counts(r, d, to);
    if (r->outcome->why_early)
        buf_printf(to, "  ! ended early: %s\n", r->outcome->why_early);
    buf_printf(to, "hint: %s\n", hint_for(ending));
}

void report_table(const struct load_report *r, struct report_wish wish, const struct screen *screen, struct buf *to)
{
    static const char hint[] = "hint: --details for all metrics with intervals, --define for their definitions";
    struct report_derived d;
    report_derive(&d, r);
    if (!d.completed)
        put_failure(r, &d, screen, to);
    else {
        put_table_head(r, to);
        put_request_counts(r, &d, to);
        put_throughput(r, &d, to);
        put_latencies(&r->outcome->m, &d, screen, to);
        put_table_inputs(r, to);
        put_table_warnings(r, &d, screen, to);
    }
    if (wish.details)
        report_details(r, &d, screen, to);
    if (wish.define)
        report_definitions(screen, to);
    if (d.completed && !wish.details)
        buf_putc(to, '\n'), screen_wrap(screen, str_of(hint), 0, 6, to), buf_putc(to, '\n');
}
