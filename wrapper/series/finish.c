/* finish.c: the notes of a series become its metrics, its table of points and its verdict. */
#include "series/finish.h"

#include "base/fs.h"
#include "mlruns-format/no_metrics.h"

#include <math.h>
#include <string.h>

enum { CSV_BYTES = 64 << 20 };
static const char POINTS_CSV[] = "points.csv";

struct series_finishing {
    struct record *r;
    struct series_notes *n;
    int64_t end_ms;
    size_t runs, counted, failed, retracted, warmups, noisy, unjudged, judged, passed;
    const struct series_repetition *first_failed, *first_noisy, *first_unfit;
};

static const char *series_key_of(const struct series_finishing *f, const struct series_figure *figure, const char *stat)
{
    const char *point = f->n->keys[figure->point];
    return arena_printf(&f->r->arena, "%s%s%s%s%s", point, point[0] ? "." : "", figure->key, stat[0] ? "." : "", stat);
}

/* Records a statistic, or that it is missing where there are fewer than `least` samples. */
static void put_stat(struct series_finishing *f, const struct series_figure *figure, const char *stat, double value, size_t least)
{
    const char *key = series_key_of(f, figure, stat);
    bool same_unit = strcmp(stat, "n") != 0;
    if (!key)
        return;
    if (figure->stats.n >= least)
        record_metric(f->r, key, value, same_unit ? figure->unit : "", same_unit ? figure->direction : DIR_NONE, 0, f->end_ms);
    else
        record_missing(f->r, key, "too few samples: %zu, %zu are needed", figure->stats.n, least);
}

static void put_ends(struct series_finishing *f, const struct series_figure *figure)
{
    put_stat(f, figure, "ci_low", figure->stats.ci_low, 3);
    put_stat(f, figure, "ci_high", figure->stats.ci_high, 3);
}

/* Records both ends of the interval, or that both are missing. */
static void series_record_interval(struct series_finishing *f, const struct series_figure *figure)
{
    const char *none = figure->stats.n < 3 ? NULL : series_no_interval(figure);
    if (!none) {
        put_ends(f, figure);
        return;
    }
    const char *low = series_key_of(f, figure, "ci_low"), *high = series_key_of(f, figure, "ci_high");
    if (low && high) {
        record_missing(f->r, low, "%s", none);
        record_missing(f->r, high, "%s", none);
    }
}

/* Records the statistics of one metric at one point, each with what is missing for too few
 * samples. */
static void put_stats(struct series_finishing *f, const struct series_figure *figure)
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
    series_record_interval(f, figure);
}

/* Records the values of the repetitions as a series whose step is the repetition. Warm-ups and
 * failed repetitions do not count. */
static void put_samples(struct series_finishing *f, const struct series_figure *figure)
{
    const char *key = series_key_of(f, figure, "");
    for (size_t i = 0; key && i < figure->runs_count; i++) {
        const struct series_repetition *run = figure->runs[i];
        const struct series_run_value *v = series_value_of(run, figure->key);
        if (v)
            record_metric(f->r, key, v->value, v->unit, v->direction, (int64_t)run->repetition, run->end_ms);
    }
}

/* Records the median of a point as a sample whose step is the swept value, where the sweep has one
 * axis of integers: MLflow draws the samples as a curve. */
static void put_curve(struct series_finishing *f, const struct series_figure *figure)
{
    const struct parameter_sweep *s = &f->n->sweep;
    int64_t step;
    if (s->count != 1 || !s->axes[0].integers || !str_int(str_of(sweep_value(s, figure->point, 0)), &step))
        return;
    const char *key = arena_printf(&f->r->arena, "%s.median", figure->key);
    if (key)
        record_metric(f->r, key, figure->stats.median, figure->unit, figure->direction, step, f->end_ms);
}

/* Counts the runs by outcome, and notes the first one that failed, was disturbed, or is not fit. */
static void series_count_runs(struct series_finishing *f)
{
    for (const struct series_repetition *run = f->n->first; run; run = run->next) {
        bool counts = series_counts(run), retracted = strcmp(run->status, SERIES_RETRACTED) == 0;
        f->runs++;
        if (run->end_ms > f->end_ms)
            f->end_ms = run->end_ms;
        if (run->noisy[0] && !run->warmup && !f->noisy++)
            f->first_noisy = run;
        f->unjudged += run->unjudged && !run->warmup;
        f->warmups += run->warmup;
        f->counted += counts;
        f->retracted += retracted && !run->warmup;
        if (!run->warmup && !counts && !retracted && !f->failed++)
            f->first_failed = run;
        f->judged += counts && strcmp(run->verdict, "none") != 0 && run->verdict[0];
        f->passed += counts && strcmp(run->verdict, "pass") == 0;
        if (counts && strcmp(run->verdict, "fail") == 0 && !f->first_unfit)
            f->first_unfit = run;
    }
}

/* Records how many runs there were of each kind, and a tag and a warning where some were
 * disturbed. */
