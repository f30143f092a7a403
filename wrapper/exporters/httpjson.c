/* httpjson.c: exporter of runs as JSON to an HTTP endpoint: one object for a run or a metric, an array, a template, ReFrame's form, or a preset. */
#include "base/json.h"
#include "base/json_out.h"
#include "exporters/exporter_http.h"
#include "exporters/httpjson_bulk.h"
#include "exporters/httpjson_keys.h"
#include "exporters/httpjson_template.h"
#include "mlruns-format/key.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODY_BYTES = 256 << 20, REPLY_BYTES = 64 << 20, BULK_ACTION = 100 /* bytes of the action of a document, at most */ };

static const struct opt_row httpjson_rows[] = {
    EXPORTER_HTTP_ROWS,
    {.name = HTTPJSON_KEY_PRESET,
     .kind = OPT_CHOICE,
     .arg = "slack|teams|ntfy|elasticsearch|bencher",
     .help = "Use the template of this service",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_RECORD,
     .kind = OPT_CHOICE,
     .arg = "run|metric|reframe|reframe-lines",
     .value = "run",
     .help = "Send one object for each run or each metric; in ReFrame's form with all metrics, or one for each",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_TEMPLATE,
     .kind = OPT_TEXT,
     .arg = "JSON",
     .help = "Send this JSON text instead, with {{KEY}} for values of the run or metric",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_METRICS,
     .kind = OPT_CHOICE,
     .arg = "results|all",
     .value = "results",
     .help =
         "With record: metric, choose metrics of the program, or also those of the machine. In ReFrame's form: metrics with a reference and "
         "headline metrics, or all of the program",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_ARRAY, .kind = OPT_FLAG, .help = "Send the objects of a run as one JSON array", .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_BULK,
     .kind = OPT_FLAG,
     .help = "Send the objects as a request to `_bulk` of Elasticsearch or OpenSearch",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_MAX_BODY,
     .kind = OPT_SIZE,
     .arg = "SIZE",
     .value = "1M",
     .help = "With array or bulk, send several requests where one would be larger",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_ON,
     .kind = OPT_LIST,
     .arg = "end|fail|regression",
     .help = "Send only failed runs, or runs that missed a reference (default: end, every run)",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_LINK,
     .kind = OPT_TEXT,
     .arg = "URL",
     .help = "Name this page of the run in messages, with {{KEY}}",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_TOPIC,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .help = "With preset: ntfy, publish to this topic",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_BRANCH,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .value = "main",
     .help = "With preset: bencher, report to this branch",
     .flags = OPT_FROM_FILE},
    HTTPJSON_REFRAME_ROWS,
};

static const char *const preset_templates[][2] = {
    {"slack", "{\"text\":\"{{summary}}\"}"},
    {"teams", "{\"type\":\"message\",\"attachments\":[{\"contentType\":\"application/vnd.microsoft.card.adaptive\",\"content\":"
              "{\"$schema\":\"http://adaptivecards.io/schemas/adaptive-card.json\",\"type\":\"AdaptiveCard\",\"version\":\"1.4\",\"body\":"
              "[{\"type\":\"TextBlock\",\"wrap\":true,\"text\":\"{{summary}}\"}]}}]}"},
    {"ntfy", "{\"topic\":\"{{topic}}\",\"title\":\"{{experiment}}: {{status}}\",\"message\":\"{{summary}}\"}"},
    {"elasticsearch", "{{run}}"},
    {"bencher", "{\"branch\":\"{{branch}}\",\"testbed\":\"{{testbed}}\",\"start_time\":{{start}},\"end_time\":{{end}},"
                "\"results\":[\"{{measures}}\"],\"settings\":{\"adapter\":\"json\"}}"},
};

/* The template that is used; NULL: none. */
static const char *httpjson_template(const struct exporter_config *c)
{
    const char *preset = exporter_text(c, HTTPJSON_KEY_PRESET), *own = exporter_text(c, HTTPJSON_KEY_TEMPLATE);
    for (size_t i = 0; preset && !own && i < sizeof preset_templates / sizeof *preset_templates; i++)
        if (strcmp(preset_templates[i][0], preset) == 0)
            return preset_templates[i][1];
    return own;
}

