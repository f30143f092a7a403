/* load.c: a rule file becomes a checked rule set; whatever cannot work is refused here, with file, line and column. */
#include "benchmarks/catalogue.h"
#include "benchmarks/engine.h"
#include "benchmarks/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { RULES_MEMORY = 32 << 20 };

int rules_complain(const struct yaml *y, const struct rules *rules, struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(err, ERR_INPUT, fmt, ap);
    va_end(ap);
    return err_wrap(err, "%s:%d:%d", rules->path, y ? y->line : 1, y ? y->column : 1);
}

static int no_memory(const struct rules *rules, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: no memory for these rules", rules->path);
}

int load_keys(const struct yaml *map, const char *const *words, const struct rules *rules, struct err *err)
{
    char allowed[600] = "";
    if (map->kind != YAML_MAP)
        return rules_complain(map, rules, err, "a map (key: value) is expected here");
    for (const char *const *w = words; *w; w++)
        snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s", w == words ? "" : ", ", *w);
    for (const struct yaml *c = map->child; c; c = c->next) {
        const char *const *w = words;
        while (*w && !str_is(c->key, *w))
            w++;
        if (!*w)
            return rules_complain(c, rules, err, "\"" STR_FMT "\" is not known here; allowed are %s", STR_ARG(c->key), allowed);
    }
    return 0;
}

int load_pattern(struct pattern **ret, const struct yaml *y, const struct rules *rules, struct err *err)
{
    if (y->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "a pattern is one text");
    if (pattern_new(ret, y->text, err))
        return err_wrap(err, "%s:%d:%d", rules->path, y->line, y->column);
    return 0;
}

int load_texts(const struct yaml *y, struct str *ret, size_t max, size_t *ret_n, const struct rules *rules, struct err *err)
{
    size_t n = 0;
    *ret_n = 0;
    if (!y)
        return 0;
    if (y->kind == YAML_MAP)
        return rules_complain(y, rules, err, "a text or a list of texts is expected here");
    for (const struct yaml *c = y->kind == YAML_LIST ? y->child : y; c; c = y->kind == YAML_LIST ? c->next : NULL) {
        if (c->kind != YAML_SCALAR)
            return rules_complain(c, rules, err, "a text is expected here");
        if (n == max)
            return rules_complain(c, rules, err, "%zu are allowed here at most", max);
        ret[n++] = c->text;
    }
    *ret_n = n;
    return 0;
}

static int load_flag(const struct yaml *map, const char *key, bool *ret, const struct rules *rules, struct err *err)
{
    const struct yaml *y = yaml_get(map, key);
    if (y && yaml_bool(y, ret))
        return rules_complain(y, rules, err, "%s is true or false", key);
    return 0;
}

/* Index of the text in a list of words; -1 with a complaint. */
static int load_choice(const struct yaml *map, const char *key, const char *const *words, int otherwise, const struct rules *rules,
                       struct err *err)
{
    char allowed[200] = "";
    const struct yaml *y = yaml_get(map, key);
    if (!y)
        return otherwise;
    for (int i = 0; words[i]; i++)
        if (y->kind == YAML_SCALAR && str_is(y->text, words[i]))
            return i;
    for (int i = 0; words[i]; i++)
        snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s", i ? ", " : "", words[i]);
    return rules_complain(y, rules, err, "%s is one of %s", key, allowed);
}

int reader_cell(struct reader *r, struct str name, const struct yaml *at, const struct rules *rules, struct err *err)
{
    for (size_t i = 0; i < r->cells; i++)
        if (str_eq(r->cell[i], name))
            return (int)i;
    if (r->cells == CELLS_MAX)
        return rules_complain(at, rules, err, "a reader has at most %d cells", CELLS_MAX);
    r->cell[r->cells] = name;
    r->cell_at[r->cells] = at;
    return (int)r->cells++;
}

static int optional_cell(struct reader *r, const struct yaml *map, const char *key, int *ret, const struct rules *rules, struct err *err)
{
    const struct yaml *y = yaml_get(map, key);
    *ret = -1;
    if (!y)
        return 0;
    if (y->kind != YAML_SCALAR || !y->text.n)
        return rules_complain(y, rules, err, "%s names a cell (column, group, key or pointer)", key);
    *ret = reader_cell(r, y->text, y, rules, err);
    return *ret < 0 ? -1 : 0;
}

