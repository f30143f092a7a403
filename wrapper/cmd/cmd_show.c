/* cmd_show.c: `benchwrap show RUN`: everything about one run. */
#include "base/json_out.h"
#include "base/listing.h"
#include "base/show.h"
#include "cmd/runs.h"
#include "mlruns-format/key.h"

#include "series/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARTIFACTS_MAX = 10000, DEPTH_MAX = 16, VALUE_SHOWN = 100 };

struct artifact {
    const char *path;
    uint64_t size;
};

struct shown {
    struct cmd_context *c;
    const struct runs *runs;
    const struct tree_run *run;
    const struct json *detail; /* benchwrap.json, or NULL */
    const char *detail_problem;
    struct artifact *artifacts;
    size_t artifact_count;
    bool artifacts_cut;
};

/* A folder of artifacts on the way down. */
struct below {
    struct shown *s;
    const struct folder *in;
    const char *prefix;
    int depth;
};

static void list_artifacts(struct shown *s, const struct folder *in, const char *folder, const char *prefix, int depth);

static int each_artifact(void *context, const struct folder_entry *e)
{
    struct below *b = context;
    struct shown *s = b->s;
    struct folder_entry what;
    uint64_t size;
    const char *path = arena_printf(s->c->arena, "%s%s", b->prefix, e->name.p);
    if (s->artifact_count == ARTIFACTS_MAX || b->depth == DEPTH_MAX)
        s->artifacts_cut = true;
    else if (path && e->kind == FOLDER_FOLDER)
        list_artifacts(s, b->in, e->name.p, arena_printf(s->c->arena, "%s/", path), b->depth + 1);
    else if (path && folder_look(b->in, e->name.p, &what, &size) == 0)
        s->artifacts[s->artifact_count++] = (struct artifact){path, size};
    return 0;
}

static void list_artifacts(struct shown *s, const struct folder *in, const char *folder, const char *prefix, int depth)
{
    CLEANUP_FOLDER struct folder own = {0};
    struct below b = {s, &own, prefix, depth};
    if (prefix && folder_enter(in, folder, &own) == 0)
        folder_list(&own, each_artifact, &b);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct artifact *)a)->path, ((const struct artifact *)b)->path);
}

static const struct json *metric_detail(const struct shown *s, const char *key)
{
    return json_get(json_get(s->detail, "metrics"), key);
}

static const char *metric_unit(const struct shown *s, const char *key)
{
    const char *unit = json_string(json_get(metric_detail(s, key), "unit"), NULL);
    return unit ? unit : key_unit(key, s->c->arena);
}

/* The sample of greatest step, then time, as MLflow takes it. */
static const struct tree_sample *last_sample(const struct tree_entry *e)
{
    const struct tree_sample *best = NULL;
    for (size_t i = 0; i < e->count; i++)
        if (!best || e->samples[i].step > best->step || (e->samples[i].step == best->step && e->samples[i].time_ms >= best->time_ms))
            best = &e->samples[i];
    return best;
}

static void range_of(const struct tree_entry *e, double *ret_min, double *ret_max)
{
    *ret_min = *ret_max = NAN;
    for (size_t i = 0; i < e->count; i++) {
        *ret_min = fmin(*ret_min, e->samples[i].value); /* fmin, fmax pass over NaN */
        *ret_max = fmax(*ret_max, e->samples[i].value);
    }
}

/* ---- text ---- */

static void heading(const struct shown *s, const char *text)
{
    bool bold = screen_of_file(s->c->out).has_colour;
    fprintf(s->c->out, "\n%s%s%s\n", bold ? "\033[1m" : "", text, bold ? "\033[0m" : "");
}

static void line(const struct shown *s, const char *name, struct str value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    buf_plain(&b, value, 4000);
    fprintf(s->c->out, "%-12s%s\n", name, b.n ? b.p : "-");
}

static void print_meta(const struct shown *s)
{
    const struct tree_run *run = s->run;
    struct arena *a = s->c->arena;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    line(s, "run", str_of(run->id));
    line(s, "name", str_of(run->name));
    line(s, "experiment", str_of(arena_printf(a, "%s (%llu)", run->experiment, (unsigned long long)run->experiment_id)));
    line(s, "status", str_of(runs_status(run)));
    const char *verdict = runs_text(run->tags, "benchwrap.verdict", a), *reason = runs_text(run->tags, "benchwrap.reason", a);
    if (verdict)
        line(s, "verdict", str_of(reason && *reason ? arena_printf(a, "%s: %s", verdict, reason) : verdict));
    show_time(&b, run->start_ms);
    if (run->end_ms) {
        buf_puts(&b, " for ");
        show_duration(&b, (double)(run->end_ms - run->start_ms) / 1e3);
    } else {
        buf_puts(&b, ", no end is known");
    }
    line(s, "started", buf_text(&b));
    line(s, "user", str_of(run->user));
    line(s, "path", str_of(run->path));
    if (run->problem)
        line(s, "damaged", str_of(run->problem));
    if (s->detail_problem)
        line(s, "damaged", str_of(s->detail_problem));
}

