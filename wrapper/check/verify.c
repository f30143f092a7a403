/* verify.c: read the stored output again by the run's own rules, as at the run's end, and compare the
 * result with what the run claims.
 *
 * Rules that are not shipped may be slow on purpose: they run in a child process with limits on time
 * and memory. */
#include "check/verify.h"

#include "mlruns-format/annotation.h"
#include "mlruns-format/missing.h"

#include "benchmarks/catalogue.h"
#include "benchmarks/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIFFERENCES_MAX = 8 };
static const char rules_file_name[] = "artifacts/rules.yaml";

static const char *verify_tag(const struct run_check *r, const char *key)
{
    return run_text(r, 't', key);
}

/* ---- what is the reading worth? ---- */

bool verify_is_missing(const struct run_check *r, const char *key)
{
    return missing_reason(r->record, key) != NULL;
}

/* Returns why the metrics cannot be read again, a static text. NULL: they can. *ret_said: no
 * finding is due. */
static const char *why_unverifiable(const struct run_check *r, bool *ret_said)
{
    *ret_said = verify_tag(r, "benchwrap.series") || verify_tag(r, "benchwrap.retracts") || verify_tag(r, ANNOTATION_TAG) ||
                verify_tag(r, "benchwrap.block"); /* their metrics belong to other runs */
    if (*ret_said)
        return "its values come from other runs";
    if ((verify_is_missing(r, "stdout.log") && !run_file(r, "artifacts/stdout.log")) ||
        (verify_is_missing(r, "stderr.log") && !run_file(r, "artifacts/stderr.log"))) /* existing files are read in any case */
        return "the output is withheld (public profile)";
    return NULL;
}

static bool is_shipped(struct str text)
{
    for (const struct catalogue_shipped *s = catalogue_shipped; s->name; s++)
        if (str_eq(text, (struct str){s->text, s->n}))
            return true;
    return false;
}

/* Is it a rule file of the reviewer's (--rules)? */
static bool is_reviewers_rules(const struct check_state *k, const struct rules *rules, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    const char *path = k->catalogue ? catalogue_by_name(k->catalogue, rules_name(rules), a) : NULL;
    buf_init(&b, CATALOGUE_FILE_MAX + 65536);
    return path && catalogue_read(path, &b, NULL) == 0 && str_eq(buf_text(&b), rules_text(rules));
}

/* ---- comparing ---- */

bool verify_is_from_rules(const char *source)
{
    size_t n = strlen(source), tail = strlen(":environment");
    if (strcmp(source, "rules") == 0)
        return true;
    return strncmp(source, "rule:", 5) == 0 && !(n > tail && strcmp(source + n - tail, ":environment") == 0);
}

static bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void print_value(char *to, size_t size, double v)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 100);
    buf_double(&b, v);
    snprintf(to, size, "%s", b.p ? b.p : "");
}

/* A metric of the record with its place: all samples of a key together, in their order. */
struct verify_sample {
    const struct fact *f;
    size_t at;
};

static int compare_verify_samples(const void *x, const void *y)
{
    const struct verify_sample *a = x, *b = y;
    int way = str_cmp(a->f->key, b->f->key);
    return way ? way : a->at < b->at ? -1 : a->at > b->at;
}

/* Returns the metrics of the record, sorted; *ret_count of them, in the arena. NULL: out of
 * memory. */
static struct verify_sample *verify_samples(const struct record *record, struct arena *a, size_t *ret_count)
{
    size_t n = 0;
    for (const struct fact *f = record->first; f; f = f->next)
        n += f->kind == FACT_METRIC;
    struct verify_sample *list = arena_get(a, (n + 1) * sizeof *list);
    *ret_count = list ? n : 0;
    n = 0;
    for (const struct fact *f = list ? record->first : NULL; f; f = f->next)
        if (f->kind == FACT_METRIC) {
            list[n] = (struct verify_sample){f, n};
            n++;
        }
    if (list)
        qsort(list, n, sizeof *list, compare_verify_samples);
    return list;
}

/* Returns whether the points of a thinned series are among the samples, in their order, with
 * minimum and maximum. */
static bool is_left_of(const struct check_entry *e, const struct verify_sample *list, size_t n)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < e->count; i++, at++) {
        while (at < n && !(same_value(list[at].f->value, e->samples[i].value) && list[at].f->step == e->samples[i].step))
            at++;
        if (at >= n)
            return false;
        least = fmin(least, e->samples[i].value);
        most = fmax(most, e->samples[i].value);
    }
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, list[i].f->value);
        high = fmax(high, list[i].f->value);
    }
    return low == least && high == most;
}