void reader_wants(struct reader *r, const struct pattern *p)
{
    const struct str *l;
    size_t n = pattern_literals(p, &l);
    for (size_t i = 0; i < n && r->literals < sizeof(r->literal) / sizeof(r->literal[0]); i++)
        r->literal[r->literals++] = l[i];
}

/* "{access}.bw": parts in braces are context variables or cells. */
static int load_name(struct name *ret, struct str text, struct reader *r, const struct yaml *at, const struct rules *rules, struct err *err)
{
    while (text.n) {
        if (ret->n == PARTS_MAX)
            return rules_complain(at, rules, err, "a name has at most %d parts", PARTS_MAX);
        struct name_part *part = &ret->part[ret->n++];
        part->cell = part->var = -1;
        const char *open = memchr(text.p, '{', text.n);
        size_t plain = open ? (size_t)(open - text.p) : text.n;
        if (plain) {
            part->text = str_sub(text, 0, plain);
            text = str_sub(text, plain, text.n);
            continue;
        }
        const char *close = memchr(text.p, '}', text.n);
        if (!close || close == text.p + 1)
            return rules_complain(at, rules, err, "\"{\" without a cell's name and \"}\"");
        struct str inner = str_sub(text, 1, (size_t)(close - text.p) - 1);
        for (size_t i = 0; i < rules->vars && part->var < 0; i++)
            if (str_eq(rules->var[i], inner))
                part->var = (int)i;
        if (part->var < 0 && (part->cell = reader_cell(r, inner, at, rules, err)) < 0)
            return -1;
        text = str_sub(text, inner.n + 2, text.n);
    }
    for (size_t i = 0; i < ret->n; i++)
        for (size_t k = 0; k < ret->part[i].text.n; k++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_.", ret->part[i].text.p[k]))
                return rules_complain(at, rules, err,
                                      "a metric's name has lower-case letters, digits, _ and dots (its unit is added by `unit`)");
    return ret->n ? 0 : rules_complain(at, rules, err, "the name is empty");
}

static int load_where(struct where **ret, const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    if (!y)
        return 0;
    if (y->kind != YAML_MAP)
        return rules_complain(y, rules, err, "where is a map: {cell: [texts]}");
    for (const struct yaml *c = y->child; c; c = c->next) {
        struct where *w = ARENA_NEW(&rules->arena, struct where);
        if (!w || !(w->any = arena_get(&rules->arena, 32 * sizeof(*w->any))))
            return no_memory(rules, err);
        if (load_texts(c, w->any, 32, &w->n, rules, err) || (w->cell = reader_cell(r, c->key, c, rules, err)) < 0)
            return -1;
        w->next = *ret;
        *ret = w;
    }
    return 0;
}

/* The text with each "{name}" replaced by value. */
static struct str replaced(struct arena *a, struct str text, struct str name, struct str value)
{
    struct buf b;
    buf_init(&b, 8192);
    for (size_t i = 0; i < text.n;) {
        bool here = text.p[i] == '{' && i + name.n + 1 < text.n && !memcmp(text.p + i + 1, name.p, name.n) && text.p[i + name.n + 1] == '}';
        if (here)
            buf_str(&b, value);
        else
            buf_putc(&b, text.p[i]);
        i += here ? name.n + 2 : 1;
    }
    struct str s = {arena_dup(a, b.p ? b.p : "", b.n), b.n};
    buf_deinit(&b);
    return s;
}

/* A copy of the node with {name} replaced in all texts below it. */
static struct yaml *instance(struct arena *a, const struct yaml *y, struct str name, struct str value)
{
    struct yaml *copy = ARENA_NEW(a, struct yaml), **tail;
    if (!copy)
        return NULL;
    *copy = *y;
    copy->next = copy->child = NULL;
    if (y->kind == YAML_SCALAR)
        copy->text = replaced(a, y->text, name, value);
    tail = &copy->child;
    for (const struct yaml *c = y->child; c; c = c->next) {
        if (!(*tail = instance(a, c, name, value)))
            return NULL;
        tail = &(*tail)->next;
    }
    return copy;
}

static const char *const metric_keys[] = {"name", "cell", "unit", "from",   "unit_cell", "better", "headline", "stat",
                                          "many", "step", "zero", "suffix", "scale",     "where",  "when",     "each",     NULL};

static int load_unit(const struct unit **ret, const struct yaml *y, bool of_the_contract, const struct rules *rules, struct err *err)
{
    if (!y || yaml_is_null(y))
        return 0;
    *ret = y->kind == YAML_SCALAR ? units_find(y->text) : NULL;
    if (!*ret || (of_the_contract && !str_is(y->text, (*ret)->name)))
        return rules_complain(
            y, rules, err, "\"" STR_FMT "\" is no unit%s", STR_ARG(y->text),
            of_the_contract
                ? " a key can have; allowed are those of mlruns-format/units.def: B KiB MiB GiB KB MB GB B_per_s MiB_per_s MB_per_s "
                  "op_per_s token_per_s bit_per_s GFLOP_per_s GTEPS s ms us ns min Hz J W percent"
                : "");
    return 0;
}

static int load_metric_numbers(struct metric_rule *m, const struct yaml *y, const struct rules *rules, struct err *err)
{
    static const char *const directions[] = {"none", "higher", "lower", NULL};
    static const char *const manys[] = {"error", "first", "last", "series", "min", "max", "mean", "sum", NULL};
    static const char *const zeros[] = {"keep", "missing", "absent", NULL};
    static const char *const suffixes[] = {"none", "decimal", "binary", NULL};
    static const char *const headlines[] = {"last", "max", "min", "mean", "median", NULL};
    int better = load_choice(y, "better", directions, -2, rules, err);
    if (better == -2)
        return rules_complain(y, rules, err, "better is missing: higher, lower or none");
    int headline = load_choice(y, "headline", headlines, 0, rules, err);
    int many = load_choice(y, "many", manys, headline > 0 || m->step_cell >= 0 ? MANY_SERIES : MANY_ERROR, rules, err);
    int zero = load_choice(y, "zero", zeros, ZERO_KEEP, rules, err);
    int suffix = load_choice(y, "suffix", suffixes, 0, rules, err);
    if (better < 0 || headline < 0 || many < 0 || zero < 0 || suffix < 0)
        return -1;
    m->better = (enum direction)better;
    m->headline = headline ? headlines[headline] : NULL;
    m->many = (enum many)many;
    m->zero = (enum zero)zero;
    m->number = suffix == 1 ? NUMBER_SI : suffix == 2 ? NUMBER_BINARY : 0;
    if (m->unit && !strcmp(m->unit->name, "percent"))
        m->number |= NUMBER_PERCENT;
    m->scale = 1;
    const struct yaml *scale = yaml_get(y, "scale");
    if (scale && (scale->kind != YAML_SCALAR || !str_double(scale->text, &m->scale)))
        return rules_complain(scale, rules, err, "scale is a number");
    return 0;
}

static int units_fit(const struct metric_rule *m, const struct yaml *y, const struct rules *rules, struct err *err)
{
    if (!m->from || (m->unit && !strcmp(m->from->dimension, m->unit->dimension)))
        return 0;
    return rules_complain(yaml_get(y, "from"), rules, err, "%s cannot become %s", m->from->name,
                          m->unit ? m->unit->name : "a number without unit");
}

/* unit_cell: a cell of the row, or "{name}": what an earlier row set. */
static int load_unit_cell(struct metric_rule *m, const struct yaml *y, struct reader *r, const struct rules *rules, struct err *err)
{
    const struct yaml *at = yaml_get(y, "unit_cell");
    m->unit_var = m->unit_cell = -1;
    if (!at || at->kind != YAML_SCALAR || !str_starts(at->text, "{"))
        return optional_cell(r, y, "unit_cell", &m->unit_cell, rules, err);
    for (size_t i = 0; i < rules->vars; i++)
        if (at->text.n == rules->var[i].n + 2 && !memcmp(at->text.p + 1, rules->var[i].p, rules->var[i].n))
            m->unit_var = (int)i;
    return m->unit_var >= 0 ? 0 : rules_complain(at, rules, err, "no reader sets this");
}

static int load_expr(struct expr **ret, const struct yaml *y, struct rules *rules, struct err *err);

static int load_metric(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    static const char *const stats[] = {"none", "max", "min", "mean", "median", "sd", "n", "p50", "p90", "p95", "p99", "p999", NULL};
    struct metric_rule *m = &r->metric[r->metrics];
    const struct yaml *name = yaml_get(y, "name");
    if (load_keys(y, metric_keys, rules, err))
        return -1;
    if (!name || name->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "a metric needs a name");
    if (!yaml_get(y, "cell"))
        return rules_complain(y, rules, err, "a metric needs a cell (column, group, key or pointer)");
    if (load_name(&m->name, name->text, r, name, rules, err) || optional_cell(r, y, "cell", &m->cell, rules, err) ||
        load_unit_cell(m, y, r, rules, err) || optional_cell(r, y, "step", &m->step_cell, rules, err) ||
        load_unit(&m->unit, yaml_get(y, "unit"), true, rules, err) || load_unit(&m->from, yaml_get(y, "from"), false, rules, err) ||
        load_where(&m->where, yaml_get(y, "where"), r, rules, err) || load_expr(&m->when, yaml_get(y, "when"), rules, err) ||
        load_metric_numbers(m, y, rules, err))
        return -1;
    if (units_fit(m, y, rules, err))
        return -1;
    int stat = load_choice(y, "stat", stats, 0, rules, err);
    if (stat < 0)
        return -1;
    m->stat = stat ? stats[stat] : NULL;
    m->index = rules->metric_count++;
    r->metrics++;
    return 0;
}

/* A list whose items may say `each: {x: [a, b]}`: the item once for a and once for b. */
static int load_items(const struct yaml *list, size_t max,
                      int (*load)(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err), struct reader *r,
                      struct rules *rules, struct err *err)
{
    size_t n = 0;
    if (list && list->kind != YAML_LIST)
        return rules_complain(list, rules, err, "a list (- item) is expected here");
    for (const struct yaml *c = list ? list->child : NULL; c; c = c->next) {
        const struct yaml *each = yaml_get(c, "each"), *over = each ? each->child : NULL;
        struct str values[32] = {{"", 0}};
        size_t count = 1;
        if (each && (each->kind != YAML_MAP || !over || over->next))
            return rules_complain(each, rules, err, "each is a map of one: {name: [texts]}");
        if (each && load_texts(over, values, 32, &count, rules, err))
            return -1;
        for (size_t i = 0; i < count; i++) {
            if (++n > max)
                return rules_complain(c, rules, err, "%zu items are allowed here at most", max);
            const struct yaml *item = each ? instance(&rules->arena, c, over->key, values[i]) : c;
            if (!item)
                return no_memory(rules, err);
            if (load(item, r, rules, err))
                return -1;
        }
    }
    return 0;
}

static const char *const type_words[] = {"text", "size", "integer", "number", "bool", "duration", NULL};

static int load_param(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"param", "cell", "type", "hidden", "scope", "where", "each", NULL};
    struct param_rule *p = &r->param[r->params];
    const struct yaml *name = yaml_get(y, "param");
    struct where *where = NULL;
    if (load_keys(y, keys, rules, err))
        return -1;
    if (!name || name->kind != YAML_SCALAR || !name->text.n)
        return rules_complain(y, rules, err, "param (the key) is missing");
    static const char *const scopes[] = {"block", "run", NULL};
    int type = load_choice(y, "type", type_words, PARAM_TEXT, rules, err), scope = load_choice(y, "scope", scopes, 0, rules, err);
    if (type < 0 || scope < 0 || load_flag(y, "hidden", &p->hidden, rules, err) || optional_cell(r, y, "cell", &p->cell, rules, err) ||
        load_where(&where, yaml_get(y, "where"), r, rules, err))
        return -1;
    if (p->cell < 0 && (p->cell = reader_cell(r, name->text, name, rules, err)) < 0)
        return -1;
    p->type = (enum param_type)type;
    p->of_run = scope == 1;
    p->where = where;
    p->name.part[0] = (struct name_part){name->text, -1, -1};
    p->name.n = 1;
    r->params++;
    return 0;
}