static bool is_record_kind(const struct exporter_config *c, const char *name)
{
    return strcmp(opt_text(&c->opts, HTTPJSON_KEY_RECORD), name) == 0;
}

/* Is the metric to be sent, by the key `metrics`? */
static bool httpjson_is_sent(const struct exporter_config *c, const char *metric)
{
    return strcmp(opt_text(&c->opts, HTTPJSON_KEY_METRICS), "all") == 0 || key_is_result(metric);
}

/* ---- configuration ---- */

/* Checks a text with {{KEY}}: of a key, or with key NULL a template, which must be JSON. 0; -1 with err. */
static int check_template(const struct exporter_config *c, const char *key, const char *text, struct err *err)
{
    struct buf filled CLEANUP_BUF;
    struct json *j = NULL;
    const struct template_values nothing = {.config = c, .is_link = key && strcmp(key, HTTPJSON_KEY_LINK) == 0};
    buf_init(&filled, 1 << 20);
    if (!text)
        return 0;
    int rc = key ? template_expand_url(text, &nothing, &filled, err) : template_expand(text, &nothing, &filled, err);
    if (rc == 0 && !key) {
        rc = json_parse(&j, buf_text(&filled), NULL, err);
        json_free(j);
    }
    return rc ? err_wrap(err, "%s", key ? key : "template") : 0;
}

static int httpjson_configure(const struct exporter_config *c, struct err *err)
{
    const char *template = httpjson_template(c), *preset = exporter_text(c, HTTPJSON_KEY_PRESET);
    for (const struct opt_value *v = opt_find(&c->opts, HTTPJSON_KEY_ON); v && v->text; v = v->next)
        if (strcmp(v->text, "end") != 0 && strcmp(v->text, "fail") != 0 && strcmp(v->text, "regression") != 0)
            return err_set(err, ERR_INPUT, "on: expected end, fail or regression, got \"%.40s\"", v->text);
    if (preset && strcmp(preset, "ntfy") == 0 && !exporter_text(c, HTTPJSON_KEY_TOPIC))
        return err_set(err, ERR_INPUT, "preset ntfy: expected the key topic");
    if (opt_on(&c->opts, HTTPJSON_KEY_BULK) &&
        (opt_on(&c->opts, HTTPJSON_KEY_ARRAY) || strcmp(opt_text(&c->opts, EXPORTER_KEY_METHOD), "POST") != 0))
        return err_set(err, ERR_INPUT, "bulk: expected neither array nor method: PUT with it");
    if (template && !is_record_kind(c, "run") && !is_record_kind(c, "metric"))
        return err_set(err, ERR_INPUT, "template and ReFrame's form exclude each other");
    if (exporter_http_configure(c, err) || check_template(c, NULL, template, err) ||
        check_template(c, HTTPJSON_KEY_LINK, exporter_text(c, HTTPJSON_KEY_LINK), err) ||
        check_template(c, EXPORTER_KEY_URL, exporter_text(c, EXPORTER_KEY_URL), err))
        return -1;
    for (const struct opt_value *v = opt_find(&c->opts, HTTPJSON_KEY_EXTRA); v && v->text; v = v->next) {
        struct str value = str_of(v->text);
        str_cut(&value, '=');
        if (check_template(c, HTTPJSON_KEY_EXTRA, value.p, err))
            return -1;
    }
    return 0;
}

/* ---- records ---- */

