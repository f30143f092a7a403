/* api_calls.c: calls about experiments, runs and metrics; see api_parts.h. */
#include "server/api_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- experiments ---- */

void experiment_create(struct call *c)
{
    if (!call_text(c, "name")[0])
        return reply_invalid(c, "Missing value for required parameter 'name'.");
    if (store_experiment(c->s, NULL, call_text(c, "name")))
        return reply_say(c, 400, "RESOURCE_ALREADY_EXISTS", "Experiment already exists.");
    buf_printf(&c->a->body, "{\"experiment_id\":\"%s\"}", store_experiment_add(c->s, call_text(c, "name"))->id);
}

void experiment_get(struct call *c)
{
    const char *id = call_asked(c, "experiment_id");
    struct experiment *e = store_experiment(c->s, *id ? id : NULL, call_asked(c, "experiment_name"));
    if (!e)
        return reply_absent(c, "Could not find experiment");
    buf_puts(&c->a->body, "{\"experiment\":");
    reply_experiment(&c->a->body, e);
    buf_putc(&c->a->body, '}');
}

void experiment_search(struct call *c)
{
    buf_puts(&c->a->body, "{\"experiments\":[");
    for (size_t i = 0; i < c->s->n_experiments; i++) {
        buf_puts(&c->a->body, i ? "," : "");
        reply_experiment(&c->a->body, c->s->experiments[i]);
    }
    buf_puts(&c->a->body, "]}");
}

void experiment_change(struct call *c)
{
    struct experiment *e = store_experiment(c->s, call_text(c, "experiment_id"), NULL);
    if (!e)
        return reply_absent(c, "No such experiment");
    if (str_ends(c->path, "/set-experiment-tag"))
        pairs_set(&e->tags, call_text(c, "key"), call_text(c, "value"));
    else
        e->deleted = str_ends(c->path, "/delete");
    buf_puts(&c->a->body, "{}");
}

/* ---- runs ---- */

struct run *call_run(struct call *c)
{
    const char *id = c->j ? call_text(c, "run_id") : call_asked(c, "run_id");
    struct run *r = store_run(c->s, id);
    if (!r)
        reply_absent(c, "Run with that id not found");
    return r;
}