static int load_source(const struct yaml *y, unsigned *ret, struct rules *rules, struct err *err)
{
    if (!y || (y->kind == YAML_SCALAR && str_is(y->text, "any"))) {
        *ret |= 3;
        return 0;
    }
    if (y->kind == YAML_SCALAR && (str_is(y->text, "stdout") || str_is(y->text, "stderr"))) {
        *ret |= str_is(y->text, "stderr") ? 2 : 1;
        return 0;
    }
    if (y->kind == YAML_LIST && y->child) {
        for (const struct yaml *c = y->child; c; c = c->next)
            if (c->kind == YAML_LIST || load_source(c, ret, rules, err))
                return c->kind == YAML_LIST ? rules_complain(c, rules, err, "a list of sources has no list in it") : -1;
        return 0;
    }
    const struct yaml *file = yaml_get(y, "file");
    if (!file || file->kind != YAML_SCALAR || !file->text.n)
        return rules_complain(
            y, rules, err,
            "a source is stdout, stderr, any (both), {file: PATTERN}, or a list of these; \"{name}\" in PATTERN is a param of the arguments");
    for (size_t i = 0; i < rules->files; i++)
        if (str_is(file->text, rules->file[i])) {
            *ret |= 4u << i;
            return 0;
        }
    if (rules->files == SOURCES_MAX - 2)
        return rules_complain(y, rules, err, "%d files are allowed at most", SOURCES_MAX - 2);
    *ret |= 4u << rules->files;
    rules->file[rules->files++] = file->text.p;
    return 0;
}

