/* record.c: check artifacts/benchwrap.json: its schema, and the same facts as in the files. */
#include "check/parts.h"

#include "base/units.h"
#include "mlruns-format/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMPLAINTS_MAX = 8 };
static const char file[] = "artifacts/benchwrap.json";

static void report_record_problem(void *context, const char *where, const char *what)
{
    run_found(context, CHECK_RECORD, file, 0, "%s %s", where, what);
}

static const char *record_pointer_text(const struct json *j, const char *pointer)
{
    return json_string(json_pointer(j, pointer), "");
}

/* Units and directions of what benchwrap itself measures. They are the same in every record. */
static const char *own_problem(const char *key, const struct json *told)
{
    static const struct {
        const char *key, *unit, *direction;
    } rows[] = {{"run.wall_s", "s", "lower"},     {"run.user_s", "s", "lower"},        {"run.system_s", "s", "lower"},
                {"run.overhead_s", "s", "lower"}, {"run.max_rss_MiB", "MiB", "lower"}, {"run.exit_status", "", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(key, rows[i].key) == 0 && (strcmp(json_string(json_get(told, "unit"), ""), rows[i].unit) != 0 ||
                                              strcmp(json_string(json_get(told, "direction"), ""), rows[i].direction) != 0))
            return "the unit or the direction is not benchwrap's";
    return NULL;
}

static void check_verdict_word(struct run_check *r, const char *word)
{
    if (strcmp(word, "pass") != 0 && strcmp(word, "fail") != 0 && strcmp(word, "none") != 0)
        run_found(r, CHECK_RECORD, file, 0, "the verdict \"%.40s\" is none of pass, fail and none", word);
}

/* Reports where benchwrap.json differs from meta.yaml and from the tags of verdict and run id. */
static void check_head(struct run_check *r)
{
    const struct json *j = r->record;
    const struct tree_meta *m = &r->meta;
    if (strcmp(record_pointer_text(j, "/run/id"), r->id) != 0 || strcmp(record_pointer_text(j, "/run/experiment/id"), r->experiment) != 0) {
        run_found(r, CHECK_IDENTITY, file, 0, "it is the record of another run");
        return;
    }
    if (!r->meta_good)
        return;
    const struct {
        const char *what;
        bool same;
    } rows[] = {
        {"the run's name", str_is(m->name, record_pointer_text(j, "/run/name"))},
        {"the user", str_is(m->user_id, record_pointer_text(j, "/run/user"))},
        {"the status", strcmp(record_status_name((enum run_status)m->status), record_pointer_text(j, "/run/status")) == 0},
        {"the start", json_integer(json_pointer(j, "/run/start_ms"), 0) == m->start_ms},
        {"the end", json_integer(json_pointer(j, "/run/end_ms"), 0) == m->end_ms},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!rows[i].same)
            run_found(r, CHECK_RECORD, file, 0, "%s differs from meta.yaml", rows[i].what);
    const char *verdict = run_text(r, 't', "benchwrap.verdict"), *word = record_pointer_text(j, "/verdict/word");
    if (strcmp(verdict ? verdict : "none", word) != 0)
        run_found(r, CHECK_RECORD, file, 0, "the verdict is \"%s\", the tag benchwrap.verdict says \"%s\"", word,
                  verdict ? verdict : "none");
    check_verdict_word(r, word);
    const char *id = run_text(r, 't', "benchwrap.run_id");
    if (id && strcmp(id, r->id) != 0)
        run_found(r, CHECK_IDENTITY, "tags/benchwrap.run_id", 0, "it is the id of another run");
}

static bool same_record_text(const struct check_entry *e, const struct json *told, bool cut)
{
    const char *text = json_string(json_get(told, "value"), "");
    size_t n = strlen(text);
    return cut && e->value.n < n ? memcmp(text, e->value.p, e->value.n) == 0 : str_eq(e->value, (struct str){text, n});
}

static bool same_record_number(double a, const struct json *b)
{
    return json_is_string(b) ? isnan(a) : json_number(b, NAN) == a;
}

/* Returns the unit that the key names ("write.bw_MiB_per_s.max"), where no other word is spelled
 * so; NULL: none. */
static const struct unit *unit_of_key(struct str key)
{
    for (struct str rest = key; rest.p;) {
        struct str tail = str_cut(&rest, '.');
        while (str_cut(&tail, '_').p && tail.p) {
            const struct unit *u = units_find(tail);
            if (u && str_is(tail, u->name) && (strstr(u->name, "_per_") || strpbrk(u->name, "BGHJ") || strcmp(u->name, "percent") == 0))
                return u;
        }
    }
    return NULL;
}

/* Builds of benchwrap 0.1.0 recorded no unit for the duration of a run without metrics, such as a
 * retraction. */
static bool is_unitless_duration(const struct run_check *r, const struct check_entry *e, const struct json *told)
{
    double span = (double)(r->meta.end_ms - r->meta.start_ms) / 1e3;
    return json_count(json_get(r->record, "metrics")) == 1 && strcmp(e->key, "run.wall_s") == 0 && e->count == 1 && r->meta_good &&
           e->samples[0].value == span && strcmp(json_string(json_get(told, "source"), ""), "tree") == 0 &&
           !*json_string(json_get(told, "unit"), "") && !*json_string(json_get(told, "direction"), "");
}

/* Returns what is wrong with a metric's entry in the record, a static text. NULL: nothing. */
static const char *metric_problem(const struct run_check *r, const struct check_entry *e, const struct json *told)
{
    const struct json *thinned = json_get(told, "thinned"), *low = json_get(told, "min"), *high = json_get(told, "max");
    const struct unit *named = unit_of_key(str_of(e->key));
    const char *unit = json_string(json_get(told, "unit"), "");
    double min = INFINITY, max = -INFINITY, sum = 0;
    if (named && *unit && strcmp(unit, named->name) != 0)
        return "the unit differs from that of the key";
    if (own_problem(e->key, told) && !is_unitless_duration(r, e, told))
        return own_problem(e->key, told);
    if (!e->count)
        return NULL; /* the file's own finding reports it */
    if (!same_record_number(run_number(r, e->key, NAN), json_get(told, "value")))
        return "the value differs from the file's";
    if (json_number(thinned ? json_get(thinned, "points") : json_get(told, "samples"), 0) != (double)e->count)
        return "the number of samples differs from the file's lines";
    for (size_t i = 0; i < e->count; i++) {
        min = fmin(min, e->samples[i].value);
        max = fmax(max, e->samples[i].value);
        sum += e->samples[i].value;
    }
    if ((low && json_number(low, 0) != min) || (high && json_number(high, 0) != max)) /* thinning keeps both */
        return "min or max differs from the samples";
    double mean = sum / (double)e->count;
    if (!thinned && json_get(told, "mean") &&
        !(fabs(json_number(json_get(told, "mean"), mean) - mean) <= 1e-9 * fmax(fabs(min), fabs(max))) && !isnan(mean))
        return "the mean differs from the samples";
    if (thinned && !run_file(r, "artifacts/series.jsonl"))
        return "the samples were thinned, and artifacts/series.jsonl is not there";
    return NULL;
}

static int compare_artifact_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_record_keys(const void *a, const void *b)
{
    return strcmp(((const struct check_member *)a)->key, ((const struct check_member *)b)->key);
}

static int compare_record_members(const void *a, const void *b)
{
    const struct check_member *x = a, *y = b;
    int by_key = compare_record_keys(x, y);
    return by_key ? by_key : (x->at > y->at) - (x->at < y->at);
}

static void members_make(struct run_check *r, const char *name, struct check_members *ret)
{
    const struct json *map = json_get(r->record, name);
    ret->list = arena_get(&r->a, (json_count(map) + 1) * sizeof *ret->list);
    for (const struct json *e = ret->list ? json_first(map) : NULL; e; e = json_next(e), ret->count++)
        ret->list[ret->count] = (struct check_member){json_key(e), e, ret->count};
    if (ret->count)
        qsort(ret->list, ret->count, sizeof *ret->list, compare_record_members);
}

void run_members_make(struct run_check *r)
{
    if (r->params.list)
        return;
    members_make(r, "params", &r->params);
    members_make(r, "tags", &r->tags);
    members_make(r, "metrics", &r->metrics);
}

const struct json *run_member(const struct check_members *of, const char *key)
{
    const struct check_member wanted = {.key = key}, *found = NULL;
    if (of->count)
        found = bsearch(&wanted, of->list, of->count, sizeof *of->list, compare_record_keys);
    while (found && found > of->list && strcmp(found[-1].key, key) == 0)
        found--;
    return found ? found->value : NULL;
}

/* Reports keys that only the record or only the files have, and values that differ. Does nothing
 * without memory for the record's. */
static void check_record_members(struct run_check *r, char kind, const struct check_members *of, const char *name)
{
    const struct check_member *told = of->list;
    size_t n = of->count, i = 0, complaints = 0;
    bool cut = run_text(r, 't', "benchwrap.cut") != NULL;
    for (size_t k = 0; told && complaints < COMPLAINTS_MAX && (i < n || k < r->entry_count);) {
        const struct check_entry *e = k < r->entry_count ? &r->entries[k] : NULL;
        if (e && e->kind != kind) {
            k++;
            continue;
        }
        int order = !e ? -1 : i == n ? 1 : strcmp(told[i].key, e->key);
        const char *why = NULL;
        if (order < 0 && !r->limited)
            why = "benchwrap.json has it, and there is no file";
        else if (order > 0)
            why = "benchwrap.json does not have it";
        else if (order == 0 && kind == 'm')
            why = metric_problem(r, e, told[i].value);
        else if (order == 0 && !same_record_text(e, told[i].value, cut))
            why = "benchwrap.json has another value";
        if (why) {
            char path[1300];
            snprintf(path, sizeof path, "%s/%s", name, order < 0 ? told[i].key : e->key);
            run_found(r, CHECK_RECORD, path, 0, "%s", why);
            complaints++;
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* Is it a file that the tree's builder adds to the artifacts of the record? */
static bool is_builders(struct str path)
{
    static const char *const names[] = {"benchwrap.json", "manifest.json", "manifest.json.sig", "series.jsonl", "series.jsonl.zst"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(path, names[i]))
            return true;
    return false;
}

/* Does the record have the path below artifacts/, or a folder above it? `told` holds the record's
 * paths, sorted. */
static bool is_in_record(struct str path, const char **told, size_t n, struct arena *a)
{
    for (;;) {
        const char *key = arena_dup(a, path.p, path.n);
        if (!key || bsearch(&key, told, n, sizeof *told, compare_artifact_paths))
            return true;
        while (path.n && path.p[path.n - 1] != '/')
            path.n--;
        if (!path.n)
            return false;
        path.n--;
    }
}

/* Reports artifacts that benchwrap.json does not list, at most COMPLAINTS_MAX. Files of the
 * recorder itself need no row there. */
static void check_unrecorded_files(struct run_check *r)
{
    static const char at[] = "artifacts/";
    const struct json *list = json_get(r->record, "artifacts");
    size_t n = 0, complaints = 0;
    const char **told = arena_get(&r->a, (json_count(list) + 1) * sizeof *told);
    for (const struct json *e = told ? json_first(list) : NULL; e; e = json_next(e))
        told[n++] = json_string(json_get(e, "path"), "");
    if (n)
        qsort(told, n, sizeof *told, compare_artifact_paths);
    for (size_t i = 0; told && i < r->count && complaints < COMPLAINTS_MAX; i++) {
        struct str path = r->files[i].path;
        if (!str_starts(path, at))
            continue;
        path = str_sub(path, strlen(at), path.n);
        if (is_builders(path) || is_in_record(path, told, n, &r->a))
            continue;
        run_found(r, CHECK_RECORD, r->files[i].path.p, 0, "benchwrap.json does not have it");
        complaints++;
    }
}

/* Reports artifacts of the record that are no file of the run, at most COMPLAINTS_MAX. Does nothing
 * where a limit was reached: the file may be one that was not read. */
static void check_artifacts(struct run_check *r)
{
    size_t complaints = 0;
    for (const struct json *e = json_first(json_get(r->record, "artifacts")); e && complaints < COMPLAINTS_MAX && !r->limited;
         e = json_next(e)) {
        char path[1300];
        snprintf(path, sizeof path, "artifacts/%.1200s", json_string(json_get(e, "path"), ""));
        if (!run_file(r, path)) {
            run_found(r, CHECK_RECORD, file, 0, "%s is missing", path);
            complaints++;
        }
    }
}

void check_record(struct run_check *r)
{
    struct err why = {0};
    if (!r->record_text.p) {
        run_found(r, CHECK_RECORD, file, 0, "it is missing or too large");
        return;
    }
    if (str_starts(r->record_text, "\xef\xbb\xbf")) { /* cJSON passes it over, others' readers stop there */
        run_found(r, CHECK_RECORD, file, 0, "it begins with a byte order mark");
        return;
    }
    if (json_parse(&r->record, r->record_text, NULL, &why) < 0) {
        run_found(r, CHECK_RECORD, file, 0, "%s", why.text);
        return;
    }
    if (schema_check(SCHEMA_RECORD, r->record, COMPLAINTS_MAX, report_record_problem, r) != 0) {
        json_free(r->record); /* what is not of the format is not read on */
        r->record = NULL;
        return;
    }
    check_head(r);
    run_members_make(r);
    check_record_members(r, 'p', &r->params, "params");
    check_record_members(r, 't', &r->tags, "tags");
    check_record_members(r, 'm', &r->metrics, "metrics");
    check_artifacts(r);
    check_unrecorded_files(r);
    check_private_record(r);
}
