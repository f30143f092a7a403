/* reference.c: a reference file becomes checked entries; whatever cannot be meant so is refused here, with file, line and column. */
#include "benchmarks/reference_parts.h"

#include "base/fs.h"
#include "base/yaml.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 1 << 20, MEMORY_MAX = 64 << 20, PATTERNS_MAX = 100 };

struct loader {
    struct references *refs;
    struct arena *a;
    struct err *err;
};

static int reference_complain(const struct loader *l, const struct yaml *y, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int reference_complain(const struct loader *l, const struct yaml *y, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(l->err, ERR_INPUT, fmt, ap);
    va_end(ap);
    return err_wrap(l->err, "%s:%d:%d", l->refs->name, y->line, y->column);
}

static int no_memory(const struct loader *l)
{
    return err_memory(l->err, "the references of %s", l->refs->name);
}

/* Returns 0 where the node is a map with these keys only, else another value with l->err. */
static int only_keys(const struct loader *l, const struct yaml *map, const char *const *words, const char *what)
{
    char allowed[300] = "";
    size_t n = 0;
    if (map->kind != YAML_MAP)
        return reference_complain(l, map, "%s: a map (key: value) is expected here", what);
    for (const char *const *w = words; *w; w++)
        n += (size_t)snprintf(allowed + n, sizeof allowed - n, "%s%s", w == words ? "" : ", ", *w);
    for (const struct yaml *c = map->child; c; c = c->next) {
        const char *const *w = words;
        while (*w && !str_is(c->key, *w))
            w++;
        if (!*w)
            return reference_complain(l, c, "\"%.*s\" is not known in %s; allowed are %s", (int)(c->key.n < 60 ? c->key.n : 60), c->key.p,
                                      what, allowed);
    }
    return 0;
}

/* ---- numbers with units ---- */

struct quantity {
    double number;
    bool percent;
    const struct unit *unit; /* NULL: none was written */
};

/* "5400", "-0.05", "5%", "5.2 GiB/s". */
static int load_quantity(const struct loader *l, const struct yaml *y, const char *what, struct quantity *ret)
{
    struct str text = str_trim(y->text), rest;
    size_t n = y->kind == YAML_SCALAR && text.n <= 100 ? text.n : 0;
    while (n && !str_double(str_sub(text, 0, n), &ret->number))
        n--;
    if (!n || !isfinite(ret->number))
        return reference_complain(l, y, "%s: a number is expected, with a unit or %% behind it if need be (5400, 5%%, 5.2 GiB_per_s)",
                                  what);
    rest = str_trim(str_sub(text, n, text.n));
    ret->percent = str_is(rest, "%");
    ret->unit = rest.n && !ret->percent ? units_find(rest) : NULL;
    if (rest.n && !ret->percent && !ret->unit)
        return reference_complain(l, y, "%s: \"%.*s\" is no unit that is known here (MiB_per_s, GB/s, s, us, op_per_s, percent ...)", what,
                                  (int)(rest.n < 40 ? rest.n : 40), rest.p);
    return 0;
}

static bool is_missing(const struct yaml *y)
{
    return !y || yaml_is_null(y) || (y->plain && str_is(y->text, "None")); /* as it is spelled in Python */
}

/* `of` is the metric's own unit, known from its key. */
static int check_unit(const struct loader *l, const struct yaml *y, const struct unit *unit, const struct unit *of, const char *metric)
{
    double ignore;
    if (unit && of && !units_convert(1, unit, of, &ignore))
        return reference_complain(l, y, "%s: the metric is in %s, and %s cannot be converted to that", metric, of->name, unit->name);
    return 0;
}

/* lower: -5 %, 5 %, -0.05, -50 MiB_per_s; upper likewise. */
static int load_distance(const struct loader *l, const struct yaml *y, struct reference *m, const struct unit *of, bool low)
{
    struct quantity q = {0};
    struct bound *b = low ? &m->low : &m->high;
    const char *what = low ? "lower" : "upper";
    if (is_missing(y))
        return 0;
    if (load_quantity(l, y, what, &q) || check_unit(l, y, q.unit, of, m->metric))
        return -1;
    if (!m->has_value)
        return reference_complain(l, y, "%s is relative to a value, and there is none; an absolute limit is min or max", what);
    if (!low && q.number < 0)
        return reference_complain(l, y, "upper is above the value: %g would be below it", q.number);
    if (q.percent)
        q.number /= 100;
    if (q.percent && m->value == 0)
        return reference_complain(l, y, "a percentage of the reference 0 is 0: write the distance as a number");
    b->number = low ? -fabs(q.number) : q.number;
    b->unit = q.unit;
    b->kind = q.unit || m->value == 0 ? BOUND_OFFSET : BOUND_RELATIVE; /* 0 has no parts: ReFrame's meaning */
    if (low && b->kind == BOUND_RELATIVE && b->number < -1)
        return reference_complain(l, y, "lower: %g is %g %% below the value; 5 %% is written -5%% or -0.05, a distance with its unit",
                                  q.number, -100 * b->number);
    return 0;
}

/* Reads min or max, absent is allowed. Returns 0, or another value with l->err. */
static int load_limit(const struct loader *l, const struct yaml *y, struct reference *m, const struct unit *of, bool low)
{
    struct quantity q = {0};
    struct bound *b = low ? &m->low : &m->high;
    if (is_missing(y))
        return 0;
    if (load_quantity(l, y, low ? "min" : "max", &q) || check_unit(l, y, q.unit, of, m->metric))
        return -1;
    if (q.percent)
        return reference_complain(l, y, "%s is a limit, not a part of the value: that is %s", low ? "min" : "max", low ? "lower" : "upper");
    if (b->kind != BOUND_NONE)
        return reference_complain(l, y, "either %s or %s", low ? "lower" : "upper", low ? "min" : "max");
    *b = (struct bound){BOUND_LIMIT, q.number, q.unit};
    return 0;
}

/* Reads the value with its unit, in it or in `unit`. Returns 0, or another value with l->err. */
static int load_value(const struct loader *l, const struct yaml *y, const struct yaml *unit, struct reference *m, const struct unit *of)
{
    struct quantity q = {0};
    if (!is_missing(unit)) {
        m->unit = unit->kind == YAML_SCALAR ? units_find(unit->text) : NULL;
        if (!m->unit)
            return reference_complain(l, unit, "unit: no unit that is known here (MiB_per_s, GB/s, s, us, op_per_s, percent ...)");
        if (check_unit(l, unit, m->unit, of, m->metric))
            return -1;
    }
    if (is_missing(y))
        return 0;
    if (load_quantity(l, y, "value", &q) || check_unit(l, y, q.unit, of, m->metric))
        return -1;
    if (q.percent)
        return reference_complain(l, y, "value: a value is in the metric's unit; the unit is called percent");
    if (q.unit && m->unit)
        return reference_complain(l, y, "value: its unit occurs twice");
    m->unit = q.unit ? q.unit : m->unit;
    m->value = q.number;
    m->has_value = true;
    return 0;
}

/* [reference, lower, upper, unit], as ReFrame has it. */
static int load_tuple(const struct loader *l, const struct yaml *y, struct reference *m, const struct unit *of)
{
    const struct yaml *part[4] = {NULL};
    size_t n = 0;
    for (const struct yaml *c = y->child; c; c = c->next) {
        if (n == 4 || c->kind != YAML_SCALAR)
            return reference_complain(l, c, "[reference, lower, upper, unit] is expected");
        part[n++] = c;
    }
    if (n < 3)
        return reference_complain(l, y, "[reference, lower, upper, unit] is expected; null is no bound");
    if (is_missing(part[0]))
        return reference_complain(l, part[0], "the reference is a number");
    return load_value(l, part[0], part[3], m, of) || load_distance(l, part[1], m, of, true) || load_distance(l, part[2], m, of, false) ? -1
                                                                                                                                       : 0;
}

/* Loads lower and upper, or `band` as both. Returns 0, or -1 with l->err. */
static int load_band(const struct loader *l, const struct yaml *y, struct reference *m, const struct unit *of)
{
    const struct yaml *band = yaml_get(y, "band");
    const struct yaml *lower = yaml_get(y, "lower"), *upper = yaml_get(y, "upper");
    if (is_missing(band))
        return load_distance(l, lower, m, of, true) || load_distance(l, upper, m, of, false) ? -1 : 0;
    if (lower || upper)
        return reference_complain(l, band, "band is lower and upper in one; leave it or those out");
    return load_distance(l, band, m, of, true) || load_distance(l, band, m, of, false) ? -1 : 0;
}

/* Loads a reference that is a map. of: the metric's unit, NULL: not known. Returns 0, or -1 with
 * l->err. */
static int load_metric_map(const struct loader *l, const struct yaml *y, struct reference *m, const struct unit *of)
{
    static const char *const words[] = {"value", "unit", "band", "lower", "upper", "min", "max", "strict", NULL};
    const struct yaml *strict = yaml_get(y, "strict");
    if (only_keys(l, y, words, "a metric"))
        return -1;
    for (const struct yaml *c = y->child; c; c = c->next)
        if (c->kind != YAML_SCALAR)
            return reference_complain(l, c, "one value is expected here");
    if (strict && yaml_bool(strict, &m->strict))
        return reference_complain(l, strict, "strict is true or false");
    if (load_value(l, yaml_get(y, "value"), yaml_get(y, "unit"), m, of) || load_band(l, y, m, of))
        return -1;
    return load_limit(l, yaml_get(y, "min"), m, of, true) || load_limit(l, yaml_get(y, "max"), m, of, false) ? -1 : 0;
}

/* Reads the key "METRIC" or "METRIC@STEP". Returns 0, or another value with l->err. */
static int reference_load_name(const struct loader *l, const struct yaml *y, struct reference *m)
{
    struct str name = y->key;
    const char *at = name.n ? memrchr(name.p, '@', name.n) : NULL;
    if (at) {
        m->has_step = str_int(str_sub(name, (size_t)(at - name.p) + 1, name.n), &m->step);
        if (!m->has_step)
            return reference_complain(l, y, "expected a step, a whole number, behind @");
        name = str_trim(str_sub(name, 0, (size_t)(at - name.p)));
    }
    if (!name.n || name.n > 250)
        return reference_complain(l, y, "the name of a metric has 1 to 250 characters");
    m->metric = arena_dup(l->a, name.p, name.n);
    return m->metric ? 0 : no_memory(l);
}

/* Loads a metric with its reference into *ret, in the arena, which is set also where this fails.
 * strict: that of the entry. Returns 0, or another value with l->err. */
static int reference_load_metric(const struct loader *l, const struct yaml *y, bool strict, struct reference **ret)
{
    const struct unit *of = NULL;
    struct reference *m = *ret = ARENA_NEW(l->a, struct reference);
    if (!m)
        return no_memory(l);
    *m = (struct reference){.strict = strict, .line = y->line, .column = y->column};
    if (reference_load_name(l, y, m))
        return -1;
    reference_stem(str_of(m->metric), &of, NULL);
    if (y->kind == YAML_SCALAR)
        return reference_complain(
            l, y, "%s: a value alone has no band; write {value: 5400, lower: -5%%}, {min: 5000}, or [5400, -0.05, null, MiB_per_s]",
            m->metric);
    if ((y->kind == YAML_LIST ? load_tuple : load_metric_map)(l, y, m, of))
        return -1;
    if (!m->has_value && m->low.kind == BOUND_NONE && m->high.kind == BOUND_NONE)
        return reference_complain(l, y, "%s: expected a value or a limit (min, max) here", m->metric);
    if (y->kind == YAML_MAP && m->low.kind == BOUND_NONE && m->high.kind == BOUND_NONE)
        return reference_complain(l, y, "%s: expected a bound here: lower, upper, band, min or max", m->metric);
    return 0;
}

/* ---- conditions ---- */

static bool has_wildcard(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("*?[\\", s.p[i]) && s.p[i])
            return true;
    return false;
}

