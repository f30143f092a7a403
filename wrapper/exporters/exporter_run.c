/* exporter_run.c: a published run as exporters read it, and as one JSON object. */
#include "exporters/exporter_run.h"

#include "base/fs.h"
#include "base/json_out.h"
#include "mlruns-format/key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { DETAIL_MAX = 64 << 20 };

int exporter_run_read(struct exporter_run *ret, int tree, const char *id, struct arena *a, struct err *err)
{
    struct tree_run *run = NULL;
    struct buf text CLEANUP_BUF;
    buf_init(&text, DETAIL_MAX + 1);
    *ret = (struct exporter_run){.arena = a};
    int rc = tree_find(tree, id, TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE, a, &run, err);
    if (rc > 1)
        return err_set(err, ERR_INPUT, "several runs of the tree have the id %.64s", id);
    if (rc)
        return rc;
    ret->run = run;
    ret->root = fcntl(tree, F_DUPFD_CLOEXEC, 0) + 1;
    const char *path = arena_printf(a, "%s/artifacts/benchwrap.json", tree_run_path(run));
    if (!path) {
        exporter_run_deinit(ret);
        return err_memory(err, "a run");
    }
    struct err why = {0};
    if (fs_read(tree, path, DETAIL_MAX, 0, &text, &why) == 0)
        rc = json_parse(&ret->detail, buf_text(&text), NULL, err) ? err_wrap(err, "%s", path) : 0;
    else if (why.sys != ENOENT) {
        rc = -1;
        if (err)
            *err = why;
    }
    if (rc)
        exporter_run_deinit(ret);
    return rc;
}

void exporter_run_deinit(struct exporter_run *r)
{
    json_free(r->detail);
    r->detail = NULL;
    if (r->root > 0)
        close(r->root - 1);
    r->root = 0;
}

int exporter_run_artifact(const struct exporter_run *r, const char *name, struct buf *to)
{
    const char *path = r->root > 0 ? arena_printf(r->arena, "%s/artifacts/%s", tree_run_path(r->run), name) : NULL;
    return path ? fs_read(r->root - 1, path, to->max - 1, 0, to, NULL) : -1;
}

static const char *run_entry_text(const struct exporter_run *r, const struct tree_entry *e, const char *key)
{
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e ? arena_dup(r->arena, e->value.p ? e->value.p : "", e->value.n) : NULL;
}

const char *exporter_run_param(const struct exporter_run *r, const char *key)
{
    return run_entry_text(r, r->run->params, key);
}

const char *exporter_run_tag(const struct exporter_run *r, const char *key)
{
    return run_entry_text(r, r->run->tags, key);
}

const struct tree_sample *exporter_run_last(const struct tree_entry *metric)
{
    const struct tree_sample *best = NULL, *s = metric->samples;
    for (size_t i = 0; s && i < metric->count; i++)
        if (!best || s[i].step > best->step || (s[i].step == best->step && s[i].time_ms >= best->time_ms))
            best = &s[i];
    return best;
}

static const struct json *run_metric_detail(const struct exporter_run *r, const char *key)
{
    return json_get(json_get(r->detail, "metrics"), key);
}

const char *exporter_run_unit(const struct exporter_run *r, const char *key)
{
    const char *unit = json_string(json_get(run_metric_detail(r, key), "unit"), NULL);
    unit = unit ? unit : key_unit(key, r->arena);
    return unit ? unit : "";
}

static void run_put_entries(struct json_out *j, const char *name, const struct tree_entry *list)
{
    json_open(j, name, '{');
    for (; list; list = list->next)
        json_str(j, list->key, list->value);
    json_close(j, '}');
}

/* Appends a metric as an object; samples: with all of them, else with the last one. */
static void run_put_metric(struct json_out *j, const struct exporter_run *r, const struct tree_entry *e, bool samples)
{
    const struct tree_sample *last = exporter_run_last(e);
    json_open(j, NULL, '{');
    json_text(j, "key", e->key);
    if (last) {
        json_double(j, "value", last->value);
        json_int(j, "time_ms", last->time_ms);
        json_int(j, "step", last->step);
    } else
        json_null(j, "value");
    json_text(j, "unit", exporter_run_unit(r, e->key));
    json_text(j, "direction", json_string(json_get(run_metric_detail(r, e->key), "direction"), ""));
    if (samples) {
        json_open(j, "samples", '[');
        for (size_t i = 0; e->samples && i < e->count; i++) {
            json_open(j, NULL, '{');
            json_int(j, "time_ms", e->samples[i].time_ms);
            json_int(j, "step", e->samples[i].step);
            json_double(j, "value", e->samples[i].value);
            json_close(j, '}');
        }
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void run_put_detail(struct json_out *j, const struct exporter_run *r, const char *key)
{
    const struct json *value = json_get(r->detail, key);
    struct buf text CLEANUP_BUF;
    buf_init(&text, DETAIL_MAX);
    if (value)
        json_print(value, &text);
    if (value)
        json_raw(j, key, buf_text(&text));
    else
        json_null(j, key);
    if (text.failed)
        j->to->failed = true;
}

void exporter_run_json(const struct exporter_run *r, bool samples, struct buf *to)
{
    const struct tree_run *run = r->run;
    const char *status = (unsigned)run->status == 2 ? "SCHEDULED" : record_status_name(run->status);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_int(&j, "benchwrap_run", 1);
    json_text(&j, "id", run->id);
    json_text(&j, "name", run->name);
    json_text(&j, "experiment", run->experiment);
    json_uint(&j, "experiment_id", run->experiment_id);
    json_text(&j, "status", status);
    json_text(&j, "verdict", exporter_run_tag(r, "benchwrap.verdict"));
    json_text(&j, "reason", exporter_run_tag(r, "benchwrap.reason"));
    json_text(&j, "user", run->user);
    json_int(&j, "start_ms", run->start_ms);
    if (run->end_ms)
        json_int(&j, "end_ms", run->end_ms);
    else
        json_null(&j, "end_ms");
    json_text(&j, "path", run->path);
    run_put_entries(&j, "params", run->params);
    json_open(&j, "metrics", '[');
    for (const struct tree_entry *e = run->metrics; e; e = e->next)
        run_put_metric(&j, r, e, samples);
    json_close(&j, ']');
    run_put_entries(&j, "tags", run->tags);
    run_put_detail(&j, r, "references");
    run_put_detail(&j, r, "missing");
    run_put_detail(&j, r, "warnings");
    json_close(&j, '}');
}
