/* report_run.c: one run as a document. */
#include "report/report.h"
#include "base/show.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/verdict.h"

#include <math.h>
#include <string.h>

enum { OUTPUT_MAX = 48 << 10, WARNINGS_MAX = 50 };

static void report_verdict(struct doc *d, const struct tree_run *run, const struct json *detail)
{
    const char *verdict = runs_text(run->tags, "benchwrap.verdict", d->a), *reason = runs_text(run->tags, "benchwrap.reason", d->a);
    size_t judged = verdict_judged(detail);
    if (verdict && strcmp(verdict, "fail") == 0)
        doc_answer(d, STYLE_BAD, "failed", reason);
    else if (verdict && strcmp(verdict, "pass") == 0 && judged)
        doc_answer(d, STYLE_GOOD, "pass", arena_printf(d->a, "%zu metric%s within the references.", judged, str_plural(judged)));
    else if (verdict && strcmp(verdict, "pass") == 0)
        doc_answer(d, STYLE_PLAIN, "output valid", "No reference to judge the values by.");
    else
        doc_answer(d, run->status == RUN_FINISHED ? STYLE_PLAIN : STYLE_BAD, run->status == RUN_FINISHED ? "finished" : runs_status(run),
                   reason);
}

static void report_headlines(struct doc *d, const struct runs *runs, const struct tree_run *run)
{
    struct headline found[HEADLINES_MAX];
    struct folder tree = runs_tree(runs, run);
    size_t n = headlines_of(&tree, run, HEADLINES_MAX, d->a, found);
    struct doc_card *cards = arena_get(d->a, (HEADLINES_MAX + 1) * sizeof *cards);
    n = n < HEADLINES_MAX ? n : HEADLINES_MAX;
    for (size_t i = 0; cards && i < n; i++) {
        CLEANUP_BUF struct buf name, value, unit;
        const char *shown = found[i].unit;
        double scale = show_scale(found[i].value, &shown);
        buf_init(&name, 400);
        buf_init(&value, 64);
        buf_init(&unit, 64);
        show_metric(&name, found[i].key, found[i].unit);
        show_value(&value, found[i].value * scale);
        show_unit(&unit, shown);
        cards[i] = (struct doc_card){.name = arena_dup(d->a, name.p ? name.p : "", name.n),
                                     .value = arena_dup(d->a, value.p ? value.p : "", value.n),
                                     .unit = arena_dup(d->a, unit.p ? unit.p : "", unit.n)};
    }
    if (cards && n)
        doc_cards(d, cards, n);
}

static void report_metrics(struct doc *d, const struct tree_run *run, const struct json *detail)
{
    static const struct doc_column columns[] = {{"metric"}, {"value", NULL, true}, {"unit"}, {"better"}};
    struct doc_grid *t = doc_table(d, "metrics", columns, sizeof columns / sizeof *columns);
    for (const struct tree_entry *e = run->metrics; e; e = e->next) {
        const struct json *m = json_get(json_get(detail, "metrics"), e->key);
        CLEANUP_BUF struct buf value;
        buf_init(&value, 64);
        if (!e->count)
            continue;
        show_value(&value, e->samples[e->count - 1].value);
        doc_cell_text(t, STYLE_PLAIN, e->key);
        doc_cell_number(t, STYLE_PLAIN, e->samples[e->count - 1].value, arena_dup(d->a, value.p, value.n));
        doc_cell_text(t, STYLE_DIM, arena_printf(d->a, "%s", json_string(json_get(m, "unit"), "")));
        doc_cell_text(t, STYLE_DIM, arena_printf(d->a, "%s", json_string(json_get(m, "direction"), "")));
    }
    if (!doc_rows(t))
        doc_text(d, STYLE_DIM, "no metrics");
}

static void report_params(struct doc *d, const struct tree_run *run)
{
    struct doc_grid *t = doc_facts(d, "params");
    for (const struct tree_entry *e = run->params; e; e = e->next)
        doc_fact(t, e->key, arena_dup(d->a, e->value.p, e->value.n));
}

static void report_notes(struct doc *d, const struct json *detail)
{
    size_t n = 0;
    for (const struct json *w = json_first(json_get(detail, "warnings")); w && n < WARNINGS_MAX; w = json_next(w)) {
        const char *text = json_string(json_get(w, "text"), "");
        if (n++ == 0)
            doc_heading(d, "Warnings");
        doc_note(d, arena_dup(d->a, text, strlen(text)));
    }
}

static void report_output(struct doc *d, const struct runs *runs, const struct tree_run *run)
{
    const char *text = runs_file(runs, run, "artifacts/stdout.log", OUTPUT_MAX, d->a);
    if (text && *text) {
        doc_heading(d, "Output");
        doc_output(d, str_of(text));
    }
}

int report_run(struct doc *d, struct runs *runs, struct tree_run *run, struct err *err)
{
    const char *problem = NULL, *command = runs_text(run->tags, "benchwrap.command", d->a);
    struct json *detail = runs_detail(runs, run, &problem, d->a);
    d->title = run->name;
    report_verdict(d, run, detail);
    report_headlines(d, runs, run);
    if (command)
        doc_command(d, command);
    report_metrics(d, run, detail);
    doc_heading(d, "Conditions");
    doc_fold(d, "All params");
    report_params(d, run);
    doc_unfold(d);
    report_notes(d, detail);
    report_output(d, runs, run);
    json_free(detail);
    problem = run->problem ? run->problem : problem;
    if (problem)
        doc_note(d, arena_printf(d->a, "damaged: %s", problem));
    return d->a->failed ? err_memory(err, "the report") : problem ? 1 : 0;
}