static int load_block(struct reader *r, const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"id", "label", NULL};
    r->block_id = r->block_label = -1;
    if (!y)
        return 0;
    if (!rules->block_name)
        return rules_complain(y, rules, err, "the file needs `blocks: NAME` for this");
    if (y->kind == YAML_SCALAR)
        return yaml_bool(y, &r->begins) ? rules_complain(y, rules, err, "block is true, false or {id: CELL, label: CELL}") : 0;
    r->begins = true;
    return load_keys(y, keys, rules, err) || optional_cell(r, y, "id", &r->block_id, rules, err) ||
                   optional_cell(r, y, "label", &r->block_label, rules, err)
               ? -1
               : 0;
}

static int load_sets(struct reader *r, const struct yaml *y, struct rules *rules, struct err *err)
{
    for (const struct yaml *c = y ? y->child : NULL; c; c = c->next) {
        struct str name = y->kind == YAML_MAP ? c->key : c->text;
        for (size_t i = 0; i < rules->vars; i++)
            if (str_eq(rules->var[i], name)) {
                int cell = reader_cell(r, c->text, c, rules, err);
                if (cell < 0)
                    return -1;
                r->set[r->sets].var = (int)i;
                r->set[r->sets++].cell = cell;
            }
    }
    return 0;
}

