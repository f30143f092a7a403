/* influx.c: exporter of runs in InfluxDB's line protocol, for InfluxDB 1 to 3, Telegraf, VictoriaMetrics and QuestDB. */
#include "base/http.h"
#include "exporters/exporter_http.h"
#include "exporters/metric_series.h"

#include <math.h>
#include <string.h>

#define INFLUX_KEY_DATABASE "db"
#define INFLUX_KEY_ORGANISATION "org"
#define INFLUX_KEY_BUCKET "bucket"

enum { LINES_MAX = 256 << 20, BATCH_BYTES = 1 << 20, INFLUX_URL_MAX = 8192 };

static const struct opt_row influx_rows[] = {
    EXPORTER_HTTP_ROWS_FIXED,
    EXPORTER_HTTP_ROW_GZIP,
    METRIC_SERIES_ROWS,
    {.name = INFLUX_KEY_DATABASE,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .help = "Write to this database of InfluxDB 1: URL/write?db=NAME",
     .flags = OPT_FROM_FILE},
    {.name = INFLUX_KEY_ORGANISATION,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .help = "Write to InfluxDB 2 as this organisation: URL/api/v2/write",
     .flags = OPT_FROM_FILE},
    {.name = INFLUX_KEY_BUCKET, .kind = OPT_TEXT, .arg = "NAME", .help = "Write to this bucket of InfluxDB 2", .flags = OPT_FROM_FILE},
};

/* Checks the keys of an exporter for InfluxDB. -1 with err. */
static int influx_configure(const struct exporter_config *c, struct err *err)
{
    const char *database = exporter_text(c, INFLUX_KEY_DATABASE), *bucket = exporter_text(c, INFLUX_KEY_BUCKET);
    if ((database && bucket) || (exporter_text(c, INFLUX_KEY_ORGANISATION) && !bucket))
        return err_set(err, ERR_INPUT, "influx: expected db, or bucket and org, or an url with the complete address");
    return exporter_http_configure(c, err) ? -1 : metric_series_configure(c, err);
}

/* Appends the address to which points are written: `base` alone, or with the path and query of
 * InfluxDB's API where a database (version 1) or a bucket (version 2) is configured. */
static void influx_make_url(const struct exporter_config *c, const char *base, struct buf *to)
{
    const char *database = exporter_text(c, INFLUX_KEY_DATABASE), *bucket = exporter_text(c, INFLUX_KEY_BUCKET),
               *organisation = exporter_text(c, INFLUX_KEY_ORGANISATION);
    size_t n = strlen(base);
    while ((database || bucket) && n && base[n - 1] == '/')
        n--;
    buf_add(to, base, n);
    if (!database && !bucket)
        return;
    buf_puts(to, database ? "/write?precision=ns&db=" : "/api/v2/write?precision=ns&bucket=");
    http_escape(to, str_of(database ? database : bucket), false);
    if (organisation) {
        buf_puts(to, "&org=");
        http_escape(to, str_of(organisation), false);
    }
}

/* Blank, comma, equals sign and backslash within a tag. A backslash at its end would escape what follows: it is left out. */
static void put_tag_text(struct buf *to, const char *text)
{
    size_t n = strlen(text);
    while (n && text[n - 1] == '\\')
        n--;
    for (size_t i = 0; i < n; i++) {
        if (strchr(" ,=", text[i]))
            buf_putc(to, '\\');
        buf_putc(to, text[i]);
    }
    if (!n)
        buf_putc(to, '_'); /* a tag has a value */
}

/* Appends a line for each finite sample: "benchwrap,site=lab,… write_bw_max_bytes_per_second=1.5
 * 1760000000000000000". `head` is overwritten. */
static void put_series_lines(const struct exporter_series *s, struct buf *head, struct buf *to)
{
    buf_clear(head);
    buf_puts(head, "benchwrap");
    for (size_t i = 0; i < s->n_labels; i++) {
        buf_printf(head, ",%s=", s->labels[i].name);
        put_tag_text(head, s->labels[i].value);
    }
    buf_printf(head, " %s=", s->family + strlen("benchwrap_"));
    to->failed |= head->failed;
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(s->samples[i].value))
            continue;
        buf_str(to, buf_text(head));
        buf_double(to, s->samples[i].value);
        buf_printf(to, " %lld\n", (long long)s->samples[i].time_ms * 1000000);
    }
}

/* Appends the lines of series i and those behind it up to BATCH_BYTES, and returns how many series these are. */
static size_t influx_make_lines(const struct metric_set *set, size_t i, struct buf *to)
{
    struct buf head CLEANUP_BUF;
    size_t n = 0;
    buf_init(&head, 1 << 16);
    while (i + n < set->count && to->n < BATCH_BYTES && !to->failed)
        put_series_lines(&set->list[i + n++], &head, to);
    return n;
}

static enum exporter_answer influx_open(struct exporter_link *l, struct err *err)
{
    struct exporter_http *h = NULL;
    enum exporter_answer answer = exporter_http_open(l, &h, err);
    l->state = h;
    return answer;
}

static enum exporter_answer influx_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct metric_set set;
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    buf_init(&url, INFLUX_URL_MAX);
    buf_init(&body, LINES_MAX);
    influx_make_url(l->config, exporter_http_url(l->state), &url);
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return EXPORTER_REFUSED;
    while (*done < set.count) {
        buf_clear(&body);
        size_t n = influx_make_lines(&set, (size_t)*done, &body);
        if (body.failed || url.failed)
            return err_memory(err, "a request"), EXPORTER_LATER;
        const struct exporter_http_request q = {
            .method = "POST", .url = url.p, .type = "text/plain; charset=utf-8", .body = buf_text(&body)};
        enum exporter_answer answer = body.n ? exporter_http_call(l, l->state, &q, err) : EXPORTER_SENT;
        if (answer != EXPORTER_SENT)
            return answer;
        *done += n;
    }
    return EXPORTER_SENT;
}

static int influx_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct metric_set set;
    struct buf url CLEANUP_BUF;
    const char *base = exporter_text(l->config, EXPORTER_KEY_URL);
    buf_init(&url, INFLUX_URL_MAX);
    influx_make_url(l->config, base ? base : "***", &url);
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return -1;
    for (size_t i = 0; i < set.count;) {
        struct buf body CLEANUP_BUF;
        buf_init(&body, LINES_MAX);
        i += influx_make_lines(&set, i, &body);
        const struct exporter_http_request q = {
            .method = "POST", .url = url.p, .type = "text/plain; charset=utf-8", .body = buf_text(&body)};
        exporter_http_print_request(l->config, &q, to);
    }
    return to->failed ? err_memory(err, "a request") : 0;
}

static enum exporter_answer influx_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    return exporter_http_check(l, l->state, found, err);
}

static void influx_close(struct exporter_link *l)
{
    exporter_http_close(l->state);
}

const struct exporter exporter_influx = {
    .type = "influx",
    .summary = "InfluxDB's line protocol, for InfluxDB, Telegraf, VictoriaMetrics and QuestDB",
    .description =
        "One point for each sample, of the measurement benchwrap, with its time. A run that is sent twice leaves the same points. A value "
        "that is NaN or infinite has no form there and is left out.",
    .rows = influx_rows,
    .count = sizeof influx_rows / sizeof *influx_rows,
    .configure = influx_configure,
    .open = influx_open,
    .send = influx_send,
    .check = influx_check,
    .print = influx_print,
    .close = influx_close,
};