/* Of a series: the points with their statistics, from the notes among its files; into j, or (NULL) as a table. */
static void print_points(const struct shown *s, struct json_out *j)
{
    char path[256];
    struct err err = {0};
    struct series_notes notes;
    CLEANUP_BUF struct buf table;
    buf_init(&table, 64 << 20);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    CLEANUP_FOLDER struct folder in = {0};
    struct folder tree = runs_tree(s->runs, s->run);
    struct folder_entry e;
    if (folder_enter(&tree, path, &in) < 0 || folder_look(&in, SERIES_NOTES, &e, NULL) < 0)
        return;
    if (series_notes_read(&in, &notes, &err) == 0 && j)
        series_json(&notes, series_figures(&notes), j);
    else if (!err.kind)
        series_table(&notes, series_figures(&notes), notes.sweep.count == 0, 0, &table);
    series_notes_deinit(&notes);
    if (err.kind)
        fprintf(s->c->notes, "benchwrap: show: %s\n", err.text);
    if (table.n) {
        heading(s, "Repetitions");
        fwrite(table.p, 1, table.n, s->c->out);
    }
}

static int print_texts(const struct shown *s, const char *title, const struct tree_entry *list)
{
    static const struct listing_column columns[] = {{"key", "KEY", false, 60}, {"value", "VALUE", false, VALUE_SHOWN}};
    struct listing l;
    if (!list)
        return 0;
    heading(s, title);
    listing_init(&l, columns, 2, s->c->arena);
    for (const struct tree_entry *e = list; e; e = e->next) {
        listing_text(&l, e->key);
        listing_str(&l, e->value);
    }
    int status = listing_print(&l, s->c->out);
    listing_deinit(&l);
    return status;
}

static void metric_row(const struct shown *s, struct listing *l, const struct tree_entry *e)
{
    const struct tree_sample *last = last_sample(e);
    double min, max;
    range_of(e, &min, &max);
    listing_text(l, e->key);
    if (last)
        listing_number(l, last->value, NULL);
    else
        listing_none(l);
    listing_text(l, metric_unit(s, e->key));
    listing_text(l, json_string(json_get(metric_detail(s, e->key), "direction"), NULL));
    listing_number(l, (double)e->count, NULL);
    if (e->count > 1 && !isnan(min)) {
        listing_number(l, min, NULL);
        listing_number(l, max, NULL);
    } else {
        listing_none(l);
        listing_none(l);
    }
}

/* In the order of what is asked first: what the program measured, what it used, what the machine did meanwhile. */
static int rank_of(const char *key)
{
    return key_is_result(key) ? 0 : strncmp(key, "run.", 4) == 0 ? 1 : 2;
}

static int print_metrics(const struct shown *s)
{
    static const struct listing_column columns[] = {{"key", "METRIC", false, 60},      {"value", "VALUE", true, 0},
                                                    {"unit", "UNIT", false, 0},        {"direction", "BETTER", false, 0, .drop = 3},
                                                    {"n", "N", true, 0, .drop = 2},    {"min", "MIN", true, 0, .drop = 1},
                                                    {"max", "MAX", true, 0, .drop = 1}};
    struct listing l;
    if (!s->run->metrics)
        return 0;
    heading(s, "Metrics");
    listing_init(&l, columns, sizeof columns / sizeof columns[0], s->c->arena);
    for (int rank = 0; rank <= 2; rank++)
        for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
            if (rank_of(e->key) == rank)
                metric_row(s, &l, e);
    int status = listing_print(&l, s->c->out);
    listing_deinit(&l);
    return status;
}

static void number_or_none(struct listing *l, const struct json *m, const char *key)
{
    const struct json *v = json_get(m, key);
    if (json_is_number(v))
        listing_number(l, json_number(v, 0), NULL);
    else
        listing_none(l);
}

