/* logs_ship_config.c: reads the configuration of `benchwrap ship-logs`; see logs_ship_config.h. */
#include "logs/logs_ship_config.h"

#include "base/fs.h"
#include "base/yaml.h"

#include <fcntl.h>
#include <string.h>

enum { SHIP_CONFIG_MAX = 1 << 20 };

static const struct {
    const char *name, *roles, *paths;
    enum logs_format format;
} ship_roles[] = {
#define ROLE(name, roles, format, paths) {#name, roles, paths, LOGS_FORMAT_##format},
#include "exporters/cluster_logs.def"
#undef ROLE
};

void ship_config_init(struct ship_config *c)
{
    *c = (struct ship_config){
        .line_max = SHIP_LINE_MAX, .held_max = UINT64_C(1) << 30, .dead_max = UINT64_C(64) << 20, .settle_s = 5, .scan_s = 1};
}

void ship_config_deinit(struct ship_config *c)
{
    exporter_configs_deinit(c->exporter);
    c->exporter = NULL;
}

/* ---- sources ---- */

static bool ship_name_is_legal(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!str_is_letter(name.p[i]) && !str_is_digit(name.p[i]) && name.p[i] != '_')
            return false;
    return name.n > 0 && name.n <= 40 && str_is_letter(name.p[0]);
}

/* slurmdbd.log is slurmdb, as its table; /var/log/messages is syslog. */
static const char *ship_name_of(const char *path, struct arena *a)
{
    struct str base = str_of(str_base_name(path)), name = base;
    for (size_t i = 0; i < name.n; i++)
        if (!str_is_letter(name.p[i]) && !str_is_digit(name.p[i]) && name.p[i] != '_')
            name.n = i;
    if (str_is(base, "slurmdbd.log"))
        return "slurmdb";
    if (str_is(base, "messages"))
        return "syslog";
    return ship_name_is_legal(name) ? arena_dup(a, name.p, name.n) : "log";
}

static enum logs_format ship_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof ship_roles / sizeof *ship_roles; i++)
        if (strcmp(ship_roles[i].name, name) == 0)
            return ship_roles[i].format;
    return LOGS_FORMAT_RAW;
}

static const char *ship_stream_of(const struct ship_source *s, struct arena *a)
{
    return arena_printf(a, s->is_parsed ? "Custom-%s_CL" : "Custom-Text-%s_raw_CL", s->name);
}

/* Adds a copy of the log to the configuration, with the stream and the format that follow from its
 * name where it has none. -1 with err: too many, or out of memory. */
static int ship_add_source(struct ship_config *c, const struct ship_source *s, struct arena *a, struct err *err)
{
    if (!c->sources)
        c->sources = arena_get(a, SHIP_SOURCES_MAX * sizeof *c->sources);
    if (!c->sources || a->failed)
        return err_memory(err, "the configuration");
    if (c->count == SHIP_SOURCES_MAX)
        return err_set(err, ERR_INPUT, "expected at most %d logs", SHIP_SOURCES_MAX);
    c->sources[c->count] = *s;
    if (!s->stream)
        c->sources[c->count].stream = ship_stream_of(s, a);
    if (s->format == LOGS_FORMAT_AUTO)
        c->sources[c->count].format = ship_format_of(s->name);
    c->count++;
    return a->failed ? err_memory(err, "the configuration") : 0;
}

int ship_config_add_role(struct ship_config *c, const char *role, bool is_parsed, struct arena *a, struct err *err)
{
    const char *letter = strcmp(role, "scheduler") == 0 ? "s" : strcmp(role, "node") == 0 ? "n" : strcmp(role, "all") == 0 ? "sn" : NULL;
    if (!letter)
        return err_set(err, ERR_INPUT, "role: expected scheduler, node or all, got \"%.40s\"", role);
    for (size_t i = 0; i < sizeof ship_roles / sizeof *ship_roles; i++) {
        struct ship_source s = {
            .name = ship_roles[i].name, .format = ship_roles[i].format, .is_parsed = is_parsed && ship_roles[i].format != LOGS_FORMAT_RAW};
        struct str rest = str_of(ship_roles[i].paths), word;
        size_t n = 0;
        if (!strpbrk(ship_roles[i].roles, letter))
            continue;
        s.paths = arena_get(a, 16 * sizeof *s.paths);
        while (s.paths && (word = str_word(&rest)).n && n < 15)
            s.paths[n++] = arena_dup(a, word.p, word.n);
        if (ship_add_source(c, &s, a, err))
            return -1;
    }
    return 0;
}

