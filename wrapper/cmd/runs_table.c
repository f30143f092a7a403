/* runs_table.c: runs of one experiment as a table with their headline metrics as columns, and all runs as CSV. */
#include "cmd/runs_table.h"

#include "base/json_out.h"
#include "base/listing.h"
#include "base/show.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIXED = 4 /* run, start, name, status */, KEYS_MAX = 400 };

/* A metric that runs of the table have. */
struct metric_column {
    const char *name, *unit;
    size_t runs;
};

/* "write.bw" of write.bw_MiB_per_s; the median over repetitions stands in the column of the metric. */
static const char *column_name(const struct headline *h, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, h->key, h->unit);
    if (str_ends(buf_text(&b), ".median"))
        b.n -= strlen(".median");
    return arena_dup(a, b.p, b.n);
}

static struct metric_column *column_find(struct metric_column *columns, size_t n, const char *name, const char *unit)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0 && strcmp(columns[i].unit, unit) == 0)
            return &columns[i];
    return NULL;
}

static size_t columns_collect(const struct table_run *runs, size_t count, bool folded, struct metric_column *ret, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs[i].row->headlines && (folded || !runs[i].folded); k++) {
            const struct headline *h = &runs[i].row->headline[k];
            if (strcmp(h->key, "run.wall_s") == 0) /* it has its column */
                continue;
            const char *name = column_name(h, a);
            struct metric_column *known = name ? column_find(ret, n, name, h->unit) : NULL;
            if (known)
                known->runs++;
            else if (name && n < KEYS_MAX)
                ret[n++] = (struct metric_column){name, h->unit, 1};
        }
    return n;
}

/* What most runs have comes first, else in the order of the rules. */
static void columns_sort(struct metric_column *columns, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && columns[k - 1].runs < columns[k].runs; k--) {
            struct metric_column was = columns[k];
            columns[k] = columns[k - 1];
            columns[k - 1] = was;
        }
}

static const struct headline *headline_at(const struct run_row *row, const struct metric_column *column, struct arena *a)
{
    for (size_t k = 0; k < row->headlines; k++) {
        const char *name = column_name(&row->headline[k], a);
        if (name && strcmp(name, column->name) == 0 && strcmp(row->headline[k].unit, column->unit) == 0)
            return &row->headline[k];
    }
    return NULL;
}

/* ---- cells ---- */

/* "fio 2026-11-22 22:43:31": made of benchmark and time, which stand in the table anyway. */
static bool is_made_name(const char *name, const char *benchmark)
{
    size_t n = benchmark ? strlen(benchmark) : 0;
    if (!n || strncmp(name, benchmark, n) != 0 || name[n] != ' ' || strlen(name + n) != strlen(" 2026-11-22 22:43:31"))
        return false;
    for (const char *p = name + n; *p; p++)
        if (!strchr(" -:0123456789", *p))
            return false;
    return true;
}

static const char *name_text(const struct table_run *r, struct arena *a)
{
    const char *name = r->run->name + r->begin, *benchmark = r->row->benchmark;
    if (is_made_name(name, benchmark))
        name = strcmp(benchmark, r->run->experiment) == 0 ? "" : benchmark;
    if (r->folded)
        return arena_printf(a, "%s%s+%zu runs", name, *name ? " " : "", r->folded);
    return r->depth ? arena_printf(a, "%*s%s", 2 * (int)r->depth, "", name) : name;
}

/* Nothing for a run that ended well. */
static const char *status_text(const struct table_run *r)
{
    const char *status = runs_status(r->run);
    if (strcmp(status, "FINISHED") != 0)
        return status;
    return r->row->verdict && strcmp(r->row->verdict, "fail") == 0 ? "fail" : "";
}

static const char *start_text(const struct tree_run *run, bool one_day, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (!run->start_ms)
        return NULL;
    show_time(&b, run->start_ms); /* 2026-11-22 22:43:31 */
    return one_day && b.n == 19 ? arena_dup(a, b.p + 11, 5) : arena_dup(a, b.p, b.n == 19 ? 16 : b.n);
}

static const char *value_text(double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p, b.n);
}

