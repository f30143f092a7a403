/* tables_runs.c: the rows of a table of runs, and of a table of samples. */
#include "tables/tables.h"

#include "mlruns-format/key.h"
#include "runs/run_columns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAX = 1 << 30 };

/* What stays the same while the rows are written. */
struct tables_work {
    const struct tables_request *r;
    struct run_columns columns;
    struct filter_value *values;
    struct tables_writer writer;
    struct arena one; /* what was read of the present run */
    const char *problem; /* of the present run, in `one`; NULL: none */
    size_t rows;
};

static const struct {
    const char *name;
    enum filter_attribute attribute;
    enum tables_type type;
} tables_attributes[] = {
    {"run_id", FILTER_RUN_ID, TABLES_TEXT},
    {"experiment", FILTER_EXPERIMENT, TABLES_TEXT},
    {"experiment_id", FILTER_EXPERIMENT_ID, TABLES_INTEGER},
    {"run_name", FILTER_RUN_NAME, TABLES_TEXT},
    {"status", FILTER_STATUS, TABLES_TEXT},
    {"start_time", FILTER_START_TIME, TABLES_TIME},
    {"end_time", FILTER_END_TIME, TABLES_TIME},
    {"user_id", FILTER_USER_ID, TABLES_TEXT},
    {"artifact_uri", FILTER_ARTIFACT_URI, TABLES_TEXT},
};
enum { TABLES_ATTRIBUTES = sizeof tables_attributes / sizeof *tables_attributes };

/* ---- columns of runs ---- */

enum { COLUMNS_CHUNK = 512 /* runs whose keys one thread collects at once */ };

/* Every attribute, then every key that one of the runs has: metrics, params, tags. */
struct kinds_of_keys {
    const struct runs *runs;
    struct key_list kinds[FILTER_TAG + 1];
    pthread_mutex_t lock; /* of these */
};

static void unite_keys(struct key_list *to, struct key_list *from)
{
    to->failed = to->failed || from->failed;
    for (size_t i = 0; i < from->count; i++)
        key_list_put(to, from->names[i]);
    key_list_deinit(from);
}

/* Adds the keys of COLUMNS_CHUNK runs to the lists of all, under the lock. Workers call it in
 * parallel. */
static void collect_chunk(void *context, size_t chunk, struct arena *a)
{
    struct kinds_of_keys *c = context;
    struct key_list own[FILTER_TAG + 1] = {0};
    struct arena names;
    size_t end = (chunk + 1) * COLUMNS_CHUNK < c->runs->count ? (chunk + 1) * COLUMNS_CHUNK : c->runs->count;
    (void)a; /* the names are copied into the caller's */
    arena_init(&names, 0);
    for (int k = FILTER_METRIC; k <= FILTER_TAG; k++)
        own[k].a = &names;
    for (size_t i = chunk * COLUMNS_CHUNK; i < end; i++)
        for (int k = FILTER_METRIC; k <= FILTER_TAG; k++) {
            const struct folder tree = runs_tree(c->runs, c->runs->all[i]);
            key_list_add(&own[k], &tree, c->runs->all[i], (enum filter_kind)k, NULL);
        }
    pthread_mutex_lock(&c->lock);
    for (int k = FILTER_METRIC; k <= FILTER_TAG; k++)
        unite_keys(&c->kinds[k], &own[k]);
    pthread_mutex_unlock(&c->lock);
    arena_deinit(&names);
}

/* Sets x->columns to all attributes and all keys of metrics, params and tags that a run has, in the
 * arena. Returns -1 with err. */
