/* load_reader.c: a reader: its kind, source, conditions, what it keeps for later rows, params; its metrics are in load_metric.c. */
#include "benchmarks/load.h"

#include <stdio.h>

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

int load_cell(struct reader *r, const struct yaml *map, const char *key, int *ret, const struct rules *rules, struct err *err)
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
    if (!n || n > sizeof(r->literal) / sizeof(r->literal[0]) - r->literals) {
        r->any_line = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        r->literal[r->literals++] = l[i];
}

int load_where(struct where **ret, const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    if (!y)
        return 0;
    if (y->kind != YAML_MAP)
        return rules_complain(y, rules, err, "where is a map: {cell: [texts]}");
    for (const struct yaml *c = y->child; c; c = c->next) {
        struct where *w = ARENA_NEW(&rules->arena, struct where);
        if (!w || !(w->any = arena_get(&rules->arena, WHERE_MAX * sizeof(*w->any))))
            return load_no_memory(rules, err);
        static const char *const keys[] = {"not", NULL};
        const struct yaml *texts = c;
        if (c->kind == YAML_MAP) {
            w->negated = true;
            if (load_keys(c, keys, rules, err))
                return -1;
            if (!(texts = yaml_get(c, "not")))
                return rules_complain(c, rules, err, "a condition is [texts] or {not: [texts]}");
        }
        if (load_texts(texts, w->any, WHERE_MAX, &w->n, rules, err) || (w->cell = reader_cell(r, c->key, c, rules, err)) < 0)
            return -1;
        w->next = *ret;
        *ret = w;
    }
    return 0;
}

const char *const load_scopes[] = {"block", "run", NULL};
const char *const load_types[] = {"text", "size", "integer", "number", "bool", "duration", NULL};

/* Reads one item of `params` into the reader. -1 with err: a wrong key, or a cell that the reader
 * lacks. */
static int load_param(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"param", "cell", "type", "hidden", "scope", "where", "each", NULL};
    struct param_rule *p = &r->param[r->params];
    const struct yaml *name = yaml_get(y, "param");
    struct where *where = NULL;
    *p = (struct param_rule){0}; /* one that could not be loaded may have left something here */
    if (load_keys(y, keys, rules, err))
        return -1;
    if (!name || name->kind != YAML_SCALAR || !name->text.n)
        return rules_complain(y, rules, err, "param (the key) is missing");
    int type = load_choice(y, "type", load_types, PARAM_TEXT, rules, err), scope = load_choice(y, "scope", load_scopes, 0, rules, err);
    if (type < 0 || scope < 0 || load_flag(y, "hidden", &p->hidden, rules, err) || load_cell(r, y, "cell", &p->cell, rules, err) ||
        load_where(&where, yaml_get(y, "where"), r, rules, err))
        return -1;
    if ((p->cell < 0 && (p->cell = reader_cell(r, name->text, name, rules, err)) < 0) ||
        load_template(&p->name, name->text, r, name, rules, err))
        return -1;
    p->type = (enum param_type)type;
    p->of_run = scope == 1;
    p->where = where;
    r->params++;
    return 0;
}

/* logged: the program hands it over (benchwrap log --artifact), nothing on disk is meant. */
static int load_file_of(const struct yaml *file, bool logged, size_t *ret, struct rules *rules, struct err *err)
{
    if (logged && (file->kind != YAML_SCALAR || !file->text.n || strpbrk(file->text.p, "/*?[{")))
        return rules_complain(file, rules, err,
                              "a file that the program logs is meant by its name, as \"benchwrap log --artifact\" gives it");
    if (file->kind != YAML_SCALAR || !file->text.n)
        return rules_complain(file, rules, err, "a file is named by a pattern (results/*.txt) or by a param of the arguments ({output})");
    for (*ret = 0; *ret < rules->files; (*ret)++)
        if (str_is(file->text, rules->file[*ret]) && rules->file_logged[*ret] == logged)
            return 0;
    if (rules->files == SOURCES_MAX - 2)
        return rules_complain(file, rules, err, "%d files are allowed at most", SOURCES_MAX - 2);
    rules->file_logged[rules->files] = logged;
    rules->file[rules->files++] = file->text.p;
    return 0;
}