/* Returns whether the n samples of one key in the new reading are those of the run. *ret_was,
 * *ret_is: the last values of the run (NaN: it has none) and of the new reading. */
static bool metric_same(const struct run_check *r, const char *key, const struct verify_sample *list, size_t n, double *ret_was,
                        double *ret_is)
{
    const struct check_entry *e = run_entry(r, 'm', key);
    const struct json *told = run_member(&r->metrics, key);
    bool equal = e != NULL, thinned = e && json_get(told, "thinned") && json_number(json_get(told, "samples"), 0) > (double)e->count;
    const struct fact *first = list->f, *last = first;
    for (size_t i = 0; i < n; i++) {
        const struct fact *f = list[i].f;
        last = f->step >= last->step ? f : last;
        if (!thinned && e && (i >= e->count || !same_value(e->samples[i].value, f->value) || e->samples[i].step != f->step))
            equal = false;
    }
    if (thinned && !is_left_of(e, list, n))
        equal = false;
    *ret_was = e ? run_number(r, key, NAN) : NAN;
    *ret_is = last->value;
    if (strcmp(json_string(json_get(told, "unit"), ""), first->unit) != 0 ||
        record_direction_of(json_string(json_get(told, "direction"), "")) != first->direction)
        return false;
    return equal && same_value(*ret_was, *ret_is) && (double)n == json_number(json_get(told, "samples"), -1);
}

static const char *claim_source_words(const struct verify_state *t)
{
    return t->series ? "its runs give" : "the output gives";
}

/* Reports a metric whose samples differ. Returns true if they do. */
static bool report_metric(const struct verify_state *t, struct run_check *r, const struct verify_sample *list, size_t n)
{
    double was, is;
    const struct fact *f = list->f;
    char key[300], file[400], claimed[48], read[48], text[300];
    snprintf(key, sizeof key, STR_FMT, STR_ARG(f->key));
    if (metric_same(r, key, list, n, &was, &is) || (t->common && !run_entry(r, 'm', key))) /* other rules may read more */
        return false;
    snprintf(file, sizeof file, "metrics/%s", key);
    print_value(claimed, sizeof claimed, was);
    print_value(read, sizeof read, is);
    if (!run_entry(r, 'm', key))
        snprintf(text, sizeof text, "%s %s %s, and the run has no such metric", claim_source_words(t), read, f->unit);
    else if (same_value(was, is))
        snprintf(text, sizeof text, "the samples, their steps, the unit or the direction are not those that %s", claim_source_words(t));
    else
        snprintf(text, sizeof text, "value %s differs from %s (%s %s)", claimed, t->series ? "that of its runs" : "the output", read,
                 f->unit);
    t->tell(t->context, t->differs, file, text);
    return true;
}

static void verify_metrics(const struct verify_state *t, struct run_check *r, const struct record *record)
{
    size_t count, told = 0;
    const struct verify_sample *list = verify_samples(record, &r->a, &count);
    for (size_t i = 0, n; i < count && told < DIFFERENCES_MAX; i += n) {
        for (n = 1; i + n < count && str_eq(list[i + n].f->key, list[i].f->key);)
            n++;
        told += report_metric(t, r, list + i, n);
    }
}

/* Is a fact with this source one that was worked out? */
static bool is_claim(const struct verify_state *t, enum fact_kind kind, const char *source)
{
    return t->series ? kind == FACT_METRIC && strcmp(source, "series") == 0 : verify_is_from_rules(source);
}

/* Returns whether the tag names a file that the rules read, "benchwrap.rules_file.2": where the
 * recorder kept it, or that it was there. */
static bool is_kept_file(const struct verify_state *t, const struct json *tag)
{
    static const char *const before[] = {"benchwrap.rules_file.", "benchwrap.rules_file_from."};
    uint64_t i;
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
        if (str_starts(str_of(json_key(tag)), before[k]) && str_uint(str_of(json_key(tag) + strlen(before[k])), &i))
            return t->rules && rules_file(t->rules, (size_t)i) && *json_string(json_get(tag, "value"), "");
    return false;
}

/* Is it "benchwrap.disagreement" of a run whose arguments are withheld, with names of its params? The
 * params that the arguments contradicted are not known then. */
