/* run_columns.c: facts of runs as columns of a table. */
#include "runs/run_columns.h"

#include "base/show.h"

#include <stdlib.h>
#include <string.h>

struct column_reading {
    const char *option;
    const struct runs *runs;
    const struct tree_run *const *list;
    size_t n;
    struct filter_key *keys;
    size_t count;
    struct arena *a;
    struct err *err;
};

/* Returns the next item of the list, up to a comma that is in no quotes. */
static struct str cut_column(struct str *rest)
{
    char quote = 0;
    size_t i = 0;
    for (; i < rest->n; i++) {
        char c = rest->p[i];
        if (quote ? c == quote : strchr("`'\"", c) != NULL)
            quote = quote ? 0 : c;
        else if (!quote && c == ',')
            break;
    }
    struct str item = str_trim(str_sub(*rest, 0, i));
    *rest = i < rest->n ? str_sub(*rest, i + 1, rest->n) : (struct str){0};
    return item;
}

static int add_column(struct column_reading *r, struct filter_key key)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->keys[i].kind == key.kind && r->keys[i].attribute == key.attribute &&
            (key.kind == FILTER_ATTRIBUTE || strcmp(r->keys[i].name, key.name) == 0))
            return 0;
    if (r->count == RUN_COLUMNS_MAX)
        return err_set(r->err, ERR_USAGE, "%s: expected at most %d columns; name fewer keys", r->option, RUN_COLUMNS_MAX);
    r->keys[r->count++] = key;
    return 0;
}

/* Adds every key that one of the runs has and that matches. */
static int add_matching_columns(struct column_reading *r, enum filter_kind kind, const char *pattern)
{
    struct key_list keys = {.a = r->a};
    int rc = 0;
    for (size_t i = 0; i < r->n && !keys.failed; i++) {
        const struct folder tree = runs_tree(r->runs, r->list[i]);
        key_list_add(&keys, &tree, r->list[i], kind, pattern);
    }
    key_list_sort(&keys);
    for (size_t i = 0; i < keys.count && rc == 0; i++)
        rc = add_column(r, (struct filter_key){.kind = kind, .name = keys.names[i]});
    bool failed = keys.failed || r->a->failed;
    key_list_deinit(&keys);
    return failed ? err_memory(r->err, "the keys of %zu runs", r->n) : rc;
}

/* Adds the columns that one item of --columns names: an attribute, a key, or all keys that match a
 * pattern. Returns -1 with err. */
static int add_named_columns(struct column_reading *r, struct str item)
{
    struct filter_key key;
    bool descending;
    const char *dot = memchr(item.p, '.', item.n);
    if (str_is(item, "experiment"))
        return add_column(r, (struct filter_key){.kind = FILTER_ATTRIBUTE, .attribute = FILTER_EXPERIMENT, .name = "experiment"});
    if (str_is(item, "experiment_id"))
        return add_column(r, (struct filter_key){.kind = FILTER_ATTRIBUTE, .attribute = FILTER_EXPERIMENT_ID, .name = "experiment_id"});
    struct str kind = dot ? str_sub(item, 0, (size_t)(dot - item.p)) : item, name = str_sub(item, kind.n + 1, item.n);
    bool is_attribute = !dot || str_is(kind, "attributes") || str_is(kind, "attribute") || str_is(kind, "attr") || str_is(kind, "run");
    const char *probe = is_attribute ? arena_dup(r->a, item.p, item.n) : arena_printf(r->a, STR_FMT ".x", STR_ARG(kind));
    if (!probe)
        return err_memory(r->err, "a column");
    if (filter_parse_order(probe, r->option, r->a, &key, &descending, r->err) < 0)
        return -1;
    if (is_attribute)
        return add_column(r, key);
    if (name.n >= 2 && name.p[0] == name.p[name.n - 1] && strchr("`'\"", name.p[0]))
        name = str_sub(name, 1, name.n - 2);
    if (!name.n)
        return err_set(r->err, ERR_USAGE, "%s: expected a key or \"*\" behind \"" STR_FMT ".\"", r->option, STR_ARG(kind));
    key.name = arena_dup(r->a, name.p, name.n);
    if (!key.name)
        return err_memory(r->err, "a column");
    bool is_pattern = strpbrk(key.name, "*?") != NULL;
    if (is_pattern && key.kind == FILTER_ENVIRONMENT)
        return err_set(r->err, ERR_USAGE, "%s: expected the complete name of a variable, got \"env.%.60s\"", r->option, key.name);
    return is_pattern ? add_matching_columns(r, key.kind, key.name) : add_column(r, key);
}

