/* recipe_sweep.c: the points of a recipe: grid, zip, list and overrides become one table of values. */
#include "recipe/recipe.h"

#include "recipe/recipe_values.h"

#include <math.h>
#include <stdlib.h>

enum { SEARCH_STEPS_MAX = 10 };

/* Axes whose values belong together: row by row. */
struct sweep_factor {
    size_t first, axes, rows;
    const char *const *cells[SWEEP_AXES_MAX]; /* of each axis, rows values */
};

struct sweep_builder {
    struct recipe *r;
    struct sweep_factor factors[SWEEP_AXES_MAX];
    size_t count;
    bool is_product; /* every factor is one axis of the grid */
    struct err *err;
};

static int build_complain(struct sweep_builder *b, const struct yaml *at, const struct err *why)
{
    const char *text = why->text;
    if (strncmp(text, "--sweep ", 8) == 0)
        text += 8;
    return why->kind == ERR_SYSTEM ? (*b->err = *why, -1) : yaml_complain(at, b->r->file, b->err, "%s", text);
}

/* "NAME=a,b": the list in the syntax of --sweep. Elements of a YAML list are values or ranges; their commas are literal. */
static const char *axis_text(struct sweep_builder *b, const struct yaml *y)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 20);
    buf_str(&text, y->key);
    buf_putc(&text, '=');
    if (y->kind == YAML_SCALAR)
        buf_str(&text, y->text);
    for (const struct yaml *v = y->kind == YAML_LIST ? y->child : NULL; v; v = v->next) {
        for (size_t i = 0; i < v->text.n; i++) {
            if (strchr(",\\", v->text.p[i]) || (!v->plain && i == 0))
                buf_putc(&text, '\\');
            buf_putc(&text, v->text.p[i]);
        }
        if (v->next)
            buf_putc(&text, ',');
    }
    return text.failed ? NULL : arena_dup(b->r->arena, text.p, text.n);
}

/* Appends an axis, which the caller fills. NULL with err: too many, a name that is swept already,
 * or one that benchwrap sets. */
static struct sweep_axis *new_axis(struct sweep_builder *b, const struct yaml *at, const char *name)
{
    struct parameter_sweep *s = &b->r->sweep;
    if (s->count == SWEEP_AXES_MAX) {
        yaml_complain(at, b->r->file, b->err, "more than %d values are swept", SWEEP_AXES_MAX);
        return NULL;
    }
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->axes[i].name, name) == 0) {
            yaml_complain(at, b->r->file, b->err, "\"%s\" is swept twice", name);
            return NULL;
        }
    if (recipe_is_reserved(b->r, name)) {
        yaml_complain(at, b->r->file, b->err, "\"%s\" is a name that benchwrap sets; choose another one", name);
        return NULL;
    }
    return &s->axes[s->count++];
}

static int read_axis(struct sweep_builder *b, const struct yaml *y, bool repeats, struct sweep_axis *ret)
{
    struct err why = {0};
    if (yaml_is_null(y))
        return yaml_complain(y, b->r->file, b->err, "there is no value");
    const char *text = axis_text(b, y);
    if (!text)
        return err_memory(b->err, "the sweep");
    return sweep_read_axis(ret, text, repeats, b->r->arena, &why) ? build_complain(b, y, &why) : 0;
}

static int add_grid(struct sweep_builder *b, const struct yaml *grid)
{
    for (const struct yaml *y = grid ? grid->child : NULL; y; y = y->next) {
        struct sweep_axis axis, *to;
        if (read_axis(b, y, false, &axis) || !(to = new_axis(b, y, axis.name)))
            return -1;
        *to = axis;
        b->factors[b->count++] =
            (struct sweep_factor){.first = b->r->sweep.count - 1, .axes = 1, .rows = axis.count, .cells = {axis.values}};
    }
    return 0;
}

/* Adds the axes of one zip, whose lists have equal lengths, as one factor. Adds nothing for an
 * empty zip. 0; -1 with b->err. */