static void put_metric_record(const struct exporter_run *run, const struct tree_entry *e, struct buf *to)
{
    const struct json *ref = template_reference(run, e->key);
    const struct tree_sample *s = exporter_run_last(e);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_int(&j, "benchwrap_metric", 1);
    json_text(&j, "run", run->run->id);
    json_text(&j, "experiment", run->run->experiment);
    json_text(&j, "name", run->run->name);
    json_text(&j, "benchmark", exporter_run_tag(run, "benchmark"));
    json_text(&j, "site", exporter_run_tag(run, "site"));
    json_text(&j, "cluster", exporter_run_tag(run, "cluster"));
    json_text(&j, "status", record_status_name(run->run->status));
    json_text(&j, "verdict", exporter_run_tag(run, "benchwrap.verdict"));
    json_int(&j, "start_ms", run->run->start_ms);
    json_text(&j, "key", e->key);
    json_known(&j, "value", s ? s->value : NAN);
    json_text(&j, "unit", exporter_run_unit(run, e->key));
    json_known(&j, "time_ms", s ? (double)s->time_ms : NAN);
    json_known(&j, "step", s ? (double)s->step : NAN);
    json_known(&j, "reference", json_number(json_get(ref, "reference"), NAN));
    json_known(&j, "low", json_number(json_get(ref, "low"), NAN));
    json_known(&j, "high", json_number(json_get(ref, "high"), NAN));
    json_text(&j, "metric_verdict", json_string(json_get(ref, "verdict"), NULL));
    json_close(&j, '}');
}

static int make_metric_records(const struct exporter_config *c, const struct exporter_run *run, const char *template,
                               struct httpjson_records *to, struct err *err)
{
    for (const struct tree_entry *e = run->run->metrics; e; e = e->next) {
        if (!httpjson_is_sent(c, e->key))
            continue;
        if (template && template_expand(template, &(struct template_values){c, run, e}, &to->text, err))
            return -1;
        if (!template)
            put_metric_record(run, e, &to->text);
        if (httpjson_records_add(to, err))
            return -1;
    }
    return 0;
}

static int httpjson_make_records(const struct exporter_config *c, const struct exporter_run *run, struct httpjson_records *to,
                                 struct err *err)
{
    const char *template = httpjson_template(c);
    if (is_record_kind(c, "metric"))
        return make_metric_records(c, run, template, to, err);
    if (!is_record_kind(c, "run"))
        return httpjson_reframe(c, run, is_record_kind(c, "reframe-lines"), to, err);
    if (template && template_expand(template, &(struct template_values){.config = c, .run = run}, &to->text, err))
        return -1;
    if (!template)
        exporter_run_json(run, false, &to->text);
    return httpjson_records_add(to, err);
}

/* ---- requests ---- */

static bool is_bulk(const struct exporter_config *c)
{
    return opt_on(&c->opts, HTTPJSON_KEY_BULK);
}

/* Appends the body that begins with record i, and returns how many records it has. */
static size_t httpjson_make_body(const struct exporter_config *c, const struct exporter_run *run, const struct httpjson_records *r,
                                 size_t i, struct buf *to)
{
    uint64_t max = opt_bytes(&c->opts, HTTPJSON_KEY_MAX_BODY);
    size_t n = 0;
    if (is_bulk(c)) {
        do {
            char id[64];
            snprintf(id, sizeof id, r->count > 1 ? "%s-%zu" : "%s", run->run->id, i + n);
            httpjson_bulk_put(to, id, httpjson_record(r, i + n));
            n++;
        } while (i + n < r->count && to->n + httpjson_record(r, i + n).n + BULK_ACTION <= max);
        return n;
    }
    if (!opt_on(&c->opts, HTTPJSON_KEY_ARRAY)) {
        buf_str(to, httpjson_record(r, i));
        return 1;
    }
    buf_putc(to, '[');
    for (; i + n < r->count; n++) {
        struct str record = httpjson_record(r, i + n);
        if (n && to->n + record.n + 2 > max)
            break;
        if (n)
            buf_putc(to, ',');
        buf_str(to, record);
    }
    buf_putc(to, ']');
    return n;
}

bool httpjson_is_wanted(const struct exporter_config *c, const struct exporter_run *run)
{
    const struct opt_value *v = opt_find(&c->opts, HTTPJSON_KEY_ON);
    const char *verdict = exporter_run_tag(run, "benchwrap.verdict");
    bool failed = run->run->status != RUN_FINISHED || (verdict && strcmp(verdict, "fail") == 0), missed = false;
    for (const struct json *ref = json_first(json_get(run->detail, "references")); ref; ref = json_next(ref))
        missed |= json_bool(json_get(ref, "fails"), false);
    if (!v->text)
        return true;
    for (; v && v->text; v = v->next)
        if (strcmp(v->text, "end") == 0 || (strcmp(v->text, "fail") == 0 && failed) || (strcmp(v->text, "regression") == 0 && missed))
            return true;
    return false;
}