/* Metrics judged by references. */
static int print_references(const struct shown *s)
{
    static const struct listing_column columns[] = {
        {"metric", "METRIC", false, 60}, {"value", "VALUE", true, 0}, {"low", "LOW", true, 0},          {"reference", "REFERENCE", true, 0},
        {"high", "HIGH", true, 0},       {"unit", "UNIT", false, 0},  {"verdict", "VERDICT", false, 0}, {"entry", "ENTRY", false, 60}};
    const struct json *all = json_get(s->detail, "references");
    struct listing l;
    if (!json_count(all))
        return 0;
    heading(s, "References");
    listing_init(&l, columns, sizeof columns / sizeof columns[0], s->c->arena);
    for (const struct json *m = json_first(all); m; m = json_next(m)) {
        const char *verdict = json_string(json_get(m, "verdict"), "");
        bool fails = json_bool(json_get(m, "fails"), false), outside = strcmp(verdict, "above") == 0 || strcmp(verdict, "below") == 0;
        listing_text(&l, json_string(json_get(m, "metric"), NULL));
        number_or_none(&l, m, "value");
        number_or_none(&l, m, "low");
        number_or_none(&l, m, "reference");
        number_or_none(&l, m, "high");
        listing_text(&l, json_string(json_get(m, "unit"), ""));
        listing_text(&l, arena_printf(s->c->arena, "%s%s", verdict, fails ? ", fails" : outside ? ", better" : ""));
        listing_text(&l, json_string(json_get(m, "entry"), ""));
    }
    int status = listing_print(&l, s->c->out);
    listing_deinit(&l);
    return status;
}

static int print_missing(const struct shown *s)
{
    static const struct listing_column columns[] = {{"key", "WHAT", false, 60}, {"reason", "WHY", false, 200}};
    const struct json *missing = json_get(s->detail, "missing"), *warnings = json_get(s->detail, "warnings");
    struct listing l;
    int status = 0;
    if (json_count(missing)) {
        heading(s, "Missing");
        listing_init(&l, columns, 2, s->c->arena);
        for (const struct json *m = json_first(missing); m; m = json_next(m)) {
            listing_text(&l, json_string(json_get(m, "key"), NULL));
            listing_text(&l, json_string(json_get(m, "reason"), NULL));
        }
        status = listing_print(&l, s->c->out);
        listing_deinit(&l);
    }
    if (json_count(warnings))
        heading(s, "Warnings");
    for (const struct json *w = json_first(warnings); w; w = json_next(w)) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 16 << 10);
        buf_plain(&b, str_of(json_string(json_get(w, "text"), "")), 1000);
        fprintf(s->c->out, "%s\n", b.p ? b.p : "");
    }
    return status;
}

static int print_artifacts(const struct shown *s)
{
    static const struct listing_column columns[] = {{"path", "FILE", false, 0}, {"size", "SIZE", true, 0}};
    struct listing l;
    if (!s->artifacts || !s->artifact_count)
        return 0;
    heading(s, "Artifacts");
    listing_init(&l, columns, 2, s->c->arena);
    for (size_t i = 0; i < s->artifact_count; i++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64);
        show_size(&b, s->artifacts[i].size);
        listing_text(&l, s->artifacts[i].path);
        listing_number(&l, (double)s->artifacts[i].size, b.p);
    }
    int status = listing_print(&l, s->c->out);
    listing_deinit(&l);
    if (s->artifacts_cut)
        fprintf(s->c->out, "and more\n");
    return status;
}

static int print_text(const struct shown *s)
{
    print_meta(s);
    print_points(s, NULL);
    return print_references(s) | print_metrics(s) | print_texts(s, "Parameters", s->run->params) | print_texts(s, "Tags", s->run->tags) |
           print_missing(s) | print_artifacts(s);
}

/* ---- JSON ---- */

static void texts_json(struct json_out *j, const char *name, const struct tree_entry *list)
{
    json_open(j, name, '{');
    for (const struct tree_entry *e = list; e; e = e->next)
        json_str(j, e->key, e->value);
    json_close(j, '}');
}