static int add_zip(struct sweep_builder *b, const struct yaml *zip)
{
    struct sweep_factor f = {.first = b->r->sweep.count};
    for (const struct yaml *y = zip ? zip->child : NULL; y; y = y->next) {
        struct sweep_axis axis, *to;
        if (read_axis(b, y, true, &axis) || !(to = new_axis(b, y, axis.name)))
            return -1;
        if (f.axes && axis.count != f.rows)
            return yaml_complain(y, b->r->file, b->err, "lists of a zip have equal lengths: \"%s\" has %zu values, the first has %zu",
                                 axis.name, axis.count, f.rows);
        f.rows = axis.count;
        f.cells[f.axes++] = axis.values;
        *to = axis;
    }
    if (f.axes) {
        b->factors[b->count++] = f;
        b->is_product = false;
    }
    return 0;
}

/* Adds one name of a list of points as an axis of f, with its value in each row. 0; -1 with b->err:
 * a row lacks the name, or out of memory. */
static int add_list_axis(struct sweep_builder *b, struct sweep_factor *f, const struct yaml *list, const struct yaml *of)
{
    const char *name = arena_dup(b->r->arena, of->key.p, of->key.n), **cells = arena_get(b->r->arena, f->rows * sizeof *cells);
    struct sweep_axis *axis = name && cells ? new_axis(b, of, name) : NULL;
    size_t at = 0;
    int64_t integer;
    if (!name || !cells)
        return err_memory(b->err, "the sweep");
    if (!axis)
        return -1;
    *axis = (struct sweep_axis){.name = name, .integers = true, .values = cells, .count = f->rows};
    for (const struct yaml *row = list->child; row; row = row->next) {
        const char *value = recipe_scalar(b->r, row, name, NULL);
        if (!value)
            return yaml_complain(row, b->r->file, b->err, "each point of the list has the same names: \"%s\" is missing", name);
        axis->integers &= str_int(str_of(value), &integer);
        cells[at++] = value;
    }
    f->cells[f->axes++] = cells;
    return 0;
}

/* Adds a list of points as one factor; each point must have the names of the first one. Adds
 * nothing for an empty list. 0; -1 with b->err. */
static int add_list(struct sweep_builder *b, const struct yaml *list)
{
    struct sweep_factor f = {.first = b->r->sweep.count};
    size_t names = 0;
    for (const struct yaml *row = list ? list->child : NULL; row; row = row->next)
        f.rows++;
    if (!f.rows)
        return 0;
    if (f.rows > SWEEP_POINTS_MAX)
        return yaml_complain(list, b->r->file, b->err, "more than %d points", SWEEP_POINTS_MAX);
    for (const struct yaml *y = list->child->child; y; y = y->next, names++)
        if (add_list_axis(b, &f, list, y))
            return -1;
    for (const struct yaml *row = list->child; row; row = row->next) {
        size_t n = 0;
        for (const struct yaml *y = row->child; y; y = y->next)
            n++;
        if (n != names)
            return yaml_complain(row, b->r->file, b->err, "each point of the list has the same names: %zu here, %zu in the first", n,
                                 names);
    }
    b->factors[b->count++] = f;
    b->is_product = false;
    return 0;
}

/* ---- the table ---- */

/* Sets the table of the sweep to the product of all factors: a row for each point, a column for
 * each axis. In the recipe's arena. 0; -1 with b->err: more than SWEEP_POINTS_MAX points, or out of
 * memory. */
static int fill_table(struct sweep_builder *b)
{
    struct parameter_sweep *s = &b->r->sweep;
    size_t points = 1;
    for (size_t i = 0; i < b->count; i++) {
        points *= b->factors[i].rows;
        if (points > SWEEP_POINTS_MAX)
            return yaml_complain(yaml_get(b->r->root, "sweep"), b->r->file, b->err, "more than %d points", SWEEP_POINTS_MAX);
    }
    s->points = points;
    const char **table = arena_get(b->r->arena, points * (s->count + 1) * sizeof *table);
    if (!table)
        return err_memory(b->err, "the sweep");
    for (size_t p = 0; p < points; p++) {
        size_t left = p;
        for (size_t i = b->count; i-- > 0;) { /* the first factor changes slowest */
            const struct sweep_factor *f = &b->factors[i];
            for (size_t k = 0; k < f->axes; k++)
                table[p * s->count + f->first + k] = f->cells[k][left % f->rows];
            left /= f->rows;
        }
    }
    s->table = table;
    return 0;
}

/* Reads `overrides`: conditions, and the values that they set. -1 with err: a wrong expression, or
 * a name that is no value. */
