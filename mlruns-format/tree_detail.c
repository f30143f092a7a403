/* tree_detail.c: artifacts/benchwrap.json, the full typed record (benchwrap.schema.json). */
#include "base/buf.h"
#include "mlruns-format/tree_parts.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    DETAIL_MAX = 256 << 20 /* bytes of benchwrap.json: all values of a record, which is bounded */
};

/* Begins a member on a line of its own: the comma before it, its key, a colon. */
static void detail_begin_member(struct buf *t, int indent, bool *first, struct str key)
{
    buf_printf(t, "%s\n%*s", *first ? "" : ",", indent, "");
    *first = false;
    buf_json(t, key);
    buf_puts(t, ": ");
}

static void detail_begin_element(struct buf *t, int indent, bool *first)
{
    buf_printf(t, "%s\n%*s", *first ? "" : ",", indent, "");
    *first = false;
}

static void detail_text_member(struct buf *t, int indent, bool *first, const char *key, struct str value)
{
    detail_begin_member(t, indent, first, str_of(key));
    buf_json(t, value);
}

static void detail_number(struct buf *t, double v)
{
    if (isnan(v))
        buf_puts(t, "\"nan\"");
    else
        buf_double(t, v);
}

static void detail_write_run(struct buf *t, const struct building *b)
{
    bool first = true;
    detail_begin_member(t, 2, &first, STR("run"));
    buf_putc(t, '{');
    first = true;
    detail_text_member(t, 4, &first, "id", str_of(b->r->id));
    detail_text_member(t, 4, &first, "name", b->run_name);
    detail_begin_member(t, 4, &first, STR("experiment"));
    buf_printf(t, "{\"id\": \"%u\", \"name\": ", b->experiment);
    buf_json(t, b->experiment_name);
    buf_puts(t, ", \"wanted\": ");
    buf_json(t, b->head->experiment && *b->head->experiment ? str_of(b->head->experiment) : b->experiment_name);
    buf_putc(t, '}');
    detail_text_member(t, 4, &first, "status", str_of(record_status_name(b->r->status)));
    detail_begin_member(t, 4, &first, STR("start_ms"));
    buf_printf(t, "%lld", (long long)b->r->start_ms);
    detail_begin_member(t, 4, &first, STR("end_ms"));
    if (b->end_ms)
        buf_printf(t, "%lld", (long long)b->end_ms);
    else
        buf_puts(t, "null");
    detail_text_member(t, 4, &first, "user", b->user);
    detail_text_member(t, 4, &first, "host", str_of(b->head->host));
    detail_text_member(t, 4, &first, "job", str_of(b->head->job));
    detail_begin_member(t, 4, &first, STR("argv"));
    buf_putc(t, '[');
    for (char **a = b->head->argv; a && *a; a++) {
        if (a != b->head->argv)
            buf_puts(t, ", ");
        buf_json(t, str_of(*a));
    }
    buf_puts(t, "]\n  }");
}

/* Params or tags: {"<key>": {"value": …, "source": …}}. */
static void detail_write_texts(struct buf *t, const struct building *b, enum fact_kind kind, const char *name)
{
    bool first = false, inner = true;
    detail_begin_member(t, 2, &first, str_of(name));
    buf_putc(t, '{');
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != kind)
            continue;
        detail_begin_member(t, 4, &inner, f->key);
        buf_puts(t, "{\"value\": ");
        buf_json(t, f->text);
        buf_puts(t, ", \"source\": ");
        buf_json(t, str_of(f->source));
        buf_putc(t, '}');
    }
    buf_puts(t, inner ? "}" : "\n  }");
}

