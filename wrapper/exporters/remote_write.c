/* remote_write.c: exporter of runs as samples with their times, by Prometheus's remote write 1.0.
 *
 * A request is a protobuf message in one Snappy block. Both are written here: three kinds of messages, and a block
 * of literals alone, which every receiver reads and no library is needed for. */
#include "exporters/exporter_http.h"
#include "exporters/metric_series.h"

#include <math.h>
#include <string.h>

enum {
    WRITE_MAX = 256 << 20,
    BATCH_SAMPLES = 2000, /* Prometheus itself sends as many */
    LITERAL_MAX = 65536,
    SERIES_MAX = 16 << 20
};

static const struct opt_row remote_write_rows[] = {
    EXPORTER_HTTP_ROWS_FIXED,
    METRIC_SERIES_ROWS,
};

static int remote_write_configure(const struct exporter_config *c, struct err *err)
{
    return exporter_http_configure(c, err) ? -1 : metric_series_configure(c, err);
}

/* ---- protobuf ---- */

static void write_varint(struct buf *to, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        buf_putc(to, (char)(v | 0x80));
    buf_putc(to, (char)v);
}

/* A field of a text or a message: its number, its length, its bytes. */
static void write_message_field(struct buf *to, unsigned number, struct str bytes)
{
    write_varint(to, number << 3 | 2);
    write_varint(to, bytes.n);
    buf_str(to, bytes);
}

static void put_label_message(struct buf *to, const char *name, const char *value)
{
    size_t n = strlen(name), v = strlen(value), head = 2 + (n > 0x7f) + (n > 0x3fff) + 2 + (v > 0x7f) + (v > 0x3fff);
    write_varint(to, 1 << 3 | 2);
    write_varint(to, head + n + v);
    write_message_field(to, 1, str_of(name));
    write_message_field(to, 2, str_of(value));
}

static void put_sample_message(struct buf *to, double value, int64_t time_ms)
{
    char bytes[24];
    uint64_t bits;
    struct buf sample = {.p = bytes, .size = sizeof bytes, .max = sizeof bytes};
    memcpy(&bits, &value, sizeof bits);
    buf_putc(&sample, 1 << 3 | 1);
    for (unsigned i = 0; i < 8; i++)
        buf_putc(&sample, (char)(bits >> 8 * i));
    write_varint(&sample, 2 << 3 | 0);
    write_varint(&sample, (uint64_t)time_ms);
    write_message_field(to, 2, buf_text(&sample));
}