static void series_record_counts(struct series_finishing *f)
{
    record_metric(f->r, "series.runs", (double)f->runs, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.counted", (double)f->counted, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.failed", (double)f->failed, "", DIR_LOWER, 0, f->end_ms);
    record_metric(f->r, "series.warmup", (double)f->warmups, "", DIR_NONE, 0, f->end_ms);
    record_metric(f->r, "series.noisy", (double)f->noisy, "", DIR_LOWER, 0, f->end_ms);
    if (f->unjudged) /* 0 in notes of earlier versions, too, which do not have it */
        record_metric(f->r, "series.unjudged", (double)f->unjudged, "", DIR_NONE, 0, f->end_ms);
    if (!f->noisy)
        return;
    const char *others = f->unjudged ? arena_printf(&f->r->arena, " (%zu not judged)", f->unjudged) : "";
    const char *text = arena_printf(&f->r->arena, "%zu of %zu repetitions were disturbed%s; the first, repetition %zu%s%s: %.200s",
                                    f->noisy, f->runs - f->warmups, others ? others : "", f->first_noisy->repetition,
                                    f->n->sweep.count ? " of " : "", series_label(f->n, f->first_noisy->point), f->first_noisy->noisy);
    if (text) {
        record_tag(f->r, "benchwrap.noisy", str_of(text));
        record_warning(f->r, "%s", text);
    }
}

/* Returns "repetition 3 of size=4: REASON" about a failed repetition, in the record's arena. */
static const char *series_describe_run(const struct series_finishing *f, const struct series_repetition *run)
{
    const char *label = series_label(f->n, run->point);
    return arena_printf(&f->r->arena, "repetition %zu%s%.100s: %.200s", run->repetition, label && label[0] ? " of " : "",
                        label ? label : "",
                        run->reason[0]   ? run->reason
                        : run->status[0] ? run->status
                        : run->exit      ? arena_printf(&f->r->arena, "exit status %d", run->exit)
                                         : "its record was not finished in time");
}

/* Sets the verdict of the series: fail where a run failed or is not fit, pass where all runs that
 * count passed, else none. Texts are in the record's arena. */
static void judge_series(struct series_finishing *f, struct rules_outcome *ret)
{
    struct arena *a = &f->r->arena;
    *ret = (struct rules_outcome){.verdict = VERDICT_NONE, .complete = f->failed == 0 && f->counted + f->retracted > 0};
    size_t all = f->runs - f->warmups;
    if (f->failed) {
        ret->verdict = VERDICT_FAIL;
        ret->reason =
            arena_printf(a, "%zu of %zu repetition%s failed; %s", f->failed, all, str_plural(all), series_describe_run(f, f->first_failed));
    } else if (f->first_unfit) {
        ret->verdict = VERDICT_FAIL;
        ret->reason =
            arena_printf(a, "%zu of %zu repetitions are not fit; %s", f->judged - f->passed, all, series_describe_run(f, f->first_unfit));
    } else if (f->passed && f->passed == f->counted)
        ret->verdict = VERDICT_PASS;
    else if (f->passed)
        ret->reason =
            arena_printf(a, "%zu of %zu repetition%s have no verdict", f->counted - f->passed, f->counted, str_plural(f->counted));
    if (!f->counted && !f->failed)
        ret->reason = f->retracted ? "all repetitions are retracted" : "no repetition was run";
    if (f->retracted && f->retracted == all)
        record_warning(f->r, "the %zu repetition%s retracted: no statistics are left", all, all == 1 ? " is" : "s are");
    else if (f->retracted)
        record_warning(f->r, "%zu of %zu repetitions %s retracted: the statistics are those of the other %zu", f->retracted, all,
                       f->retracted == 1 ? "is" : "are", all - f->retracted);
}

/* Records which metrics listings and the summary show first. */
static void put_headlines(struct series_finishing *f, const struct series_figure *figures)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 2048);
    size_t shown = 0;
    bool curve = f->n->sweep.count == 1 && f->n->sweep.axes[0].integers;
    for (const struct series_figure *x = figures; x && shown < 4; x = x->next) {
        if (!x->headline || (curve && x->point != f->n->sweep.points - 1))
            continue;
        const char *key = curve ? arena_printf(&f->r->arena, "%s.median", x->key) : series_key_of(f, x, "median");
        if (key && strlen(key) < 250)
            buf_printf(&b, "%s%s", shown++ ? " " : "", key);
    }
    if (shown && !b.failed)
        record_tag(f->r, "benchwrap.headline", buf_text(&b));
}

static bool series_has_input(const struct series_repetition *run, const struct series_input *input)
{
    for (const struct series_input *in = run->inputs; in; in = in->next)
        if (strcmp(in->key, input->key) == 0)
            return strcmp(in->value, input->value) == 0;
    return false;
}

/* Records the params that all runs share: two series are compared by them. */
static void series_record_inputs(struct series_finishing *f)
{
    const struct series_repetition *first = f->n->first;
    while (first && !series_counts(first))
        first = first->next;
    for (const struct series_input *in = first ? first->inputs : NULL; in; in = in->next) {
        bool shared = !record_find(f->r, FACT_PARAM, in->key);
        for (const struct series_repetition *run = first->next; run && shared; run = run->next)
            shared = !series_counts(run) || series_has_input(run, in);
        if (shared)
            record_param(f->r, in->key, str_of(in->value));
    }
}

