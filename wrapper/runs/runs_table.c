/* runs_table.c: runs of one experiment as a table with their headline metrics as columns, and all runs as CSV. */
#include "runs/runs_table.h"

#include "base/json_out.h"
#include "base/listing.h"
#include "base/show.h"
#include "mlruns-format/verdict.h"
#include "runs/row_words.h"
#include "runs/run_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIXED = 5 /* run, start, name, site, status */, KEYS_MAX = 400 };

/* A metric that runs of the table have. */
struct metric_column {
    const char *name, *key, *unit, *shown_unit;
    double scale; /* of shown_unit */
    size_t runs;
};

/* Returns "write.bw" of write.bw_MiB_per_s; the median over repetitions is in the column of the
 * metric. */
static const char *column_name(const struct headline *h, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, h->key, h->unit);
    if (str_ends(buf_text(&b), ".median"))
        b.n -= strlen(".median");
    return arena_dup(a, b.p, b.n);
}

/* Returns the column of this name and unit; NULL: none. */
static struct metric_column *metric_column_find(struct metric_column *columns, size_t n, const char *name, const char *unit)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0 && strcmp(columns[i].unit, unit) == 0)
            return &columns[i];
    return NULL;
}

/* Returns whether the column is that of the wall time, which has its own. */
static bool is_wall_column(const char *name)
{
    return strcmp(name, "run.wall") == 0;
}

/* Collects the columns of the runs' metrics. Those of a sweep are those of its points: they make no
 * columns. Returns how many. */
static size_t columns_collect(const struct table_run *runs, size_t count, struct metric_column *ret, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs[i].row->headlines && !runs[i].sweep; k++) {
            const struct headline *h = &runs[i].row->headline[k];
            const char *name = column_name(h, a);
            struct metric_column *known = name ? metric_column_find(ret, n, name, h->unit) : NULL;
            if (known)
                known->runs++;
            else if (name && !is_wall_column(name) && n < KEYS_MAX)
                ret[n++] = (struct metric_column){name, h->key, h->unit, h->unit, 1, 1};
        }
    return n;
}

/* Sorts the columns: what most runs have comes first, else the order of the rules decides. */
static void columns_sort(struct metric_column *columns, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && columns[k - 1].runs < columns[k].runs; k--) {
            struct metric_column was = columns[k];
            columns[k] = columns[k - 1];
            columns[k - 1] = was;
        }
}

/* Reads the run's value into *ret, also of a metric that is none of its first headline metrics.
 * Returns false where it has none. */
static bool value_at(const struct table_run *r, const struct metric_column *column, struct arena *a, double *ret)
{
    for (size_t k = 0; k < r->row->headlines; k++) {
        const struct headline *h = &r->row->headline[k];
        const char *name = column_name(h, a);
        if (name && strcmp(name, column->name) == 0 && strcmp(h->unit, column->unit) == 0) {
            *ret = h->value;
            return true;
        }
    }
    return headline_value(&r->tree, r->run, column->key, a, ret);
}

/* Sets the unit in which the column is shown: the one for its largest value. */
static void column_scale(struct metric_column *column, const struct table_run *runs, size_t count, struct arena *a)
{
    double greatest = 0, value;
    for (size_t i = 0; i < count; i++)
        if (!runs[i].sweep && value_at(&runs[i], column, a, &value) && fabs(value) > greatest)
            greatest = fabs(value);
    column->scale = show_scale(greatest, &column->shown_unit);
}

static bool has_metrics(const struct run_row *row, struct arena *a)
{
    for (size_t k = 0; k < row->headlines; k++) {
        const char *name = column_name(&row->headline[k], a);
        if (name && !is_wall_column(name))
            return true;
    }
    return false;
}

/* Returns whether a run with metrics lacks the first column. Runs of several programs in one
 * experiment share no metric: columns would be mostly empty, and a narrow screen would lose
 * values. */