/* The address with values of the run in it; NULL: as it is. */
static int httpjson_make_url(const char *url, const struct template_values *v, struct buf *to, const char **ret, struct err *err)
{
    *ret = NULL;
    if (!url || !template_has_keys(url))
        return 0;
    if (template_expand_url(url, v, to, err))
        return -1;
    *ret = to->p;
    return 0;
}

static enum exporter_answer httpjson_open(struct exporter_link *l, struct err *err)
{
    struct exporter_http *h = NULL;
    enum exporter_answer answer = exporter_http_open(l, &h, err);
    l->state = h;
    return answer;
}

/* Sends documents. b: their records; the refused ones go to its `refused`. `*taken` of them are in
 * the body. */
static enum exporter_answer send_bulk(struct exporter_link *l, const char *url, struct str body, const struct exporter_batch *b,
                                      size_t *taken, struct err *err)
{
    struct buf reply CLEANUP_BUF;
    buf_init(&reply, REPLY_BYTES);
    const struct exporter_http_request q = {.url = url, .type = HTTPJSON_BULK_TYPE, .body = body, .reply = &reply};
    enum exporter_answer answer = exporter_http_call(l, l->state, &q, err);
    return answer == EXPORTER_SENT ? httpjson_bulk_answer(b, buf_text(&reply), taken, err) : answer;
}

/* Sends the records from *done on in as few requests as possible; *done counts those that were
 * accepted. Everything but EXPORTER_SENT comes with err. */
static enum exporter_answer httpjson_send_requests(struct exporter_link *l, const struct exporter_run *run,
                                                   const struct httpjson_records *records, uint64_t *done, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    const char *address;
    buf_init(&url, 8192);
    buf_init(&body, BODY_BYTES);
    if (httpjson_make_url(exporter_http_url(l->state), &(struct template_values){.config = l->config, .run = run}, &url, &address, err))
        return EXPORTER_LATER;
    while (*done < records->count) {
        buf_clear(&body);
        size_t n = httpjson_make_body(l->config, run, records, (size_t)*done, &body);
        if (body.failed)
            return err_memory(err, "a request"), EXPORTER_LATER;
        enum exporter_answer answer = is_bulk(l->config)
                                          ? send_bulk(l, address, buf_text(&body), &(struct exporter_batch){.count = n}, &n, err)
                                          : exporter_http_send(l, l->state, address, buf_text(&body), err);
        if (answer != EXPORTER_SENT)
            return answer;
        *done += n;
    }
    return EXPORTER_SENT;
}

/* Bencher refuses a report without results. */
static bool is_without_results(const struct exporter_config *c, const struct exporter_run *run)
{
    const char *preset = exporter_text(c, HTTPJSON_KEY_PRESET);
    struct buf text CLEANUP_BUF;
    buf_init(&text, BODY_BYTES);
    return preset && strcmp(preset, "bencher") == 0 &&
           template_put_measures(run, strcmp(opt_text(&c->opts, HTTPJSON_KEY_METRICS), "all") == 0, &text) == 0;
}

static enum exporter_answer httpjson_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct httpjson_records records;
    if (!httpjson_is_wanted(l->config, run) || is_without_results(l->config, run))
        return EXPORTER_SENT;
    httpjson_records_init(&records);
    enum exporter_answer answer =
        httpjson_make_records(l->config, run, &records, err) ? EXPORTER_REFUSED : httpjson_send_requests(l, run, &records, done, err);
    httpjson_records_deinit(&records);
    return answer;
}