int ship_config_add_path(struct ship_config *c, const char *path, bool is_parsed, struct arena *a, struct err *err)
{
    struct ship_source s = {.name = ship_name_of(path, a), .format = LOGS_FORMAT_AUTO, .is_parsed = is_parsed};
    s.paths = arena_get(a, 2 * sizeof *s.paths);
    if (s.paths)
        s.paths[0] = path;
    return ship_add_source(c, &s, a, err);
}

/* ---- the file ---- */

struct ship_reading {
    struct ship_config *c;
    const char *file;
    struct arena *a;
    void (*warn)(void *context, const char *text);
    void *context;
    bool is_parsed; /* the default of the logs */
};

static const char *ship_copy(const struct ship_reading *g, const struct yaml *y)
{
    return arena_dup(g->a, y->text.p ? y->text.p : "", y->text.n);
}

/* Reads the paths of one source, one text or a list. 0; -1 with err. */
static int ship_read_paths(const struct ship_reading *g, const struct yaml *y, struct ship_source *s, struct err *err)
{
    size_t n = 0, count = 1;
    for (const struct yaml *x = y->child; x; x = x->next)
        count++;
    s->paths = arena_get(g->a, (count + 1) * sizeof *s->paths);
    if (!s->paths)
        return err_memory(err, "the configuration");
    for (const struct yaml *x = y->kind == YAML_LIST ? y->child : y; x; x = y->kind == YAML_LIST ? x->next : NULL) {
        if (x->kind != YAML_SCALAR || !x->text.n || x->text.p[0] != '/')
            return yaml_complain(x, g->file, err, "path: expected an absolute path, or a list of them");
        s->paths[n++] = ship_copy(g, x);
    }
    return 0;
}

static int ship_read_form(const struct ship_reading *g, const struct yaml *y, bool *ret, struct err *err)
{
    if (!str_is(y->text, "raw") && !str_is(y->text, "parsed"))
        return yaml_complain(y, g->file, err, "form: expected raw or parsed");
    *ret = str_is(y->text, "parsed");
    return 0;
}

/* Reads one key of a log into *s, with texts in g->a. 0; -1 with err. */
static int ship_read_source_key(const struct ship_reading *g, const struct yaml *y, struct ship_source *s, struct err *err)
{
    if (str_is(y->key, "path"))
        return ship_read_paths(g, y, s, err);
    if (y->kind != YAML_SCALAR)
        return yaml_complain(y, g->file, err, STR_FMT ": expected a text", STR_ARG(y->key));
    if (str_is(y->key, "name")) {
        if (!ship_name_is_legal(y->text))
            return yaml_complain(y, g->file, err, "name: expected 1 to 40 letters, digits and _, the first a letter");
        s->name = ship_copy(g, y);
    } else if (str_is(y->key, "format")) {
        if (!logs_format_find(y->text, &s->format))
            return yaml_complain(y, g->file, err, "format: expected auto, raw, slurm, syslog, dmesg or json");
    } else if (str_is(y->key, "form"))
        return ship_read_form(g, y, &s->is_parsed, err);
    else if (str_is(y->key, "stream"))
        s->stream = ship_copy(g, y);
    else
        return yaml_complain(y, g->file, err, "expected name, path, format, form or stream, got \"" STR_FMT "\"", STR_ARG(y->key));
    return 0;
}

/* Reads the list `logs` and adds each log to the configuration. 0; -1 with err. */
static int ship_read_sources(const struct ship_reading *g, const struct yaml *list, struct err *err)
{
    if (list->kind != YAML_LIST)
        return yaml_complain(list, g->file, err, "logs: expected a list of {name: …, path: …}");
    for (const struct yaml *one = list->child; one; one = one->next) {
        struct ship_source s = {.format = LOGS_FORMAT_AUTO, .is_parsed = g->is_parsed};
        if (one->kind != YAML_MAP)
            return yaml_complain(one, g->file, err, "logs: expected {name: …, path: …}");
        for (const struct yaml *y = one->child; y; y = y->next)
            if (ship_read_source_key(g, y, &s, err))
                return -1;
        if (!s.paths)
            return yaml_complain(one, g->file, err, "logs: expected the key path");
        if (!s.name)
            s.name = ship_name_of(s.paths[0], g->a);
        if (ship_add_source(g->c, &s, g->a, err))
            return -1;
    }
    return 0;
}