/* Adds a condition to the entry: one text, a list of 1 to PATTERNS_MAX, or for a param null (the run
 * must not have it). Its texts are those of y, not copies. -1 with l->err: ERR_INPUT for another
 * value, or out of memory. */
static int load_condition(const struct loader *l, const struct yaml *y, enum condition_kind kind, struct reference_entry *e)
{
    struct condition *c = ARENA_NEW(l->a, struct condition), **at = &e->conditions;
    if (!c)
        return no_memory(l);
    if (y->kind == YAML_MAP)
        return reference_complain(l, y, "a text, or a list of texts, is expected here");
    *c = (struct condition){.kind = kind, .key = kind == CONDITION_PARAM ? arena_dup(l->a, y->key.p, y->key.n) : NULL};
    bool absent = kind == CONDITION_PARAM && yaml_is_null(y);
    size_t n = 1;
    if (y->kind == YAML_LIST) {
        n = 0;
        for (const struct yaml *p = y->child; p; p = p->next)
            n++;
    }
    if (n == 0 || n > PATTERNS_MAX || (y->kind == YAML_SCALAR && !absent && !y->text.n))
        return reference_complain(l, y, "1 to %d texts are expected here", PATTERNS_MAX);
    c->any = arena_get(l->a, n * sizeof *c->any);
    if (!c->any)
        return no_memory(l);
    for (const struct yaml *p = y->kind == YAML_LIST ? y->child : y; p && !absent; p = y->kind == YAML_LIST ? p->next : NULL) {
        if (p->kind != YAML_SCALAR)
            return reference_complain(l, p, "a text is expected here");
        c->any[c->n++] = p->text;
    }
    c->exact = absent || (c->n == 1 && !has_wildcard(c->any[0]));
    while (*at)
        at = &(*at)->next;
    *at = c;
    e->condition_count++;
    e->exact_count += c->exact;
    return 0;
}