static bool has_mixed_metrics(const struct table_run *runs, size_t count, const struct metric_column *first, struct arena *a)
{
    double value;
    for (size_t i = 0; i < count; i++)
        if (has_metrics(runs[i].row, a) && !runs[i].sweep && !value_at(&runs[i], first, a, &value))
            return true;
    return false;
}

/* ---- cells ---- */

/* Returns how many bytes of a child run's name repeat its parent's: "fio bs=4k #1" below "fio
 * 2026-11-22 22:43:31". */
static size_t repeated_name(const struct table_run *parent, const struct table_run *child)
{
    const char *benchmark = parent->row->benchmark, *name = child->run->name;
    size_t n = row_words_made_name(parent->run->name, benchmark) ? strlen(benchmark) : strlen(parent->run->name);
    return strncmp(name, parent->run->name, n) == 0 && name[n] == ' ' && name[n + 1] ? n + 1 : 0;
}

/* Returns the line above that is the run's parent; `last`: that of the line before. */
static const struct table_run *parent_line(const struct table_run *runs, size_t i, const struct table_run *last)
{
    if (i == 0 || runs[i].depth == 0)
        return NULL;
    if (runs[i].depth == runs[i - 1].depth)
        return last;
    for (size_t k = i; k-- > 0;)
        if (runs[k].depth < runs[i].depth)
            return &runs[k];
    return NULL;
}

static const char *name_text(const struct table_run *r, const struct table_run *parent, struct arena *a)
{
    const char *name = r->run->name + (parent ? repeated_name(parent, r) : 0), *benchmark = r->row->benchmark;
    if (row_words_made_name(name, benchmark))
        name = strcmp(benchmark, r->run->experiment) == 0 ? "" : benchmark;
    if (r->folded)
        return arena_printf(a, "%s%s%s", name, *name ? ", " : "", r->children);
    return r->depth ? arena_printf(a, "%*s%s", 2 * (int)r->depth, "", name) : name;
}

static const char *own_status_text(const struct table_run *r)
{
    const char *status = runs_status(r->run);
    if (r->row->incomplete)
        return strcmp(status, "FAILED") == 0 ? "FAILED, incomplete" : strcmp(status, "KILLED") == 0 ? "KILLED, incomplete" : "incomplete";
    if (strcmp(status, "FINISHED") != 0)
        return status;
    return r->row->verdict && strcmp(r->row->verdict, "fail") == 0 ? "fail" : "";
}

/* Returns the status; nothing for a run that ended well, and whose statistics are those of its
 * child runs. */
static const char *status_text(const struct table_run *r, struct arena *a)
{
    const char *own = own_status_text(r), *both = r->row->stale ? arena_printf(a, "%s%sstale", own, *own ? ", " : "") : NULL;
    return both ? both : own;
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

static const char *table_value_text(double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p, b.n);
}

const char *runs_table_own(const struct table_run *r, struct arena *a)
{
    enum { SHOWN = 2 };
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 4096);
    if (r->sweep && *r->sweep)
        return r->sweep;
    for (size_t k = 0; k < r->row->headlines && n < SHOWN; k++) {
        const struct headline *h = &r->row->headline[k];
        const char *name = column_name(h, a);
        if (!name || is_wall_column(name))
            continue;
        buf_printf(&b, "%s%s ", n++ ? ", " : "", name);
        show_quantity(&b, h->value, h->unit);
    }
    return n ? arena_dup(a, b.p, b.n) : "no metrics";
}

/* Adds the cells of the chosen metrics. A run that has none of them gets one cell over all columns,
 * with its own headline metrics unless its status explains the lack. */