/* Names of the context are wanted before any reader uses them. */
static int declare_sets(const struct yaml *y, struct rules *rules, struct err *err)
{
    if (y && y->kind == YAML_SCALAR)
        return rules_complain(y, rules, err, "set is a map {name: cell} or a list of cells");
    for (const struct yaml *c = y ? y->child : NULL; c; c = c->next) {
        struct str name = y->kind == YAML_MAP ? c->key : c->text;
        bool known = false;
        if (c->kind != YAML_SCALAR)
            return rules_complain(c, rules, err, "a cell's name is expected here");
        for (size_t i = 0; i < rules->vars; i++)
            known = known || str_eq(rules->var[i], name);
        if (!known && rules->vars == VARS_MAX)
            return rules_complain(c, rules, err, "%d names can be set at most", VARS_MAX);
        if (!known)
            rules->var[rules->vars++] = name;
    }
    return 0;
}

static int load_kind(struct reader *r, const struct yaml *y, struct rules *rules, const struct yaml **ret_spec, struct err *err)
{
    char kinds[200] = "";
    for (const struct reader_kind *const *k = reader_kinds; *k; k++) {
        const struct yaml *spec = yaml_get(y, (*k)->name);
        snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s", k == reader_kinds ? "" : ", ", (*k)->name);
        if (spec && r->kind)
            return rules_complain(spec, rules, err, "a reader is of one kind; this one is %s already", r->kind->name);
        if (spec) {
            r->kind = *k;
            *ret_spec = spec;
        }
    }
    return r->kind ? 0 : rules_complain(y, rules, err, "a reader needs one of %s", kinds);
}

static int load_reader(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const own[] = {"name", "source", "where", "set", "block", "version", "version_cell", "params", "metrics", "each"};
    const char *keys[40] = {0}; /* own and the kinds */
    size_t n = sizeof(own) / sizeof(own[0]);
    struct reader *r = ARENA_NEW(&rules->arena, struct reader);
    const struct yaml *name = yaml_get(y, "name"), *version = yaml_get(y, "version"), *spec = NULL;
    (void)unused;
    if (!r || !(r->metric = arena_get(&rules->arena, 256 * sizeof(*r->metric))) ||
        !(r->param = arena_get(&rules->arena, 128 * sizeof(*r->param))))
        return no_memory(rules, err);
    memcpy(keys, own, sizeof(own));
    for (const struct reader_kind *const *k = reader_kinds; *k && n < 39; k++)
        keys[n++] = (*k)->name;
    if (load_keys(y, keys, rules, err))
        return -1;
    if (!name || name->kind != YAML_SCALAR || !name->text.n)
        return rules_complain(y, rules, err, "a reader needs a name");
    for (size_t i = 0; i < rules->readers; i++)
        if (str_is(name->text, rules->reader[i]->name))
            return rules_complain(name, rules, err, "a reader of this name stands in line %d already", rules->reader[i]->at->line);
    r->at = y;
    r->name = name->text.p;
    r->index = (unsigned)rules->readers;
    if (load_kind(r, y, rules, &spec, err))
        return -1;
    rules->reader[rules->readers++] = r; /* from here on rules_free ends it */
    if (load_source(yaml_get(y, "source"), &r->sources, rules, err) || (version && load_pattern(&r->version, version, rules, err)) ||
        r->kind->load(r, spec, rules, err) || load_where(&r->where, yaml_get(y, "where"), r, rules, err) ||
        load_sets(r, yaml_get(y, "set"), rules, err) || load_block(r, yaml_get(y, "block"), rules, err) ||
        optional_cell(r, y, "version_cell", &r->version_cell, rules, err) ||
        load_items(yaml_get(y, "params"), 128, load_param, r, rules, err) ||
        load_items(yaml_get(y, "metrics"), 256, load_metric, r, rules, err))
        return -1;
    return r->kind->check(r, spec, rules, err);
}

