/* exporter_config.c: the list `exporters:` of configuration files; see exporter_config.h. */
#include "exporters/exporter_config.h"

#include "exporters/exporter.h"

#include <string.h>

const struct opt_row exporter_rows[] = {
    {.name = EXPORTER_KEY_ENABLED,
     .kind = OPT_FLAG,
     .value = "yes",
     .help = "`no` switches it off, also one of the administrator's",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_WAIT,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "0",
     .help = "Wait this long for the delivery at the end of a run, for jobs whose processes end with it",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_DEADLINE,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "10s",
     .help = "Stop delivering this long after a run; the rest follows with the next run, or by `benchwrap sync`",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_MAX_PENDING,
     .kind = OPT_INT,
     .arg = "N",
     .value = "100000",
     .help = "Keep at most so many undelivered runs; older ones are dropped and counted",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_MAX_SIZE,
     .kind = OPT_SIZE,
     .arg = "SIZE",
     .value = "1G",
     .help = "Use at most so much of the disk for undelivered runs, and for dead letters; older ones are dropped and counted",
     .flags = OPT_FROM_FILE},
};
const size_t exporter_rows_count = sizeof exporter_rows / sizeof *exporter_rows;

bool exporter_name_legal(struct str name)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (size_t i = 0; i < name.n; i++)
        if (!name.p[i] || !strchr(legal, name.p[i]))
            return false;
    return name.n >= 1 && name.n <= EXPORTER_NAME_MAX && name.p[0] != '.' && name.p[0] != '-' && name.p[0] != '_';
}