/* Loads all conditions of an entry. Returns 0, or -1 with l->err. */
static int load_conditions(const struct loader *l, const struct yaml *y, struct reference_entry *e)
{
    static const char *const words[] = {"site", "cluster", "partition", "node_type", "benchmark"};
    for (int i = 0; i < 5; i++) {
        const struct yaml *c = yaml_get(y, words[i]);
        if (c && load_condition(l, c, (enum condition_kind)i, e))
            return -1;
    }
    const struct yaml *params = yaml_get(y, "params");
    if (params && params->kind != YAML_MAP)
        return reference_complain(l, params, "params: a map (param: value) is expected here");
    for (const struct yaml *c = params ? params->child : NULL; c; c = c->next)
        if (load_condition(l, c, CONDITION_PARAM, e))
            return -1;
    return 0;
}

/* Loads an entry into *ret, in the arena, which is set also where this fails. Returns 0, or another
 * value with l->err. */
static int load_entry(const struct loader *l, const struct yaml *y, struct reference_entry **ret)
{
    static const char *const words[] = {"site",   "cluster", "partition", "node_type", "benchmark",
                                        "params", "metrics", "note",      "strict",    NULL};
    bool strict = false;
    struct reference_entry *e = *ret = ARENA_NEW(l->a, struct reference_entry);
    if (!e)
        return no_memory(l);
    e->line = y->line;
    if (only_keys(l, y, words, "an entry"))
        return -1;
    const struct yaml *metrics = yaml_get(y, "metrics"), *flag = yaml_get(y, "strict"), *note = yaml_get(y, "note");
    if (flag && yaml_bool(flag, &strict))
        return reference_complain(l, flag, "strict is true or false");
    if (note && note->kind != YAML_SCALAR)
        return reference_complain(l, note, "note is a text");
    if (load_conditions(l, y, e))
        return -1;
    if (!metrics || metrics->kind != YAML_MAP || !metrics->child)
        return reference_complain(l, metrics ? metrics : y, "an entry has metrics: a map from the name of a metric to its reference");
    struct reference **at = &e->metrics;
    for (const struct yaml *c = metrics->child; c; c = c->next) {
        if (reference_load_metric(l, c, strict, at))
            return -1;
        at = &(*at)->next;
    }
    return 0;
}