static enum exporter_answer httpjson_send_records(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    bool array = opt_on(&l->config->opts, HTTPJSON_KEY_ARRAY), bulk = is_bulk(l->config);
    uint64_t max = opt_bytes(&l->config->opts, HTTPJSON_KEY_MAX_BODY);
    const char *address;
    buf_init(&url, 8192);
    buf_init(&body, BODY_BYTES);
    *taken = 0;
    if (httpjson_make_url(exporter_http_url(l->state), &(struct template_values){.config = l->config, .stream = b->stream}, &url, &address,
                          err))
        return EXPORTER_LATER;
    do {
        if (array)
            buf_putc(&body, *taken ? ',' : '[');
        if (bulk) {
            char id[40];
            snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, b->ids[*taken].high, b->ids[*taken].low);
            httpjson_bulk_put(&body, id, b->records[*taken]);
        } else
            buf_str(&body, b->records[*taken]);
        ++*taken;
    } while ((array || bulk) && *taken < b->count && body.n + b->records[*taken].n + (bulk ? BULK_ACTION : 2) <= max);
    if (array)
        buf_putc(&body, ']');
    if (body.failed)
        return err_memory(err, "a request"), *taken > 1 ? EXPORTER_LATER : EXPORTER_REFUSED;
    if (bulk)
        return send_bulk(l, address, buf_text(&body), b, taken, err);
    return exporter_http_call(l, l->state, &(struct exporter_http_request){.url = address, .body = buf_text(&body)}, err);
}

/* By the preset or a template with {{summary}}. */
static enum exporter_answer httpjson_send_message(struct exporter_link *l, const char *text, struct err *err)
{
    const struct template_values values = {.config = l->config, .message = text, .is_foreign = l->is_foreign};
    const char *template = httpjson_template(l->config), *address;
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    buf_init(&url, 8192);
    buf_init(&body, BODY_BYTES);
    if (!template || !strstr(template, "{{summary}}"))
        return err_set(err, ERR_INPUT, "its template has no {{summary}}, so it has no place for a message"), EXPORTER_REFUSED;
    if (template_expand(template, &values, &body, err) || httpjson_make_url(exporter_http_url(l->state), &values, &url, &address, err))
        return EXPORTER_REFUSED;
    return exporter_http_send(l, l->state, address, buf_text(&body), err);
}

static int httpjson_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct httpjson_records records;
    struct buf url CLEANUP_BUF;
    const char *address = NULL;
    buf_init(&url, 8192);
    httpjson_records_init(&records);
    int rc = httpjson_make_records(l->config, run, &records, err) ||
                     httpjson_make_url(exporter_text(l->config, EXPORTER_KEY_URL),
                                       &(struct template_values){.config = l->config, .run = run}, &url, &address, err)
                 ? -1
                 : 0;
    for (size_t i = 0; rc == 0 && i < records.count;) {
        struct buf body CLEANUP_BUF;
        buf_init(&body, BODY_BYTES);
        i += httpjson_make_body(l->config, run, &records, i, &body);
        exporter_http_print_request(l->config,
                                    &(struct exporter_http_request){
                                        .url = address, .type = is_bulk(l->config) ? HTTPJSON_BULK_TYPE : NULL, .body = buf_text(&body)},
                                    to);
    }
    httpjson_records_deinit(&records);
    return rc ? rc : to->failed ? err_memory(err, "a request") : 0;
}

static enum exporter_answer httpjson_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    return exporter_http_check(l, l->state, found, err);
}

static void httpjson_close(struct exporter_link *l)
{
    exporter_http_close(l->state);
}

const struct exporter exporter_httpjson = {
    .type = "httpjson",
    .summary = "JSON to an HTTP endpoint, also in ReFrame's form, or as a message",
    .description =
        "One request for each run, metric or array. Any status 200 to 299 is a delivery. A request that the endpoint refuses (400, 413, 422) "
        "becomes a dead letter. After 401, 403, 404, 429, 5xx and without a reply, the run waits.",
    .rows = httpjson_rows,
    .count = sizeof httpjson_rows / sizeof *httpjson_rows,
    .configure = httpjson_configure,
    .open = httpjson_open,
    .send = httpjson_send,
    .check = httpjson_check,
    .print = httpjson_print,
    .send_records = httpjson_send_records,
    .send_message = httpjson_send_message,
    .close = httpjson_close,
};
