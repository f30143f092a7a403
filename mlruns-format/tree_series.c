/* tree_series.c: samples by key; long series thinned to the smallest and largest of each bucket, all of them kept as an artifact. */
#include "base/fs.h"
#include "mlruns-format/tree_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

enum { LINE_SAMPLES = 1000 /* samples in a line of series.jsonl: at most 70 KiB */ };

/* Adds the smallest and the largest of samples[0..n) in their order; a bucket of NaN alone keeps its first. */
static void thin_bucket(struct metric_series *s, const struct fact **samples, size_t n)
{
    const struct fact *low = NULL, *high = NULL;
    for (size_t i = 0; i < n; i++) {
        if (isnan(samples[i]->value))
            continue;
        if (!low || samples[i]->value < low->value)
            low = samples[i];
        if (!high || samples[i]->value > high->value)
            high = samples[i];
    }
    if (!low)
        low = high = samples[0];
    bool low_first = low->time_ms <= high->time_ms;
    s->points[s->n_points++] = low_first ? low : high;
    if (low != high)
        s->points[s->n_points++] = low_first ? high : low;
}

/* Thins a series of more than SERIES_MAX samples. The last sample stays as it is: tables show it as
 * the value. 0; -1 with err. */
static int series_thin(struct building *b, struct metric_series *s, struct err *err)
{
    s->width = 1;
    s->points = s->samples;
    s->n_points = s->count;
    if (s->count <= SERIES_MAX)
        return 0;
    size_t buckets = SERIES_MAX / 2 - 1, before = s->count - 1;
    s->width = (before + buckets - 1) / buckets;
    s->points = arena_get(&b->arena, SERIES_MAX * sizeof(struct fact *));
    if (!s->points)
        return err_memory(err, "the series of metrics");
    s->n_points = 0;
    for (size_t i = 0; i < before; i += s->width)
        thin_bucket(s, s->samples + i, before - i < s->width ? before - i : s->width);
    s->points[s->n_points++] = s->samples[before];
    return 0;
}

int series_collect(struct building *b, struct err *err)
{
    size_t n = b->r->index->metrics, extra = 0;
    for (const struct fact *f = b->extra; f; f = f->next)
        extra += f->kind == FACT_METRIC;
    b->series = arena_get(&b->arena, (n + extra + 1) * sizeof *b->series);
    if (!b->series)
        return err_memory(err, "the series of metrics");
    for (const struct fact *f = NULL; (f = building_next(b, f));) {
        if (f->kind != FACT_METRIC)
            continue;
        const struct record_entry *e = record_entry_find(b->r, SPACE_METRIC, f->key);
        struct metric_series *s = &b->series[e ? e->number : n++];
        if (!s->samples) {
            s->key = f->key;
            s->samples = arena_get(&b->arena, (e ? e->count : 1) * sizeof(struct fact *));
            if (!s->samples)
                return err_memory(err, "the series of metrics");
        }
        if (!e || s->count < e->count)
            s->samples[s->count++] = f;
    }
    for (size_t i = 0; i < n; i++) /* a key whose only sample was lost, out of memory, has none */
        if (b->series[i].count) {
            b->series[b->n_series] = b->series[i];
            if (series_thin(b, &b->series[b->n_series++], err) < 0)
                return -1;
        }
    return 0;
}

/* Appends one line: the key and up to LINE_SAMPLES samples from the k-th on. */
static void series_add_line(struct buf *t, const struct metric_series *s, size_t k)
{
    size_t end = s->count - k < LINE_SAMPLES ? s->count : k + LINE_SAMPLES;
    struct json_out j = json_begin(t, JSON_TIGHT, '{');
    json_str(&j, "key", s->key);
    json_open(&j, "samples", '[');
    for (size_t i = k; i < end; i++) {
        const struct fact *f = s->samples[i];
        json_open(&j, NULL, '[');
        json_int(&j, NULL, f->time_ms);
        json_int(&j, NULL, f->step);
        json_metric(&j, NULL, f->value);
        json_close(&j, ']');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(t, '\n');
}

int series_write_all(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    buf_init(&t, 1 << 20);
    CLEANUP_FD int fd = -1;
    for (size_t i = 0; i < b->n_series; i++) {
        const struct metric_series *s = &b->series[i];
        if (s->width == 1)
            continue;
        if (fd < 0)
            fd = openat(b->dir, "artifacts/series.jsonl", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0)
            return err_sys(err, "cannot create artifacts/series.jsonl");
        for (size_t k = 0; k < s->count; k += LINE_SAMPLES) {
            series_add_line(&t, s, k);
            if (t.failed)
                return err_memory(err, "the series of metrics");
            if (fs_write_all(fd, t.p, t.n) < 0)
                return err_sys(err, "cannot write artifacts/series.jsonl");
            buf_clear(&t);
        }
    }
    if (fd >= 0) {
        if (close(fs_take(&fd)) < 0 && errno != EINTR)
            return err_sys(err, "cannot write artifacts/series.jsonl");
        return building_written(b, "artifacts/series.jsonl", err);
    }
    return 0;
}