static int read_overrides(struct sweep_builder *b, const struct yaml *list)
{
    size_t n = 0;
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next)
        n++;
    b->r->overrides = arena_get(b->r->arena, (n + 1) * sizeof *b->r->overrides);
    if (!b->r->overrides)
        return err_memory(b->err, "the sweep");
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next) {
        struct recipe_override *o = &b->r->overrides[b->r->override_count++];
        o->set = yaml_get(y, "set");
        o->at = yaml_get(y, "when");
        if (recipe_expression(b->r, yaml_get(y, "when"), &o->when, b->err))
            return -1;
        for (const struct yaml *v = o->set->child; v; v = v->next)
            if (!recipe_is_value(b->r, v->key))
                return yaml_complain(v, b->r->file, b->err, "\"%.*s\" is neither swept nor a var", (int)(v->key.n > 60 ? 60 : v->key.n),
                                     v->key.p);
    }
    return 0;
}

/* The points that overrides change; a change of a swept value is a change of the table. */
static int apply_overrides(struct sweep_builder *b)
{
    struct parameter_sweep *s = &b->r->sweep;
    const char **row = arena_get(b->r->arena, (s->count + 1) * sizeof *row);
    bool changed = false;
    for (size_t p = 0; row && p < s->points && b->r->override_count; p++) {
        struct recipe_values v;
        if (recipe_values_init(&v, b->r, p, b->r->arena, b->err))
            return -1;
        for (size_t i = 0; i < s->count; i++) {
            row[i] = v.list[i].text;
            changed |= strcmp(row[i], sweep_value(s, p, i)) != 0;
        }
        memcpy((void *)(s->table + p * s->count), row, s->count * sizeof *row);
    }
    b->is_product &= !changed;
    return b->r->arena->failed ? err_memory(b->err, "the sweep") : 0;
}

struct sweep_row {
    const struct parameter_sweep *s;
    size_t point;
};

static int order_rows(const void *x, const void *y)
{
    const struct sweep_row *a = x, *b = y;
    for (size_t i = 0; i < a->s->count; i++) {
        int order = strcmp(sweep_value(a->s, a->point, i), sweep_value(b->s, b->point, i));
        if (order)
            return order;
    }
    return a->point < b->point ? -1 : a->point > b->point;
}

/* Refuses a sweep with two equal points: -1 with err, which names both. */
static int check_equal_points(struct sweep_builder *b)
{
    struct parameter_sweep *s = &b->r->sweep;
    struct sweep_row *rows = arena_get(b->r->arena, s->points * sizeof *rows);
    if (!rows)
        return err_memory(b->err, "the sweep");
    for (size_t i = 0; i < s->points; i++)
        rows[i] = (struct sweep_row){s, i};
    qsort(rows, s->points, sizeof *rows, order_rows);
    for (size_t i = 1, k; i < s->points; i++) {
        for (k = 0; k < s->count && strcmp(sweep_value(s, rows[i - 1].point, k), sweep_value(s, rows[i].point, k)) == 0;)
            k++;
        if (k == s->count && s->points > 1)
            return yaml_complain(yaml_get(b->r->root, "sweep"), b->r->file, b->err,
                                 "points %zu and %zu have the same values; `repeat` measures a point several times", rows[i - 1].point + 1,
                                 rows[i].point + 1);
    }
    return 0;
}