static void add_metric_cells(struct listing *l, const struct table_run *r, const struct metric_column *columns, size_t n, struct arena *a)
{
    double values[RUNS_TABLE_METRICS];
    bool known[RUNS_TABLE_METRICS], any = false;
    for (size_t i = 0; i < n; i++)
        any |= known[i] = !r->sweep && value_at(r, &columns[i], a, &values[i]);
    if (!any) {
        listing_span(l, status_text(r, a)[0] && !has_metrics(r->row, a) ? "" : runs_table_own(r, a), n ? n : 1);
        if (!has_metrics(r->row, a))
            listing_style(l, STYLE_DIM);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (known[i])
            listing_number(l, values[i], table_value_text(values[i] * columns[i].scale, a));
        else
            listing_text(l, "");
}

static void add_wall_cell(struct listing *l, const struct run_row *row, struct arena *a)
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

/* Writes which columns that every run has a value for are left out, as this screen is too narrow. */
static void put_left_out_values(const struct listing *l, const struct screen *screen, struct buf *to)
{
    bool start = listing_shows(l, screen, "start"), wall = listing_shows(l, screen, "wall");
    if (start && wall)
        return;
    screen_style_begin(screen, STYLE_DIM, to);
    buf_printf(to, "left out: %s%s%s (the screen is too narrow)", start ? "" : "STARTED", start || wall ? "" : " and ", wall ? "" : "WALL");
    screen_style_end(screen, STYLE_DIM, to);
    buf_putc(to, '\n');
}

int runs_table_print(const struct table_run *runs, size_t count, const struct table_run *of, bool one_day, bool sites,
                     const struct screen *screen, struct arena *a, struct buf *to)
{
    struct metric_column *metrics = arena_get(a, KEYS_MAX * sizeof *metrics);
    struct listing_column columns[FIXED + RUNS_TABLE_METRICS + 1] = {
        {"run", "RUN", false, 0, .whole = true, .above = count ? runs[0].run->experiment : ""},
        {"start", "STARTED", false, 0, .drop = 9},
        {"name", "NAME", false, 32, .narrow = 8, .no_empty = true},
        {"site", "SITE", false, 40, .drop = 8, .no_empty = true},
        {"status", "STATUS", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    if (!metrics)
        return -1;
    size_t n = columns_collect(runs, count, metrics, a), used;
    columns_sort(metrics, n);
    n = n && has_mixed_metrics(runs, count, metrics, a) ? 0 : n < RUNS_TABLE_METRICS ? n : RUNS_TABLE_METRICS;
    for (size_t i = 0; i < n; i++) {
        column_scale(&metrics[i], runs, count, a);
        columns[FIXED + i] = (struct listing_column){.key = metrics[i].name,
                                                     .heading = shown_unit(metrics[i].shown_unit, a),
                                                     .right = true,
                                                     .above = metrics[i].name,
                                                     .drop = i ? (unsigned)(i + 3) : 0};
    }
    if (!n)
        columns[FIXED] = (struct listing_column){.key = "metrics", .heading = "METRICS"};
    used = FIXED + (n ? n : 1);
    columns[used] = (struct listing_column){.key = "wall", .heading = "WALL", .right = true, .drop = 7};
    listing_init(&l, columns, used + 1, a);
    const struct table_run *parent = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *status = status_text(&runs[i], a);
        parent = parent_line(runs, i, parent);
        listing_str(&l, (struct str){runs[i].run->id, 8});
        listing_style(&l, STYLE_DIM);
        listing_text(&l, start_text(runs[i].run, one_day, a));
        listing_text(&l, name_text(&runs[i], of ? of : parent, a));
        listing_text(&l, sites && runs[i].row->site ? runs[i].row->site : "");
        listing_text(&l, status);
        listing_style(&l, strcmp(status, "RUNNING") == 0 ? STYLE_PLAIN : STYLE_BAD);
        add_metric_cells(&l, &runs[i], metrics, n, a);
        add_wall_cell(&l, runs[i].row, a);
    }
    int status = listing_render(&l, screen, to);
    put_left_out_values(&l, screen, to);
    listing_deinit(&l);
    return status;
}

static bool same_day(int64_t a_ms, int64_t b_ms)
{
    time_t a = (time_t)(a_ms / 1000), b = (time_t)(b_ms / 1000);
    struct tm x, y;
    return localtime_r(&a, &x) && localtime_r(&b, &y) && x.tm_year == y.tm_year && x.tm_yday == y.tm_yday;
}

bool runs_table_sites(const struct table_run *runs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const char *first = runs[0].row->site, *site = runs[i].row->site;
        if (strcmp(first ? first : "", site ? site : "") != 0)
            return true;
    }
    return false;
}

bool runs_table_one_day(const struct table_run *runs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!same_day(runs[0].run->start_ms, runs[i].run->start_ms))
            return false;
    return count > 0;
}