bool load_function_ok(struct str f, size_t n)
{
    return n == 1 && (str_is(f, "defined") || str_is(f, "rows") || str_is(f, "samples") || str_is(f, "matches"));
}

static int load_expr(struct expr **ret, const struct yaml *y, struct rules *rules, struct err *err)
{
    if (!y)
        return 0;
    if (y->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "an expression is one text");
    if (expr_new(ret, y->text, load_function_ok, &rules->arena, err))
        return err_wrap(err, "%s:%d:%d", rules->path, y->line, y->column);
    return 0;
}

static int load_check(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "must", "must_not", "expect", "when", "severity", "reason", "source", "once", "each", NULL};
    static const char *const severities[] = {"fail", "warn", NULL};
    static const char *const kinds[] = {"must", "must_not", "expect"};
    struct check *c = ARENA_NEW(&rules->arena, struct check);
    const struct yaml *what = NULL;
    (void)unused;
    if (!c)
        return no_memory(rules, err);
    if (load_keys(y, keys, rules, err))
        return -1;
    rules->check[rules->checks++] = c;
    for (int i = 0; i < 3; i++) {
        const struct yaml *here = yaml_get(y, kinds[i]);
        if (here && what)
            return rules_complain(here, rules, err, "a check has one of must, must_not, expect");
        if (here) {
            what = here;
            c->kind = (enum check_kind)i;
        }
    }
    if (!what)
        return rules_complain(y, rules, err, "a check needs must, must_not or expect");
    int severity = load_choice(y, "severity", severities, 0, rules, err);
    if (severity < 0 || load_flag(y, "once", &c->once, rules, err) || load_source(yaml_get(y, "source"), &c->sources, rules, err) ||
        load_expr(&c->when, yaml_get(y, "when"), rules, err) ||
        (c->kind == CHECK_EXPECT ? load_expr(&c->expect, what, rules, err) : load_pattern(&c->pattern, what, rules, err)))
        return -1;
    c->warn = severity == 1;
    c->name = yaml_text(y, "name", "").p;
    c->reason = yaml_text(y, "reason", "").p;
    if (!c->reason[0])
        return rules_complain(y, rules, err, "a check needs a reason (what it means when it does not hold)");
    return 0;
}

static int load_required(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"metric", "when", "each", NULL};
    struct required *q = &rules->required[rules->requireds];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    q->metric = yaml_text(y, "metric", "").p;
    if (!q->metric[0])
        return rules_complain(y, rules, err, "metric (a name without unit) is missing");
    rules->requireds++;
    return load_expr(&q->when, yaml_get(y, "when"), rules, err);
}

static int load_derived(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "value", "each", NULL};
    struct derived *d = &rules->derived[rules->deriveds];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    d->name = yaml_text(y, "name", "").p;
    if (!d->name[0] || !yaml_get(y, "value"))
        return rules_complain(y, rules, err, "name and value (an expression) are needed");
    if (load_expr(&d->value, yaml_get(y, "value"), rules, err))
        return -1;
    rules->deriveds++; /* only now: a derived name may use those before it, so there are no circles */
    return 0;
}