static int order_texts(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The distinct values of an axis, in their first order. */
static void collect_axis(struct recipe *r, size_t axis)
{
    struct parameter_sweep *s = &r->sweep;
    struct sweep_axis *a = &s->axes[axis];
    const char **all = arena_get(r->arena, s->points * sizeof *all), **values = arena_get(r->arena, s->points * sizeof *values);
    bool *used = arena_get(r->arena, s->points);
    size_t n = 0, distinct = 0;
    int64_t integer;
    if (!all || !values || !used)
        return;
    for (size_t p = 0; p < s->points; p++)
        all[p] = sweep_value(s, p, axis);
    qsort(all, s->points, sizeof *all, order_texts);
    for (size_t p = 0; p < s->points; p++)
        if (!p || strcmp(all[p], all[distinct - 1]) != 0)
            all[distinct++] = all[p];
    a->integers = true;
    for (size_t p = 0; p < s->points && n < distinct; p++) {
        const char *value = sweep_value(s, p, axis);
        const char **at = bsearch(&value, all, distinct, sizeof *all, order_texts);
        if (at && !used[at - all]) {
            used[at - all] = true;
            values[n++] = value;
            a->integers &= str_int(str_of(value), &integer);
        }
    }
    a->values = values;
    a->count = n;
}

/* An axis that benchwrap makes, as one more factor. */
static int add_made_axis(struct sweep_builder *b, const struct yaml *at, const char *name, const char *const *values, size_t n,
                         bool integers)
{
    struct sweep_axis *axis = new_axis(b, at, name);
    if (!axis)
        return -1;
    *axis = (struct sweep_axis){.name = name, .values = values, .count = n, .integers = integers};
    b->factors[b->count++] = (struct sweep_factor){.first = b->r->sweep.count - 1, .axes = 1, .rows = n, .cells = {values}};
    return 0;
}

static int add_each_node(struct sweep_builder *b)
{
    size_t n = 0;
    if (!b->r->each_node)
        return 0;
    while (b->r->each_node[n])
        n++;
    return add_made_axis(b, b->r->root, "each_node", (const char *const *)b->r->each_node, n, false);
}

static int read_bound(struct sweep_builder *b, const struct yaml *map, const char *key, double *ret)
{
    const struct yaml *y = yaml_get(map, key);
    if (str_double(y->text, ret) && isfinite(*ret))
        return 0;
    return yaml_complain(y, b->r->file, b->err, "expected a number, got \"%.*s\"", (int)(y->text.n > 60 ? 60 : y->text.n), y->text.p);
}

/* The candidates of a search: 2^steps - 1 values between the bounds, in equal ratios where these are positive, so that
 * halving them needs so many measurements. */
static int add_objective(struct sweep_builder *b)
{
    const struct yaml *map = yaml_get(b->r->root, "objective");
    double from, to, last = NAN;
    int64_t steps = 8;
    bool integer = true;
    size_t n = 0;
    if (!map || yaml_is_null(map))
        return 0;
    str_int(yaml_text(map, "steps", "8"), &steps);
    yaml_bool(yaml_get(map, "integer"), &integer);
    if (read_bound(b, map, "from", &from) || read_bound(b, map, "to", &to))
        return -1;
    if (to <= from)
        return yaml_complain(yaml_get(map, "to"), b->r->file, b->err, "expected a value above `from`");
    if (steps < 1 || steps > SEARCH_STEPS_MAX)
        return yaml_complain(yaml_get(map, "steps"), b->r->file, b->err, "expected a number from 1 to %d", SEARCH_STEPS_MAX);
    size_t most = ((size_t)1 << steps) - 1;
    const char **values = arena_get(b->r->arena, most * sizeof *values);
    for (size_t i = 0; values && i < most; i++) {
        double share = most > 1 ? (double)i / (double)(most - 1) : 0,
               v = from > 0 ? from * pow(to / from, share) : from + (to - from) * share;
        v = integer ? round(v) : v;
        if (v == last)
            continue;
        last = v;
        values[n++] = arena_printf(b->r->arena, integer ? "%.0f" : "%.6g", v);
    }
    const char *name = recipe_scalar(b->r, map, "raise", NULL);
    b->r->search = (struct recipe_search){.axis = name, .count = n, .text = recipe_scalar(b->r, map, "while", "")};
    if (!values || !name || b->r->arena->failed)
        return err_memory(b->err, "the objective");
    return recipe_expression(b->r, yaml_get(map, "while"), &b->r->search.condition, b->err)
               ? -1
               : add_made_axis(b, yaml_get(map, "raise"), name, values, n, integer);
}

int recipe_read_sweep(struct recipe *r, struct err *err)
{
    struct sweep_builder b = {.r = r, .is_product = true, .err = err};
    const struct yaml *sweep = yaml_get(r->root, "sweep");
    if (sweep && yaml_is_null(sweep))
        sweep = NULL;
    if (add_grid(&b, yaml_get(sweep, "grid")) || add_zip(&b, yaml_get(sweep, "zip")) || add_list(&b, yaml_get(sweep, "list")) ||
        add_each_node(&b) || add_objective(&b))
        return -1;
    if (recipe_check_values(r, err) || fill_table(&b) || read_overrides(&b, yaml_get(sweep, "override")) || apply_overrides(&b) ||
        check_equal_points(&b))
        return -1;
    if (b.is_product) {
        r->sweep.table = NULL;
        return 0;
    }
    for (size_t i = 0; i < r->sweep.count; i++)
        collect_axis(r, i);
    return r->arena->failed ? err_memory(err, "the sweep") : 0;
}