void run_create(struct call *c)
{
    struct experiment *e = store_experiment(c->s, call_text(c, "experiment_id"), NULL);
    if (!e || e->deleted)
        return reply_absent(c, "No such experiment");
    struct run *r =
        store_run_add(c->s, e->id, call_text(c, "run_name"), call_text(c, "user_id"), json_integer(json_get(c->j, "start_time"), 0));
    pairs_set(&r->tags, "mlflow.runName", r->name);
    for (const struct json *t = json_first(json_get(c->j, "tags")); t; t = json_next(t))
        pairs_set(&r->tags, json_string(json_get(t, "key"), ""), json_string(json_get(t, "value"), ""));
    buf_puts(&c->a->body, "{\"run\":");
    reply_run(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

void run_get(struct call *c)
{
    struct run *r = call_run(c);
    if (!r)
        return;
    buf_puts(&c->a->body, "{\"run\":");
    reply_run(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

void run_update(struct call *c)
{
    static const char *const known[] = {"RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};
    struct run *r = call_run(c);
    bool good = !json_get(c->j, "status");
    if (!r)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        good |= strcmp(call_text(c, "status"), known[i]) == 0;
    if (!good || (json_get(c->j, "end_time") && !json_is_number(json_get(c->j, "end_time"))))
        return reply_invalid(c, "status or end_time");
    if (json_get(c->j, "status"))
        r->status = strdup(call_text(c, "status"));
    r->end_ms = json_integer(json_get(c->j, "end_time"), r->end_ms);
    if (call_text(c, "run_name")[0]) {
        r->name = strdup(call_text(c, "run_name"));
        pairs_set(&r->tags, "mlflow.runName", r->name);
    }
    buf_puts(&c->a->body, "{\"run_info\":");
    reply_info(&c->a->body, r);
    buf_putc(&c->a->body, '}');
}

void run_life(struct call *c)
{
    struct run *r = call_run(c);
    if (!r)
        return;
    r->deleted = str_ends(c->path, "/delete");
    buf_puts(&c->a->body, "{}");
}

void run_tag(struct call *c)
{
    struct run *r = call_run(c);
    if (!r)
        return;
    if (str_ends(c->path, "/set-tag"))
        pairs_set(&r->tags, call_text(c, "key"), call_text(c, "value"));
    else if (!pairs_remove(&r->tags, call_text(c, "key")))
        return reply_absent(c, "No tag with that name");
    buf_puts(&c->a->body, "{}");
}

/* attributes.start_time >= number, or <=. */
static bool time_fits(struct call *c, const struct run *r, struct str one)
{
    int64_t ms;
    struct str rest = one, operator= (str_word(&rest), str_word(&rest));
    if (!str_int(str_trim(rest), &ms) || !(str_is(operator, ">=") || str_is(operator, "<=")))
        return reply_invalid(c, "Invalid filter"), false;
    return str_is(operator, ">=") ? r->start_ms >= ms : r->start_ms <= ms;
}

/* attributes.run_id NOT IN ('…','…') */
static bool is_listed(const struct run *r, struct str one)
{
    return str_find(one, str_of(r->id)) >= 0;
}

/* One comparison: tags.`key` (or attributes.run_id) = 'value', != or LIKE 'text%'. What is not understood is an error, as with the real one. */
static bool one_fits(struct call *c, const struct run *r, struct str one)
{
    if (str_starts(one, "attributes.start_time "))
        return time_fits(c, r, one);
    if (str_starts(one, "attributes.run_id NOT IN ('") && str_ends(one, "')"))
        return !is_listed(r, one);
    ptrdiff_t quote = str_find(one, STR("'"));
    struct str name = str_sub(one, 0, quote < 0 ? 0 : (size_t)quote), key = str_word(&name), operator= str_trim(name);
    struct str wanted = str_sub(one, (size_t)quote + 1, one.n - (size_t)quote - 2);
    bool like = str_is(operator, "LIKE"), not = str_is(operator, "!=");
    bool by_id = str_is(key, "attributes.run_id");
    if (!(by_id || str_starts(key, "tags.")) || !(like || not || str_is(operator, "=")) || !str_ends(one, "'"))
        return reply_invalid(c, "Invalid filter"), false;
    key = str_sub(key, 5, key.n);
    if (str_starts(key, "`"))
        key = str_sub(key, 1, key.n - 2);
    const char *value = by_id ? r->id : pairs_get(&r->tags, key);
    if (like && str_ends(wanted, "%"))
        return value && strncmp(value, wanted.p, wanted.n - 1) == 0;
    return value && str_is(wanted, value) != not ;
}

static bool fits(struct call *c, const struct run *r, struct str filter)
{
    while (!c->s->unfiltered && str_trim(filter).n) {
        ptrdiff_t and = str_find(filter, STR(" and "));
        and = and < 0 ? str_find(filter, STR(" AND ")) : and;
        if (!one_fits(c, r, str_trim(and < 0 ? filter : str_sub(filter, 0, (size_t) and))))
            return false;
        filter = and < 0 ? STR("") : str_sub(filter, (size_t) and +5, filter.n);
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

void run_search(struct call *c)
{
    const char *view = json_string(json_get(c->j, "run_view_type"), "ACTIVE_ONLY");
    int64_t max = json_integer(json_get(c->j, "max_results"), 1000), from = 0, n = 0;
    str_int(str_of(call_text(c, "page_token")), &from);
    buf_puts(&c->a->body, "{\"runs\":[");
    for (size_t i = c->s->n_runs; i-- > 0 && c->a->status == 200 && n < from + max + 1;) {
        const struct run *r = c->s->runs[i];
        bool seen = strcmp(view, "ALL") == 0 || r->deleted == (strcmp(view, "DELETED_ONLY") == 0);
        if (!seen || !in_list(json_get(c->j, "experiment_ids"), r->experiment) || !fits(c, r, str_of(call_text(c, "filter"))))
            continue;
        if (n >= from && n < from + max) {
            buf_puts(&c->a->body, n > from ? "," : "");
            reply_run(&c->a->body, r);
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
        if (!good || !json_string(json_get(m, "key"), "")[0] || !json_is_number(json_get(m, "timestamp")) ||
            !json_is_number(json_get(m, "step")))
            return reply_invalid(c, "a metric of a wrong type"), false;
    }
    return true;
}

static bool pairs_good(struct call *c, const char *name)
{
    struct pairs seen = {0};
    for (const struct json *p = json_first(json_get(c->j, name)); p; p = json_next(p)) {
        const char *key = json_string(json_get(p, "key"), "");
        if (!*key || strlen(key) > 250 || !json_is_string(json_get(p, "value")))
            return reply_invalid(c, "a param or tag of a wrong type"), false;
        if (pairs_get(&seen, str_of(key)))
            return reply_invalid(c, "Duplicate keys are not allowed"), false;
        pairs_set(&seen, key, "");
    }
    return true;
}

void log_batch(struct call *c)
{
    struct run *r = call_run(c);
    const struct json *metrics = json_get(c->j, "metrics"), *params = json_get(c->j, "params"), *tags = json_get(c->j, "tags");
    if (!r)
        return;
    if (r->deleted)
        return reply_invalid(c, "The run must be in the 'active' state.");
    if (json_count(metrics) > 1000 || json_count(params) > 100 || json_count(tags) > 100 ||
        json_count(metrics) + json_count(params) + json_count(tags) > 1000)
        return reply_invalid(c, "A batch logging request can contain at most 1000 metrics, 100 params, 100 tags and 1000 in all");
    if (!metrics_good(c) || !pairs_good(c, "params") || !pairs_good(c, "tags"))
        return;
    for (const struct json *p = json_first(params); p; p = json_next(p)) { /* nothing is kept of a batch that changes a param */
        const char *old = pairs_get(&r->params, str_of(json_string(json_get(p, "key"), "")));
        if (old && strcmp(old, json_string(json_get(p, "value"), "")) != 0)
            return reply_invalid(c, "Changing param values is not allowed.");
    }
    for (const struct json *p = json_first(params); p; p = json_next(p))
        pairs_set(&r->params, json_string(json_get(p, "key"), ""), json_string(json_get(p, "value"), ""));
    for (const struct json *t = json_first(tags); t; t = json_next(t))
        pairs_set(&r->tags, json_string(json_get(t, "key"), ""), json_string(json_get(t, "value"), ""));
    for (const struct json *m = json_first(metrics); m; m = json_next(m)) {
        bool good;
        run_metric(r, json_string(json_get(m, "key"), ""),
                   (struct sample){number_of(json_get(m, "value"), &good), json_integer(json_get(m, "timestamp"), 0),
                                   json_integer(json_get(m, "step"), 0)});
    }
    buf_puts(&c->a->body, "{}");
}

void log_inputs(struct call *c)
{
    struct run *r = call_run(c);
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

void history(struct call *c)
{
    struct run *r = call_run(c);
    int64_t max = 0, from = 0;
    if (!r)
        return;
    str_int(str_of(call_asked(c, "max_results")), &max); /* none: an empty page and a token, as the real one */
    str_int(str_of(call_asked(c, "page_token")), &from);
    const struct metric *m = run_metric_find(r, call_asked(c, "metric_key"));
    buf_puts(&c->a->body, "{\"metrics\":[");
    for (size_t i = (size_t)from; m && i < m->n && i < (size_t)(from + max); i++) {
        buf_puts(&c->a->body, i > (size_t)from ? "," : "");
        reply_sample(&c->a->body, m->key, &m->p[i]);
    }
    buf_putc(&c->a->body, ']');
    if (m && m->n > (size_t)(from + max))
        buf_printf(&c->a->body, ",\"next_page_token\":\"%lld\"", (long long)(from + max));
    buf_putc(&c->a->body, '}');
}
