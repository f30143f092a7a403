/* guess_json.c: JSON documents in an output: numbers in them that may be results. */
#include "benchmarks/guess_parts.h"
#include "base/json.h"

enum { TRIES_MAX = 20, DEPTH_MAX = 12, POINTER_MAX = 600, ROWS_READERS_MAX = 12 };

struct json_walk {
    struct guess *g;
    size_t line; /* where the document begins */
    bool several; /* documents */
    size_t readers;
};

/* Appends a key as a part of a JSON pointer (RFC 6901). */
static void put_pointer_part(struct buf *to, const char *key)
{
    buf_putc(to, '/');
    for (; *key; key++)
        if (*key == '~' || *key == '/')
            buf_puts(to, *key == '~' ? "~0" : "~1");
        else
            buf_putc(to, *key);
}

static bool plain_key(const char *key)
{
    size_t n = key ? strlen(key) : 0;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)key[i] < ' ' || key[i] == '*')
            return false;
    return n && n < 80 && str_valid_utf8(str_of(key));
}

/* "read.lat_ns" -> the last two names, as words. */
static struct str words_of(const char *path, const char *key, struct arena *a)
{
    const char *last = path ? strrchr(path, '/') : NULL;
    const char *text = last ? arena_printf(a, "%s %s", last + 1, key) : key;
    return str_of(text);
}

/* Returns whether the number can be a result: it has a fraction, or its key or the words around it
 * name a result or a unit. Noise and whole numbers of settings are none. */
static bool is_useful_number(const struct json *j, struct str words, struct str key)
{
    double v = json_number(j, 0);
    bool whole = v == (double)(int64_t)(v > -9e15 && v < 9e15 ? v : 0.5);
    bool named = guess_is_result(words) || guess_unit_in(key) != NULL;
    if (guess_is_noise(key) || (guess_is_param(key) && whole && !guess_is_result(key)))
        return false;
    return named || !whole;
}

/* Returns whether the path of a JSON value is below options or settings, where every number is a
 * param. NULL is allowed. */
static bool is_settings_path(const char *path)
{
    static const char *const words[] = {"options", "config", "param", "setting", "args", "arguments", "test_start", NULL};
    for (const char *const *w = words; *w && path; w++)
        if (strstr(path, *w))
            return true;
    return false;
}

/* The member that distinguishes rows: a short text, or NULL. */
static const char *row_label(const struct json *row)
{
    static const char *const words[] = {"name",   "test",   "jobname", "benchmark", "operation", "op", "command",
                                        "kernel", "metric", "case",    "label",     "type",      NULL};
    for (const char *const *w = words; *w; w++) {
        const struct json *j = json_get(row, *w);
        if (json_is_string(j) && json_string(j, "")[0] && strlen(json_string(j, "")) < 60)
            return *w;
    }
    return NULL;
}

static void rows_at(struct json_walk *w, const struct json *array, const char *pointer);

/* Adds a number of a document: as a param below a path of settings, else as a metric where it is
 * useful. */
static void guess_json_leaf(struct json_walk *w, struct guess_reader *r, const struct json *j, const char *path, const char *key,
                            const char *prefix, bool several)
{
    struct guess *g = w->g;
    struct str words = words_of(path, key, &g->arena);
    CLEANUP_BUF struct buf cell;
    buf_init(&cell, POINTER_MAX);
    buf_puts(&cell, path);
    put_pointer_part(&cell, key);
    const char *at = cell.failed ? NULL : arena_dup(&g->arena, cell.p, cell.n);
    if (is_settings_path(path)) {
        guess_param_add(g, r, str_of(key), at, "number");
        return;
    }
    if (!at || !is_useful_number(j, words, str_of(key)))
        return;
    const char *last = path[0] ? strrchr(path, '/') + 1 : NULL;
    const char *above =
        last && strlen(last) < 40 ? arena_printf(&g->arena, "%s%s.", prefix, guess_segment(str_of(last), &g->arena)) : prefix;
    const struct unit *u = guess_unit_in(str_of(key));
    if (!u && last)
        u = guess_unit_in(str_of(last)); /* {"lat_ns": {"mean": 1}} */
    struct guess_metric *m = guess_metric_add(g, r, above, str_of(key), at, u);
    if (!m)
        return;
    if (m->better == DIR_NONE && !guess_is_spread(str_of(key)))
        m->better = guess_direction(words, u);
    if (u && m->unit)
        m->from = u->name;
    m->series = several || w->several;
}