static int collect_all_columns(struct tables_work *x, struct err *err)
{
    const struct runs *runs = x->r->runs;
    struct kinds_of_keys c = {.runs = runs, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct key_list *kinds = c.kinds;
    bool failed = false;
    size_t n = TABLES_ATTRIBUTES, at = TABLES_ATTRIBUTES;
    for (int k = FILTER_METRIC; k <= FILTER_TAG; k++)
        kinds[k].a = x->r->a;
    parallel_each(runs_workers(runs, runs->count), (runs->count + COLUMNS_CHUNK - 1) / COLUMNS_CHUNK, collect_chunk, &c, x->r->a);
    failed = x->r->a->failed;
    for (int k = FILTER_METRIC; k <= FILTER_TAG; k++) {
        key_list_sort(&kinds[k]);
        failed = failed || kinds[k].failed;
        n += kinds[k].count;
    }
    struct filter_key *list = failed ? NULL : arena_get(x->r->a, n * sizeof *list);
    for (size_t i = 0; list && i < TABLES_ATTRIBUTES; i++)
        list[i] = (struct filter_key){FILTER_ATTRIBUTE, tables_attributes[i].attribute, tables_attributes[i].name};
    for (int k = FILTER_METRIC; k <= FILTER_TAG; k++) {
        for (size_t i = 0; list && i < kinds[k].count; i++)
            list[at++] = (struct filter_key){.kind = (enum filter_kind)k, .name = kinds[k].names[i]};
        key_list_deinit(&kinds[k]);
    }
    x->columns = (struct run_columns){list, n};
    return list ? 0 : err_memory(err, "the columns of %zu runs", runs->count);
}

static enum tables_type attribute_type(enum filter_attribute attribute)
{
    for (size_t i = 0; i < TABLES_ATTRIBUTES; i++)
        if (tables_attributes[i].attribute == attribute)
            return tables_attributes[i].type;
    return TABLES_TEXT;
}

/* Returns name and type of each column, in the arena; NULL: out of memory. */
static const struct tables_column *column_names(const struct run_columns *columns, struct arena *a)
{
    static const char *const kinds[] = {
        [FILTER_METRIC] = "metrics.", [FILTER_PARAM] = "params.", [FILTER_TAG] = "tags.", [FILTER_ENVIRONMENT] = "env."};
    struct tables_column *ret = arena_get(a, (columns->count + 1) * sizeof *ret);
    for (size_t i = 0; ret && i < columns->count; i++) {
        const struct filter_key *key = &columns->list[i];
        ret[i].name = key->kind == FILTER_ATTRIBUTE ? key->name : arena_printf(a, "%s%s", kinds[key->kind], key->name);
        ret[i].type = key->kind == FILTER_METRIC      ? TABLES_NUMBER
                      : key->kind == FILTER_ATTRIBUTE ? attribute_type(key->attribute)
                                                      : TABLES_TEXT;
    }
    return a->failed ? NULL : ret;
}

/* ---- one run ---- */

static struct filter_value entry_value(const struct tree_entry *e, enum filter_kind kind)
{
    if (kind != FILTER_METRIC)
        return (struct filter_value){.is = FILTER_TEXT, .text = e->value};
    return e->count ? (struct filter_value){.is = FILTER_NUMBER, .number = e->samples[0].value}
                    : (struct filter_value){.is = FILTER_MISSING};
}

/* Sets the values of the columns of a kind. Both lists are in one order, so that one walk over both
 * finds all. Returns the first column of another kind. */
static size_t join_entries(struct tables_work *x, size_t at, enum filter_kind kind, const struct tree_entry *e)
{
    for (; at < x->columns.count && x->columns.list[at].kind == kind; at++) {
        const char *name = x->columns.list[at].name;
        while (e && str_natural(e->key, name) < 0)
            e = e->next;
        x->values[at] = e && strcmp(e->key, name) == 0 ? entry_value(e, kind) : (struct filter_value){.is = FILTER_MISSING};
    }
    return at;
}

static void note_export_problem(struct tables_work *x, const char *problem)
{
    if (problem && !x->problem)
        x->problem = arena_dup(&x->one, problem, strlen(problem));
}

/* Makes what was noted while the run was read the run's own problem. */
static void settle_problem(const struct tables_work *x, struct tree_run *run, const char *problem)
{
    if (problem && !run->problem)
        run->problem = arena_dup(x->r->a, problem, strlen(problem));
}

/* Reads everything that the run has, without --columns. */
static void read_all_values(struct tables_work *x, const struct tree_run *run)
{
    const struct folder tree = runs_tree(x->r->runs, run);
    struct tree_run whole = *run;
    size_t at = TABLES_ATTRIBUTES;
    struct buf text;
    buf_init(&text, 1 << 20);
    whole.problem = NULL;
    tree_fill(&tree, &whole, TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_LAST, &x->one);
    note_export_problem(x, whole.problem);
    for (size_t i = 0; i < TABLES_ATTRIBUTES; i++) {
        const char *problem = NULL;
        struct filter_value v = filter_value_read(&x->columns.list[i], &tree, run, &text, &x->one, &problem);
        if (v.is == FILTER_TEXT)
            v.text.p = arena_dup(&x->one, v.text.p, v.text.n);
        x->values[i] = v;
    }
    at = join_entries(x, at, FILTER_METRIC, whole.metrics);
    at = join_entries(x, at, FILTER_PARAM, whole.params);
    join_entries(x, at, FILTER_TAG, whole.tags);
    buf_deinit(&text);
}

/* Reads the values of the columns that the user named, in x->one, which the caller frees. Damaged
 * values are noted as the run's problem. */
static void read_named_values(struct tables_work *x, const struct tree_run *run)
{
    const struct folder tree = runs_tree(x->r->runs, run);
    struct buf text;
    buf_init(&text, 300u << 20);
    for (size_t i = 0; i < x->columns.count; i++) {
        const char *problem = NULL;
        struct filter_value v = filter_value_read(&x->columns.list[i], &tree, run, &text, &x->one, &problem);
        if (v.is == FILTER_TEXT)
            v.text.p = arena_dup(&x->one, v.text.p, v.text.n);
        x->values[i] = v;
        note_export_problem(x, problem);
    }
    buf_deinit(&text);
}

/* ---- tables ---- */

/* Prepares the writer and begins the table. Returns -1 with err; then the writer's line is
 * freed. */
static int tables_begin(struct tables_work *x, const struct tables_column *columns, size_t count, struct err *err)
{
    x->writer = (struct tables_writer){.form = x->r->form, .columns = columns, .count = count, .out = x->r->out, .path = x->r->path};
    buf_init(&x->writer.line, ROW_MAX);
    x->values = columns ? arena_get(x->r->a, (count + 1) * sizeof *x->values) : NULL;
    if (x->values && x->writer.form->begin(&x->writer) == 0)
        return 0;
    bool known = x->writer.why.kind != ERR_NONE;
    if (known)
        *err = x->writer.why;
    buf_deinit(&x->writer.line);
    return known ? -1 : err_memory(err, "a row of %zu columns", count);
}

static int tables_row(struct tables_work *x)
{
    x->rows++;
    return !x->one.failed && x->writer.form->row(&x->writer, x->values) == 0 ? 0 : -1;
}

/* Ends the table, also after a failure (rc < 0), and frees what the writer has. Returns -1 with
 * err. */
static int tables_end(struct tables_work *x, int rc, size_t *ret_rows, struct err *err)
{
    x->writer.failed = rc < 0;
    if (x->writer.form->end(&x->writer) < 0)
        rc = -1;
    buf_deinit(&x->writer.line);
    *ret_rows = x->rows;
    if (rc < 0 && x->writer.why.kind != ERR_NONE) {
        *err = x->writer.why;
        return -1;
    }
    return rc < 0 ? err_memory(err, "row %zu", x->rows) : 0;
}

/* Runs are read by several threads, a few at once, and written in their order. */
enum { RUNS_AT_ONCE = 16 };
struct tables_slot {
    struct arena one;
    struct filter_value *values;
    const char *problem;
    bool is_gone; /* the run was deleted since the listing */
};
struct tables_batch {
    struct tables_work *x;
    size_t first; /* of the runs */
    struct tables_slot slots[RUNS_AT_ONCE];
};

/* Reads one run of the batch. s->one owns its values; it is freed after the row is written. Workers
 * call it in parallel. */
static void read_slot(void *context, size_t i, struct arena *a)
{
    struct tables_batch *b = context;
    struct tables_slot *s = &b->slots[i];
    struct tables_work own = *b->x;
    const struct tree_run *run = own.r->runs->all[b->first + i];
    (void)a; /* what is read lives until the row is written, no longer */
    own.values = s->values;
    own.problem = NULL;
    arena_init(&own.one, 0);
    if (own.r->columns)
        read_named_values(&own, run);
    else
        read_all_values(&own, run);
    s->one = own.one;
    s->problem = own.problem;
    s->is_gone = runs_is_gone(own.r->runs, run);
}

/* Writes the row of a run that was read, unless one before it could not be written. */
static int write_slot(struct tables_batch *b, size_t i, int rc)
{
    struct tables_slot *s = &b->slots[i];
    struct tables_work *x = b->x;
    x->one = s->one;
    x->values = s->values;
    if (s->is_gone)
        x->r->runs->gone++;
    else
        settle_problem(x, x->r->runs->all[b->first + i], s->problem);
    if (rc == 0 && !s->is_gone)
        rc = tables_row(x);
    arena_deinit(&x->one);
    return rc;
}

int tables_runs(const struct tables_request *r, size_t *ret_rows, struct err *err)
{
    struct tables_work x = {.r = r};
    const struct runs *runs = r->runs;
    int rc = r->columns ? run_columns_read(&x.columns, r->columns, "--columns", runs, (const struct tree_run *const *)runs->all,
                                           runs->count, r->a, err)
                        : collect_all_columns(&x, err);
    if (rc < 0 || tables_begin(&x, column_names(&x.columns, r->a), x.columns.count, err) < 0)
        return -1;
    struct tables_batch b = {.x = &x};
    unsigned workers = runs_workers(runs, runs->count);
    for (size_t i = 0; i < RUNS_AT_ONCE && rc == 0; i++)
        if (!(b.slots[i].values = arena_get(r->a, (x.columns.count + 1) * sizeof *x.values)))
            rc = -1;
    for (; b.first < runs->count && rc == 0; b.first += RUNS_AT_ONCE) {
        size_t n = runs->count - b.first < RUNS_AT_ONCE ? runs->count - b.first : RUNS_AT_ONCE;
        parallel_each(workers < n ? workers : (unsigned)n, n, read_slot, &b, r->a);
        for (size_t i = 0; i < n; i++)
            rc = write_slot(&b, i, rc);
    }
    return tables_end(&x, rc, ret_rows, err);
}

/* ---- samples ---- */

enum {
    SAMPLE_RUN,
    SAMPLE_EXPERIMENT,
    SAMPLE_METRIC,
    SAMPLE_STEP,
    SAMPLE_TIME,
    SAMPLE_VALUE,
    SAMPLE_UNIT,
    SAMPLE_DIRECTION,
    SAMPLE_COLUMNS
};
static const struct tables_column sample_columns[SAMPLE_COLUMNS] = {
    {"run_id", TABLES_TEXT}, {"experiment", TABLES_TEXT}, {"metric", TABLES_TEXT}, {"step", TABLES_INTEGER},
    {"time", TABLES_TIME},   {"value", TABLES_NUMBER},    {"unit", TABLES_TEXT},   {"direction", TABLES_TEXT},
};

static struct filter_value tables_known_text(const char *text)
{
    return text && *text ? (struct filter_value){.is = FILTER_TEXT, .text = str_of(text)} : (struct filter_value){.is = FILTER_MISSING};
}

static struct filter_value tables_whole_number(int64_t n)
{
    return (struct filter_value){.is = FILTER_INTEGER, .integer = n};
}

/* Writes a row for each sample of the metric. Returns what tables_row returns. */
static int tables_metric_samples(struct tables_work *x, const struct tree_entry *e, const struct json *of)
{
    int rc = 0;
    const char *unit = json_string(json_get(of, "unit"), NULL);
    x->values[SAMPLE_METRIC] = tables_known_text(e->key);
    x->values[SAMPLE_UNIT] = tables_known_text(unit ? unit : key_unit(e->key, &x->one));
    x->values[SAMPLE_DIRECTION] = tables_known_text(json_string(json_get(of, "direction"), NULL));
    for (size_t i = 0; i < e->count && rc == 0; i++) {
        x->values[SAMPLE_STEP] = tables_whole_number(e->samples[i].step);
        x->values[SAMPLE_TIME] = tables_whole_number(e->samples[i].time_ms);
        x->values[SAMPLE_VALUE] = (struct filter_value){.is = FILTER_NUMBER, .number = e->samples[i].value};
        rc = tables_row(x);
    }
    return rc;
}

/* Writes the samples of all metrics of the run. A run that was deleted since the listing is only
 * counted. Returns what tables_row returns. */
static int tables_run_samples(struct tables_work *x, struct tree_run *run)
{
    const struct folder tree = runs_tree(x->r->runs, run);
    struct tree_run whole = *run;
    const char *problem;
    int rc = 0;
    whole.problem = NULL;
    tree_fill(&tree, &whole, TREE_METRICS | TREE_COMPLETE, &x->one);
    struct json *detail = runs_detail(x->r->runs, run, &problem, &x->one);
    if (tree_is_gone(&tree, run)) {
        x->r->runs->gone++;
        json_free(detail);
        return 0;
    }
    note_export_problem(x, whole.problem);
    note_export_problem(x, problem);
    const struct json *metrics = json_get(detail, "metrics");
    x->values[SAMPLE_RUN] = tables_known_text(run->id);
    x->values[SAMPLE_EXPERIMENT] = tables_known_text(run->experiment);
    for (const struct tree_entry *e = whole.metrics; e && rc == 0; e = e->next)
        rc = tables_metric_samples(x, e, json_get(metrics, e->key));
    json_free(detail);
    return rc;
}

int tables_samples(const struct tables_request *r, size_t *ret_rows, struct err *err)
{
    struct tables_work x = {.r = r};
    int rc = 0;
    if (tables_begin(&x, sample_columns, SAMPLE_COLUMNS, err) < 0)
        return -1;
    for (size_t i = 0; i < r->runs->count && rc == 0; i++) {
        arena_init(&x.one, 0);
        x.problem = NULL;
        rc = tables_run_samples(&x, r->runs->all[i]);
        settle_problem(&x, r->runs->all[i], x.problem);
        arena_deinit(&x.one);
    }
    return tables_end(&x, rc, ret_rows, err);
}
