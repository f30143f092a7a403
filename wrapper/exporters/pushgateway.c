/* pushgateway.c: exporter of runs as metrics to a Pushgateway of Prometheus: a group for each site, cluster and benchmark. */
#include "exporters/exporter_http.h"
#include "exporters/metric_text.h"
#include "exporters/pushgateway.h"

#include <stdio.h>
#include <string.h>

enum { PUSH_MAX = 64 << 20, PUSH_URL_MAX = 8192 };

static const struct opt_row pushgateway_rows[] = {
    EXPORTER_HTTP_ROWS_FIXED,
    EXPORTER_HTTP_ROW_GZIP,
    METRIC_SERIES_ROWS,
    {.name = PUSHGATEWAY_KEY_JOB,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .value = "benchwrap",
     .help = "Use this label job",
     .flags = OPT_FROM_FILE},
    {.name = PUSHGATEWAY_KEY_LIVE,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .help = "While a run is in progress, also push its metrics at this interval, as a group that its end removes",
     .flags = OPT_FROM_FILE},
};

/* Labels of the group, which bodies do not have. */
static const char *const group_labels[] = {"job", "site", "cluster", "benchmark", NULL};

static int pushgateway_configure(const struct exporter_config *c, struct err *err)
{
    if (!opt_text(&c->opts, PUSHGATEWAY_KEY_JOB)[0])
        return err_set(err, ERR_INPUT, "job: expected a name");
    if (exporter_text(c, PUSHGATEWAY_KEY_LIVE) && opt_seconds(&c->opts, PUSHGATEWAY_KEY_LIVE) < 1)
        return err_set(err, ERR_INPUT, "live: expected a duration >= 1s");
    return exporter_http_configure(c, err) ? -1 : metric_series_configure(c, err);
}

/* "/NAME@base64/VALUE": any byte may be in the value. */
static void put_group_label(struct buf *to, const char *name, const char *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *p = (const unsigned char *)value;
    if (!value[0])
        return;
    buf_printf(to, "/%s@base64/", name);
    for (size_t n = strlen(value); n > 0;) {
        size_t k = n < 3 ? n : 3;
        unsigned bits = (unsigned)p[0] << 16 | (k > 1 ? (unsigned)p[1] << 8 : 0) | (k > 2 ? p[2] : 0);
        for (size_t i = 0; i <= k; i++)
            buf_putc(to, digits[bits >> (18 - 6 * i) & 63]);
        p += k;
        n -= k;
    }
}

void pushgateway_url(const char *base, const char *job, const struct metric_label *labels, size_t count, struct buf *to)
{
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        n--;
    buf_add(to, base, n);
    buf_puts(to, "/metrics");
    put_group_label(to, "job", job);
    for (size_t i = 0; i < count; i++)
        put_group_label(to, labels[i].name, labels[i].value);
}

/* The address of the run's group, and the body. */
static int pushgateway_make(const struct exporter_config *c, const char *base, const struct exporter_run *run, struct buf *url,
                            struct buf *body, struct err *err)
{
    struct metric_set set;
    struct metric_label group[sizeof group_labels / sizeof *group_labels];
    size_t n = 0;
    if (metric_series_make(&set, c, run, METRIC_NOW, err))
        return -1;
    for (size_t i = 1; group_labels[i]; i++)
        group[n++] = (struct metric_label){group_labels[i], metric_series_label(&set.list[0], group_labels[i])};
    pushgateway_url(base, opt_text(&c->opts, PUSHGATEWAY_KEY_JOB), group, n, url);
    metric_text_put(&set, METRIC_TEXT_PLAIN, group_labels, body);
    return url->failed || body->failed ? err_set(err, ERR_SYSTEM, "the metrics of a run are larger than %d bytes", PUSH_MAX) : 0;
}

static enum exporter_answer pushgateway_open(struct exporter_link *l, struct err *err)
{
    struct exporter_http *h = NULL;
    enum exporter_answer answer = exporter_http_open(l, &h, err);
    l->state = h;
    return answer;
}

/* Sends the metrics of one run by a PUT request. EXPORTER_REFUSED also where the request cannot be
 * made; everything but success comes with err. */
static enum exporter_answer pushgateway_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    (void)done;
    buf_init(&url, PUSH_URL_MAX);
    buf_init(&body, PUSH_MAX);
    if (pushgateway_make(l->config, exporter_http_url(l->state), run, &url, &body, err))
        return EXPORTER_REFUSED;
    const struct exporter_http_request q = {.method = "PUT", .url = url.p, .type = METRIC_TEXT_TYPE, .body = buf_text(&body)};
    return exporter_http_call(l, l->state, &q, err);
}

/* Prints the request of a run for --dry-run, without credentials. -1 with err. */
static int pushgateway_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    const char *base = exporter_text(l->config, EXPORTER_KEY_URL);
    buf_init(&url, PUSH_URL_MAX);
    buf_init(&body, PUSH_MAX);
    if (pushgateway_make(l->config, base ? base : "***", run, &url, &body, err))
        return -1;
    exporter_http_print_request(
        l->config, &(struct exporter_http_request){.method = "PUT", .url = url.p, .type = METRIC_TEXT_TYPE, .body = buf_text(&body)}, to);
    return to->failed ? err_memory(err, "a request") : 0;
}

static enum exporter_answer pushgateway_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    return exporter_http_check(l, l->state, found, err);
}

static void pushgateway_close(struct exporter_link *l)
{
    exporter_http_close(l->state);
}

const struct exporter exporter_pushgateway = {
    .type = "pushgateway",
    .summary = "metrics to a Pushgateway of Prometheus",
    .description =
        "Each run replaces the group of its site, cluster and benchmark (PUT). The scrape of the Pushgateway needs \"honor_labels: true\". "
        "With live, a run in progress has a group of its own, which its end removes.",
    .rows = pushgateway_rows,
    .count = sizeof pushgateway_rows / sizeof *pushgateway_rows,
    .configure = pushgateway_configure,
    .open = pushgateway_open,
    .send = pushgateway_send,
    .check = pushgateway_check,
    .print = pushgateway_print,
    .close = pushgateway_close,
};
