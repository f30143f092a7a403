/* metrics_text.c: the aggregate of a run as JSON and back, for agents: what is merged from text
 * equals what is merged in memory. */
#include "benchmarks/native/llmload/metrics.h"

#include "base/json.h"

#include <string.h>

enum { STATUSES = sizeof((struct metrics *)0)->status / sizeof((struct metrics *)0)->status[0] };

static void metrics_put_row(struct json_out *j, const char *name, const uint64_t *v, size_t n)
{
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++)
        json_uint(j, NULL, v[i]);
    json_close(j, ']');
}

static void metrics_put_series(struct json_out *j, const struct load_series *s)
{
    json_open(j, "series", '{');
    json_int(j, "width_ns", s->width_ns);
    json_open(j, "buckets", '[');
    for (size_t i = 0; i < s->n; i++) {
        const struct series_bucket *b = &s->b[i];
        metrics_put_row(j, NULL, (uint64_t[]){b->sent, b->completed, b->failed, b->tokens, b->chunks, (uint64_t)b->in_flight_ns, b->good},
                        7);
    }
    json_close(j, ']');
    json_close(j, '}');
}

void metrics_print(const struct metrics *m, const char *key, struct json_out *j)
{
    json_open(j, key, '{');
#define SUM(field) json_int(j, #field, (int64_t)m->field);
    METRICS_SUMS(SUM)
#undef SUM
    json_int(j, "first_send_ns", m->first_send_ns);
    json_int(j, "last_end_ns", m->last_end_ns);
    json_int(j, "last_send_ns", m->last_send_ns);
    json_int(j, "window_begin_ns", m->window_begin_ns);
    json_int(j, "window_end_ns", m->window_end_ns);
    json_int(j, "series_begin_ns", m->series_begin_ns);
    json_int(j, "in_flight_max", (int64_t)m->in_flight_max);
    json_known(j, "itl_sum_ns", m->itl_sum_ns);
    json_known(j, "itl_unknown_ns", m->itl_unknown_ns);
    json_known(j, "cpu_s", m->cpu_s);
    for (int p = 0; p < PHASES; p++)
        metrics_put_row(j, phase_names[p], m->ended[p], ENDINGS);
    metrics_put_row(j, "status", m->status, STATUSES);
    metrics_put_row(j, "input_source", m->input_source, TOKENS_SOURCES);
    metrics_put_row(j, "output_source", m->output_source, TOKENS_SOURCES);
    metrics_put_series(j, &m->series);
    json_open(j, "first_error", '{');
    for (int e = 0; e < ENDINGS; e++)
        if (m->first_error[e][0])
            json_text(j, ending_rows[e].name, m->first_error[e]);
    json_close(j, '}');
    json_open(j, "histograms", '{');
    for (int i = 0; i < METRICS; i++)
        hdr_print(&m->h[i], metric_rows[i].key, j);
    json_close(j, '}');
    json_close(j, '}');
}

/* ---- and back ---- */

static uint64_t metrics_read_whole(const struct json *j)
{
    int64_t v = json_integer(j, 0);
    return v > 0 ? (uint64_t)v : 0;
}

/* Adds a row of n counts to v. Returns 0, or -1 with *err where it is missing or has another
 * length. */
static int read_row(const struct json *from, const char *name, uint64_t *v, size_t n, struct err *err)
{
    const struct json *row = json_get(from, name), *j = json_first(row);
    if (!json_is_array(row) || json_count(row) != n)
        return err_set(err, ERR_INPUT, "\"%s\" is missing, or of another version", name);
    for (size_t i = 0; i < n; i++, j = json_next(j))
        v[i] += metrics_read_whole(j);
    return 0;
}