/* ---- CSV ---- */

int runs_table_csv(const struct table_run *runs, size_t count, bool guard, struct arena *a, struct buf *to)
{
    static const char *const fixed[] = {"id", "experiment", "name", "parent", "benchmark", "status", "verdict", "site", "start", "wall_s"};
    enum { N = sizeof fixed / sizeof *fixed };
    bool any_stale = false;
    struct key_list list = {.a = a};
    struct listing l;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs[i].row->headlines; k++)
            key_list_put(&list, runs[i].row->headline[k].key);
    const size_t n = list.count;
    const char **keys = arena_get(a, (n + 1) * sizeof *keys);
    struct listing_column *columns = arena_get(a, (N + n + 1) * sizeof *columns);
    bool failed = list.failed || !keys || !columns;
    if (!failed && n)
        memcpy(keys, list.names, n * sizeof *keys);
    key_list_deinit(&list);
    if (failed)
        return -1;
    for (size_t i = 0; i < count; i++)
        any_stale |= runs[i].row->stale != NULL;
    for (size_t i = 0; i < N + n; i++)
        columns[i] = (struct listing_column){.key = i < N ? fixed[i] : keys[i - N]};
    columns[N + n] = (struct listing_column){.key = "stale"};
    listing_init(&l, columns, N + n + any_stale, a);
    for (size_t i = 0; i < count; i++) {
        CLEANUP_BUF struct buf b;
        const struct tree_run *run = runs[i].run;
        const struct run_row *row = runs[i].row;
        buf_init(&b, 64);
        if (run->start_ms)
            show_time_utc(&b, run->start_ms);
        const char *texts[] = {run->id,
                               run->experiment,
                               run->name,
                               row->parent,
                               row->benchmark,
                               runs_status(run),
                               verdict_shown(&runs[i].tree, run, a),
                               row->site,
                               b.p};
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
        if (any_stale)
            listing_text(&l, row->stale);
    }
    listing_csv(&l, guard, to);
    int status = l.failed || to->failed ? -1 : 0;
    listing_deinit(&l);
    return status;
}

/* ---- child runs ---- */

/* Writes the rows of child runs; amends: the run that was recorded first. Returns -1 when
 * listing_write fails. */
static int children_rows(const struct runs *runs, const struct table_run *list, enum listing_form form, FILE *out, struct arena *a)
{
    static const struct listing_column columns[] = {{"id"}, {"name"}, {"status"}, {"verdict"}, {"amends"}};
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (size_t i = 0; i < runs->count; i++) {
        const char *first = runs_root_id(runs, list[i].run, a);
        listing_text(&l, list[i].run->id);
        listing_text(&l, list[i].run->name);
        listing_text(&l, runs_status(list[i].run));
        listing_text(&l, list[i].row->verdict);
        listing_text(&l, strcmp(first, list[i].run->id) != 0 ? first : NULL);
    }
    int status = listing_write(&l, form, out);
    listing_deinit(&l);
    return status;
}

/* Moves those of the loaded runs to the front that readers see, and whose parent the run is. `now`:
 * the runs that replace them. */