static bool is_of_withheld(const struct run_check *r, const struct json *tag)
{
    struct str rest = str_of(json_string(json_get(tag, "value"), ""));
    if (strcmp(json_key(tag), "benchwrap.disagreement") != 0 || !verify_argv_is_withheld(r))
        return false;
    for (struct str word = str_word(&rest); word.n; word = str_word(&rest)) {
        char key[300];
        snprintf(key, sizeof key, STR_FMT, STR_ARG(word));
        if (!run_member(&r->params, key))
            return false;
    }
    return true;
}

/* Reports metrics that the run claims to have from its rules, and that the output does not have. */
static void compare_claims(const struct verify_state *t, struct run_check *r, const struct record *record)
{
    static const struct {
        const char *member;
        enum fact_kind kind;
        const char *what;
    } kinds[] = {{"metrics", FACT_METRIC, "metric"}, {"params", FACT_PARAM, "param"}, {"tags", FACT_TAG, "tag"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t told = 0;
        for (const struct json *e = json_first(json_get(r->record, kinds[i].member)); e && told < DIFFERENCES_MAX; e = json_next(e)) {
            bool claim = is_claim(t, kinds[i].kind, json_string(json_get(e, "source"), ""));
            const struct fact *f = claim ? record_find(record, kinds[i].kind, json_key(e)) : NULL;
            char file[400], text[200];
            snprintf(file, sizeof file, "%s/%.300s", kinds[i].member, json_key(e));
            if (!claim || (f && kinds[i].kind == FACT_METRIC) ||
                (kinds[i].kind == FACT_TAG && (is_kept_file(t, e) || is_of_withheld(r, e))))
                continue;
            if (f && str_is(f->text, json_string(json_get(e, "value"), "")))
                continue;
            if (f)
                snprintf(text, sizeof text, "the output gives \"%.100s\"", f->text.p);
            else
                snprintf(text, sizeof text, "%s no such %s", claim_source_words(t), kinds[i].what);
            t->tell(t->context, t->differs, file, text);
            told++;
        }
    }
}

/* Returns whether it is the tag `benchwrap.headline` of a run with metrics that the program
 * logged, all of whose words are metrics of the run. */
static bool is_with_logged(const struct run_check *r, const char *key, const struct json *tag)
{
    struct str rest = str_of(json_string(json_get(tag, "value"), ""));
    if (strcmp(key, "benchwrap.headline") != 0 || strcmp(json_string(json_get(tag, "source"), ""), "log") != 0)
        return false;
    for (struct str word = str_word(&rest); word.n; word = str_word(&rest)) {
        char name[300];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(word));
        if (!run_member(&r->metrics, name))
            return false;
    }
    return true;
}

/* Reports params and tags that the output has and the run has not, or has with another value from
 * another source. */
static void compare_texts(const struct verify_state *t, struct run_check *r, const struct record *record)
{
    bool public = verify_tag(r, "benchwrap.profile") && strcmp(verify_tag(r, "benchwrap.profile"), "public") == 0; /* not all is recorded */
    size_t told = 0;
    for (const struct fact *f = record->first; f && told < DIFFERENCES_MAX; f = f->next) {
        const char *member = f->kind == FACT_PARAM ? "params" : f->kind == FACT_TAG ? "tags" : NULL;
        char key[300], file[400], text[300];
        snprintf(key, sizeof key, STR_FMT, STR_ARG(f->key));
        const struct json *e = member ? run_member(f->kind == FACT_PARAM ? &r->params : &r->tags, key) : NULL;
        if (!member || (!e && public) || is_with_logged(r, key, e) ||
            (e && (verify_is_from_rules(json_string(json_get(e, "source"), "")) || str_is(f->text, json_string(json_get(e, "value"), "")))))
            continue;
        snprintf(file, sizeof file, "%s/%s", member, key);
        snprintf(text, sizeof text, "the output gives \"%.100s\", and the run %s", f->text.p,
                 e ? "has another value from elsewhere" : "has none");
        t->tell(t->context, e ? CHECK_RULES_DIFFER : t->differs, file, text);
        told++;
    }
}

/* ---- the verdict ---- */

static bool reference_fails(const struct run_check *r)
{
    for (const struct json *e = json_first(json_get(r->record, "references")); e; e = json_next(e))
        if (json_bool(json_get(e, "fails"), false))
            return true;
    return false;
}

/* Compares status and verdict of the run with those of the new reading. Where the record has
 * references, accepts "fail" if one of these fails, and "pass" instead of "none" if none fails. */
