/* otlp.c: exporter of runs to OpenTelemetry by OTLP over HTTP with JSON: the run as resource, metrics, and its phases as spans; and of log records. */
#include "base/json_out.h"
#include "base/sha256.h"
#include "exporters/exporter_http.h"
#include "exporters/metric_series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define OTLP_KEY_SIGNALS "signals"

enum {
    OTLP_MAX = 256 << 20,
    OTLP_URL_MAX = 8192,
    OTLP_POINTS = 5000,
    OTLP_LOG_BYTES = 3 << 20,
    REPLY_BYTES = 1 << 20,
    SPAN_DIGITS = 16,
    TRACE_DIGITS = 32
};

static const struct opt_row otlp_rows[] = {
    EXPORTER_HTTP_ROWS_FIXED,
    EXPORTER_HTTP_ROW_GZIP,
    METRIC_SERIES_ROWS,
    {.name = OTLP_KEY_SIGNALS,
     .kind = OPT_LIST,
     .arg = "metrics|traces",
     .help = "Send only metrics, to URL/v1/metrics, or spans, to URL/v1/traces (default: both)",
     .flags = OPT_FROM_FILE},
};

static int otlp_configure(const struct exporter_config *c, struct err *err)
{
    for (const struct opt_value *v = opt_find(&c->opts, OTLP_KEY_SIGNALS); v && v->text; v = v->next)
        if (strcmp(v->text, "metrics") != 0 && strcmp(v->text, "traces") != 0)
            return err_set(err, ERR_INPUT, "signals: expected metrics or traces, got \"%.40s\"", v->text);
    return exporter_http_configure(c, err) ? -1 : metric_series_configure(c, err);
}

static bool is_signal_sent(const struct exporter_config *c, const char *signal)
{
    const struct opt_value *v = opt_find(&c->opts, OTLP_KEY_SIGNALS);
    bool sent = !v->text;
    for (; v && v->text; v = v->next)
        sent |= strcmp(v->text, signal) == 0;
    return sent;
}

/* ---- attributes ---- */

/* Appends {"key": key, "value": {"stringValue": value}} to a list, the value as valid UTF-8;
 * nothing where the value is empty. */
static void put_attribute(struct json_out *j, const char *key, struct str value)
{
    struct buf clean CLEANUP_BUF;
    buf_init(&clean, 4 * value.n + 1);
    if (!value.n)
        return;
    buf_utf8(&clean, value);
    json_open(j, NULL, '{');
    json_text(j, "key", key);
    json_open(j, "value", '{');
    json_str(j, "stringValue", buf_text(&clean));
    json_close(j, '}');
    json_close(j, '}');
}

static void put_attribute_text(struct json_out *j, const char *key, const char *value)
{
    put_attribute(j, key, str_of(value));
}

/* Appends a time in nanoseconds, rounded to microseconds. It is a text: so protobuf's JSON writes
 * 64-bit integers. */
static void put_nanoseconds(struct json_out *j, const char *key, double time_ms)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)llround(time_ms * 1e3) * 1000);
    json_text(j, key, text);
}