const struct exporter_config *exporter_config_find(const struct exporter_config *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

bool exporter_is_enabled(const struct exporter_config *c)
{
    return opt_on(&c->opts, EXPORTER_KEY_ENABLED);
}

const char *exporter_config_names(const struct exporter_config *list, struct arena *a)
{
    const char *names = NULL;
    for (; list; list = list->next)
        if (exporter_is_enabled(list))
            names = arena_printf(a, "%s%s%s", names ? names : "", names ? " " : "", list->name);
    return names;
}

const char *exporter_text(const struct exporter_config *c, const char *key)
{
    const char *text = opt_text(&c->opts, key);
    return text && *text ? text : NULL;
}

/* ---- reading ---- */

struct config_reading {
    struct arena *a;
    const char *file;
    enum opt_origin origin;
    void (*warn)(void *context, const char *text);
    void *context;
};

static void config_warn(const struct config_reading *g, const struct yaml *y, const char *text)
{
    const char *line = arena_printf(g->a, "%s:%d:%d: exporters: %s", g->file, y->line, y->column, text);
    if (line)
        g->warn(g->context, line);
}

static const char *config_copy(const struct config_reading *g, struct str text)
{
    return arena_dup(g->a, text.p ? text.p : "", text.n);
}

static int config_assign(const struct config_reading *g, struct exporter_config *c, const struct yaml *key, const char *text,
                         struct err *err)
{
    const char *where = arena_printf(g->a, "%s:%d", g->file, key->line), *name = config_copy(g, key->key);
    if (!where || !name || !text)
        return err_memory(err, "the exporters' configuration");
    return opt_assign(&c->opts, name, text, g->origin, where, err) ? -1 : 0;
}

/* A text, a list of texts, or a map of texts and lists: KEY=VALUE each. */
static int config_read_key(const struct config_reading *g, struct exporter_config *c, const struct yaml *entry, struct err *err)
{
    if (yaml_is_null(entry))
        return 0;
    if (entry->kind == YAML_SCALAR)
        return config_assign(g, c, entry, config_copy(g, entry->text), err);
    for (const struct yaml *y = entry->child; y; y = y->next) {
        const struct yaml *one = y->kind == YAML_SCALAR ? y : y->child;
        if (y->kind == YAML_MAP || (y->kind == YAML_LIST && entry->kind == YAML_LIST))
            return yaml_complain(y, g->file, err, "expected a text");
        for (; one; one = y->kind == YAML_SCALAR ? NULL : one->next) {
            if (one->kind != YAML_SCALAR)
                return yaml_complain(one, g->file, err, "expected a text");
            const char *text = entry->kind == YAML_MAP ? arena_printf(g->a, STR_FMT "=" STR_FMT, STR_ARG(y->key), STR_ARG(one->text))
                                                       : config_copy(g, one->text);
            if (config_assign(g, c, entry, text, err))
                return -1;
        }
    }
    return 0;
}

/* The common rows and the exporter's own, in one table. */
static int config_make_rows(const struct config_reading *g, struct exporter_config *c)
{
    size_t count = exporter_rows_count + c->kind->count;
    struct opt_row *rows = arena_get(g->a, count * sizeof *rows);
    c->opts = (struct opt_set){.rows = rows, .count = count, .values = arena_get(g->a, count * sizeof *c->opts.values)};
    if (!rows || !c->opts.values)
        return -1;
    memcpy(rows, exporter_rows, sizeof exporter_rows);
    if (c->kind->count)
        memcpy(rows + exporter_rows_count, c->kind->rows, c->kind->count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        c->opts.values[i] = (struct opt_value){.text = rows[i].value, .where = "default"};
    return 0;
}

/* Reads one exporter of the configuration into *c, whose texts are in the arena, and checks it
 * where it is enabled. -1 with err, which names file and line. */
static int config_read_one(const struct config_reading *g, const struct yaml *y, struct exporter_config *c, struct err *err)
{
    struct str type = yaml_text(y, "type", ""), name = yaml_text(y, "name", "");
    c->kind = exporter_find(type);
    if (!c->kind)
        return yaml_complain(y, g->file, err, "type: expected a type that \"benchwrap exporter types\" lists, got \"%.*s\"",
                             (int)(type.n < 40 ? type.n : 40), type.p);
    if (!name.n)
        name = type;
    if (!exporter_name_legal(name))
        return yaml_complain(y, g->file, err, "name: expected 1 to %d of A-Z a-z 0-9 . _ -, the first a letter or digit",
                             EXPORTER_NAME_MAX);
    c->name = config_copy(g, name);
    c->where = arena_printf(g->a, "%s:%d", g->file, y->line);
    c->origin = g->origin;
    if (!c->name || !c->where || config_make_rows(g, c))
        return err_memory(err, "the exporters' configuration");
    for (const struct yaml *key = y->child; key; key = key->next)
        if (!str_is(key->key, "type") && !str_is(key->key, "name") && config_read_key(g, c, key, err))
            return -1;
    if (exporter_is_enabled(c) && c->kind->configure && c->kind->configure(c, err))
        return err_wrap(err, "%s", c->where);
    return 0;
}

/* Replaces the one of the same name by c, else appends c. -1: one of its name is in the same file,
 * or there are too many. */
static int config_insert(struct exporter_config **list, struct exporter_config *c)
{
    size_t n = 0;
    for (; *list && strcmp((*list)->name, c->name) != 0; list = &(*list)->next)
        n++;
    if (n == EXPORTERS_MAX || (*list && (*list)->origin == c->origin))
        return -1;
    if (*list) {
        c->next = (*list)->next;
        opt_deinit(&(*list)->opts);
    }
    *list = c;
    return 0;
}

static void add_secret_variable(const struct config_reading *g, struct exporter_variable **to, const char *name)
{
    struct exporter_variable *v = name ? ARENA_NEW(g->a, struct exporter_variable) : NULL;
    if (!v)
        return;
    *v = (struct exporter_variable){name, *to};
    *to = v;
}

/* Adds the variables that one entry names. It may be wrong: then each KEY: {env: NAME} counts that is no other key of the exporter. */
static void add_secret_variables(const struct config_reading *g, struct exporter_variable **to, const struct yaml *entry,
                                 const struct exporter *kind)
{
    for (const char *const *name = kind ? kind->secret_variables : NULL; name && *name; name++)
        add_secret_variable(g, to, *name);
    for (const struct yaml *key = entry->child; key; key = key->next) {
        const struct yaml *env = key->kind == YAML_MAP ? yaml_get(key, "env") : NULL;
        bool is_other = false;
        for (size_t i = 0; kind && i < kind->count; i++)
            is_other |= str_is(key->key, kind->rows[i].name) && !(kind->rows[i].arg && strcmp(kind->rows[i].arg, EXPORTER_SECRET_ARG) == 0);
        if (env && env->kind == YAML_SCALAR && !is_other)
            add_secret_variable(g, to, config_copy(g, env->text));
    }
}

void exporter_configs_read(struct exporter_config **list, struct exporter_variable **variables, const struct yaml *entry,
                           enum opt_origin origin, const char *file, struct arena *a, void (*warn)(void *context, const char *text),
                           void *context)
{
    const struct config_reading g = {a, file, origin, warn, context};
    if (yaml_is_null(entry))
        return;
    if (entry->kind != YAML_LIST) {
        config_warn(&g, entry, "expected a list of {type: …, name: …}; ignored");
        return;
    }
    for (const struct yaml *y = entry->child; y; y = y->next) {
        struct err err = {0};
        struct exporter_config *c = ARENA_NEW(a, struct exporter_config);
        if (y->kind != YAML_MAP) {
            config_warn(&g, y, "expected {type: …, name: …}; ignored");
            continue;
        }
        if (!c)
            return;
        if (variables)
            add_secret_variables(&g, variables, y, exporter_find(yaml_text(y, "type", "")));
        if (config_read_one(&g, y, c, &err)) {
            const char *text = arena_printf(a, "%s; this exporter is ignored", err.text);
            if (text)
                warn(context, text);
        } else if (config_insert(list, c))
            config_warn(&g, y, "a second one of this name, or more than 32; ignored");
        else
            continue;
        opt_deinit(&c->opts);
    }
}

void exporter_configs_deinit(struct exporter_config *list)
{
    for (; list; list = list->next)
        opt_deinit(&list->opts);
}