/* Adds the members of the object, and of those below it, as cells of the reader. path: the pointer
 * of the object within the row; rows: that of the row. Lists of objects become readers of their
 * own. */
static void guess_json_members(struct json_walk *w, struct guess_reader *r, const struct json *object, const char *path, const char *rows,
                               const char *prefix, bool several, int depth)
{
    for (const struct json *j = json_first(object); j && depth < DEPTH_MAX; j = json_next(j)) {
        const char *key = json_key(j);
        if (!plain_key(key))
            continue;
        CLEANUP_BUF struct buf below, all;
        buf_init(&below, POINTER_MAX);
        buf_init(&all, POINTER_MAX);
        buf_puts(&below, path);
        put_pointer_part(&below, key);
        buf_printf(&all, "%s%s", rows, below.p ? below.p : "");
        if (below.failed || all.failed)
            continue;
        if (json_is_number(j))
            guess_json_leaf(w, r, j, path, key, prefix, several);
        else if (json_is_object(j))
            guess_json_members(w, r, j, below.p, rows, prefix, several, depth + 1);
        else if (json_is_array(j) && json_is_object(json_at(j, 0)) && !strstr(all.p, "/*"))
            rows_at(w, j, all.p);
    }
}

/* Adds a reader for these rows with all metrics of the object. Adds none after ROWS_READERS_MAX. */
static void reader_for(struct json_walk *w, const struct json *object, const char *rows, const char *label, bool several)
{
    struct guess *g = w->g;
    struct guess_reader *r = w->readers < ROWS_READERS_MAX ? guess_reader_add(g, "json", w->line) : NULL;
    if (!r)
        return;
    CLEANUP_BUF struct buf spec;
    if (w->readers++)
        r->name = arena_printf(&g->arena, "%s_%zu", r->name, w->readers);
    r->comment = arena_printf(&g->arena, "line %zu: JSON, %s", w->line + 1, *rows ? rows : "the whole document");
    buf_init(&spec, 2 * POINTER_MAX);
    buf_puts(&spec, "json: {rows: ");
    buf_json(&spec, str_of(rows));
    buf_puts(&spec, "}");
    r->spec = arena_dup(&g->arena, spec.p, spec.n);
    guess_json_members(w, r, object, "", rows, label ? arena_printf(&g->arena, "{%s}.", label) : "", several, 0);
}

static void rows_at(struct json_walk *w, const struct json *array, const char *pointer)
{
    size_t n = json_count(array);
    const char *label = n > 1 ? row_label(json_at(array, 0)) : NULL;
    reader_for(w, json_at(array, 0), arena_printf(&w->g->arena, "%s/*", pointer), label, n > 1 && !label);
}

static void guess_json_document(struct guess *g, struct json *document, size_t line, bool several)
{
    struct json_walk w = {.g = g, .line = line, .several = several};
    if (json_is_array(document) && json_is_object(json_at(document, 0)))
        rows_at(&w, document, "");
    else if (json_is_object(document))
        reader_for(&w, document, "", NULL, false);
}

/* Of several documents the first counts; the others are read as repetitions of it. */
void guess_json(struct guess *g)
{
    struct json *first = NULL;
    size_t first_line = 0, documents = 0, tries = 0;
    for (size_t i = 0; i < g->lines && tries < TRIES_MAX; i++) {
        struct str line = str_trim(g->line[i].text), next = i + 1 < g->lines ? str_trim(g->line[i + 1].text) : STR("");
        bool array = str_starts(line, "[") && (str_has(line, "{") || (line.n == 1 && str_starts(next, "{")));
        if (!str_starts(line, "{") && !array)
            continue;
        struct str rest = {line.p, (size_t)(g->text.p + g->text.n - line.p)};
        struct json *j = NULL;
        size_t end = 0;
        tries++;
        if (json_parse(&j, rest, &end, NULL))
            continue;
        documents++;
        while (i < g->lines && g->line[i].text.p < line.p + end)
            g->line[i++].used = true;
        i--;
        if (first)
            json_free(j);
        else {
            first = j;
            first_line = i;
        }
    }
    for (size_t i = first_line; first && i > 0 && g->line[i - 1].used; i--)
        first_line = i - 1;
    if (first)
        guess_json_document(g, first, first_line, documents > 1);
    json_free(first);
}
