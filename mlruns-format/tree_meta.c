/* tree_meta.c: the meta.yaml of runs and experiments: written as fixed lines, read fast where
 * benchwrap wrote it, else as YAML. */
#include "mlruns-format/tree_meta.h"

#include "base/yaml.h"

#include <string.h>

/* Returns whether the text needs no quotes in YAML, among the characters that benchwrap writes
 * without them. */
static bool is_plain_scalar(struct str v)
{
    for (size_t i = 0; i < v.n; i++) {
        char c = v.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' || c == '.' ||
              (c == '-' && i > 0) || (c == ':' && i > 0 && i + 1 < v.n && v.p[i + 1] != ' ') ||
              (c == ' ' && i > 0 && i + 1 < v.n))) /* no '#' here: it is no comment */
            return false;
    }
    return v.n > 0;
}

/* Reads the value of a line in one of the simple shapes. *ret_plain: it has no quotes. False: it
 * has another shape. */
static bool simple_value(struct str v, struct str *ret, bool *ret_plain)
{
    char q = v.n ? v.p[0] : 0;
    *ret_plain = q != '"' && q != '\'';
    if (!*ret_plain) {
        if (v.n < 2 || v.p[v.n - 1] != q)
            return false;
        *ret = (struct str){v.p + 1, v.n - 2};
        return !memchr(ret->p, q, ret->n) && !memchr(ret->p, '\\', ret->n);
    }
    *ret = v;
    return is_plain_scalar(v) || str_is(v, "[]");
}

static int64_t int_or(struct str v, int64_t otherwise)
{
    int64_t got;
    return str_int(v, &got) ? got : otherwise;
}

static bool is_null(struct str v, bool plain)
{
    return plain && (v.n == 0 || str_is(v, "null") || str_is(v, "~") || str_is(v, "Null") || str_is(v, "NULL"));
}

/* Stores one pair. Times and status must be integers; false if one is not. */
static bool meta_set_pair(struct tree_meta *m, struct str key, struct str v, bool plain)
{
    static const struct {
        const char *key;
        size_t at;
    } texts[] = {{"run_id", offsetof(struct tree_meta, run_id)},
                 {"experiment_id", offsetof(struct tree_meta, experiment_id)},
                 {"run_name", offsetof(struct tree_meta, name)},
                 {"name", offsetof(struct tree_meta, name)},
                 {"user_id", offsetof(struct tree_meta, user_id)},
                 {"artifact_uri", offsetof(struct tree_meta, artifact_uri)},
                 {"artifact_location", offsetof(struct tree_meta, artifact_uri)},
                 {"lifecycle_stage", offsetof(struct tree_meta, lifecycle)}};
    static const struct {
        const char *key;
        size_t at;
    } numbers[] = {{"start_time", offsetof(struct tree_meta, start_ms)},
                   {"end_time", offsetof(struct tree_meta, end_ms)},
                   {"status", offsetof(struct tree_meta, status)}};
    bool null = is_null(v, plain);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_is(key, texts[i].key)) {
            if (!null)
                *(struct str *)(void *)((char *)m + texts[i].at) = v;
            return true;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_is(key, numbers[i].key)) {
            int64_t got = null ? 0 : int_or(v, -1);
            if (!plain || got < 0)
                return false;
            if (!null)
                *(int64_t *)(void *)((char *)m + numbers[i].at) = got;
            return true;
        }
    return true;
}

/* Reads a file of simple lines. False: it needs a YAML parser. */
static bool parse_lines(struct tree_meta *m, struct str text)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
        struct str key = {line.p, colon ? (size_t)(colon - line.p) : 0}, v;
        bool plain;
        if (key.n == 0 || key.n + 1 >= line.n || line.p[key.n + 1] != ' ')
            return false;
        for (size_t i = 0; i < key.n; i++)
            if (!((key.p[i] >= 'a' && key.p[i] <= 'z') || key.p[i] == '_'))
                return false;
        if (text.n && (text.p[0] == ' ' || text.p[0] == '\t' || text.p[0] == '-')) /* the value continues */
            return false;
        if (!simple_value(str_sub(line, key.n + 2, line.n), &v, &plain) || !meta_set_pair(m, key, v, plain))
            return false;
    }
    return true;
}

int tree_meta_parse(struct tree_meta *ret, const char *name, struct str text, struct arena *a, struct err *err)
{
    *ret = (struct tree_meta){.status = -1};
    if (text.n && str_valid_utf8(text) && parse_lines(ret, text))
        return 0;
    *ret = (struct tree_meta){.status = -1};
    struct yaml *y;
    if (yaml_parse(&y, name, text, a, err) < 0)
        return -1;
    if (!y || y->kind != YAML_MAP)
        return err_set(err, ERR_INPUT, "%s: it is empty or not a list of keys and values", name);
    for (const struct yaml *c = y->child; c; c = c->next)
        if (c->kind == YAML_SCALAR && !meta_set_pair(ret, c->key, c->text, c->plain))
            return yaml_complain(c, name, err, STR_FMT " is not an integer", STR_ARG(c->key));
    return 0;
}

void tree_meta_experiment(struct buf *to, uint32_t id, struct str name)
{
    buf_printf(to, "artifact_location: \"mlruns/%u\"\ncreation_time: 1767225600000\nexperiment_id: \"%u\"\n", id, id);
    buf_puts(to, "last_update_time: 1767225600000\nlifecycle_stage: \"active\"\nname: ");
    buf_json(to, name);
    buf_putc(to, '\n');
}

void tree_meta_run(struct buf *to, uint32_t experiment, const char *run_id, struct str run_name, struct str user, int64_t start_ms,
                   int64_t end_ms, enum run_status status, bool deleted)
{
    buf_printf(to, "artifact_uri: \"mlruns/%u/%s/artifacts\"\n", experiment, run_id);
    if (end_ms > 0)
        buf_printf(to, "end_time: %lld\n", (long long)end_ms);
    else
        buf_puts(to, "end_time: null\n");
    buf_printf(to, "entry_point_name: \"\"\nexperiment_id: \"%u\"\nlifecycle_stage: \"%s\"\nrun_id: \"%s\"\nrun_name: ", experiment,
               deleted ? "deleted" : "active", run_id);
    buf_json(to, run_name);
    buf_printf(to, "\nsource_name: \"\"\nsource_type: 4\nsource_version: \"\"\nstart_time: %lld\nstatus: %d\ntags: []\nuser_id: ",
               (long long)start_ms, (int)status);
    buf_json(to, user);
    buf_putc(to, '\n');
}