static void write_series(struct buf *t, const struct metric_series *s)
{
    const struct fact *last = s->samples[0], *unit = last;
    double low = NAN, high = NAN, sum = 0, carry = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct fact *f = s->samples[i];
        if (f->step >= last->step)
            last = f; /* as MLflow: greatest step, then latest */
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
    buf_puts(t, "{\"value\": ");
    detail_number(t, last->value);
    buf_puts(t, ", \"unit\": ");
    buf_json(t, str_of(unit->unit));
    buf_puts(t, ", \"direction\": ");
    buf_json(t, str_of(record_direction_name(unit->direction)));
    buf_puts(t, ", \"source\": ");
    buf_json(t, str_of(unit->source));
    buf_printf(t, ", \"samples\": %zu", s->count);
    if (s->count > 1 && n > 0 && isfinite(sum)) {
        buf_puts(t, ", \"min\": ");
        detail_number(t, low);
        buf_puts(t, ", \"max\": ");
        detail_number(t, high);
        buf_puts(t, ", \"mean\": ");
        detail_number(t, sum / (double)n);
    }
    if (s->width > 1)
        buf_printf(t, ", \"thinned\": {\"points\": %zu, \"bucket\": %zu, \"file\": \"series.jsonl\"}", s->n_points, s->width);
    buf_putc(t, '}');
}

static void detail_write_metrics(struct buf *t, const struct building *b)
{
    bool first = false, inner = true;
    detail_begin_member(t, 2, &first, STR("metrics"));
    buf_putc(t, '{');
    for (size_t i = 0; i < b->n_series; i++) {
        detail_begin_member(t, 4, &inner, b->series[i].key);
        write_series(t, &b->series[i]);
    }
    buf_puts(t, inner ? "}" : "\n  }");
}

/* Did the file get into the tree? */
static bool is_artifact(const struct building *b, const struct fact *f)
{
    char path[600];
    struct stat st;
    snprintf(path, sizeof path, "artifacts/" STR_FMT, STR_ARG(f->key));
    return fstatat(b->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Lists: artifacts, missing, warnings. `key` and `text` name the members (NULL: left out). */
static void write_list(struct buf *t, const struct building *b, enum fact_kind kind, const char *name, const char *key, const char *text)
{
    bool first = false, inner = true;
    detail_begin_member(t, 2, &first, str_of(name));
    buf_putc(t, '[');
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != kind || (kind == FACT_ARTIFACT && !is_artifact(b, f)))
            continue;
        detail_begin_element(t, 4, &inner);
        buf_putc(t, '{');
        if (key) {
            buf_printf(t, "\"%s\": ", key);
            buf_json(t, f->key);
        }
        if (text) {
            buf_printf(t, "%s\"%s\": ", key ? ", " : "", text);
            buf_json(t, f->text);
        }
        buf_puts(t, ", \"source\": ");
        buf_json(t, str_of(f->source));
        buf_putc(t, '}');
    }
    buf_puts(t, inner ? "]" : "\n  ]");
}

int detail_write(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    buf_init(&t, DETAIL_MAX);
    bool first = true;
    buf_putc(&t, '{');
    detail_begin_member(&t, 2, &first, STR("format"));
    buf_printf(&t, "%d", MLRUNS_FORMAT);
    detail_text_member(&t, 2, &first, "generator", STR("benchwrap " BW_VERSION));
    buf_putc(&t, ',');
    detail_write_run(&t, b);
    const struct fact *verdict = record_find(b->r, FACT_TAG, "benchwrap.verdict"),
                      *reason = record_find(b->r, FACT_TAG, "benchwrap.reason");
    detail_begin_member(&t, 2, &first, STR("verdict"));
    buf_puts(&t, "{\"word\": ");
    buf_json(&t, verdict ? verdict->text : STR("none"));
    buf_puts(&t, ", \"reason\": ");
    buf_json(&t, reason ? reason->text : STR(""));
    buf_putc(&t, '}');
    if (b->r->references.n) {
        detail_begin_member(&t, 2, &first, STR("references"));
        buf_putc(&t, '[');
        buf_str(&t, b->r->references);
        buf_puts(&t, "\n  ]");
    }
    detail_write_texts(&t, b, FACT_PARAM, "params");
    detail_write_metrics(&t, b);
    detail_write_texts(&t, b, FACT_TAG, "tags");
    write_list(&t, b, FACT_ARTIFACT, "artifacts", "path", NULL);
    write_list(&t, b, FACT_MISSING, "missing", "key", "reason");
    write_list(&t, b, FACT_WARNING, "warnings", NULL, "text");
    buf_puts(&t, "\n}\n");
    if (t.failed)
        return err_set(err, ERR_SYSTEM, "cannot write artifacts/benchwrap.json: memory is short");
    return building_write(b, "artifacts/benchwrap.json", buf_text(&t), err);
}
