/* series_stats.c: statistics over the repetitions of a series: from its notes to metrics, a table and a verdict. */
#include "wrapper/series_stats.h"

#include "base/fs.h"
#include "cmd/listing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_BYTES = 64 << 20, TABLE_BYTES = 16 << 20 };
static const char POINTS_CSV[] = "points.csv";

/* ---- figures ---- */

static const struct series_value *value_of(const struct series_run *run, const char *key)
{
    for (const struct series_value *v = run->values; v; v = v->next)
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

static struct series_figure *figure_of(struct series_figure *list, const char *key)
{
    for (; list; list = list->next)
        if (strcmp(list->key, key) == 0)
            return list;
    return NULL;
}

static void calculate(struct series_figure *f, const struct series_notes *n, double *room)
{
    size_t count = 0;
    for (const struct series_run *run = n->first; run; run = run->next) {
        const struct series_value *v = run->point == f->point && series_counts(run) ? value_of(run, f->key) : NULL;
        if (v)
            room[count++] = v->value;
    }
    stats_of(room, count, &f->stats);
}

/* The figures of one point; *ret_end is the last one's next. */
static struct series_figure *figures_at(struct series_notes *n, size_t point, double *room)
{
    struct series_figure *first = NULL, **at = &first;
    for (const struct series_run *run = n->first; run; run = run->next)
        for (const struct series_value *v = run->point == point && series_counts(run) ? run->values : NULL; v; v = v->next) {
            struct series_figure *f = figure_of(first, v->key);
            if (!f && (f = ARENA_NEW(&n->arena, struct series_figure))) {
                *f = (struct series_figure){v->key, v->of, v->unit, v->direction, false, point, {0}, NULL};
                *at = f;
                at = &f->next;
            }
            if (f)
                f->headline |= v->headline;
        }
    for (struct series_figure *f = first; f; f = f->next)
        calculate(f, n, room);
    return first;
}

struct series_figure *series_figures(struct series_notes *n)
{
    struct series_figure *first = NULL, **at = &first;
    double *room = calloc(n->count ? n->count : 1, sizeof *room);
    for (size_t i = 0; room && i < n->sweep.points; i++) {
        *at = figures_at(n, i, room);
        while (*at)
            at = &(*at)->next;
    }
    if (!room)
        n->arena.failed = true;
    free(room);
    return first;
}

double series_relative(const struct stats *s)
{
    double half = (s->ci_high - s->ci_low) / 2;
    if (s->n < 3)
        return -1;
    return half == 0 ? 0 : s->mean != 0 ? half / fabs(s->mean) : -1;
}

bool series_stable(struct series_notes *n, size_t point, size_t least, double wanted, const char **ret_worst)
{
    double *room = calloc(n->count ? n->count : 1, sizeof *room), worst = 0;
    const struct series_figure *widest = NULL;
    size_t headlines = 0;
    for (const struct series_figure *f = room ? figures_at(n, point, room) : NULL; f; f = f->next) {
        double relative = f->stats.n >= least ? series_relative(&f->stats) : -1;
        if (!f->headline)
            continue;
        headlines++;
        if (relative < 0 || relative > wanted) {
            if (!widest || relative < 0 || (worst >= 0 && relative > worst)) {
                widest = f;
                worst = relative;
            }
        }
    }
    free(room);
    if (ret_worst && widest)
        *ret_worst = worst < 0 ? arena_printf(&n->arena, "%s has %zu samples", widest->key, widest->stats.n)
                               : arena_printf(&n->arena, "%s is within +-%.2g %%", widest->key, worst * 100);
    return headlines && !widest;
}

/* ---- the table ---- */

static const char *label_of(struct series_notes *n, size_t point)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    sweep_label(&n->sweep, point, &b);
    return b.n ? arena_dup(&n->arena, b.p, b.n) : "";
}

static void put_number(struct listing *l, struct arena *a, double value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (isnan(value)) {
        listing_none(l);
        return;
    }
    show_double(&b, value);
    listing_number(l, value, arena_dup(a, b.p ? b.p : "", b.n));
}

static void put_interval(struct listing *l, struct arena *a, const struct stats *s)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 128);
    if (s->n < 3) {
        listing_text(l, "too few samples");
        return;
    }
    show_double(&b, s->ci_low);
    buf_puts(&b, " .. ");
    show_double(&b, s->ci_high);
    listing_text(l, arena_dup(a, b.p, b.n));
}

