/* api.c: the requests of a logging client, done in memory; see api.h. */
#include "server/api.h"

#include "base/fs.h"
#include "base/json.h"
#include "server/store.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct api {
    struct store store;
    pthread_mutex_t lock;
    int journal;
};

/* One request under way. */
struct call {
    struct api *api;
    struct store *s;
    struct str path, query, body;
    const char *method, *host;
    struct json *j; /* the body, where it is JSON */
    struct answer *a;
};

static void say(struct call *c, int status, const char *code, const char *text)
{
    buf_clear(&c->a->body);
    c->a->status = status;
    buf_printf(&c->a->body, "{\"error_code\":\"%s\",\"message\":", code);
    buf_json(&c->a->body, str_of(text));
    buf_putc(&c->a->body, '}');
}

static void invalid(struct call *c, const char *text)
{
    say(c, 400, "INVALID_PARAMETER_VALUE", text);
}

static void absent(struct call *c, const char *text)
{
    say(c, 404, "RESOURCE_DOES_NOT_EXIST", text);
}

static int hex(char ch)
{
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static char *decoded(struct str s)
{
    char *to = calloc(1, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '%' && i + 2 < s.n && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0) {
            to[n++] = (char)(hex(s.p[i + 1]) * 16 + hex(s.p[i + 2]));
            i += 2;
        } else
            to[n++] = s.p[i] == '+' ? ' ' : s.p[i];
    return to;
}

/* A value of the query, decoded; "" if it is not there. */
static const char *asked(const struct call *c, const char *name)
{
    struct str rest = c->query;
    while (rest.p) {
        struct str value = str_cut(&rest, '&'), key = str_cut(&value, '=');
        if (str_is(key, name))
            return decoded(value.p ? value : STR(""));
    }
    return "";
}

static const char *text(const struct call *c, const char *key)
{
    return json_string(json_get(c->j, key), "");
}

/* ---- what replies hold ---- */

static void put_pairs(struct buf *b, const char *name, const struct pairs *pairs)
{
    buf_printf(b, "\"%s\":[", name);
    for (size_t i = 0; i < pairs->n; i++) {
        buf_puts(b, i ? ",{\"key\":" : "{\"key\":");
        buf_json(b, str_of(pairs->p[i].key));
        buf_puts(b, ",\"value\":");
        buf_json(b, str_of(pairs->p[i].value));
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void put_text(struct buf *b, const char *key, const char *value)
{
    buf_printf(b, "\"%s\":", key);
    buf_json(b, str_of(value));
    buf_putc(b, ',');
}

static void put_sample(struct buf *b, const char *key, const struct sample *s)
{
    buf_puts(b, "{\"key\":");
    buf_json(b, str_of(key));
    buf_puts(b, isfinite(s->value) ? ",\"value\":" : ",\"value\":\"");
    buf_double(b, s->value);
    buf_printf(b, "%s,\"timestamp\":%lld,\"step\":%lld}", isfinite(s->value) ? "" : "\"", (long long)s->time_ms, (long long)s->step);
}

/* Of a key the sample that the real server shows: greatest step, then time, then value. */
static const struct sample *latest(const struct metric *m)
{
    const struct sample *best = &m->p[0];
    for (size_t i = 1; i < m->n; i++)
        if (m->p[i].step > best->step || (m->p[i].step == best->step && m->p[i].time_ms > best->time_ms) ||
            (m->p[i].step == best->step && m->p[i].time_ms == best->time_ms && m->p[i].value > best->value))
            best = &m->p[i];
    return best;
}

static void put_info(struct buf *b, const struct run *r)
{
    buf_putc(b, '{');
    put_text(b, "run_id", r->id);
    put_text(b, "run_uuid", r->id);
    put_text(b, "experiment_id", r->experiment);
    put_text(b, "run_name", r->name);
    put_text(b, "user_id", r->user);
    put_text(b, "status", r->status);
    buf_printf(b, "\"start_time\":%lld,", (long long)r->start_ms);
    if (r->end_ms)
        buf_printf(b, "\"end_time\":%lld,", (long long)r->end_ms);
    buf_printf(b, "\"artifact_uri\":\"mlflow-artifacts:/%s/%s/artifacts\",\"lifecycle_stage\":\"%s\"}", r->experiment, r->id,
               r->deleted ? "deleted" : "active");
}

static void put_run(struct buf *b, const struct run *r)
{
    buf_puts(b, "{\"info\":");
    put_info(b, r);
    buf_puts(b, ",\"data\":{");
    put_pairs(b, "params", &r->params);
    buf_putc(b, ',');
    put_pairs(b, "tags", &r->tags);
    buf_puts(b, ",\"metrics\":[");
    for (size_t i = 0; i < r->n_metrics; i++) {
        if (i)
            buf_putc(b, ',');
        put_sample(b, r->metrics[i].key, latest(&r->metrics[i]));
    }
    buf_puts(b, "]},\"inputs\":{\"dataset_inputs\":[");
    for (size_t i = 0; i < r->inputs.n; i++)
        buf_printf(b, "%s%s", i ? "," : "", r->inputs.p[i].value);
    buf_puts(b, "]}}");
}

static void put_experiment(struct buf *b, const struct experiment *e)
{
    buf_putc(b, '{');
    put_text(b, "experiment_id", e->id);
    put_text(b, "name", e->name);
    buf_printf(b, "\"artifact_location\":\"mlflow-artifacts:/%s\",\"lifecycle_stage\":\"%s\",", e->id, e->deleted ? "deleted" : "active");
    put_pairs(b, "tags", &e->tags);
    buf_putc(b, '}');
}

/* ---- experiments ---- */

static void experiment_create(struct call *c)
{
    if (!text(c, "name")[0])
        return invalid(c, "Missing value for required parameter 'name'.");
    if (store_experiment(c->s, NULL, text(c, "name")))
        return say(c, 400, "RESOURCE_ALREADY_EXISTS", "Experiment already exists.");
    buf_printf(&c->a->body, "{\"experiment_id\":\"%s\"}", store_experiment_add(c->s, text(c, "name"))->id);
}

static void experiment_get(struct call *c)
{
    const char *id = asked(c, "experiment_id");
    struct experiment *e = store_experiment(c->s, *id ? id : NULL, asked(c, "experiment_name"));
    if (!e)
        return absent(c, "Could not find experiment");
    buf_puts(&c->a->body, "{\"experiment\":");
    put_experiment(&c->a->body, e);
    buf_putc(&c->a->body, '}');
}

static void experiment_search(struct call *c)
{
    buf_puts(&c->a->body, "{\"experiments\":[");
    for (size_t i = 0; i < c->s->n_experiments; i++) {
        buf_puts(&c->a->body, i ? "," : "");
        put_experiment(&c->a->body, c->s->experiments[i]);
    }
    buf_puts(&c->a->body, "]}");
}

static void experiment_change(struct call *c)
{
    struct experiment *e = store_experiment(c->s, text(c, "experiment_id"), NULL);
    if (!e)
        return absent(c, "No such experiment");
    if (str_ends(c->path, "/set-experiment-tag"))
        pairs_set(&e->tags, text(c, "key"), text(c, "value"));
    else
        e->deleted = str_ends(c->path, "/delete");
    buf_puts(&c->a->body, "{}");
}

/* ---- runs ---- */

static struct run *run_of(struct call *c)
{
    const char *id = c->j ? text(c, "run_id") : asked(c, "run_id");
    struct run *r = store_run(c->s, id);
    if (!r)
        absent(c, "Run with that id not found");
    return r;
}

static void run_create(struct call *c)
{
    struct experiment *e = store_experiment(c->s, text(c, "experiment_id"), NULL);
    if (!e || e->deleted)
        return absent(c, "No such experiment");
    struct run *r = store_run_add(c->s, e->id, text(c, "run_name"), text(c, "user_id"), json_integer(json_get(c->j, "start_time"), 0));
    pairs_set(&r->tags, "mlflow.runName", r->name);
    for (const struct json *t = json_first(json_get(c->j, "tags")); t; t = json_next(t))
        pairs_set(&r->tags, json_string(json_get(t, "key"), ""), json_string(json_get(t, "value"), ""));
    buf_puts(&c->a->body, "{\"run\":");
    put_run(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

static void run_get(struct call *c)
{
    struct run *r = run_of(c);
    if (!r)
        return;
    buf_puts(&c->a->body, "{\"run\":");
    put_run(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

static void run_update(struct call *c)
{
    static const char *const known[] = {"RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};
    struct run *r = run_of(c);
    bool good = !json_get(c->j, "status");
    if (!r)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        good |= strcmp(text(c, "status"), known[i]) == 0;
    if (!good || (json_get(c->j, "end_time") && !json_is_number(json_get(c->j, "end_time"))))
        return invalid(c, "status or end_time");
    if (json_get(c->j, "status"))
        r->status = strdup(text(c, "status"));
    r->end_ms = json_integer(json_get(c->j, "end_time"), r->end_ms);
    if (text(c, "run_name")[0]) {
        r->name = strdup(text(c, "run_name"));
        pairs_set(&r->tags, "mlflow.runName", r->name);
    }
    buf_puts(&c->a->body, "{\"run_info\":");
    put_info(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

static void run_life(struct call *c)
{
    struct run *r = run_of(c);
    if (!r)
        return;
    r->deleted = str_ends(c->path, "/delete");
    buf_puts(&c->a->body, "{}");
}

static void run_tag(struct call *c)
{
    struct run *r = run_of(c);
    if (!r)
        return;
    if (str_ends(c->path, "/set-tag"))
        pairs_set(&r->tags, text(c, "key"), text(c, "value"));
    else if (!pairs_remove(&r->tags, text(c, "key")))
        return absent(c, "No tag with that name");
    buf_puts(&c->a->body, "{}");
}

/* One comparison: tags.`key` (or attributes.run_id) = 'value', != or LIKE 'text%'. What is not understood is an error, as with the real one. */
static bool one_fits(struct call *c, const struct run *r, struct str one)
{
    ptrdiff_t quote = str_find(one, STR("'"));
    struct str name = str_sub(one, 0, quote < 0 ? 0 : (size_t)quote), key = str_word(&name), operator = str_trim(name);
    struct str wanted = str_sub(one, (size_t)quote + 1, one.n - (size_t)quote - 2);
    bool like = str_is(operator, "LIKE"), not = str_is(operator, "!=");
    bool by_id = str_is(key, "attributes.run_id");
    if (!(by_id || str_starts(key, "tags.")) || !(like || not || str_is(operator, "=")) || !str_ends(one, "'"))
        return invalid(c, "Invalid filter"), false;
    key = str_sub(key, 5, key.n);
    if (str_starts(key, "`"))
        key = str_sub(key, 1, key.n - 2);
    const char *value = by_id ? r->id : pairs_get(&r->tags, key);
    if (like && str_ends(wanted, "%"))
        return value && strncmp(value, wanted.p, wanted.n - 1) == 0;
    return value && str_is(wanted, value) != not;
}

static bool fits(struct call *c, const struct run *r, struct str filter)
{
    while (str_trim(filter).n) {
        ptrdiff_t and = str_find(filter, STR(" and "));
        and = and < 0 ? str_find(filter, STR(" AND ")) : and;
        if (!one_fits(c, r, str_trim(and < 0 ? filter : str_sub(filter, 0, (size_t)and))))
            return false;
        filter = and < 0 ? STR("") : str_sub(filter, (size_t)and + 5, filter.n);
    }
    return true;
}

static bool in_list(const struct json *list, const char *id)
{
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (strcmp(json_string(e, ""), id) == 0)
            return true;
    return false;
}

static void run_search(struct call *c)
{
    const char *view = json_string(json_get(c->j, "run_view_type"), "ACTIVE_ONLY");
    int64_t max = json_integer(json_get(c->j, "max_results"), 1000), from = 0, n = 0;
    str_int(str_of(text(c, "page_token")), &from);
    buf_puts(&c->a->body, "{\"runs\":[");
    for (size_t i = c->s->n_runs; i-- > 0 && c->a->status == 200 && n < from + max + 1;) {
        const struct run *r = c->s->runs[i];
        bool seen = strcmp(view, "ALL") == 0 || r->deleted == (strcmp(view, "DELETED_ONLY") == 0);
        if (!seen || !in_list(json_get(c->j, "experiment_ids"), r->experiment) || !fits(c, r, str_of(text(c, "filter"))))
            continue;
        if (n >= from && n < from + max) {
            buf_puts(&c->a->body, n > from ? "," : "");
            put_run(&c->a->body, r);
        }
        n++;
    }
    if (c->a->status == 200) {
        buf_putc(&c->a->body, ']');
        if (n > from + max)
            buf_printf(&c->a->body, ",\"next_page_token\":\"%lld\"", (long long)(from + max));
        buf_putc(&c->a->body, '}');
    }
}

/* ---- log-batch ---- */

static double number_of(const struct json *v, bool *good)
{
    const char *t = json_string(v, "");
    *good = true;
    if (json_is_number(v))
        return json_number(v, 0);
    if (strcmp(t, "NaN") == 0)
        return NAN;
    if (strcmp(t, "Infinity") == 0 || strcmp(t, "-Infinity") == 0)
        return *t == '-' ? -INFINITY : INFINITY;
    *good = false;
    return 0;
}

static bool metrics_good(struct call *c)
{
    for (const struct json *m = json_first(json_get(c->j, "metrics")); m; m = json_next(m)) {
        bool good;
        number_of(json_get(m, "value"), &good);
        if (!good || !json_string(json_get(m, "key"), "")[0] || !json_is_number(json_get(m, "timestamp")) || !json_is_number(json_get(m, "step")))
            return invalid(c, "a metric of a wrong type"), false;
    }
    return true;
}

static bool pairs_good(struct call *c, const char *name)
{
    struct pairs seen = {0};
    for (const struct json *p = json_first(json_get(c->j, name)); p; p = json_next(p)) {
        const char *key = json_string(json_get(p, "key"), "");
        if (!*key || strlen(key) > 250 || !json_is_string(json_get(p, "value")))
            return invalid(c, "a param or tag of a wrong type"), false;
        if (pairs_get(&seen, str_of(key)))
            return invalid(c, "Duplicate keys are not allowed"), false;
        pairs_set(&seen, key, "");
    }
    return true;
}

static void log_batch(struct call *c)
{
    struct run *r = run_of(c);
    const struct json *metrics = json_get(c->j, "metrics"), *params = json_get(c->j, "params"), *tags = json_get(c->j, "tags");
    if (!r)
        return;
    if (r->deleted)
        return invalid(c, "The run must be in the 'active' state.");
    if (json_count(metrics) > 1000 || json_count(params) > 100 || json_count(tags) > 100 || json_count(metrics) + json_count(params) + json_count(tags) > 1000)
        return invalid(c, "A batch logging request can contain at most 1000 metrics, 100 params, 100 tags and 1000 in all");
    if (!metrics_good(c) || !pairs_good(c, "params") || !pairs_good(c, "tags"))
        return;
    for (const struct json *p = json_first(params); p; p = json_next(p)) { /* nothing is kept of a batch that changes a param */
        const char *old = pairs_get(&r->params, str_of(json_string(json_get(p, "key"), "")));
        if (old && strcmp(old, json_string(json_get(p, "value"), "")) != 0)
            return invalid(c, "Changing param values is not allowed.");
    }
    for (const struct json *p = json_first(params); p; p = json_next(p))
        pairs_set(&r->params, json_string(json_get(p, "key"), ""), json_string(json_get(p, "value"), ""));
    for (const struct json *t = json_first(tags); t; t = json_next(t))
        pairs_set(&r->tags, json_string(json_get(t, "key"), ""), json_string(json_get(t, "value"), ""));
    for (const struct json *m = json_first(metrics); m; m = json_next(m)) {
        bool good;
        run_metric(r, json_string(json_get(m, "key"), ""),
                   (struct sample){number_of(json_get(m, "value"), &good), json_integer(json_get(m, "timestamp"), 0), json_integer(json_get(m, "step"), 0)});
    }
    buf_puts(&c->a->body, "{}");
}

static void log_inputs(struct call *c)
{
    struct run *r = run_of(c);
    if (!r)
        return;
    for (const struct json *d = json_first(json_get(c->j, "datasets")); d; d = json_next(d)) {
        struct buf one, key;
        buf_init(&one, 1 << 20);
        buf_init(&key, 1 << 20);
        json_print(d, &one);
        buf_printf(&key, "%s %s", json_string(json_pointer(d, "/dataset/name"), ""), json_string(json_pointer(d, "/dataset/digest"), ""));
        pairs_set(&r->inputs, key.p, one.p);
    }
    buf_puts(&c->a->body, "{}");
}

static void history(struct call *c)
{
    struct run *r = run_of(c);
    int64_t max = 0, from = 0;
    if (!r)
        return;
    str_int(str_of(asked(c, "max_results")), &max); /* none: an empty page and a token, as the real one */
    str_int(str_of(asked(c, "page_token")), &from);
    const struct metric *m = run_metric_find(r, asked(c, "metric_key"));
    buf_puts(&c->a->body, "{\"metrics\":[");
    for (size_t i = (size_t)from; m && i < m->n && i < (size_t)(from + max); i++) {
        buf_puts(&c->a->body, i > (size_t)from ? "," : "");
        put_sample(&c->a->body, m->key, &m->p[i]);
    }
    buf_putc(&c->a->body, ']');
    if (m && m->n > (size_t)(from + max))
        buf_printf(&c->a->body, ",\"next_page_token\":\"%lld\"", (long long)(from + max));
    buf_putc(&c->a->body, '}');
}

/* ---- artifacts ---- */

static void artifacts_list(struct call *c)
{
    struct run *r = run_of(c);
    char below[1200];
    struct pairs folders = {0};
    bool first = true;
    if (!r)
        return;
    const char *path = asked(c, "path");
    snprintf(below, sizeof below, "%s/%s/artifacts/%s%s", r->experiment, r->id, path, *path ? "/" : "");
    buf_printf(&c->a->body, "{\"root_uri\":\"mlflow-artifacts:/%s/%s/artifacts\",\"files\":[", r->experiment, r->id);
    for (size_t i = 0; i < c->s->n_files; i++) {
        const struct file *f = c->s->files[i];
        if (strncmp(f->path, below, strlen(below)) != 0)
            continue;
        struct str name = str_of(f->path + strlen(below)), folder = str_cut(&name, '/');
        char *full = NULL;
        if (name.p && pairs_get(&folders, folder))
            continue;
        if (asprintf(&full, "%s%s" STR_FMT, path, *path ? "/" : "", STR_ARG(folder)) < 0)
            abort();
        if (name.p)
            pairs_set(&folders, strndup(folder.p, folder.n), "");
        buf_puts(&c->a->body, first ? "{" : ",{");
        put_text(&c->a->body, "path", full);
        buf_printf(&c->a->body, "\"is_dir\":%s,\"file_size\":%zu}", name.p ? "true" : "false", name.p ? 0 : f->bytes.n);
        first = false;
    }
    buf_puts(&c->a->body, "]}");
}

static void artifact(struct call *c, struct str path)
{
    const char *name = decoded(path);
    if (strstr(name, "..") || strchr(name, '#') || *name == '/')
        return invalid(c, "Invalid path");
    if (strcmp(c->method, "PUT") == 0) {
        store_file_put(c->s, name, c->body);
        return;
    }
    const struct file *f = store_file(c->s, name);
    if (!f)
        return absent(c, "no such artifact");
    c->a->type = "application/octet-stream";
    buf_str(&c->a->body, f->bytes);
}

/* mpu/{create,complete,abort}/<folder>, and the parts' own addresses. */
static void multipart(struct call *c, struct str rest)
{
    struct str verb = str_cut(&rest, '/');
    char target[1200];
    snprintf(target, sizeof target, "%s/%s", decoded(rest.p ? rest : STR("")), text(c, "path"));
    if (str_is(verb, "create")) {
        int64_t n = json_integer(json_get(c->j, "num_parts"), 0);
        buf_printf(&c->a->body, "{\"upload_id\":\"u%zu\",\"credentials\":[", ++c->s->uploads);
        for (int64_t i = 1; i <= n && i <= 10000; i++)
            buf_printf(&c->a->body, "%s{\"url\":\"http://%s/storage/u%zu/%lld?signature=secret\",\"part_number\":%lld,\"headers\":{\"X-Part\":\"%lld\"}}",
                       i > 1 ? "," : "", c->host, c->s->uploads, (long long)i, (long long)i, (long long)i);
        buf_puts(&c->a->body, "]}");
        return;
    }
    if (str_is(verb, "complete")) {
        struct buf whole;
        buf_init(&whole, 1 << 30);
        int64_t at = 0;
        for (const struct json *p = json_first(json_get(c->j, "parts")); p; p = json_next(p)) {
            char name[100], etag[120];
            int64_t number = json_integer(json_get(p, "part_number"), 0);
            snprintf(name, sizeof name, "storage/%.40s/%lld", text(c, "upload_id"), (long long)number);
            snprintf(etag, sizeof etag, "\"%s\"", name);
            const struct file *f = store_file(c->s, name);
            if (!f || number != ++at || strcmp(etag, json_string(json_get(p, "etag"), "")) != 0)
                return invalid(c, "InvalidPart: one or more of the specified parts could not be found");
            buf_str(&whole, f->bytes);
        }
        store_file_put(c->s, target, buf_text(&whole));
        buf_deinit(&whole);
    } else
        c->s->aborted++;
    buf_puts(&c->a->body, "{}");
}

static void storage_part(struct call *c)
{
    char *name = decoded(str_sub(c->path, 1, c->path.n)), *etag = NULL;
    store_file_put(c->s, name, c->body);
    if (asprintf(&etag, "\"%s\"", name) < 0)
        abort();
    c->a->etag = etag;
    c->a->type = "application/xml";
}

/* ---- which is which ---- */

struct row {
    const char *method, *path;
    void (*does)(struct call *c);
    bool changes;
};

static const struct row rows[] = {
    {"POST", "experiments/create", experiment_create, true},
    {"GET", "experiments/get-by-name", experiment_get, false},
    {"GET", "experiments/get", experiment_get, false},
    {"POST", "experiments/search", experiment_search, false},
    {"GET", "experiments/search", experiment_search, false},
    {"POST", "experiments/restore", experiment_change, true},
    {"POST", "experiments/delete", experiment_change, true},
    {"POST", "experiments/set-experiment-tag", experiment_change, true},
    {"POST", "runs/create", run_create, true},
    {"GET", "runs/get", run_get, false},
    {"POST", "runs/update", run_update, true},
    {"POST", "runs/delete", run_life, true},
    {"POST", "runs/restore", run_life, true},
    {"POST", "runs/search", run_search, false},
    {"POST", "runs/set-tag", run_tag, true},
    {"POST", "runs/delete-tag", run_tag, true},
    {"POST", "runs/log-batch", log_batch, true},
    {"POST", "runs/log-inputs", log_inputs, true},
    {"GET", "metrics/get-history", history, false},
    {"GET", "artifacts/list", artifacts_list, false},
};

static bool api_call(struct call *c, struct str rest)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_is(rest, rows[i].path) || strcmp(c->method, rows[i].method) != 0)
            continue;
        if (strcmp(c->method, "POST") == 0 && json_parse(&c->j, c->body, NULL, NULL))
            return invalid(c, "the body is not JSON"), false;
        rows[i].does(c);
        json_free(c->j);
        return rows[i].changes;
    }
    say(c, 404, "ENDPOINT_NOT_FOUND", "no such endpoint");
    return false;
}

/* True: it may have changed something. */
static bool dispatch(struct call *c)
{
    static const char base[] = "/api/2.0/mlflow/", files[] = "/api/2.0/mlflow-artifacts/artifacts/", mpu[] = "/api/2.0/mlflow-artifacts/mpu/";
    if (str_starts(c->path, base))
        return api_call(c, str_sub(c->path, strlen(base), c->path.n));
    if (str_starts(c->path, files)) {
        artifact(c, str_sub(c->path, strlen(files), c->path.n));
        return strcmp(c->method, "PUT") == 0;
    }
    if (str_starts(c->path, mpu) && json_parse(&c->j, c->body, NULL, NULL) == 0) {
        multipart(c, str_sub(c->path, strlen(mpu), c->path.n));
        json_free(c->j);
        return true;
    }
    if (str_starts(c->path, "/storage/")) {
        storage_part(c);
        return true;
    }
    c->a->type = "text/plain";
    if (str_is(c->path, "/health") || str_is(c->path, "/version")) {
        buf_puts(&c->a->body, str_is(c->path, "/health") ? "OK" : "3.17.2");
        return false;
    }
    c->a->status = 404;
    c->a->type = "text/html";
    buf_puts(&c->a->body, "<!doctype html>\n<title>404 Not Found</title>\n");
    return false;
}

static void one_request(struct api *api, const char *method, const char *uri, const char *host, struct str body, struct answer *a, bool *changed)
{
    struct str rest = str_of(uri), path = str_cut(&rest, '?');
    struct call c = {.api = api, .s = &api->store, .path = path, .query = rest, .body = body, .method = method, .host = host, .a = a};
    *a = (struct answer){.status = 200, .type = "application/json"};
    buf_init(&a->body, 1 << 30);
    buf_puts(&a->body, "");
    *changed = dispatch(&c) && a->status == 200;
}

void api_do(struct api *api, const char *method, const char *uri, const char *host, struct str body, struct answer *ret)
{
    bool changed;
    pthread_mutex_lock(&api->lock);
    one_request(api, method, uri, host, body, ret, &changed);
    if (changed && api->journal >= 0) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 1 << 30);
        buf_printf(&b, "%s %s %zu\n", method, uri, body.n);
        buf_str(&b, body);
        buf_putc(&b, '\n');
        if (b.failed || fs_write_all(api->journal, b.p, b.n))
            abort();
    }
    pthread_mutex_unlock(&api->lock);
}

/* What a killed server had done is done again; a torn end is cut, its request was never answered. */
static void replay(struct api *api)
{
    struct buf b;
    char proc[40];
    buf_init(&b, 1 << 30);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", api->journal);
    if (fs_read(AT_FDCWD, proc, 1 << 30, 0, &b, NULL))
        abort();
    struct str all = buf_text(&b), rest = all;
    for (;;) {
        struct str line = str_cut(&rest, '\n'), method = str_word(&line), uri = str_word(&line), size = str_word(&line);
        uint64_t n;
        struct answer a;
        bool changed;
        if (!rest.p || !str_uint(size, &n) || rest.n < n + 1)
            break;
        one_request(api, strndup(method.p, method.n), strndup(uri.p, uri.n), "none", str_sub(rest, 0, n), &a, &changed);
        buf_deinit(&a.body);
        rest = str_sub(rest, n + 1, rest.n);
        all = rest;
    }
    if (b.n && ftruncate(api->journal, all.p ? all.p - b.p : 0))
        abort();
}

struct api *api_new(const char *journal)
{
    struct api *api = calloc(1, sizeof *api);
    pthread_mutex_init(&api->lock, NULL);
    api->journal = journal ? open(journal, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (journal && api->journal < 0)
        return NULL;
    store_experiment_add(&api->store, "Default");
    if (journal)
        replay(api);
    return api;
}
