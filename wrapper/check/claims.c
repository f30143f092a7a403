/* claims.c: check what a run claims and no stored output shows: metrics that the program reports
 * about itself, withheld output, references of the site. */
#include "check/parts.h"

#include "benchmarks/catalogue.h"
#include "check/verify.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- metrics that a program reports about itself ---- */

/* Sources of results besides rules. A series is verified by its runs, and sacct is a source for its
 * own keys alone. */
static bool is_shown_elsewhere(const struct run_check *r, const char *key, const char *source)
{
    static const char *const watched[] = {"gpu.", "net.", "throttle."};
    if (!key_is_result(key) || verify_is_from_rules(source) || (strcmp(source, "series") == 0 && run_text(r, 't', "benchwrap.series")) ||
        (strcmp(source, "sacct") == 0 && strncmp(key, "slurm.", strlen("slurm.")) == 0))
        return true;
    for (size_t i = 0; i < sizeof watched / sizeof *watched && strncmp(source, "probe:", 6) == 0; i++)
        if (strncmp(key, watched[i], strlen(watched[i])) == 0)
            return true;
    return false;
}

static bool is_of_catalogue(const char *benchmark)
{
    for (const struct catalogue_shipped *s = catalogue_shipped; benchmark && s->name; s++)
        if (strcmp(s->name, benchmark) == 0)
            return true;
    return false;
}

/* Reports the metrics that neither rules nor another known source have read from the output.
 * Without the run's rules, those of a benchmark of the catalogue count as unverifiable, not as
 * claimed. */
static void check_words(struct run_check *r)
{
    const struct json *first = NULL;
    const char *benchmark = run_text(r, 't', "benchmark");
    size_t n = 0;
    for (const struct json *m = json_first(json_get(r->record, "metrics")); m; m = json_next(m)) {
        if (is_shown_elsewhere(r, json_key(m), json_string(json_get(m, "source"), "")))
            continue;
        first = first ? first : m;
        n++;
    }
    if (!n)
        return;
    if (run_text(r, 't', "benchwrap.adopted")) {
        run_found(r, CHECK_CLAIMED, "", 0, "%zu metric%s (%.100s%s) of an adopted run: no stored output shows them", n, str_plural(n),
                  json_key(first), n == 1 ? "" : " …");
        return;
    }
    bool unread = !r->rules_text.p && is_of_catalogue(benchmark);
    run_found(r, unread ? CHECK_UNVERIFIABLE : CHECK_CLAIMED, "", 0, "%s%.60s%s%zu metric%s (%.100s%s) by the word of \"%.60s\"",
              unread ? "it is said to be of the benchmark " : "", unread ? benchmark : "", unread ? ", whose rules have not read it: " : "",
              n, str_plural(n), json_key(first), n == 1 ? "" : " …", json_string(json_get(first, "source"), ""));
}

/* ---- output that is not there ---- */

/* Reports a run whose output is withheld where its profile, tags, status or verdict contradict
 * that. */
static void check_withheld(struct run_check *r)
{
    static const char file[] = "artifacts/benchwrap.json";
    const char *profile = run_text(r, 't', "benchwrap.profile"), *verdict = run_text(r, 't', "benchwrap.verdict");
    bool public = profile && strcmp(profile, "public") == 0, told = run_text(r, 't', "benchwrap.unverifiable") != NULL, withheld = false;
    for (const struct json *m = json_first(json_get(r->record, "missing")); m; m = json_next(m)) {
        const char *key = json_string(json_get(m, "key"), "");
        bool stream = strcmp(key, "stdout.log") == 0 || strcmp(key, "stderr.log") == 0;
        withheld = withheld || (stream && strncmp(json_string(json_get(m, "reason"), ""), "withheld", strlen("withheld")) == 0);
    }
    if (withheld && (!public || !told))
        run_found(
            r, CHECK_RECORD, file, 0,
            "its output is withheld, which benchwrap does in runs of the public profile alone, and says so (tag benchwrap.unverifiable)");
    if ((withheld || told) && r->meta_good && r->meta.status == RUN_FINISHED)
        run_found(r, CHECK_VERDICT, "meta.yaml", 0,
                  "the run claims to be FINISHED, and its output was withheld since a required metric is not in it");
    if ((withheld || told) && verdict && strcmp(verdict, "pass") == 0)
        run_found(r, CHECK_VERDICT, "tags/benchwrap.verdict", 0,
                  "the run claims \"pass\", and its output was withheld since a required metric is not in it");
}

/* ---- references ---- */

/* Reads the value of "key" or "key@step" from the run's own files. False: the run has no such
 * metric, or the step is no number. */
static bool claims_metric_value(const struct run_check *r, const char *name, double *ret)
{
    char key[300];
    struct str rest = str_of(name), head = str_cut(&rest, '@');
    int64_t step = 0;
    snprintf(key, sizeof key, STR_FMT, STR_ARG(head));
    const struct check_entry *e = run_entry(r, 'm', key);
    if (rest.p && !str_int(rest, &step))
        return false;
    *ret = run_number(r, key, NAN);
    for (size_t i = 0; rest.p && e && i < e->count; i++)
        if (e->samples[i].step == step)
            *ret = e->samples[i].value;
    return e != NULL;
}

/* Returns why an entry of the references contradicts the run's metrics or itself, a static text.
 * NULL: it does not, or has no verdict. */
static const char *reference_problem(const struct run_check *r, const struct json *e)
{
    const char *word = json_string(json_get(e, "verdict"), "");
    double low = json_number(json_get(e, "low"), -INFINITY), high = json_number(json_get(e, "high"), INFINITY),
           value = json_number(json_get(e, "value"), NAN), is;
    bool pass = strcmp(word, "pass") == 0, below = strcmp(word, "below") == 0, above = strcmp(word, "above") == 0;
    if (!pass && !below && !above)
        return NULL;
    if (!claims_metric_value(r, json_string(json_get(e, "metric"), ""), &is))
        return "the run has no such metric";
    if (is != value)
        return "the value is another than the run's";
    if ((pass && !(value >= low && value <= high)) || (below && !(value < low)) || (above && !(value > high)))
        return "the value does not lie there";
    return pass && json_bool(json_get(e, "fails"), false) ? "it passes and fails" : NULL;
}

/* Reports contradictions in the record's references. Of a run that no rules read, also reports
 * "pass": as an error where no reference passed, else as unverifiable. Does nothing without
 * references. */
static void check_reference_claims(struct run_check *r)
{
    const struct json *list = json_get(r->record, "references");
    const char *verdict = run_text(r, 't', "benchwrap.verdict");
    bool passes = verdict && strcmp(verdict, "pass") == 0, judged = false;
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        const char *why = reference_problem(r, e);
        if (why)
            run_found(r, CHECK_RECORD, "artifacts/benchwrap.json", 0, "reference of %.100s: %s", json_string(json_get(e, "metric"), ""),
                      why);
        judged = judged || strcmp(json_string(json_get(e, "verdict"), ""), "pass") == 0;
    }
    if (!list || r->rules_text.p || !passes)
        return;
    if (!judged)
        run_found(r, CHECK_VERDICT, "tags/benchwrap.verdict", 0,
                  "the run claims \"pass\", and neither rules nor references have judged it");
    else
        run_found(r, CHECK_UNVERIFIABLE, "tags/benchwrap.verdict", 0, "it passes by references of its site alone, which are not here");
}

void check_claims(struct run_check *r)
{
    check_words(r);
    check_withheld(r);
    check_reference_claims(r);
}