static void put_row(struct listing *l, struct series_notes *n, const struct series_figure *f)
{
    size_t unit = strlen(f->unit), length = strlen(f->key);
    bool named = unit && length > unit + 1 && strcmp(f->key + length - unit, f->unit) == 0 && f->key[length - unit - 1] == '_';
    const char *of = f->of[0] == 'p' ? "" : f->of; /* percentiles have it in their key */
    if (n->sweep.count)
        listing_text(l, label_of(n, f->point));
    listing_text(l, arena_printf(&n->arena, "%.*s%s%s", (int)(named ? length - unit - 1 : length), f->key, of[0] ? " " : "", of));
    listing_text(l, f->unit[0] ? f->unit : "");
    listing_number(l, (double)f->stats.n, NULL);
    put_number(l, &n->arena, f->stats.median);
    put_number(l, &n->arena, f->stats.mean);
    put_interval(l, &n->arena, &f->stats);
    put_number(l, &n->arena, f->stats.min);
    put_number(l, &n->arena, f->stats.max);
}

void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, struct buf *to)
{
    static const struct listing_column columns[] = {{"point", "POINT", false, 60},
                                                    {"metric", "METRIC", false, 60},
                                                    {"unit", "UNIT", false, 0},
                                                    {"n", "N", true, 0},
                                                    {"median", "MEDIAN", true, 0},
                                                    {"mean", "MEAN", true, 0},
                                                    {"interval", "95 % OF MEAN", false, 0},
                                                    {"min", "MIN", true, 0},
                                                    {"max", "MAX", true, 0}};
    size_t skip = n->sweep.count ? 0 : 1, size = 0, shown = 0, more = 0;
    struct listing l;
    char *text = NULL;
    listing_init(&l, columns + skip, sizeof columns / sizeof *columns - skip, &n->arena);
    for (const struct series_figure *f = figures; f; f = f->next)
        if ((all || f->headline) && (!most || shown < most)) {
            put_row(&l, n, f);
            shown++;
        } else if (all || f->headline)
            more++;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        listing_print(&l, out);
        fclose(out);
        buf_add(to, text, size);
    }
    if (more)
        buf_printf(to, "and %zu more: benchwrap show\n", more);
    free(text);
    listing_deinit(&l);
}

static void json_known(struct json_out *j, const char *key, double value)
{
    if (isfinite(value))
        json_double(j, key, value);
    else
        json_null(j, key);
}

