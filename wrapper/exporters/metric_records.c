/* metric_records.c: metrics as records; see metric_records.h. */
#include "exporters/metric_records.h"

#include "base/array.h"
#include "base/json_out.h"
#include "base/prom.h"
#include "exporters/httpjson_template.h"

#include <math.h>

enum { RECORD_BYTES = 64 << 10 };

struct metric_records {
    const struct metric_records_source *from;
    const char *time; /* of all */
    struct str *records;
    struct exporter_series *series;
    size_t count, record_room, series_room;
    struct arena *a;
};

/* False: out of memory. A label that is too much is left out of the series, as in all others. */
static bool read_labels(struct str labels, struct exporter_series *to, struct json_out *j, struct arena *a)
{
    struct buf value CLEANUP_BUF;
    struct str name;
    buf_init(&value, RECORD_BYTES);
    json_open(j, "Labels", '{');
    while (prom_label_next(&labels, &name, &value)) {
        const char *key = arena_dup(a, name.p, name.n), *text = metric_series_label_text(buf_text(&value), a);
        if (!key || !text)
            return false;
        if (!*text)
            continue;
        json_text(j, key, text);
        if (to->n_labels < METRIC_LABELS_MAX)
            to->labels[to->n_labels++] = (struct metric_label){key, text};
    }
    json_close(j, '}');
    return !value.failed;
}

/* Adds a sample as a JSON record and as a series with one sample, both in m->a. False: out of
 * memory. */
static bool add_metric_record(struct metric_records *m, const struct prom_sample *s)
{
    struct buf text CLEANUP_BUF;
    struct tree_sample *sample = ARENA_NEW(m->a, struct tree_sample);
    const char *family = arena_dup(m->a, s->name.p, s->name.n);
    buf_init(&text, RECORD_BYTES);
    if (!sample || !family || !ARRAY_FITS_IN(m->a, m->records, m->record_room, m->count + 1) ||
        !ARRAY_FITS_IN(m->a, m->series, m->series_room, m->count + 1))
        return false;
    struct exporter_series *series = &m->series[m->count];
    *sample = (struct tree_sample){.time_ms = m->from->time_ms, .value = s->value};
    *series = (struct exporter_series){
        .family = family, .help = "", .unit = "", .samples = sample, .count = 1, .counter = str_ends(s->name, "_total")};
    struct json_out j = json_begin(&text, JSON_TIGHT, '{');
    json_text(&j, "TimeGenerated", m->time);
    json_text(&j, "Computer", m->from->computer);
    json_text(&j, "Cluster", m->from->cluster);
    json_text(&j, "Metric", family);
    if (!read_labels(s->labels, series, &j, m->a))
        return false;
    json_double(&j, "Value", s->value);
    json_close(&j, '}');
    const char *copy = text.failed ? NULL : arena_dup(m->a, text.p, text.n);
    if (!copy)
        return false;
    m->records[m->count++] = (struct str){copy, text.n};
    return true;
}

int metric_records_make(struct exporter_batch *ret, struct str page, const struct metric_records_source *from, struct arena *a,
                        struct err *err)
{
    struct metric_records m = {.from = from, .a = a, .time = template_utc_text(from->time_ms, a)};
    struct prom_sample s;
    for (int rc; (rc = prom_next(&page, &s)) != 0;)
        if (rc > 0 && isfinite(s.value) && !add_metric_record(&m, &s))
            return err_memory(err, "records of metrics");
    *ret = (struct exporter_batch){.records = m.records, .count = m.count, .series = m.series, .stream = METRIC_RECORDS_STREAM};
    return m.count ? 0 : err_set(err, ERR_INPUT, "the page of metrics has no number");
}