static size_t children_choose(struct runs *runs, const char *root, char (*now)[33], struct children_corrected *ret, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct tree_run *run = runs->all[i];
        const char *parent = run->annotates ? NULL : runs_file(runs, run, "tags/mlflow.parentRunId", 64, a);
        if (!parent || strcmp(parent, root) != 0)
            continue;
        bool is_first = strcmp(runs_root_id(runs, run, a), run->id) == 0, is_shown = strcmp(now[i], run->id) == 0;
        ret->amended += is_first && !is_shown && now[i][0];
        ret->retracted += is_first && !now[i][0];
        if (is_shown)
            runs->all[n++] = run;
    }
    return n;
}

int runs_table_load_children(struct runs *runs, const struct tree_run *of, struct children_corrected *ret, struct arena *a, struct err *err)
{
    const struct runs_filter filter = {.experiment = of->experiment, .corrected = true};
    *ret = (struct children_corrected){0};
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &filter, a, err) < 0)
        return -1;
    char(*now)[33] = arena_get(a, (runs->count + 1) * sizeof *now);
    if (!now)
        return err_memory(err, "the child runs");
    for (size_t i = 0; i < runs->count; i++)
        memcpy(now[i], runs->all[i]->id, sizeof *now);
    if (runs_current_ids(runs, of, now, runs->count, a, err))
        return -1;
    size_t n = runs->count = children_choose(runs, runs_root_id(runs, of, a), now, ret, a);
    for (size_t i = 0; i < n / 2; i++) { /* oldest first */
        struct tree_run *other = runs->all[i];
        runs->all[i] = runs->all[n - 1 - i];
        runs->all[n - 1 - i] = other;
    }
    return n ? 0 : err_set(err, ERR_INPUT, "the run %.8s has no child runs%s", of->id, ret->retracted ? " that are not retracted" : "");
}

/* Appends how many child runs are amended, and how many retracted ones the table does not show. */
static void children_put_corrected(size_t count, const struct children_corrected *c, struct buf *to)
{
    if (!c->amended && !c->retracted)
        return;
    buf_printf(to, "%zu child run%s", count, str_plural(count));
    if (c->amended)
        buf_printf(to, ", %zu of them amended", c->amended);
    if (c->retracted)
        buf_printf(to, ", %zu more retracted", c->retracted);
    buf_puts(to, "; hint: benchwrap ls --all lists all runs\n");
}

int runs_table_children(struct runs *runs, const struct tree_run *of, const struct children_corrected *corrected, enum listing_form form,
                        FILE *out, struct arena *a, struct err *err)
{
    struct screen screen = screen_of_file(out);
    CLEANUP_BUF struct buf to;
    buf_init(&to, 1u << 30);
    struct table_run *list = arena_get(a, (runs->count + 1) * sizeof *list);
    const struct folder of_tree = runs_tree(runs, of);
    struct table_run above = {.run = of, .row = row_read(&of_tree, of, 0, a)};
    bool read = list && above.row;
    size_t kept = 0;
    for (size_t i = 0; read && i < runs->count; i++) {
        const struct folder tree = runs_tree(runs, runs->all[i]);
        struct table_run *row = &list[kept];
        *row = (struct table_run){.run = runs->all[i], .row = row_read(&tree, runs->all[i], HEADLINES_MAX, a), .tree = tree};
        read = row->row != NULL;
        if (read)
            row_words(row, a);
        if (read && !row->row->has_wall_metric && tree_is_gone(&tree, row->run))
            runs->gone++;
        else
            runs->all[kept++] = runs->all[i];
    }
    runs->count = kept;
    int status = !read ? -1
                 : form != LISTING_TABLE
                     ? children_rows(runs, list, form, out, a)
                     : runs_table_print(list, runs->count, &above, runs_table_one_day(list, runs->count), false, &screen, a, &to);
    if (form == LISTING_TABLE)
        children_put_corrected(runs->count, corrected, &to);
    fwrite(to.p ? to.p : "", 1, to.n, out);
    return status ? err_memory(err, "the table of runs") : 0;
}