void series_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j)
{
    json_open(j, "repetitions", '[');
    for (const struct series_figure *f = figures; f; f = f->next) {
        const struct stats *s = &f->stats;
        bool few = s->n < 3;
        json_open(j, NULL, '{');
        json_text(j, "point", n->sweep.count ? label_of(n, f->point) : NULL);
        json_text(j, "metric", f->key);
        json_text(j, "of", f->of[0] ? f->of : NULL);
        json_text(j, "unit", f->unit);
        json_text(j, "direction", record_direction_name(f->direction));
        json_flag(j, "headline", f->headline);
        json_int(j, "n", (int64_t)s->n);
        json_known(j, "median", s->median);
        json_known(j, "mean", s->mean);
        json_known(j, "sd", s->n < 2 ? NAN : s->sd);
        json_known(j, "min", s->min);
        json_known(j, "max", s->max);
        json_known(j, "ci_low", few ? NAN : s->ci_low);
        json_known(j, "ci_high", few ? NAN : s->ci_high);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* ---- into the record ---- */

struct finishing {
    struct record *r;
    struct series_notes *n;
    int64_t end_ms;
    size_t runs, counted, failed, warmups, noisy, judged, passed;
    const struct series_run *first_failed, *first_noisy, *first_unfit;
};

static const char *key_of(const struct finishing *f, const struct series_figure *figure, const char *stat)
{
    const char *point = f->n->keys[figure->point];
    return arena_printf(&f->r->arena, "%s%s%s%s%s", point, point[0] ? "." : "", figure->key, stat[0] ? "." : "", stat);
}

static void put_stat(struct finishing *f, const struct series_figure *figure, const char *stat, double value, size_t least)
{
    const char *key = key_of(f, figure, stat);
    bool same_unit = strcmp(stat, "n") != 0;
    if (!key)
        return;
    if (figure->stats.n >= least)
        record_metric(f->r, key, value, same_unit ? figure->unit : "", same_unit ? figure->direction : DIR_NONE, 0, f->end_ms);
    else
        record_missing(f->r, key, "too few samples: %zu, %zu are needed", figure->stats.n, least);
}

static void put_stats(struct finishing *f, const struct series_figure *figure)
{
    const struct stats *s = &figure->stats;
    put_stat(f, figure, "n", (double)s->n, 1);
    put_stat(f, figure, "median", s->median, 1);
    if (s->n > 1) {
        put_stat(f, figure, "mean", s->mean, 2);
        put_stat(f, figure, "min", s->min, 2);
        put_stat(f, figure, "max", s->max, 2);
    }
    put_stat(f, figure, "sd", s->sd, 2);
    put_stat(f, figure, "ci_low", s->ci_low, 3);
    put_stat(f, figure, "ci_high", s->ci_high, 3);
}

/* The values themselves: a series with the repetition as step. */
static void put_samples(struct finishing *f, const struct series_figure *figure)
{
    const char *key = key_of(f, figure, "");
    for (const struct series_run *run = f->n->first; key && run; run = run->next) {
        const struct series_value *v = run->point == figure->point && series_counts(run) ? value_of(run, figure->key) : NULL;
        if (v)
            record_metric(f->r, key, v->value, v->unit, v->direction, (int64_t)run->repetition, run->end_ms);
    }
}

/* One axis of integers: the median over it is a series with the swept value as step, which MLflow draws as a curve. */
static void put_curve(struct finishing *f, const struct series_figure *figure)
{
    const struct sweep *s = &f->n->sweep;
    int64_t step;
    if (s->count != 1 || !s->axes[0].integers || !str_int(str_of(sweep_value(s, figure->point, 0)), &step))
        return;
    const char *key = arena_printf(&f->r->arena, "%s.median", figure->key);
    if (key)
        record_metric(f->r, key, figure->stats.median, figure->unit, figure->direction, step, f->end_ms);
}

static void put_cell(struct buf *to, const char *text)
{
    buf_putc(to, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(to, '"');
        buf_putc(to, *text);
    }
    buf_puts(to, "\",");
}

static void put_csv_number(struct buf *to, double value, const char *after)
{
    if (!isnan(value))
        buf_double(to, value);
    buf_puts(to, after);
}

static void put_csv(struct finishing *f, const struct series_figure *figures, int spool)
{
    CLEANUP_BUF struct buf b;
    struct err err = {0};
    const struct sweep *s = &f->n->sweep;
    buf_init(&b, CSV_BYTES);
    for (size_t i = 0; i < s->count; i++)
        put_cell(&b, s->axes[i].name);
    buf_puts(&b, "metric,of,unit,better,n,median,mean,sd,min,max,ci_low,ci_high\n");
    for (const struct series_figure *x = figures; x; x = x->next) {
        for (size_t i = 0; i < s->count; i++)
            put_cell(&b, sweep_value(s, x->point, i));
        put_cell(&b, x->key);
        buf_printf(&b, "%s,%s,%s,%zu,", x->of, x->unit, record_direction_name(x->direction), x->stats.n);
        const double v[] = {x->stats.median, x->stats.mean, x->stats.sd, x->stats.min, x->stats.max, x->stats.ci_low, x->stats.ci_high};
        for (size_t i = 0; i < 7; i++)
            put_csv_number(&b, v[i], i < 6 ? "," : "\n");
    }
    if (b.failed || fs_write(spool, POINTS_CSV, buf_text(&b), 0644, false, &err))
        record_warning(f->r, "series: %s: %s", POINTS_CSV, b.failed ? "it would be longer than 64 MiB" : err.text);
    else
        record_artifact(f->r, POINTS_CSV, POINTS_CSV);
}

static void count_runs(struct finishing *f)
{
    for (const struct series_run *run = f->n->first; run; run = run->next) {
        bool counts = series_counts(run);
        f->runs++;
        if (run->end_ms > f->end_ms)
            f->end_ms = run->end_ms;
        if (run->noisy[0] && !run->warmup && !f->noisy++)
            f->first_noisy = run;
        f->warmups += run->warmup;
        f->counted += counts;
        if (!run->warmup && !counts && !f->failed++)
            f->first_failed = run;
        f->judged += counts && strcmp(run->verdict, "none") != 0 && run->verdict[0];
        f->passed += counts && strcmp(run->verdict, "pass") == 0;
        if (counts && strcmp(run->verdict, "fail") == 0 && !f->first_unfit)
            f->first_unfit = run;
    }
}

static void put_counts(struct finishing *f)
{
    record_metric(f->r, "series.runs", (double)f->runs, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.counted", (double)f->counted, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.failed", (double)f->failed, "", DIR_LOWER, 0, f->end_ms);
    record_metric(f->r, "series.warmup", (double)f->warmups, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.noisy", (double)f->noisy, "", DIR_LOWER, 0, f->end_ms);
    record_metric(f->r, "series.wall_s", (double)(f->r->end_ms - f->r->start_ms) / 1e3, "s", DIR_LOWER, 0, f->end_ms);
    if (!f->noisy)
        return;
    const char *text = arena_printf(&f->r->arena, "%zu of %zu repetitions were disturbed; the first, repetition %zu%s%s: %.200s", f->noisy,
                                    f->runs - f->warmups, f->first_noisy->repetition, f->n->sweep.count ? " of " : "",
                                    label_of(f->n, f->first_noisy->point), f->first_noisy->noisy);
    if (text) {
        record_tag(f->r, "benchwrap.noisy", str_of(text));
        record_warning(f->r, "%s", text);
    }
}

static const char *about(const struct finishing *f, const struct series_run *run)
{
    const char *label = label_of(f->n, run->point);
    return arena_printf(&f->r->arena, "repetition %zu%s%.100s: %.200s", run->repetition, label && label[0] ? " of " : "",
                        label ? label : "",
                        run->reason[0]   ? run->reason
                        : run->status[0] ? run->status
                        : run->exit      ? arena_printf(&f->r->arena, "exit status %d", run->exit)
                                         : "its record was not finished in time");
}

static void judge_series(struct finishing *f, struct rules_outcome *ret)
{
    struct arena *a = &f->r->arena;
    *ret = (struct rules_outcome){.verdict = VERDICT_NONE, .complete = f->failed == 0 && f->counted > 0};
    size_t all = f->runs - f->warmups;
    if (f->failed) {
        ret->verdict = VERDICT_FAIL;
        ret->reason = arena_printf(a, "%zu of %zu repetition%s failed; %s", f->failed, all, all == 1 ? "" : "s", about(f, f->first_failed));
    } else if (f->first_unfit) {
        ret->verdict = VERDICT_FAIL;
        ret->reason = arena_printf(a, "%zu of %zu repetitions are not fit; %s", f->judged - f->passed, all, about(f, f->first_unfit));
    } else if (f->judged && f->passed == f->judged)
        ret->verdict = VERDICT_PASS;
    if (!f->counted && !f->failed)
        ret->reason = "no repetition was run";
}

/* What listings and the summary show first. */
static void put_headlines(struct finishing *f, const struct series_figure *figures)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 2048);
    size_t shown = 0;
    bool curve = f->n->sweep.count == 1 && f->n->sweep.axes[0].integers;
    for (const struct series_figure *x = figures; x && shown < 4; x = x->next) {
        if (!x->headline || (curve && x->point != f->n->sweep.points - 1))
            continue;
        const char *key = curve ? arena_printf(&f->r->arena, "%s.median", x->key) : key_of(f, x, "median");
        if (key && strlen(key) < 250)
            buf_printf(&b, "%s%s", shown++ ? " " : "", key);
    }
    if (shown && !b.failed)
        record_tag(f->r, "benchwrap.headline", buf_text(&b));
}

static void put_run_wall(struct finishing *f) /* in a sweep: in the order in which they were run */
{
    for (const struct series_run *run = f->n->first; run; run = run->next) {
        const struct series_value *v = series_counts(run) ? value_of(run, "run.wall_s") : NULL;
        if (v)
            record_metric(f->r, "run.wall_s", v->value, v->unit, v->direction, (int64_t)run->order, run->end_ms);
    }
}

int series_finish(struct record *r, int spool, struct rules_outcome *ret, struct err *err)
{
    struct series_notes notes;
    struct finishing f = {.r = r, .n = &notes, .end_ms = r->start_ms};
    const char *source = r->source;
    *ret = (struct rules_outcome){.reason = "no repetition was run"};
    struct folder in = folder_disk(spool);
    if (series_notes_read(&in, &notes, err)) {
        series_notes_deinit(&notes);
        return -1;
    }
    r->source = "series";
    count_runs(&f);
    if (r->end_ms < f.end_ms) /* after a crash: the journal's last word is older than the last run */
        r->end_ms = f.end_ms;
    bool sweep = notes.sweep.count > 0;
    struct series_figure *figures = series_figures(&notes);
    for (const struct series_figure *x = figures; x; x = x->next) {
        if (sweep && !x->headline)
            continue; /* all of them for each point would be thousands of files: they are in points.csv */
        put_samples(&f, x);
        put_stats(&f, x);
        put_curve(&f, x);
    }
    if (sweep)
        put_run_wall(&f);
    put_counts(&f);
    put_headlines(&f, figures);
    put_csv(&f, figures, spool);
    judge_series(&f, ret);
    record_artifact(r, SERIES_NOTES, SERIES_NOTES);
    record_tag(r, "benchwrap.series_end", str_of(notes.end[0] ? notes.end : "the series was cut off"));
    if (notes.arena.failed)
        record_warning(r, "series: out of memory: not all statistics are there");
    r->source = source;
    series_notes_deinit(&notes);
    return 0;
}