static void verify_verdict(const struct verify_state *t, struct run_check *r, const struct rules_outcome *out)
{
    const char *word = verify_tag(r, "benchwrap.verdict"), *expected = out->verdict == VERDICT_PASS   ? "pass"
                                                                       : out->verdict == VERDICT_FAIL ? "fail"
                                                                                                      : "none";
    bool finished = r->meta.status == RUN_FINISHED;
    char text[300];
    if (finished && !out->complete) {
        snprintf(text, sizeof text, "the run claims to be FINISHED; by its output it is not complete: %.200s",
                 out->reason ? out->reason : "");
        t->tell(t->context, CHECK_VERDICT, "meta.yaml", text);
    }
    if (!finished)
        expected = "fail";
    /* The reviewer has not the site's references: they may make it worse, or a none a pass. */
    bool referred = json_get(r->record, "references") != NULL;
    if (strcmp(word ? word : "none", expected) == 0 || (reference_fails(r) && word && strcmp(word, "fail") == 0) ||
        (referred && strcmp(expected, "none") == 0 && word && strcmp(word, "pass") == 0 && !reference_fails(r)))
        return;
    snprintf(text, sizeof text, "the run claims \"%.20s\", %s \"%s\"%s%.200s", word ? word : "none", claim_source_words(t), expected,
             out->reason && *out->reason ? ": " : "", out->reason ? out->reason : "");
    t->tell(t->context, CHECK_VERDICT, "tags/benchwrap.verdict", text);
}

/* ---- all of a run ---- */

void verify_compare(const struct verify_state *t, struct run_check *r, const struct record *record, const struct rules_outcome *out)
{
    run_members_make(r);
    verify_metrics(t, r, record);
    if (t->common)
        return;
    compare_claims(t, r, record);
    if (!t->series)
        compare_texts(t, r, record);
    verify_verdict(t, r, out);
}

/* Reads the output by these rules and reports what differs from the run's claims. */
static void verify_by_rules(const struct verify_state *t, struct run_check *r, const struct rules *rules)
{
    struct record record;
    struct rules_outcome out = {.verdict = VERDICT_NONE};
    struct err err = {0};
    bool sure;
    if (verify_reread(r, rules, &record, &out, &sure, &err) < 0)
        t->tell(t->context, CHECK_RULES, rules_file_name, err.text);
    else if (!sure)
        t->tell(t->context, CHECK_UNVERIFIABLE, "", "a file that the rules read is not kept, or several could be it");
    else {
        struct verify_state by_rules = *t;
        by_rules.rules = rules;
        verify_compare(&by_rules, r, &record, &out);
    }
    record_deinit(&record);
}

static void read_in_sandbox(const struct verify_state *t, struct run_check *r, const void *rules)
{
    verify_by_rules(t, r, rules);
}

static void report_finding(void *context, enum check_id id, const char *file, const char *text)
{
    run_found(context, id, file, 0, "%s", text);
}

/* Reads the same output by the shipped rules of this name, and reports values that differ. Does
 * nothing where there are none. */
static void read_by_shipped(struct run_check *r, const char *name)
{
    struct verify_state t = {.tell = report_finding, .context = r, .differs = CHECK_RULES_DIFFER, .common = true};
    struct rules *rules = NULL;
    char address[200];
    snprintf(address, sizeof address, "shipped:%.150s", name);
    if (rules_load(&rules, address, NULL) == 0)
        verify_by_rules(&t, r, rules);
    if (rules)
        rules_free(rules);
}

/* Reports metrics and params with a rule as source where no rules could read anything. */
static void check_unread(struct run_check *r, const char *why)
{
    static const char *const members[] = {"metrics", "params"};
    size_t told = 0;
    for (size_t i = 0; i < 2; i++)
        for (const struct json *e = json_first(json_get(r->record, members[i])); e && told < DIFFERENCES_MAX; e = json_next(e)) {
            char file[400];
            snprintf(file, sizeof file, "%s/%.300s", members[i], json_key(e));
            if (!verify_is_from_rules(json_string(json_get(e, "source"), "")))
                continue;
            run_found(r, CHECK_TRUTH, file, 0, "it is said to be read from the output by rules, and %s", why);
            told++;
        }
}