/* Into an empty series; metrics_merge brings widths together. */
static int metrics_read_series(struct load_series *s, const struct json *from, struct err *err)
{
    const struct json *j = json_first(json_get(from, "buckets"));
    int64_t width = json_integer(json_get(from, "width_ns"), 0);
    int64_t doubled = width / s->width_ns; /* widths only ever double */
    if (doubled < 1 || doubled > 1 << 30 || (doubled & (doubled - 1)) || width % s->width_ns ||
        json_count(json_get(from, "buckets")) > SERIES_MAX)
        return err_set(err, ERR_INPUT, "\"series\" is missing, or has other widths, or more than %d buckets", SERIES_MAX);
    s->width_ns = width;
    for (s->n = 0; j; j = json_next(j), s->n++)
        s->b[s->n] = (struct series_bucket){.sent = (uint32_t)metrics_read_whole(json_at(j, 0)),
                                            .completed = (uint32_t)metrics_read_whole(json_at(j, 1)),
                                            .failed = (uint32_t)metrics_read_whole(json_at(j, 2)),
                                            .tokens = metrics_read_whole(json_at(j, 3)),
                                            .chunks = metrics_read_whole(json_at(j, 4)),
                                            .in_flight_ns = metrics_read_whole(json_at(j, 5)),
                                            .good = (uint32_t)metrics_read_whole(json_at(j, 6))};
    return 0;
}

static void read_errors(struct metrics *m, const struct json *from)
{
    for (int e = 0; e < ENDINGS; e++) {
        const char *text = json_string(json_get(from, ending_rows[e].name), NULL);
        if (text)
            strncpy(m->first_error[e], text, sizeof m->first_error[0] - 1);
    }
}

/* Reads what metrics_print has written of another process into *m. -1 with err: a member is missing
 * or wrong. */
static int metrics_read_members(struct metrics *m, const struct json *from, struct err *err)
{
#define SUM(field) m->field = metrics_read_whole(json_get(from, #field));
    METRICS_SUMS(SUM)
#undef SUM
    m->first_send_ns = json_integer(json_get(from, "first_send_ns"), 0);
    m->last_end_ns = json_integer(json_get(from, "last_end_ns"), 0);
    m->last_send_ns = json_integer(json_get(from, "last_send_ns"), 0);
    m->window_begin_ns = json_integer(json_get(from, "window_begin_ns"), 0);
    m->window_end_ns = json_integer(json_get(from, "window_end_ns"), 0);
    m->series_begin_ns = json_integer(json_get(from, "series_begin_ns"), 0);
    m->in_flight_max = metrics_read_whole(json_get(from, "in_flight_max"));
    m->itl_sum_ns = json_number(json_get(from, "itl_sum_ns"), 0);
    m->itl_unknown_ns = json_number(json_get(from, "itl_unknown_ns"), 0);
    m->cpu_s = json_number(json_get(from, "cpu_s"), 0);
    for (int p = 0; p < PHASES; p++)
        if (read_row(from, phase_names[p], m->ended[p], ENDINGS, err) < 0)
            return -1;
    if (read_row(from, "status", m->status, STATUSES, err) < 0 ||
        read_row(from, "input_source", m->input_source, TOKENS_SOURCES, err) < 0 ||
        read_row(from, "output_source", m->output_source, TOKENS_SOURCES, err) < 0 ||
        metrics_read_series(&m->series, json_get(from, "series"), err) < 0)
        return -1;
    read_errors(m, json_get(from, "first_error"));
    for (int i = 0; i < METRICS; i++)
        if (hdr_read(&m->h[i], json_get(json_get(from, "histograms"), metric_rows[i].key), err) < 0)
            return err_wrap(err, "histogram %s", metric_rows[i].key);
    return 0;
}

int metrics_read(struct metrics *into, const struct json *from, struct err *err)
{
    struct metrics m;
    if (metrics_init(&m, err) < 0)
        return -1;
    int rc = metrics_read_members(&m, from, err);
    if (rc == 0)
        metrics_merge(into, &m);
    metrics_deinit(&m);
    return rc;
}