static int load_computed(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "value", "unit", "from", "better", "zero", "each", NULL};
    struct computed *c = &rules->computed[rules->computeds];
    struct metric_rule *m = &c->rule;
    struct str name = yaml_text(y, "name", "");
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    if (!name.n || !yaml_get(y, "value"))
        return rules_complain(y, rules, err, "name and value (an expression) are needed");
    m->cell = m->unit_cell = m->unit_var = m->step_cell = -1;
    if (load_name(&m->name, name, &rules->computed_reader, y, rules, err) || load_expr(&c->value, yaml_get(y, "value"), rules, err) ||
        load_unit(&m->unit, yaml_get(y, "unit"), true, rules, err) || load_unit(&m->from, yaml_get(y, "from"), false, rules, err) ||
        units_fit(m, y, rules, err) || load_metric_numbers(m, y, rules, err))
        return -1;
    if (m->name.n != 1 || m->name.part[0].cell >= 0 || m->name.part[0].var >= 0)
        return rules_complain(y, rules, err, "the name of a computed metric stands fast: no {cell} in it");
    m->index = rules->metric_count++;
    rules->computeds++;
    return 0;
}

static int load_option(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"flags", "kind", "param", "type", "hidden", "optional", "value", "join", "each", NULL};
    static const char *const kinds[] = {"value", "flag", "count", "directives", NULL};
    struct option_rule *o = &rules->option[rules->options];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    if (load_texts(yaml_get(y, "flags"), o->flag, 4, &o->flags, rules, err))
        return -1;
    if (!o->flags)
        return rules_complain(y, rules, err, "flags is missing: [-b, --block-size]; a bare name is a directive (name=value)");
    int kind = load_choice(y, "kind", kinds, OPTION_VALUE, rules, err);
    int type = load_choice(y, "type", type_words, PARAM_TEXT, rules, err);
    if (kind < 0 || type < 0 || load_flag(y, "hidden", &o->hidden, rules, err) || load_flag(y, "optional", &o->optional, rules, err) ||
        load_flag(y, "join", &o->join, rules, err))
        return -1;
    o->kind = (enum option_kind)kind;
    o->type = (enum param_type)type;
    o->value = yaml_text(y, "value", "true");
    const struct yaml *param = yaml_get(y, "param");
    o->param = param && param->kind == YAML_SCALAR && !yaml_is_null(param) ? param->text.p : NULL;
    rules->options++;
    return 0;
}

static int load_environment(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "param", "each", NULL};
    struct environment_rule *e = &rules->environment[rules->environments];
    (void)unused;
    if (load_keys(y, keys, rules, err))
        return -1;
    e->name = yaml_text(y, "name", "");
    e->param = yaml_text(y, "param", "").p;
    if (!e->name.n || !e->param[0])
        return rules_complain(y, rules, err, "name (ends in * for a prefix) and param are needed");
    rules->environments++;
    return 0;
}

static int load_arguments(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"single_dash_long", "options", NULL};
    if (!y)
        return 0;
    return load_keys(y, keys, rules, err) || load_flag(y, "single_dash_long", &rules->single_dash_long, rules, err) ||
                   load_items(yaml_get(y, "options"), 500, load_option, NULL, rules, err)
               ? -1
               : 0;
}

static int load_head(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {
        "name",        "version",          "summary",   "programs", "blocks", "keep_rank_prefix", "arguments",
        "environment", "prefer_arguments", "headlines", "readers",  "derive", "computed",         "required", "checks",
        NULL};
    struct str prefer[64];
    if (load_keys(y, keys, rules, err))
        return -1;
    rules->name = yaml_text(y, "name", "").p;
    rules->version = yaml_text(y, "version", "").p;
    rules->summary = yaml_text(y, "summary", "").p;
    const struct yaml *blocks = yaml_get(y, "blocks");
    rules->block_name = blocks && blocks->kind == YAML_SCALAR && blocks->text.n ? blocks->text.p : NULL;
    if (!rules->name[0] || !rules->version[0])
        return rules_complain(y, rules, err, "name and version are needed");
    if (!yaml_get(y, "readers"))
        return rules_complain(y, rules, err, "readers is missing: a rule file without readers finds nothing");
    if (load_flag(y, "keep_rank_prefix", &rules->keep_prefix, rules, err) ||
        load_texts(yaml_get(y, "programs"), rules->program, 16, &rules->programs, rules, err) ||
        load_texts(yaml_get(y, "prefer_arguments"), prefer, 64, &rules->prefers, rules, err) ||
        load_texts(yaml_get(y, "headlines"), rules->headline, HEADLINES_MAX, &rules->headlines, rules, err))
        return -1;
    for (size_t i = 0; i < rules->prefers; i++)
        rules->prefer[i] = prefer[i].p;
    return 0;
}