static void check_without_rules(struct run_check *r)
{
    const char *word = verify_tag(r, "benchwrap.verdict");
    double status = run_number(r, "run.exit_status", 0);
    if (word && strcmp(word, "pass") == 0 && !json_get(r->record, "references"))
        run_found(r, CHECK_VERDICT, "tags/benchwrap.verdict", 0, "the run claims \"pass\", and no rules have judged it");
    if (r->meta.status == RUN_FINISHED && status != 0 && !isnan(status))
        run_found(r, CHECK_VERDICT, "meta.yaml", 0, "the run claims to be FINISHED, and its program ended with %g", status);
    check_unread(r, "artifacts/rules.yaml is not there");
}

/* Runs without an output of their own. */
static void check_unmeasured(struct run_check *r)
{
    if (verify_tag(r, "benchwrap.block"))
        check_block(r);
    else
        check_unread(r, verify_tag(r, "benchwrap.series") ? "a series has the values of its runs"
                        : verify_tag(r, ANNOTATION_TAG)   ? "an annotation measures nothing"
                                                          : "a retraction measures nothing");
    if (verify_tag(r, "benchwrap.series"))
        check_series(r);
    const char *claimed = verify_tag(r, "benchwrap.verdict"), *what = verify_tag(r, "benchwrap.retracts") ? "a retraction"
                                                                      : verify_tag(r, ANNOTATION_TAG)     ? "an annotation"
                                                                                                          : NULL;
    if (what && claimed && strcmp(claimed, "none") != 0)
        run_found(r, CHECK_VERDICT, "tags/benchwrap.verdict", 0, "the run claims \"%.20s\", and %s measures nothing", claimed, what);
}

/* Reports rules that are not those of the benchmark that the run names. */
static void check_name_of_rules(struct run_check *r, const struct rules *rules)
{
    const char *file = verify_tag(r, "benchwrap.rules") ? "benchwrap.rules" : "benchmark", *name = verify_tag(r, file);
    char path[40];
    snprintf(path, sizeof path, "tags/%s", file);
    if (!name || strcmp(name, rules_name(rules)) != 0)
        run_found(r, CHECK_RULES, path, 0, "it says \"%.60s\", the rules are those of \"%.60s\"", name ? name : "", rules_name(rules));
}

/* Returns the run's rules, valid until the next call: the last ones are cached, since most runs
 * of a range have the same. NULL: they cannot be loaded, which is reported. */
static const struct rules *verify_load_rules(struct run_check *r)
{
    struct check_state *k = r->k;
    struct err err = {0};
    if (k->rules && str_eq(rules_text(k->rules), r->rules_text))
        return k->rules;
    verify_end(k);
    if (r->rules_text.n > CATALOGUE_FILE_MAX || rules_load_text(&k->rules, rules_file_name, r->rules_text, &err) < 0) {
        k->rules = NULL;
        run_found(r, CHECK_RULES, rules_file_name, 0, "%s", *err.text ? err.text : "it is too large");
    }
    return k->rules;
}

void verify_end(struct check_state *k)
{
    if (k->rules)
        rules_free(k->rules);
    k->rules = NULL;
}

void check_verify(struct run_check *r)
{
    struct verify_state t = {.tell = report_finding, .context = r, .differs = CHECK_TRUTH};
    const struct rules *rules;
    bool said;
    const char *why = why_unverifiable(r, &said);
    if (why && said) {
        check_unmeasured(r);
        return;
    }
    if (!r->rules_text.p) {
        check_without_rules(r);
        return;
    }
    if (why) {
        run_found(r, CHECK_UNVERIFIABLE, "", 0, "%s", why);
        return;
    }
    if (!(rules = verify_load_rules(r)))
        return;
    check_name_of_rules(r, rules);
    if (verify_argv_is_withheld(r))
        run_found(r, CHECK_UNVERIFIABLE, "artifacts/benchwrap.json", 0,
                  "benchwrap %.20s withheld the arguments of public runs: the params that follow from them are not verified",
                  verify_tag(r, "benchwrap.version") ? verify_tag(r, "benchwrap.version") : "");
    verify_cuts(r);
    if (is_shipped(r->rules_text) || is_reviewers_rules(r->k, rules, &r->a))
        verify_by_rules(&t, r, rules);
    else {
        run_found(r, CHECK_RULES_UNKNOWN, rules_file_name, 0, "the rules \"%.60s\", version %.30s", rules_name(rules),
                  rules_version(rules));
        sandbox_run(r, &(struct sandbox_work){read_in_sandbox, rules, CHECK_RULES, "reading the output by these rules", rules_file_name});
        read_by_shipped(r, rules_name(rules));
    }
}
