/* series.c: check the run of repetitions: its metrics follow from its notes, and the notes have the
 * values of its runs. */
#include "check/verify.h"

#include "series/finish.h"
#include "series/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 1 << 20, TOLD_MAX = 5 };
static const char file[] = "artifacts/" SERIES_NOTES;

struct series_check {
    const struct verify_state *t;
    struct run_check *r;
    size_t told, absent;
};

static void report_series_problem(struct series_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reports a finding about the notes, at most TOLD_MAX of them. */
static void report_series_problem(struct series_check *c, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    if (c->told++ >= TOLD_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->t->tell(c->t->context, CHECK_TRUTH, file, text);
}

/* Reads a small file of another run of the experiment into b. *ret.p NULL: it is not there, or
 * larger than b. */
static struct str series_read_file(const struct series_check *c, const char *run, const char *name, struct buf *b)
{
    char path[900];
    snprintf(path, sizeof path, "%s/%s/%s", c->r->experiment, run, name);
    if (folder_read(c->r->k->tree, path, VALUE_MAX, b) < 0)
        return (struct str){NULL, 0};
    return buf_text(b);
}

static bool tag_is(const struct series_check *c, const char *run, const char *key, const char *wanted)
{
    CLEANUP_BUF struct buf b;
    char name[200];
    buf_init(&b, VALUE_MAX + 4096);
    snprintf(name, sizeof name, "tags/%s", key);
    struct str is = series_read_file(c, run, name, &b);
    return is.p && str_is(is, wanted);
}

/* Reads the last value of the run's metric. False: the run has none. */
static bool last_value(const struct series_check *c, const char *run, const struct series_run_value *v, double *ret)
{
    CLEANUP_BUF struct buf b;
    char key[600], name[700];
    struct str line = {"", 0};
    buf_init(&b, VALUE_MAX + 4096);
    series_value_key(v, key, sizeof key);
    snprintf(name, sizeof name, "metrics/%s", key);
    for (struct str rest = series_read_file(c, run, name, &b); rest.p && rest.n;)
        line = str_cut(&rest, '\n');
    str_cut(&line, ' ');
    return line.p && str_double(str_cut(&line, ' '), ret);
}

/* Checks one line of the notes: the run that it names is one of the repetitions and has the noted
 * values. */
static void check_series_run(struct series_check *c, const struct series_repetition *run)
{
    struct folder_entry e;
    char path[100];
    double is;
    snprintf(path, sizeof path, "%.12s/%.40s", c->r->experiment, run->id);
    if (!run->status[0] && !run->values) /* it had no record when the series went on */
        return;
    if (!record_is_id(str_of(run->id)) || folder_look(c->r->k->tree, path, &e, NULL) < 0) {
        c->absent++;
        return;
    }
    const char *amends = run_text(c->r, 't', "benchwrap.amends"); /* its runs name the parent run that was recorded first */
    if (!tag_is(c, run->id, "mlflow.parentRunId", amends ? amends : c->r->id))
        report_series_problem(c, "the run %.8s is none of this series", run->id);
    if (!tag_is(c, run->id, "benchwrap.verdict", run->verdict))
        report_series_problem(c, "it says that the verdict of the run %.8s is \"%.20s\", which it is not", run->id, run->verdict);
    for (const struct series_run_value *v = run->values; v; v = v->next)
        if (!last_value(c, run->id, v, &is) || is != v->value)
            report_series_problem(c, "it says that the run %.8s has %.100s %.10g, which that run has not", run->id, v->key, v->value);
}

/* Reports runs that are not noted in the order in which they were run, each once. */
static void check_order(struct series_check *c, const struct series_notes *notes)
{
    for (const struct series_repetition *run = notes->first; run && run->next; run = run->next)
        if (run->next->order <= run->order)
            report_series_problem(c, "run %zu is behind run %zu", run->next->order, run->order);
}

/* Adds intervals that reach below zero, which earlier versions recorded, where the run has one,
 * so that its ends are compared as well. */
static void expect_old_intervals(struct run_check *r, struct record *record, struct series_notes *notes,
                                 const struct series_figure *figures)
{
    for (const struct series_figure *f = figures; f; f = f->next) {
        const char *point = notes->keys[f->point];
        char key[600];
        snprintf(key, sizeof key, "%s%s%s.ci_low", point, point[0] ? "." : "", f->key);
        if (f->stats.n >= 3 && series_no_interval(f) && run_entry(r, 'm', key))
            series_record_ci(record, notes, f);
    }
}

/* Adds end minus start as the duration of the series, which earlier versions recorded, if the
 * run's comes from its notes. The recorder measures it now. */
static void expect_old_wall(const struct run_check *r, struct record *record)
{
    static const char key[] = "series.wall_s";
    if (strcmp(json_string(json_get(json_get(json_get(r->record, "metrics"), key), "source"), ""), "series") == 0)
        record_metric(record, key, (double)(record->end_ms - record->start_ms) / 1e3, "s", DIR_LOWER, 0, record->end_ms);
}

/* Computes the values of a parent run again from its repetitions, and reports what differs. Runs in
 * a child process, whose end frees the memory. */
static void check_series_notes(const struct verify_state *t, struct run_check *r, const void *context)
{
    struct series_check c = {.t = t, .r = r};
    struct series_notes notes;
    struct verify_state of_series = *t;
    struct folder in = {0};
    struct err err = {0};
    (void)context;
    of_series.series = true;
    if (folder_enter(r->folder, "artifacts", &in) < 0 || series_notes_read(&in, &notes, &err) < 0) {
        report_series_problem(&c, "the notes of the series cannot be read: %.300s", err.text);
        return; /* its process ends */
    }
    check_order(&c, &notes);
    for (const struct series_repetition *run = notes.first; run; run = run->next)
        check_series_run(&c, run);
    if (c.absent) {
        char text[100];
        snprintf(text, sizeof text, "%zu of its runs are not here", c.absent);
        t->tell(t->context, CHECK_UNVERIFIABLE, "", text);
    }
    struct record record;
    struct rules_outcome out = {.verdict = VERDICT_NONE};
    record_init(&record, r->id, r->meta.start_ms > 0 ? r->meta.start_ms : 1);
    record.end_ms = r->meta.end_ms;
    expect_old_intervals(r, &record, &notes, series_record_all(&record, &notes, &out));
    expect_old_wall(r, &record);
    verify_compare(&of_series, r, &record, &out);
}

/* Reports metrics of repetitions whose notes are missing without a reason. Repetitions that ended
 * before the first run have neither. */
static void check_without_notes(struct run_check *r)
{
    const char *word = run_text(r, 't', "benchwrap.verdict");
    for (const struct json *m = json_first(json_get(r->record, "metrics")); m; m = json_next(m))
        if (strcmp(json_string(json_get(m, "source"), ""), "series") == 0) {
            run_found(r, CHECK_TRUTH, file, 0, "it is missing, and the run has values that follow from it, such as %.100s", json_key(m));
            break;
        }
    if (word && strcmp(word, "pass") == 0)
        run_found(r, CHECK_VERDICT, "tags/benchwrap.verdict", 0, "the run claims \"pass\", and %s is not there", file);
}

void check_series(struct run_check *r)
{
    const struct check_file *notes = run_file(r, file);
    if (!notes && !verify_is_missing(r, SERIES_NOTES))
        check_without_notes(r);
    else if (!r->k->tree || !notes || notes->size > r->k->limits.file_B)
        run_found(r, CHECK_UNVERIFIABLE, "", 0, "its runs are not known: %s is not kept or too large, or the tree is not here", file);
    else
        sandbox_run(r, &(struct sandbox_work){check_series_notes, NULL, CHECK_TRUTH, "the statistics of the series", file});
}