/* The value by which Prometheus marks the end of a series. */
static double stale_marker(void)
{
    const uint64_t bits = 0x7ff0000000000002;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Samples of a machine end with the run: a graph shows no value behind them. */
static void put_time_series(const struct exporter_series *s, struct buf *series, struct buf *to)
{
    buf_clear(series);
    put_label_message(series, "__name__", s->family); /* sorts before all others */
    for (size_t i = 0; i < s->n_labels; i++)
        put_label_message(series, s->labels[i].name, s->labels[i].value);
    for (size_t i = 0; i < s->count; i++)
        put_sample_message(series, s->samples[i].value, s->samples[i].time_ms);
    if (s->kind == METRIC_NODE && s->count)
        put_sample_message(series, stale_marker(), s->samples[s->count - 1].time_ms + 1);
    write_message_field(to, 1, buf_text(series));
    to->failed |= series->failed;
}

/* ---- Snappy's block format: the length, then literals ---- */

/* Appends the bytes in the form of Snappy, as literals alone. */
static void put_snappy_literals(struct str in, struct buf *to)
{
    write_varint(to, in.n);
    for (size_t at = 0; at < in.n;) {
        size_t n = in.n - at < LITERAL_MAX ? in.n - at : LITERAL_MAX;
        if (n <= 60)
            buf_putc(to, (char)((n - 1) << 2));
        else {
            buf_putc(to, (char)(61 << 2)); /* two bytes of length follow */
            buf_putc(to, (char)(n - 1));
            buf_putc(to, (char)((n - 1) >> 8));
        }
        buf_add(to, in.p + at, n);
        at += n;
    }
}

/* ---- requests ---- */

/* Appends the request that begins with series i, compressed, and returns how many series it has. */
static size_t remote_write_make(const struct metric_set *set, size_t i, struct buf *to, struct err *err)
{
    struct buf message CLEANUP_BUF, series CLEANUP_BUF;
    size_t n = 0;
    buf_init(&message, WRITE_MAX);
    buf_init(&series, SERIES_MAX);
    for (size_t samples = 0; i + n < set->count && (n == 0 || samples + set->list[i + n].count <= BATCH_SAMPLES); n++) {
        samples += set->list[i + n].count;
        put_time_series(&set->list[i + n], &series, &message);
    }
    if (!message.failed)
        put_snappy_literals(buf_text(&message), to);
    if (message.failed || to->failed)
        err_set(err, ERR_SYSTEM, "the metrics of a run are larger than %d bytes", WRITE_MAX);
    return message.failed || to->failed ? 0 : n;
}

static enum exporter_answer remote_write_open(struct exporter_link *l, struct err *err)
{
    struct exporter_http *h = NULL;
    enum exporter_answer answer = exporter_http_open(l, &h, err);
    l->state = h;
    return answer;
}

/* Sends the samples of a run in several requests, from *done on. Answers as exporter.h describes. */
static enum exporter_answer remote_write_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    static const char *const headers[] = {"Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0", NULL};
    struct metric_set set;
    struct buf body CLEANUP_BUF;
    buf_init(&body, WRITE_MAX);
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return EXPORTER_REFUSED;
    while (*done < set.count) {
        buf_clear(&body);
        size_t n = remote_write_make(&set, (size_t)*done, &body, err);
        if (n == 0)
            return EXPORTER_REFUSED;
        const struct exporter_http_request q = {
            .method = "POST", .type = "application/x-protobuf", .headers = headers, .body = buf_text(&body)};
        enum exporter_answer answer = exporter_http_call(l, l->state, &q, err);
        if (answer != EXPORTER_SENT)
            return answer;
        *done += n;
    }
    return EXPORTER_SENT;
}

/* One line for each sample, since the request itself is binary. */
static int remote_write_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct metric_set set;
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return -1;
    exporter_http_print_request(l->config,
                                &(struct exporter_http_request){.method = "POST",
                                                                .type = "application/x-protobuf",
                                                                .body = STR("Labels, value and time of each sample:")},
                                to);
    for (size_t i = 0; i < set.count; i++)
        for (size_t k = 0; k < set.list[i].count; k++) {
            const struct exporter_series *s = &set.list[i];
            buf_printf(to, "__name__=%s", s->family);
            for (size_t n = 0; n < s->n_labels; n++)
                buf_printf(to, " %s=%s", s->labels[n].name, s->labels[n].value);
            buf_putc(to, ' ');
            metric_series_number(to, s->samples[k].value);
            buf_printf(to, " %lld\n", (long long)s->samples[k].time_ms);
        }
    return to->failed ? err_memory(err, "a request") : 0;
}

static enum exporter_answer remote_write_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    return exporter_http_check(l, l->state, found, err);
}

static void remote_write_close(struct exporter_link *l)
{
    exporter_http_close(l->state);
}

const struct exporter exporter_remote_write = {
    .type = "remote-write",
    .summary = "samples with their times to Prometheus, Mimir, Thanos or VictoriaMetrics (remote write 1.0)",
    .description =
        "Each sample keeps its time. A run that is sent twice leaves the same samples. Prometheus accepts them where it runs with "
        "\"--web.enable-remote-write-receiver\", and runs older than its newest samples with \"out_of_order_time_window\". A run that it "
        "refuses becomes a dead letter.",
    .rows = remote_write_rows,
    .count = sizeof remote_write_rows / sizeof *remote_write_rows,
    .configure = remote_write_configure,
    .open = remote_write_open,
    .send = remote_write_send,
    .check = remote_write_check,
    .print = remote_write_print,
    .close = remote_write_close,
};