/* Of a run whose metrics are no columns: the first of its own. */
static const char *own_text(const struct run_row *row, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    const struct headline *h = row->headline;
    if (!row->headlines || strcmp(h->key, "run.wall_s") == 0)
        return "no metrics";
    buf_puts(&b, column_name(h, a));
    buf_putc(&b, ' ');
    show_quantity(&b, h->value, h->unit);
    return arena_dup(a, b.p, b.n);
}

static void add_metrics(struct listing *l, const struct table_run *r, const struct metric_column *columns, size_t n, struct arena *a)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        known += headline_at(r->row, &columns[i], a) != NULL;
    if (!known && n) {
        listing_span(l, status_text(r)[0] ? "" : own_text(r->row, a), n);
        listing_style(l, STYLE_DIM);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct headline *h = headline_at(r->row, &columns[i], a);
        if (h)
            listing_number(l, h->value, value_text(h->value, a));
        else
            listing_text(l, "");
    }
}

static void add_wall(struct listing *l, const struct run_row *row, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (!row->wall_known) {
        listing_text(l, "");
        return;
    }
    show_duration(&b, row->wall);
    listing_number(l, row->wall, arena_dup(a, b.p, b.n));
}

static const char *shown_unit(const char *unit, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_unit(&b, unit);
    return b.n ? arena_dup(a, b.p, b.n) : "";
}

int runs_table_print(const struct table_run *runs, size_t count, bool one_day, const struct screen *screen, struct arena *a, struct buf *to)
{
    struct metric_column *metrics = arena_get(a, KEYS_MAX * sizeof *metrics);
    struct listing_column columns[FIXED + RUNS_TABLE_METRICS + 1] = {
        {"run", "RUN", false, 0, .whole = true, .above = count ? runs[0].run->experiment : ""},
        {"start", "STARTED", false, 0, .drop = 9},
        {"name", "NAME", false, 32, .narrow = 8, .no_empty = true},
        {"status", "STATUS", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    if (!metrics)
        return -1;
    size_t n = columns_collect(runs, count, false, metrics, a);
    if (!n) /* the metrics of a sweep are those of its points: they make columns where nothing else does */
        n = columns_collect(runs, count, true, metrics, a);
    columns_sort(metrics, n);
    n = n < RUNS_TABLE_METRICS ? n : RUNS_TABLE_METRICS;
    for (size_t i = 0; i < n; i++)
        columns[FIXED + i] = (struct listing_column){.key = metrics[i].name,
                                                     .heading = shown_unit(metrics[i].unit, a),
                                                     .right = true,
                                                     .above = metrics[i].name,
                                                     .drop = i ? (unsigned)(i + 3) : 0};
    columns[FIXED + n] = (struct listing_column){.key = "wall", .heading = "WALL", .right = true, .drop = 7};
    listing_init(&l, columns, FIXED + n + 1, a);
    for (size_t i = 0; i < count; i++) {
        const char *status = status_text(&runs[i]);
        listing_str(&l, (struct str){runs[i].run->id, 8});
        listing_style(&l, STYLE_DIM);
        listing_text(&l, start_text(runs[i].run, one_day, a));
        listing_text(&l, name_text(&runs[i], a));
        listing_text(&l, status);
        listing_style(&l, strcmp(status, "RUNNING") == 0 ? STYLE_PLAIN : STYLE_BAD);
        add_metrics(&l, &runs[i], metrics, n, a);
        add_wall(&l, runs[i].row, a);
    }
    int status = listing_render(&l, screen, to);
    listing_deinit(&l);
    return status;
}

static bool same_day(int64_t a_ms, int64_t b_ms)
{
    time_t a = (time_t)(a_ms / 1000), b = (time_t)(b_ms / 1000);
    struct tm x, y;
    return localtime_r(&a, &x) && localtime_r(&b, &y) && x.tm_year == y.tm_year && x.tm_yday == y.tm_yday;
}

bool runs_table_one_day(const struct table_run *runs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!same_day(runs[0].run->start_ms, runs[i].run->start_ms))
            return false;
    return count > 0;
}

/* ---- CSV ---- */

int runs_table_csv(const struct table_run *runs, size_t count, struct arena *a, struct buf *to)
{
    static const char *const fixed[] = {"id", "experiment", "name", "parent", "benchmark", "status", "verdict", "start", "wall_s"};
    enum { N = sizeof fixed / sizeof *fixed };
    const char **keys = arena_get(a, KEYS_MAX * sizeof *keys);
    struct listing_column *columns = arena_get(a, (N + KEYS_MAX) * sizeof *columns);
    struct listing l;
    size_t n = 0;
    if (!keys || !columns)
        return -1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs[i].row->headlines; k++) {
            size_t at = 0;
            while (at < n && strcmp(keys[at], runs[i].row->headline[k].key) != 0)
                at++;
            if (at == n && n < KEYS_MAX)
                keys[n++] = runs[i].row->headline[k].key;
        }
    for (size_t i = 0; i < N + n; i++)
        columns[i] = (struct listing_column){.key = i < N ? fixed[i] : keys[i - N]};
    listing_init(&l, columns, N + n, a);
    for (size_t i = 0; i < count; i++) {
        CLEANUP_BUF struct buf b;
        const struct tree_run *run = runs[i].run;
        const struct run_row *row = runs[i].row;
        buf_init(&b, 64);
        if (run->start_ms)
            show_time_utc(&b, run->start_ms);
        const char *texts[] = {run->id, run->experiment, run->name, row->parent, row->benchmark, runs_status(run), row->verdict, b.p};
        for (size_t k = 0; k < N - 1; k++)
            listing_text(&l, texts[k]);
        if (row->wall_known)
            listing_number(&l, row->wall, "");
        else
            listing_none(&l);
        for (size_t k = 0; k < n; k++) {
            const struct headline *h = NULL;
            for (size_t m = 0; m < row->headlines && !h; m++)
                h = strcmp(row->headline[m].key, keys[k]) == 0 ? &row->headline[m] : NULL;
            if (h)
                listing_number(&l, h->value, "");
            else
                listing_none(&l);
        }
    }
    listing_csv(&l, to);
    int status = l.failed || to->failed ? -1 : 0;
    listing_deinit(&l);
    return status;
}