static void put_run_resource(struct json_out *j, const struct exporter_run *run)
{
    static const struct {
        const char *attribute, *tag;
    } tags[] = {{"host.name", "hostname"},
                {"service.version", "benchmark.version"},
                {"benchwrap.benchmark", "benchmark"},
                {"benchwrap.site", "site"},
                {"benchwrap.cluster", "cluster"},
                {"benchwrap.verdict", "benchwrap.verdict"},
                {"benchwrap.reason", "benchwrap.reason"},
                {"benchwrap.job_id", "job.id"},
                {"benchwrap.parent", "mlflow.parentRunId"}};
    json_open(j, "resource", '{');
    json_open(j, "attributes", '[');
    put_attribute_text(j, "service.name", "benchwrap");
    put_attribute_text(j, "service.instance.id", run->run->id);
    put_attribute_text(j, "benchwrap.run", run->run->name);
    put_attribute_text(j, "benchwrap.experiment", run->run->experiment);
    put_attribute_text(j, "benchwrap.status", (unsigned)run->run->status == 2 ? "SCHEDULED" : record_status_name(run->run->status));
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        put_attribute_text(j, tags[i].attribute, exporter_run_tag(run, tags[i].tag));
    for (const struct tree_entry *e = run->run->params; e; e = e->next) {
        const char *key = arena_printf(run->arena, "benchwrap.param.%s", e->key);
        if (key)
            put_attribute(j, key, e->value);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_scope(struct json_out *j)
{
    json_open(j, "scope", '{');
    json_text(j, "name", "benchwrap");
    json_text(j, "version", BW_VERSION);
    json_close(j, '}');
}

/* ---- metrics ---- */

/* The unit in the code of UCUM, as OpenTelemetry has it. */
static const char *ucum_unit(const char *unit)
{
    static const char *const rows[][2] = {{"bytes", "By"},
                                          {"bytes_per_second", "By/s"},
                                          {"operations_per_second", "{operation}/s"},
                                          {"tokens_per_second", "{token}/s"},
                                          {"flops", "{flop}/s"},
                                          {"edges_per_second", "{edge}/s"},
                                          {"seconds", "s"},
                                          {"hertz", "Hz"},
                                          {"joules", "J"},
                                          {"watts", "W"},
                                          {"celsius", "Cel"},
                                          {"ticks_per_second", "{tick}/s"},
                                          {"joules_per_operation", "J/{operation}"},
                                          {"joules_per_token", "J/{token}"},
                                          {"joules_per_byte", "J/By"},
                                          {"joules_per_flop", "J/{flop}"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], unit) == 0)
            return rows[i][1];
    return "1";
}

static void put_data_points(struct json_out *j, const struct exporter_series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        json_open(j, NULL, '{');
        put_nanoseconds(j, "timeUnixNano", (double)s->samples[i].time_ms);
        json_double(j, "asDouble", s->samples[i].value);
        json_open(j, "attributes", '[');
        for (size_t k = 0; k < s->n_labels; k++)
            if (strcmp(s->labels[k].name, "job") != 0)
                put_attribute_text(j, s->labels[k].name, s->labels[k].value);
        json_close(j, ']');
        json_close(j, '}');
    }
}