/* The name of an exporter, or an entry as in the list `exporters:`. */
static int ship_read_to(const struct ship_reading *g, const struct yaml *y, struct err *err)
{
    if (y->kind == YAML_SCALAR) {
        g->c->to = ship_copy(g, y);
        return 0;
    }
    struct yaml one = *y, list = {.kind = YAML_LIST, .child = &one, .line = y->line, .column = y->column};
    one.next = NULL;
    exporter_configs_read(&g->c->exporter, NULL, &list, OPT_SYSTEM, g->file, g->a, g->warn, g->context);
    return g->c->exporter ? 0 : yaml_complain(y, g->file, err, "to: expected the name of an exporter, or {type: …}");
}

static int ship_read_number(const struct ship_reading *g, const struct yaml *y, uint64_t *bytes, double *seconds, struct err *err)
{
    if (bytes && (!str_size(y->text, bytes) || *bytes < 1024))
        return yaml_complain(y, g->file, err, STR_FMT ": expected a size of 1K or more, such as 64M", STR_ARG(y->key));
    if (seconds && (!str_duration(y->text, seconds) || !(*seconds > 0)))
        return yaml_complain(y, g->file, err, STR_FMT ": expected a duration, such as 5s", STR_ARG(y->key));
    return 0;
}

/* Reads one key of the configuration, except `form`, which the caller has read before. 0; -1 with
 * err. */
static int ship_read_key(const struct ship_reading *g, const struct yaml *y, struct err *err)
{
    struct ship_config *c = g->c;
    if (str_is(y->key, "to"))
        return ship_read_to(g, y, err);
    if (str_is(y->key, "logs"))
        return ship_read_sources(g, y, err);
    if (y->kind != YAML_SCALAR)
        return yaml_complain(y, g->file, err, STR_FMT ": expected a text", STR_ARG(y->key));
    if (str_is(y->key, "form"))
        return 0; /* read before */
    struct err why = {0};
    if (str_is(y->key, "role"))
        return ship_config_add_role(c, ship_copy(g, y), g->is_parsed, g->a, &why) ? yaml_complain(y, g->file, err, "%s", why.text) : 0;
    if (str_is(y->key, "computer"))
        c->computer = ship_copy(g, y);
    else if (str_is(y->key, "state"))
        c->state = ship_copy(g, y);
    else if (str_is(y->key, "start")) {
        if (!str_is(y->text, "beginning") && !str_is(y->text, "end"))
            return yaml_complain(y, g->file, err, "start: expected beginning or end");
        c->from_end = str_is(y->text, "end");
    } else if (str_is(y->key, "max-line"))
        return ship_read_number(g, y, &c->line_max, NULL, err);
    else if (str_is(y->key, "max-held"))
        return ship_read_number(g, y, &c->held_max, NULL, err);
    else if (str_is(y->key, "max-dead"))
        return ship_read_number(g, y, &c->dead_max, NULL, err);
    else if (str_is(y->key, "settle"))
        return ship_read_number(g, y, NULL, &c->settle_s, err);
    else if (str_is(y->key, "scan"))
        return ship_read_number(g, y, NULL, &c->scan_s, err);
    else
        return yaml_complain(
            y, g->file, err,
            "expected to, role, logs, form, computer, state, start, max-line, max-held, max-dead, settle or scan, got \"" STR_FMT "\"",
            STR_ARG(y->key));
    return 0;
}

int ship_config_parse(struct ship_config *c, const char *file, struct str text, struct arena *a,
                      void (*warn)(void *context, const char *text), void *context, struct err *err)
{
    struct ship_reading g = {.c = c, .file = file, .a = a, .warn = warn, .context = context};
    struct yaml *y;
    if (yaml_parse(&y, file, text, a, err))
        return -1;
    if (y->kind != YAML_MAP)
        return yaml_complain(y, file, err, "expected keys such as to, role and logs");
    const struct yaml *form = yaml_get(y, "form");
    if (form && ship_read_form(&g, form, &g.is_parsed, err))
        return -1;
    for (const struct yaml *key = y->child; key; key = key->next)
        if (ship_read_key(&g, key, err))
            return -1;
    if (c->line_max > SHIP_LINE_MAX)
        c->line_max = SHIP_LINE_MAX;
    return 0;
}

int ship_config_read(struct ship_config *c, const char *path, struct arena *a, void (*warn)(void *context, const char *text), void *context,
                     struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, SHIP_CONFIG_MAX + 65536);
    if (fs_read(AT_FDCWD, path, SHIP_CONFIG_MAX, 0, &text, err))
        return -1;
    return ship_config_parse(c, path, buf_text(&text), a, warn, context, err);
}