/* ---- child runs ---- */

static int children_json(struct cmd_context *c, const struct table_run *list, size_t n)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "id", list[i].run->id);
        json_text(&j, "name", list[i].run->name);
        json_text(&j, "status", runs_status(list[i].run));
        json_text(&j, "verdict", list[i].row->verdict);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return b.failed ? -1 : 0;
}

int runs_table_children(struct cmd_context *c, struct runs *runs, const struct tree_run *of, bool json)
{
    const struct runs_filter filter = {.experiment = of->experiment, .corrected = true};
    struct screen screen = screen_of_file(c->out);
    CLEANUP_BUF struct buf to;
    size_t n = 0;
    buf_init(&to, 1u << 30);
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &filter, c, c->err) < 0)
        return -1;
    struct table_run *list = arena_get(c->arena, (runs->count + 1) * sizeof *list);
    for (size_t i = runs->count; list && i-- > 0;) {
        const struct tree_run *run = runs->all[i];
        const char *parent = runs_file(runs, run, "tags/mlflow.parentRunId", 64, c->arena);
        const struct folder tree = runs_tree(runs, run);
        if (!parent || strcmp(parent, of->id) != 0)
            continue;
        list[n] = (struct table_run){.run = run, .row = row_read(&tree, run, HEADLINES_MAX, c->arena)};
        if (strncmp(run->name, of->name, strlen(of->name)) == 0 && run->name[strlen(of->name)] == ' ')
            list[n].begin = strlen(of->name) + 1;
        if (!list[n++].row)
            return err_set(c->err, ERR_SYSTEM, "out of memory");
    }
    if (list && !n)
        return err_set(c->err, ERR_INPUT, "the run %.8s has no child runs", of->id);
    int status = !list  ? -1
                 : json ? children_json(c, list, n)
                        : runs_table_print(list, n, runs_table_one_day(list, n), &screen, c->arena, &to);
    fwrite(to.p ? to.p : "", 1, to.n, c->out);
    return status ? err_set(c->err, ERR_SYSTEM, "out of memory") : 0;
}