/* Prints the first of `count` series, and returns how many: families stay together. */
static size_t put_families(struct json_out *j, const struct exporter_series *list, size_t count)
{
    size_t n = 0, points = 0;
    json_open(j, "scopeMetrics", '[');
    json_open(j, NULL, '{');
    put_scope(j);
    json_open(j, "metrics", '[');
    while (n < count && points < OTLP_POINTS) {
        const struct exporter_series *first = &list[n];
        json_open(j, NULL, '{');
        json_text(j, "name", first->family);
        json_text(j, "description", first->help);
        json_text(j, "unit", ucum_unit(first->unit));
        json_open(j, "gauge", '{');
        json_open(j, "dataPoints", '[');
        for (; n < count && strcmp(list[n].family, first->family) == 0; n++) {
            put_data_points(j, &list[n]);
            points += list[n].count;
        }
        json_close(j, ']');
        json_close(j, '}');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
    json_close(j, ']');
    return n;
}

/* Appends the request that begins with series i, and returns how many series it has. */
static size_t otlp_make_metrics(const struct exporter_run *run, const struct metric_set *set, size_t i, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_open(&j, "resourceMetrics", '[');
    json_open(&j, NULL, '{');
    put_run_resource(&j, run);
    size_t n = put_families(&j, set->list + i, set->count - i);
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    return n;
}

/* ---- spans ---- */

struct otlp_span {
    const char *name;
    double start_ms, end_ms;
    bool root;
};

/* The id of a span is the same whenever the run is sent: of the run the first half of its id, of a phase a hash. */
static const char *make_span_id(const struct exporter_run *run, const struct otlp_span *s)
{
    char hex[SHA256_HEX];
    const char *text = arena_printf(run->arena, "%s %s", run->run->id, s->name);
    if (s->root)
        return arena_dup(run->arena, run->run->id, SPAN_DIGITS);
    sha256_of(text ? text : "", text ? strlen(text) : 0, hex);
    return arena_dup(run->arena, hex, SPAN_DIGITS);
}

/* A run with a parent is a span of the parent's trace: a sweep or a campaign is one trace. */
static void put_span(struct json_out *j, const struct exporter_run *run, const struct otlp_span *s)
{
    const char *parent = exporter_run_tag(run, "mlflow.parentRunId"), *why = exporter_run_tag(run, "benchwrap.reason");
    bool child = parent && str_hex(str_of(parent), TRACE_DIGITS), good = run->run->status == RUN_FINISHED;
    json_open(j, NULL, '{');
    json_text(j, "traceId", child ? parent : run->run->id);
    json_text(j, "spanId", make_span_id(run, s));
    if (!s->root)
        json_str(j, "parentSpanId", (struct str){run->run->id, SPAN_DIGITS});
    else if (child)
        json_str(j, "parentSpanId", (struct str){parent, SPAN_DIGITS});
    json_text(j, "name", s->name);
    json_int(j, "kind", 1); /* internal */
    put_nanoseconds(j, "startTimeUnixNano", s->start_ms);
    put_nanoseconds(j, "endTimeUnixNano", s->end_ms);
    json_open(j, "status", '{');
    if (s->root) {
        json_int(j, "code", good ? 1 : 2);
        if (!good)
            json_text(j, "message", why && why[0] ? why : record_status_name(run->run->status));
    }
    json_close(j, '}');
    json_close(j, '}');
}

static double run_metric_value(const struct exporter_run *run, const char *key)
{
    for (const struct tree_entry *e = run->run->metrics; e; e = e->next)
        if (strcmp(e->key, key) == 0 && exporter_run_last(e))
            return exporter_run_last(e)->value;
    return NAN;
}

/* The run from its start to its end, the program in it, and before and after it what benchwrap did. */
static size_t make_spans(const struct exporter_run *run, struct otlp_span ret[4])
{
    double start = (double)run->run->start_ms, end = run->run->end_ms ? (double)run->run->end_ms : start;
    double program = end - 1e3 * run_metric_value(run, "run.wall_s"), after = run_metric_value(run, "probe.after_ms");
    size_t n = 0;
    ret[n++] = (struct otlp_span){run->run->name && run->run->name[0] ? run->run->name : run->run->experiment, start, end, true};
    if (!isfinite(program))
        return n;
    program = program < start ? start : program; /* times are rounded to milliseconds */
    ret[n++] = (struct otlp_span){"before the program", start, program, false};
    ret[n++] = (struct otlp_span){"program", program, end, false};
    if (isfinite(after)) {
        ret[n++] = (struct otlp_span){"after the program", end, end + after, false};
        ret[0].end_ms = end + after;
    }
    return n;
}

static void otlp_make_spans(const struct exporter_run *run, struct buf *to)
{
    struct otlp_span spans[4];
    size_t n = make_spans(run, spans);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_open(&j, "resourceSpans", '[');
    json_open(&j, NULL, '{');
    put_run_resource(&j, run);
    json_open(&j, "scopeSpans", '[');
    json_open(&j, NULL, '{');
    put_scope(&j);
    json_open(&j, "spans", '[');
    for (size_t i = 0; i < n; i++)
        put_span(&j, run, &spans[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
}

/* ---- requests ---- */

/* Request number i of the run: spans last. False: there is none. *ret_next: the number of the next one. */
static bool otlp_make(const struct exporter_config *c, const struct exporter_run *run, const struct metric_set *set, uint64_t i,
                      const char **ret_path, uint64_t *ret_next, struct buf *to)
{
    if (i < set->count && is_signal_sent(c, "metrics")) {
        *ret_path = "/v1/metrics";
        *ret_next = i + otlp_make_metrics(run, set, (size_t)i, to);
        return true;
    }
    *ret_path = "/v1/traces";
    *ret_next = (uint64_t)set->count + 1;
    if (i > set->count || !is_signal_sent(c, "traces"))
        return false;
    otlp_make_spans(run, to);
    return true;
}

static void otlp_make_url(const char *base, const char *path, struct buf *to)
{
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        n--;
    buf_add(to, base, n);
    buf_puts(to, path);
}

/* A collector may accept a request and reject a part of it. */
static enum exporter_answer check_partial(struct str reply, struct err *err)
{
    struct json *j = NULL;
    if (json_parse(&j, reply, NULL, NULL))
        return EXPORTER_SENT; /* an empty reply, or protobuf */
    const struct json *part = json_get(j, "partialSuccess"), *points = json_get(part, "rejectedDataPoints"),
                      *spans = json_get(part, "rejectedSpans"), *lines = json_get(part, "rejectedLogRecords");
    const struct json *rejected = points ? points : spans ? spans : lines;
    int64_t n = 0;
    str_int(str_of(json_string(rejected, "0")), &n);
    n = n ? n : json_integer(rejected, 0);
    if (n > 0)
        err_set(err, ERR_REMOTE, "the collector rejected %lld of the records: %.200s", (long long)n,
                json_string(json_get(part, "errorMessage"), "no reason"));
    json_free(j);
    return n > 0 ? EXPORTER_REFUSED : EXPORTER_SENT;
}

static enum exporter_answer otlp_open(struct exporter_link *l, struct err *err)
{
    struct exporter_http *h = NULL;
    enum exporter_answer answer = exporter_http_open(l, &h, err);
    l->state = h;
    return answer;
}

static enum exporter_answer otlp_post(struct exporter_link *l, const char *path, struct str body, struct err *err)
{
    struct buf url CLEANUP_BUF, reply CLEANUP_BUF;
    buf_init(&url, OTLP_URL_MAX);
    buf_init(&reply, REPLY_BYTES);
    otlp_make_url(exporter_http_url(l->state), path, &url);
    if (url.failed)
        return err_memory(err, "a request"), EXPORTER_LATER;
    const struct exporter_http_request q = {.method = "POST", .url = url.p, .body = body, .reply = &reply};
    enum exporter_answer answer = exporter_http_call(l, l->state, &q, err);
    return answer == EXPORTER_SENT ? check_partial(buf_text(&reply), err) : answer;
}

/* Sends a run in several requests, from *done on; *done has what the destination accepted. Answers
 * as exporter.h describes. */
static enum exporter_answer otlp_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct metric_set set;
    struct buf body CLEANUP_BUF;
    const char *path;
    uint64_t next;
    buf_init(&body, OTLP_MAX);
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return EXPORTER_REFUSED;
    while (buf_clear(&body), otlp_make(l->config, run, &set, *done, &path, &next, &body)) {
        if (body.failed)
            return err_memory(err, "a request"), EXPORTER_LATER;
        enum exporter_answer answer = otlp_post(l, path, buf_text(&body), err);
        if (answer != EXPORTER_SENT)
            return answer;
        *done = next;
    }
    return EXPORTER_SENT;
}

/* ---- log records ---- */

/* Writes 2025-09-08T21:11:35.869000Z as nanoseconds since 1970 into ret, which it returns; "": not
 * such a time, or NULL. */
static const char *record_nanoseconds(const char *time, char ret[32])
{
    struct tm tm = {0};
    const char *rest = time ? strptime(time, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    double fraction = 0;
    ret[0] = 0;
    if (!rest)
        return ret;
    if (*rest == '.' && !str_double((struct str){rest, strcspn(rest, "Z")}, &fraction))
        fraction = 0;
    snprintf(ret, 32, "%lld", (long long)timegm(&tm) * 1000000000 + llround(fraction * 1e9));
    return ret;
}

/* The numbers of OpenTelemetry; 0: unknown. */
static int severity_number(const char *level)
{
    static const struct {
        const char *level;
        int number;
    } levels[] = {{"fatal", 21}, {"error", 17}, {"warning", 13}, {"info", 9}, {"verbose", 5}, {"debug", 5}, {"trace", 1}};
    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++)
        if (str_is_anycase(str_sub(str_of(level), 0, strlen(levels[i].level)), levels[i].level))
            return levels[i].number;
    return 0;
}

static bool is_record_member_special(const char *key)
{
    return strcmp(key, "TimeGenerated") == 0 || strcmp(key, "RawData") == 0 || strcmp(key, "Message") == 0 || strcmp(key, "Level") == 0;
}

/* A JSON object as a record: RawData or Message is its body, Level its severity, the others are attributes. */
static void put_log_record(struct json_out *j, const struct json *record, struct str text)
{
    const char *level = json_string(json_get(record, "Level"), NULL), *raw = json_string(json_get(record, "RawData"), NULL);
    const char *message = raw ? raw : json_string(json_get(record, "Message"), NULL);
    char time[32];
    json_open(j, NULL, '{');
    if (*record_nanoseconds(json_string(json_get(record, "TimeGenerated"), NULL), time))
        json_text(j, "timeUnixNano", time);
    if (level) {
        json_int(j, "severityNumber", severity_number(level));
        json_text(j, "severityText", level);
    }
    json_open(j, "body", '{');
    json_str(j, "stringValue", message ? str_of(message) : text);
    json_close(j, '}');
    json_open(j, "attributes", '[');
    for (const struct json *m = message ? json_first(record) : NULL; m; m = json_next(m)) {
        struct buf value CLEANUP_BUF;
        buf_init(&value, text.n + 100);
        if (is_record_member_special(json_key(m)))
            continue;
        if (json_is_string(m))
            buf_puts(&value, json_string(m, ""));
        else
            json_print(m, &value);
        const char *key = strcmp(json_key(m), "Computer") == 0   ? "host.name"
                          : strcmp(json_key(m), "FilePath") == 0 ? "log.file.path"
                                                                 : json_key(m);
        put_attribute(j, key, buf_text(&value));
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_records_resource(struct json_out *j, const char *stream)
{
    json_open(j, "resource", '{');
    json_open(j, "attributes", '[');
    put_attribute_text(j, "service.name", "benchwrap");
    put_attribute_text(j, "benchwrap.stream", stream);
    json_close(j, ']');
    json_close(j, '}');
}

/* Records that state series are metrics. */
static enum exporter_answer otlp_send_series(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, OTLP_MAX);
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_open(&j, "resourceMetrics", '[');
    json_open(&j, NULL, '{');
    put_records_resource(&j, b->stream);
    *taken = put_families(&j, b->series, b->count);
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    return body.failed ? (err_memory(err, "a request"), EXPORTER_LATER) : otlp_post(l, "/v1/metrics", buf_text(&body), err);
}

/* Sends the first records of b as log records, or its series as metrics. `*taken`: how many are in
 * the request. Answers as exporter.h describes. */
static enum exporter_answer otlp_send_records(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, OTLP_MAX);
    if (b->series)
        return otlp_send_series(l, b, taken, err);
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_open(&j, "resourceLogs", '[');
    json_open(&j, NULL, '{');
    put_records_resource(&j, b->stream);
    json_open(&j, "scopeLogs", '[');
    json_open(&j, NULL, '{');
    put_scope(&j);
    json_open(&j, "logRecords", '[');
    for (*taken = 0; *taken < b->count && *taken < OTLP_POINTS && body.n < OTLP_LOG_BYTES; ++*taken) {
        struct json *record = NULL;
        if (json_parse(&record, b->records[*taken], NULL, NULL))
            record = NULL;
        put_log_record(&j, record, b->records[*taken]);
        json_free(record);
    }
    for (const char *close = "]}]}]}"; *close; close++)
        json_close(&j, *close);
    if (body.failed)
        return err_memory(err, "a request"), *taken > 1 ? EXPORTER_LATER : EXPORTER_REFUSED;
    return otlp_post(l, "/v1/logs", buf_text(&body), err);
}

/* Appends the requests that otlp_send would make, without credentials. -1 with err: out of memory. */
static int otlp_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct metric_set set;
    struct buf body CLEANUP_BUF;
    const char *base = exporter_text(l->config, EXPORTER_KEY_URL), *path;
    uint64_t next;
    buf_init(&body, OTLP_MAX);
    if (metric_series_make(&set, l->config, run, METRIC_TIMES, err))
        return -1;
    for (uint64_t i = 0; otlp_make(l->config, run, &set, i, &path, &next, &body); i = next) {
        struct buf url CLEANUP_BUF;
        buf_init(&url, OTLP_URL_MAX);
        otlp_make_url(base ? base : "***", path, &url);
        exporter_http_print_request(l->config, &(struct exporter_http_request){.method = "POST", .url = url.p, .body = buf_text(&body)},
                                    to);
        to->failed |= body.failed;
        buf_clear(&body);
    }
    return to->failed ? err_memory(err, "a request") : 0;
}

static enum exporter_answer otlp_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    return exporter_http_check(l, l->state, found, err);
}

static void otlp_close(struct exporter_link *l)
{
    exporter_http_close(l->state);
}

const struct exporter exporter_otlp = {
    .type = "otlp",
    .summary = "OpenTelemetry over HTTP with JSON: metrics, and the phases of a run as spans",
    .description =
        "The run is the resource, with its params as attributes. Metrics are gauges with the time of each sample. The run, the program, and what "
        "benchwrap does before and after it are spans; runs of a sweep belong to the trace of their parent. Ids of traces and spans follow from "
        "the run's id. Log lines of `benchwrap ship-logs` are log records. Where a collector rejects a part of a request, the run becomes a dead letter with its reason.",
    .rows = otlp_rows,
    .count = sizeof otlp_rows / sizeof *otlp_rows,
    .configure = otlp_configure,
    .open = otlp_open,
    .send = otlp_send,
    .check = otlp_check,
    .print = otlp_print,
    .send_records = otlp_send_records,
    .close = otlp_close,
};