static void put_run_wall(struct series_finishing *f) /* in a sweep: in the order in which they were run */
{
    for (const struct series_repetition *run = f->n->first; run; run = run->next) {
        const struct series_run_value *v = series_counts(run) ? series_value_of(run, "run.wall_s") : NULL;
        if (v)
            record_metric(f->r, "run.wall_s", v->value, v->unit, v->direction, (int64_t)run->order, run->end_ms);
    }
}

/* Records the metrics; of a sweep only the headline metrics, since all metrics of all points would
 * be thousands of files. They are in points.csv. */
static void put_figures(struct series_finishing *f, const struct series_figure *figures)
{
    bool sweep = f->n->sweep.count > 0;
    for (const struct series_figure *x = figures; x; x = x->next) {
        if (sweep && !x->headline)
            continue;
        put_samples(f, x);
        put_stats(f, x);
        put_curve(f, x);
    }
    if (sweep)
        put_run_wall(f);
}

const struct series_figure *series_record_all(struct record *r, struct series_notes *notes, struct rules_outcome *ret)
{
    struct series_finishing f = {.r = r, .n = notes, .end_ms = r->start_ms};
    const char *source = r->source;
    r->source = "series";
    series_count_runs(&f);
    if (r->end_ms < f.end_ms) /* after a crash: the journal's last word is older than the last run */
        r->end_ms = f.end_ms;
    const struct series_figure *figures = series_figures(notes);
    put_figures(&f, figures);
    series_record_inputs(&f);
    series_record_counts(&f);
    put_headlines(&f, figures);
    if (series_no_metrics(notes))
        record_warning(r, NO_METRICS "%s", series_no_metrics(notes));
    if (series_left_out(notes))
        record_warning(r, LEFT_OUT "%s", series_left_out(notes));
    judge_series(&f, ret);
    record_tag(r, "benchwrap.series_end", str_of(notes->end[0] ? notes->end : "the series was cut off"));
    if (notes->damaged)
        record_warning(r, "%zu line%s of " SERIES_NOTES " cannot be read: the statistics lack the runs there", notes->damaged,
                       str_plural(notes->damaged));
    if (notes->arena.failed)
        record_warning(r, "series: out of memory: not all statistics are there");
    r->source = source;
    return figures;
}

void series_record_ci(struct record *r, struct series_notes *notes, const struct series_figure *figure)
{
    struct series_finishing f = {.r = r, .n = notes, .end_ms = r->end_ms};
    const char *source = r->source;
    r->source = "series";
    put_ends(&f, figure);
    r->source = source;
}

/* ---- the table of points ---- */

static void series_print_cell(struct buf *to, const char *text)
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

/* Writes the statistics of all points to POINTS_CSV in the spool, and records that file; a failure
 * becomes a warning. */
static void put_csv(struct record *r, const struct series_notes *n, const struct series_figure *figures, int spool)
{
    CLEANUP_BUF struct buf b;
    struct err err = {0};
    const struct parameter_sweep *s = &n->sweep;
    buf_init(&b, CSV_BYTES);
    for (size_t i = 0; i < s->count; i++)
        series_print_cell(&b, s->axes[i].name);
    buf_puts(&b, "metric,of,unit,better,n,median,mean,sd,min,max,ci_low,ci_high\n");
    for (const struct series_figure *x = figures; x; x = x->next) {
        for (size_t i = 0; i < s->count; i++)
            series_print_cell(&b, sweep_value(s, x->point, i));
        series_print_cell(&b, x->key);
        buf_printf(&b, "%s,%s,%s,%zu,", x->of, x->unit, record_direction_name(x->direction), x->stats.n);
        bool interval = !series_no_interval(x);
        const double v[] = {x->stats.median,
                            x->stats.mean,
                            x->stats.sd,
                            x->stats.min,
                            x->stats.max,
                            interval ? x->stats.ci_low : NAN,
                            interval ? x->stats.ci_high : NAN};
        for (size_t i = 0; i < 7; i++)
            put_csv_number(&b, v[i], i < 6 ? "," : "\n");
    }
    if (b.failed || fs_write(spool, POINTS_CSV, buf_text(&b), 0644, false, &err))
        record_warning(r, "series: %s: %s", POINTS_CSV, b.failed ? "it would be longer than 64 MiB (or out of memory)" : err.text);
    else
        record_artifact(r, POINTS_CSV, POINTS_CSV);
}

int series_finish(struct record *r, int spool, struct rules_outcome *ret, struct err *err)
{
    struct series_notes notes;
    struct folder in = folder_disk(spool);
    *ret = (struct rules_outcome){.reason = "no repetition was run"};
    int rc = series_notes_read(&in, &notes, err);
    if (rc == 0) {
        const struct series_figure *figures = series_record_all(r, &notes, ret);
        put_csv(r, &notes, figures, spool);
        record_artifact(r, SERIES_NOTES, SERIES_NOTES);
    }
    series_notes_deinit(&notes);
    return rc;
}