static int build_prefilter(struct rules *rules, struct err *err)
{
    struct prefilter_literal *l = calloc((READERS_MAX * 64 + CHECKS_MAX * PATTERN_LITERALS_MAX), sizeof(*l));
    size_t n = 0;
    if (!l)
        return no_memory(rules, err);
    for (size_t i = 0; i < rules->readers; i++) {
        const struct reader *r = rules->reader[i];
        for (size_t k = 0; k < r->literals; k++)
            l[n++] = (struct prefilter_literal){r->literal[k], r->index};
        if (!r->literals)
            prefilter_set(&rules->always, r->index);
    }
    for (size_t i = 0; i < rules->checks; i++) {
        struct check *c = rules->check[i];
        const struct str *text;
        size_t count = c->pattern ? pattern_literals(c->pattern, &text) : 0;
        c->bit = READERS_MAX + (unsigned)i;
        for (size_t k = 0; k < count; k++)
            l[n++] = (struct prefilter_literal){text[k], c->bit};
        if (c->pattern && !count)
            prefilter_set(&rules->always, c->bit);
    }
    rules->prefilter = prefilter_new(l, n);
    free(l);
    return rules->prefilter ? 0 : err_set(err, ERR_INPUT, "%s: the patterns of these rules are too long together", rules->path);
}

static int load_tree(struct rules *rules, const struct yaml *y, struct err *err)
{
    rules->option = arena_get(&rules->arena, 500 * sizeof(*rules->option));
    rules->computed_reader = (struct reader){.name = "computed", .index = READERS_MAX};
    if (!rules->option)
        return no_memory(rules, err);
    if (load_head(y, rules, err) || load_arguments(yaml_get(y, "arguments"), rules, err) ||
        load_items(yaml_get(y, "environment"), 16, load_environment, NULL, rules, err))
        return -1;
    const struct yaml *readers = yaml_get(y, "readers");
    for (const struct yaml *c = readers->child; c; c = c->next)
        if (declare_sets(yaml_get(c, "set"), rules, err))
            return -1;
    if (load_items(readers, READERS_MAX, load_reader, NULL, rules, err) ||
        load_items(yaml_get(y, "derive"), 32, load_derived, NULL, rules, err) ||
        load_items(yaml_get(y, "computed"), COMPUTED_MAX, load_computed, NULL, rules, err) ||
        load_items(yaml_get(y, "required"), 64, load_required, NULL, rules, err) ||
        load_items(yaml_get(y, "checks"), CHECKS_MAX, load_check, NULL, rules, err))
        return -1;
    return build_prefilter(rules, err);
}

int rules_load(struct rules **ret, const char *path, struct err *err)
{
    struct buf text;
    struct yaml *y;
    struct rules *rules = calloc(1, sizeof(*rules));
    if (!rules)
        return err_set(err, ERR_SYSTEM, "%s: no memory for these rules", path);
    arena_init(&rules->arena, RULES_MEMORY);
    buf_init(&text, CATALOGUE_FILE_MAX);
    rules->path = arena_printf(&rules->arena, "%s", path);
    int rc = catalogue_read(path, &text, err);
    if (!rc)
        rules->text = (struct str){arena_dup(&rules->arena, text.p ? text.p : "", text.n), text.n};
    buf_deinit(&text);
    if (!rc && (!rules->path || !rules->text.p))
        rc = no_memory(rules, err);
    if (!rc)
        rc = yaml_parse(&y, rules->path, rules->text, &rules->arena, err);
    if (!rc)
        rc = load_tree(rules, y, err);
    if (rc) {
        rules_free(rules);
        return -1;
    }
    *ret = rules;
    return 0;
}

void rules_free(struct rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->readers; i++) {
        if (rules->reader[i]->kind->free)
            rules->reader[i]->kind->free(rules->reader[i]);
        pattern_free(rules->reader[i]->version);
    }
    for (size_t i = 0; i < rules->checks; i++)
        pattern_free(rules->check[i]->pattern);
    prefilter_free(rules->prefilter);
    arena_deinit(&rules->arena);
    free(rules);
}

const char *rules_name(const struct rules *rules)
{
    return rules->name;
}
const char *rules_version(const struct rules *rules)
{
    return rules->version;
}
const char *rules_summary(const struct rules *rules)
{
    return rules->summary;
}
struct str rules_text(const struct rules *rules)
{
    return rules->text;
}
const char *rules_file(const struct rules *rules, size_t i)
{
    return i < rules->files ? rules->file[i] : NULL;
}