int load_file(const struct yaml *file, size_t *ret, struct rules *rules, struct err *err)
{
    return load_file_of(file, false, ret, rules, err);
}

int load_source(const struct yaml *y, unsigned *ret, struct rules *rules, struct err *err)
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
    const struct yaml *logged = yaml_get(y, "logged"), *file = logged ? logged : yaml_get(y, "file");
    if (!file || file->kind != YAML_SCALAR || !file->text.n)
        return rules_complain(y, rules, err,
                              "a source is stdout, stderr, any (both), {file: PATTERN}, {logged: NAME}, or a list of these; \"{name}\" in "
                              "PATTERN is a param of the arguments");
    size_t index;
    if (load_file_of(file, logged != NULL, &index, rules, err))
        return -1;
    *ret |= 4u << index;
    return 0;
}

/* Reads `block` of a reader: whether its rows begin tests, and which cells name them. -1 with err. */
static int load_block(struct reader *r, const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"id", "label", "begin", NULL}, *const begins[] = {"always", "used", "changed", "never", NULL};
    r->block_id = r->block_label = -1;
    if (!y)
        return 0;
    if (!rules->block_name)
        return rules_complain(y, rules, err, "the file needs `blocks: NAME` for this");
    if (y->kind == YAML_SCALAR)
        return yaml_bool(y, &r->begins) ? rules_complain(y, rules, err, "block is true, false or {id: CELL, label: CELL}") : 0;
    int begin = load_choice(y, "begin", begins, BLOCK_ALWAYS, rules, err);
    if (begin < 0 || load_keys(y, keys, rules, err) || load_cell(r, y, "id", &r->block_id, rules, err) ||
        load_cell(r, y, "label", &r->block_label, rules, err))
        return -1;
    if (begin == BLOCK_CHANGED && r->block_id < 0)
        return rules_complain(y, rules, err, "begin: changed needs the id that changes");
    r->begins = true;
    r->block_begin = (enum block_begin)begin;
    return 0;
}

/* Loads `set` of a reader: a map {name: cell}, or a list of cells whose names are those of the
 * context. load_set_names has checked it. -1 with err: too many cells. */
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

/* Names of the context are required before any reader uses them. */
int load_set_names(const struct yaml *y, struct rules *rules, struct err *err)
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

/* Finds the reader's kind by its key. Returns 0 with the key's value in *ret_spec; else, for none
 * or several, another value with *err. */
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

int load_reader(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const own[] = {"name",    "source",       "slice",  "where",   "set", "block",
                                      "version", "version_cell", "params", "metrics", "each"};
    const char *keys[40] = {0}; /* own and the kinds */
    size_t n = sizeof(own) / sizeof(own[0]);
    struct reader *r = ARENA_NEW(&rules->arena, struct reader);
    const struct yaml *name = yaml_get(y, "name"), *version = yaml_get(y, "version"), *spec = NULL;
    const struct yaml *metrics = yaml_get(y, "metrics"), *params = yaml_get(y, "params");
    (void)unused;
    if (!r || !(r->metric = arena_get(&rules->arena, load_items_count(metrics, READER_METRICS_MAX) * sizeof(*r->metric))) ||
        !(r->param = arena_get(&rules->arena, load_items_count(params, READER_PARAMS_MAX) * sizeof(*r->param))))
        return load_no_memory(rules, err);
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
    if (load_source(yaml_get(y, "source"), &r->sources, rules, err) || load_slice(y, &r->slice, rules, err) ||
        (version && load_pattern(&r->version, version, rules, err)) || r->kind->load(r, spec, rules, err) ||
        load_where(&r->where, yaml_get(y, "where"), r, rules, err) || load_sets(r, yaml_get(y, "set"), rules, err) ||
        load_block(r, yaml_get(y, "block"), rules, err) || load_cell(r, y, "version_cell", &r->version_cell, rules, err) ||
        load_items(params, READER_PARAMS_MAX, load_param, r, rules, err) ||
        load_items(metrics, READER_METRICS_MAX, load_metric, r, rules, err))
        return -1;
    return r->kind->check(r, spec, rules, err);
}