int run_columns_read(struct run_columns *ret, const char *text, const char *option, const struct runs *runs,
                     const struct tree_run *const *list, size_t n, struct arena *a, struct err *err)
{
    struct column_reading r = {.option = option, .runs = runs, .list = list, .n = n, .a = a, .err = err};
    r.keys = arena_get(a, RUN_COLUMNS_MAX * sizeof *r.keys);
    if (!r.keys)
        return err_memory(err, "columns");
    for (struct str rest = str_of(text); rest.p;) {
        struct str item = cut_column(&rest);
        if (!item.n)
            return err_set(err, ERR_USAGE, "%s: expected keys with commas between them, got an empty one", option);
        if (add_named_columns(&r, item) < 0)
            return -1;
    }
    *ret = (struct run_columns){r.keys, r.count};
    return 0;
}

/* ---- cells ---- */

static const char *shown_number(double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p, b.n);
}

/* Adds the value of a run as a cell. people: a time becomes a date, else it stays an integer. */
static void add_cell(struct listing *l, const struct filter_value *v, bool is_time, bool people, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (v->is == FILTER_MISSING)
        listing_none(l);
    else if (v->is == FILTER_TEXT)
        listing_str(l, v->text);
    else if (v->is == FILTER_NUMBER)
        listing_number(l, v->number, shown_number(v->number, a));
    else if (is_time && people) {
        show_time(&b, v->integer);
        listing_text(l, b.p);
    } else
        listing_number(l, (double)v->integer, arena_printf(a, "%lld", (long long)v->integer));
}

/* Returns a column for each key, in the arena. NULL: out of memory. */
static struct listing_column *column_headings(const struct run_columns *columns, struct arena *a)
{
    struct listing_column *ret = arena_get(a, (columns->count + 1) * sizeof *ret);
    for (size_t i = 0; ret && i < columns->count; i++) {
        CLEANUP_BUF struct buf b;
        const struct filter_key *key = &columns->list[i];
        static const char *const kinds[] = {
            [FILTER_METRIC] = "metrics.", [FILTER_PARAM] = "params.", [FILTER_TAG] = "tags.", [FILTER_ENVIRONMENT] = "env."};
        buf_init(&b, 4096);
        buf_printf(&b, "%s%s", key->kind != FILTER_ATTRIBUTE && kinds[key->kind] ? kinds[key->kind] : "", key->name);
        const char *name = arena_dup(a, b.p, b.n);
        ret[i] = (struct listing_column){.key = name,
                                         .heading = name,
                                         .right = key->kind == FILTER_METRIC,
                                         .max = key->kind == FILTER_METRIC ? 0 : 60,
                                         .whole = key->kind == FILTER_ATTRIBUTE && key->attribute == FILTER_RUN_ID};
    }
    return ret;
}

int run_columns_listing(const struct run_columns *columns, const struct runs *runs, struct tree_run *const *list, size_t n, bool people,
                        struct arena *a, struct listing *ret, size_t *ret_gone)
{
    CLEANUP_BUF struct buf text;
    size_t gone = 0;
    const struct listing_column *headings = column_headings(columns, a);
    buf_init(&text, 300u << 20);
    listing_init(ret, headings, columns->count, a);
    for (size_t i = 0; headings && i < n; i++) {
        const struct folder tree = runs_tree(runs, list[i]);
        const char *first = NULL;
        for (size_t k = 0; k < columns->count; k++) {
            const struct filter_key *key = &columns->list[k];
            const char *problem = NULL;
            struct filter_value v = filter_value_read(key, &tree, list[i], &text, a, &problem);
            first = first ? first : problem;
            add_cell(ret, &v, key->kind == FILTER_ATTRIBUTE && key->attribute != FILTER_EXPERIMENT_ID, people, a);
        }
        if (ret_gone && tree_is_gone(&tree, list[i])) {
            listing_drop_row(ret);
            gone++;
        } else if (first && !list[i]->problem) {
            list[i]->problem = first;
        }
    }
    if (ret_gone)
        *ret_gone = gone;
    return headings && !a->failed && !ret->failed ? 0 : -1;
}