static void metrics_json(struct json_out *j, const struct shown *s)
{
    json_open(j, "metrics", '[');
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
        const struct tree_sample *last = last_sample(e);
        json_open(j, NULL, '{');
        json_text(j, "key", e->key);
        if (last)
            json_double(j, "value", last->value);
        else
            json_null(j, "value");
        json_text(j, "unit", metric_unit(s, e->key));
        json_text(j, "direction", json_string(json_get(metric_detail(s, e->key), "direction"), NULL));
        json_open(j, "samples", '[');
        for (size_t i = 0; e->samples && i < e->count; i++) {
            json_open(j, NULL, '{');
            json_int(j, "time_ms", e->samples[i].time_ms);
            json_int(j, "step", e->samples[i].step);
            json_double(j, "value", e->samples[i].value);
            json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void copied_json(struct json_out *j, const char *name, const struct json *value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (value)
        json_print(value, &b);
    json_raw(j, name, value && !b.failed ? buf_text(&b) : STR("null"));
}

static int print_json(const struct shown *s)
{
    const struct tree_run *run = s->run;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_text(&j, "id", run->id);
    json_text(&j, "name", run->name);
    json_text(&j, "experiment", run->experiment);
    json_int(&j, "experiment_id", (int64_t)run->experiment_id);
    json_text(&j, "status", runs_status(run));
    json_text(&j, "verdict", runs_text(run->tags, "benchwrap.verdict", s->c->arena));
    json_text(&j, "reason", runs_text(run->tags, "benchwrap.reason", s->c->arena));
    json_text(&j, "lifecycle", run->lifecycle);
    json_text(&j, "user", run->user);
    json_int(&j, "start_ms", run->start_ms);
    if (run->end_ms)
        json_int(&j, "end_ms", run->end_ms);
    else
        json_null(&j, "end_ms");
    json_text(&j, "path", run->path);
    json_text(&j, "artifact_uri", run->artifact_uri);
    texts_json(&j, "params", run->params);
    metrics_json(&j, s);
    print_points(s, &j);
    texts_json(&j, "tags", run->tags);
    json_open(&j, "artifacts", '[');
    for (size_t i = 0; s->artifacts && i < s->artifact_count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "path", s->artifacts[i].path);
        json_int(&j, "size", (int64_t)s->artifacts[i].size);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    copied_json(&j, "references", json_get(s->detail, "references"));
    copied_json(&j, "missing", json_get(s->detail, "missing"));
    copied_json(&j, "warnings", json_get(s->detail, "warnings"));
    json_text(&j, "problem", run->problem ? run->problem : s->detail_problem);
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, s->c->out);
    return b.failed ? -1 : 0;
}

static int show(struct shown *s)
{
    struct json *detail = runs_detail(s->runs, s->run, &s->detail_problem, s->c->arena);
    char path[256];
    struct folder tree = runs_tree(s->runs, s->run);
    s->detail = detail;
    s->artifacts = arena_get(s->c->arena, ARTIFACTS_MAX * sizeof *s->artifacts);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    if (s->artifacts)
        list_artifacts(s, &tree, path, "", 0);
    if (s->artifacts && s->artifact_count)
        qsort(s->artifacts, s->artifact_count, sizeof *s->artifacts, by_path);
    int status = opt_on(&s->c->opts, "json") ? print_json(s) : print_text(s);
    json_free(detail);
    if (status < 0)
        return err_set(s->c->err, ERR_SYSTEM, "out of memory");
    return s->run->problem || s->detail_problem ? 1 : 0;
}

static int run(struct cmd_context *c)
{
    struct runs runs;
    struct tree_run *found = NULL;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "one run at a time; \"benchwrap compare\" takes several");
    if (runs_open(&runs, c, c->err) < 0)
        return -1;
    int status = runs_find(&runs, c->argc ? c->argv[0] : "last", TREE_PARAMS | TREE_METRICS | TREE_TAGS, c, &found, c->err);
    if (status == 0)
        status = show(&(struct shown){.c = c, .runs = &runs, .run = found});
    else
        status = -1;
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {CMD_ROW_TREE, CMD_ROW_REF, CMD_ROW_JSON};

const struct cmd cmd_show = {
    .name = "show",
    .summary = "Show one run",
    .usage = "[OPTIONS] [RUN]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "RUN is the beginning of its id (4 digits or more), last for the newest run (what is shown without RUN), or last~N for the one N before it. "
        "Of a run that another one amends, that one is shown; =ID is the run as it was recorded. "
        "REF:RUN is a run in a commit of a git repository (a branch, origin/main, a hash), which is read without a checkout.\n\n"
        "Shows status, verdict and reason, metrics judged by references with their bands, metrics with unit, the direction that is better, number and range of the samples, parameters, "
        "tags, what is missing and why, and the files kept with it; of repetitions (--repeat, --sweep) also the table of their points. The exit status is 1 when the run is damaged or not found.",
    .examples = "$ benchwrap show\n"
                "The newest run.\n"
                "$ benchwrap show last~1 --json\n"
                "The one before, for a program to read.\n",
    .run = run,
};
