/* tree_detail.c: artifacts/benchwrap.json, the full typed record (benchwrap.schema.json). */
#include "base/json_out.h"
#include "mlruns-format/tree_parts.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    DETAIL_MAX = 256 << 20 /* bytes of benchwrap.json: all values of a record, which is bounded */
};

/* Writes the member "run": identity, times, status and command of the run. */
static void detail_write_run(struct json_out *j, const struct building *b)
{
    size_t words = 0;
    while (b->head->argv && b->head->argv[words])
        words++;
    json_open(j, "run", '{');
    json_text(j, "id", b->r->id);
    json_str(j, "name", b->run_name);
    json_open_row(j, "experiment", '{');
    json_printf(j, "id", "\"%u\"", b->experiment);
    json_str(j, "name", b->experiment_name);
    json_str(j, "wanted", b->head->experiment && *b->head->experiment ? str_of(b->head->experiment) : b->experiment_name);
    json_close(j, '}');
    json_text(j, "status", record_status_name(b->r->status));
    json_int(j, "start_ms", b->r->start_ms);
    if (b->end_ms)
        json_int(j, "end_ms", b->end_ms);
    else
        json_null(j, "end_ms");
    json_str(j, "user", b->user);
    json_str(j, "host", str_of(b->head->host));
    json_str(j, "job", str_of(b->head->job));
    json_open_row(j, "argv", '[');
    for (size_t i = 0; i < words; i++)
        json_text(j, NULL, b->head->argv[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* Params or tags: {"<key>": {"value": …, "source": …}}. */
static void detail_write_texts(struct json_out *j, const struct building *b, enum fact_kind kind, const char *name)
{
    json_open(j, name, '{');
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != kind)
            continue;
        json_name(j, f->key);
        json_open_row(j, NULL, '{');
        json_str(j, "value", f->text);
        json_str(j, "source", str_of(f->source));
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* Writes the object of one metric in benchwrap.json: its value, and of several samples minimum,
 * maximum and mean without those that are NaN. */
static void write_series(struct json_out *j, const struct metric_series *s)
{
    const struct fact *last = s->samples[0], *unit = last;
    double low = NAN, high = NAN, sum = 0, carry = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct fact *f = s->samples[i];
        if (f->step >= last->step)
            last = f; /* as MLflow: largest step, then latest */
        if (*unit->unit == 0 && *f->unit)
            unit = f;
        if (isnan(f->value))
            continue;
        low = n == 0 || f->value < low ? f->value : low;
        high = n == 0 || f->value > high ? f->value : high;
        double y = f->value - carry, next = sum + y; /* Kahan */
        carry = (next - sum) - y;
        sum = next;
        n++;
    }
    json_open_row(j, NULL, '{');
    json_metric(j, "value", last->value);
    json_str(j, "unit", str_of(unit->unit));
    json_str(j, "direction", str_of(record_direction_name(unit->direction)));
    json_str(j, "source", str_of(unit->source));
    json_uint(j, "samples", s->count);
    if (s->count > 1 && n > 0 && isfinite(sum)) {
        json_metric(j, "min", low);
        json_metric(j, "max", high);
        json_metric(j, "mean", sum / (double)n);
    }
    if (s->width > 1) {
        json_open(j, "thinned", '{');
        json_uint(j, "points", s->n_points);
        json_uint(j, "bucket", s->width);
        json_text(j, "file", "series.jsonl");
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void detail_write_metrics(struct json_out *j, const struct building *b)
{
    json_open(j, "metrics", '{');
    for (size_t i = 0; i < b->n_series; i++) {
        json_name(j, b->series[i].key);
        write_series(j, &b->series[i]);
    }
    json_close(j, '}');
}

/* Returns whether the file is in the tree. */
static bool is_artifact(const struct building *b, const struct fact *f)
{
    char path[600];
    struct stat st;
    snprintf(path, sizeof path, "artifacts/" STR_FMT, STR_ARG(f->key));
    return fstatat(b->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Writes a list: artifacts, missing, warnings. `key` and `text` name the members (NULL: left
 * out). */
static void write_list(struct json_out *j, const struct building *b, enum fact_kind kind, const char *name, const char *key,
                       const char *text)
{
    json_open(j, name, '[');
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != kind || (kind == FACT_ARTIFACT && !is_artifact(b, f)))
            continue;
        json_open_row(j, NULL, '{');
        if (key)
            json_str(j, key, f->key);
        if (text)
            json_str(j, text, f->text);
        json_str(j, "source", str_of(f->source));
        json_close(j, '}');
    }
    json_close(j, ']');
}

int detail_write(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    const struct fact *verdict = record_find(b->r, FACT_TAG, "benchwrap.verdict"),
                      *reason = record_find(b->r, FACT_TAG, "benchwrap.reason");
    buf_init(&t, DETAIL_MAX);
    struct json_out j = json_begin(&t, JSON_BLOCK, '{');
    json_int(&j, "format", MLRUNS_FORMAT);
    json_text(&j, "generator", "benchwrap " BW_VERSION);
    detail_write_run(&j, b);
    json_open_row(&j, "verdict", '{');
    json_str(&j, "word", verdict ? verdict->text : STR("none"));
    json_str(&j, "reason", reason ? reason->text : STR(""));
    json_close(&j, '}');
    if (b->r->references.n) {
        json_open(&j, "references", '[');
        json_members(&j, b->r->references);
        json_close(&j, ']');
    }
    detail_write_texts(&j, b, FACT_PARAM, "params");
    detail_write_metrics(&j, b);
    detail_write_texts(&j, b, FACT_TAG, "tags");
    write_list(&j, b, FACT_ARTIFACT, "artifacts", "path", NULL);
    write_list(&j, b, FACT_MISSING, "missing", "key", "reason");
    write_list(&j, b, FACT_WARNING, "warnings", NULL, "text");
    json_close(&j, '}');
    if (t.failed)
        return err_memory(err, "artifacts/benchwrap.json");
    return building_write(b, "artifacts/benchwrap.json", buf_text(&t), err);
}