/* Loads all entries of a reference file; an empty one has none. Returns 0, or another value with
 * l->err. */
static int references_load_text(const struct loader *l, struct str text)
{
    static const char *const words[] = {"format", "references", NULL};
    struct yaml *doc = NULL;
    char *copy = arena_dup(l->a, text.p, text.n); /* what is parsed points into it */
    if (!copy)
        return no_memory(l);
    if (yaml_parse(&doc, l->refs->name, (struct str){copy, text.n}, l->a, l->err) < 0)
        return -1;
    if (!doc || yaml_is_null(doc))
        return 0; /* an empty file refers to nothing */
    if (only_keys(l, doc, words, "a reference file"))
        return -1;
    const struct yaml *format = yaml_get(doc, "format"), *list = yaml_get(doc, "references");
    if (format && !str_is(format->text, "1"))
        return reference_complain(l, format, "format: this version reads 1 only");
    if (!list || (list->kind != YAML_LIST && !yaml_is_null(list)))
        return reference_complain(l, list ? list : doc, "references: a list of entries is expected");
    struct reference_entry **at = &l->refs->entries;
    for (const struct yaml *c = list->kind == YAML_LIST ? list->child : NULL; c; c = c->next, l->refs->count++) {
        if (load_entry(l, c, at))
            return -1;
        at = &(*at)->next;
    }
    return l->a->failed ? no_memory(l) : 0;
}

int references_parse(struct references **ret, const char *name, struct str text, struct err *err)
{
    struct references *refs = calloc(1, sizeof *refs);
    *ret = NULL;
    if (!refs)
        return err_memory(err, "the references of %s", name);
    arena_init(&refs->arena, MEMORY_MAX);
    refs->label = refs->name = arena_dup(&refs->arena, name, strlen(name));
    struct loader l = {refs, &refs->arena, err};
    if (!refs->name || references_load_text(&l, text)) {
        if (!refs->name)
            err_memory(err, "the references of %s", name);
        references_free(refs);
        return -1;
    }
    *ret = refs;
    return 0;
}

int references_load(struct references **ret, const char *path, struct err *err)
{
    CLEANUP_BUF struct buf text;
    *ret = NULL;
    buf_init(&text, FILE_MAX + 1);
    if (fs_read(AT_FDCWD, path, FILE_MAX, 0, &text, err) < 0)
        return err_wrap(err, "references");
    return references_parse(ret, path, buf_text(&text), err);
}

void references_call(struct references *refs, const char *label)
{
    char *copy = arena_dup(&refs->arena, label, strlen(label));
    if (copy)
        refs->label = copy;
}

void references_free(struct references *refs)
{
    if (!refs)
        return;
    arena_deinit(&refs->arena);
    free(refs);
}
