/* azure.c: exporter of runs and records to Azure Monitor by the Logs Ingestion API. */
#include "exporters/azure_rows.h"
#include "exporters/azure_token.h"
#include "exporters/exporter_http.h"
#include "exporters/httpjson_template.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/secret.h"

#include <poll.h>
#include <string.h>

enum {
    BODY_BYTES = 16 << 20,
    FULL_BYTES = 512 << 10, /* so much collected is sent before the next run */
    RUNS_BATCH = 256,
    READ_BACK_MS = 5000, /* between two queries for a record */
    API_MAX = 1000000 /* bytes of a request, compressed or not */
};

#define AZURE_KEY_ENDPOINT "endpoint"
#define AZURE_KEY_RULE "rule"
#define AZURE_KEY_RULES "rules"
#define AZURE_KEY_STREAM "stream"
#define AZURE_KEY_WORKSPACE "workspace"
#define AZURE_KEY_QUERY_HOST "query-host"

static const struct opt_row azure_keys[] = {
    {.name = AZURE_KEY_ENDPOINT,
     .kind = OPT_TEXT,
     .arg = "URL",
     .help = "Send to this data collection endpoint: https://NAME.REGION-1.ingest.monitor.azure.com",
     .flags = OPT_FROM_FILE},
    {.name = AZURE_KEY_RULE, .kind = OPT_TEXT, .arg = "ID", .help = "Use the rule of this immutable id (dcr-…)", .flags = OPT_FROM_FILE},
    {.name = AZURE_KEY_STREAM,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .value = "Custom-BenchwrapRuns_CL",
     .help = "Send runs to this stream of the rule",
     .flags = OPT_FROM_FILE},
    {.name = AZURE_KEY_RULES,
     .kind = OPT_PAIR,
     .arg = "{STREAM: ID}",
     .help = "Use other rules for these streams, of records that are no runs; STREAM may end in *",
     .flags = OPT_FROM_FILE},
    {.name = AZURE_KEY_WORKSPACE,
     .kind = OPT_TEXT,
     .arg = "ID",
     .help = "Read records back from this workspace (check --read-back)",
     .flags = OPT_FROM_FILE},
    {.name = AZURE_KEY_QUERY_HOST,
     .kind = OPT_TEXT,
     .arg = "URL",
     .help = "Send queries there (default: the cloud's, https://api.loganalytics.io)",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_RECORD,
     .kind = OPT_CHOICE,
     .arg = "metric|reframe|reframe-lines",
     .value = "metric",
     .help = "Send a row for each metric; or records in ReFrame's form, one of a run or one for each metric",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_METRICS,
     .kind = OPT_CHOICE,
     .arg = "results|all",
     .value = "results",
     .help = "Send metrics of the program and run.wall_s, or also those of the machine",
     .flags = OPT_FROM_FILE},
    HTTPJSON_REFRAME_ROWS,
    AZURE_TOKEN_ROWS,
    {.name = HTTPJSON_KEY_MAX_BODY,
     .kind = OPT_SIZE,
     .arg = "SIZE",
     .value = "1000000",
     .help = "Send several requests where one would be larger; Azure accepts 1 MB",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_GZIP, .kind = OPT_FLAG, .value = "yes", .help = "Compress requests", .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_TIMEOUT,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "20s",
     .help = "Stop a request after this time",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_CA_FILE,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .help = "Trust these certificates instead of the system's",
     .flags = OPT_FROM_FILE},
};

struct azure_link {
    struct exporter_http *http;
    struct azure_token *token;
    struct httpjson_records rows; /* of the runs since the last flush */
};

/* ---- configuration ---- */

/* A part of the address: what Azure calls by a name. */
static bool is_azure_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!str_is_letter(s.p[i]) && !str_is_digit(s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
            return false;
    return s.n > 0 && s.n <= 200;
}

/* A token goes there: encrypted, or not over the network. */
static bool is_azure_endpoint(const char *url)
{
    static const char *const begins[] = {"https://", "http://127.0.0.1:", "http://localhost:"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (str_starts(str_of(url), begins[i]) && url[strlen(begins[i])] && !strpbrk(url, "\r\n\t @?#"))
            return true;
    return false;
}

static int azure_configure(const struct exporter_config *c, struct err *err)
{
    const char *endpoint = exporter_text(c, AZURE_KEY_ENDPOINT), *rule = exporter_text(c, AZURE_KEY_RULE),
               *stream = exporter_text(c, AZURE_KEY_STREAM);
    const char *workspace = exporter_text(c, AZURE_KEY_WORKSPACE), *host = exporter_text(c, AZURE_KEY_QUERY_HOST);
    if (workspace && !is_azure_name(str_of(workspace)))
        return err_set(err, ERR_INPUT, "workspace: expected the id of a workspace: 8-4-4-4-12 digits");
    if (host && !is_azure_endpoint(host))
        return err_set(err, ERR_INPUT, "query-host: expected https://HOST");
    if (!endpoint || !is_azure_endpoint(endpoint))
        return err_set(err, ERR_INPUT, "endpoint: expected https://NAME.REGION-1.ingest.monitor.azure.com");
    if (!rule || !is_azure_name(str_of(rule)))
        return err_set(err, ERR_INPUT, "rule: expected the immutable id of a data collection rule (dcr-…)");
    if (!stream || !is_azure_name(str_of(stream)))
        return err_set(err, ERR_INPUT, "stream: expected the name of a stream (Custom-…)");
    for (const struct opt_value *v = opt_find(&c->opts, AZURE_KEY_RULES); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        if (!is_azure_name(name.n > 1 && str_ends(name, "*") ? str_sub(name, 0, name.n - 1) : name) ||
            !is_azure_name(value.p ? value : STR("")))
            return err_set(err, ERR_INPUT, "rules: expected {STREAM: ID}, or {BEGINNING*: ID}");
    }
    return azure_token_configure(c, err);
}

/* The address of a stream. */
static int make_azure_url(const struct exporter_config *c, const char *stream, struct buf *to, struct err *err)
{
    const char *endpoint = exporter_text(c, AZURE_KEY_ENDPOINT);
    struct str rule = str_of(exporter_text(c, AZURE_KEY_RULE)), name = str_of(stream ? stream : exporter_text(c, AZURE_KEY_STREAM));
    for (const struct opt_value *v = opt_find(&c->opts, AZURE_KEY_RULES); v && v->text; v = v->next) {
        struct str value = str_of(v->text), key = str_cut(&value, '=');
        bool begins = key.n > 1 && str_ends(key, "*") && str_eq(str_sub(key, 0, key.n - 1), str_sub(name, 0, key.n - 1));
        if (begins || str_eq(key, name))
            rule = value;
    }
    if (!is_azure_name(name))
        return err_set(err, ERR_INPUT, "expected the name of a stream (Custom-…), got \"%.60s\"", stream);
    buf_printf(to, "%.*s/dataCollectionRules/" STR_FMT "/streams/" STR_FMT "?api-version=2023-01-01",
               (int)(strlen(endpoint) - str_ends(str_of(endpoint), "/")), endpoint, STR_ARG(rule), STR_ARG(name));
    return to->failed ? err_memory(err, "an address") : 0;
}

/* ---- requests ---- */

static enum exporter_answer azure_open(struct exporter_link *l, struct err *err)
{
    struct azure_link *x = ARENA_NEW(l->arena, struct azure_link);
    const char *endpoint = exporter_text(l->config, AZURE_KEY_ENDPOINT);
    if (!x)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    httpjson_records_init(&x->rows);
    l->state = x;
    if (azure_token_open(l, endpoint, AZURE_FOR_INGESTION, &x->token, err))
        return EXPORTER_LATER;
    return exporter_http_open_own(l, &(struct exporter_http_own){.url = endpoint}, &x->http, err);
}

static void azure_close(struct exporter_link *l)
{
    struct azure_link *x = l->state;
    if (!x)
        return;
    exporter_http_close(x->http);
    azure_token_close(x->token);
    httpjson_records_deinit(&x->rows);
}

/* What to do about a status, which the text of the error has. */
static void azure_hint(const struct azure_link *x, int status, struct err *err)
{
    if (status == 401)
        err_hint(err, "Azure does not accept the token from %s: check tenant, cloud and the clock", azure_token_source(x->token));
    if (status == 403)
        err_hint(err, "give the identity behind %s the role Monitoring Metrics Publisher on the rule (up to 30 minutes pass)",
                 azure_token_source(x->token));
    if (status == 404)
        err_hint(err, "the endpoint has no rule of this id, or the rule no such stream: benchwrap exporter azure-setup prints both");
}

/* Sends a JSON array. A token that Azure refuses is renewed once. */
static enum exporter_answer send_azure_array(struct exporter_link *l, const char *stream, struct str body, int *ret_status, struct err *err)
{
    struct azure_link *x = l->state;
    struct buf url CLEANUP_BUF, authorization CLEANUP_BUF;
    char id[SECRET_DIGITS + 1];
    const char *token;
    *ret_status = 0;
    buf_init(&url, 8192);
    buf_init(&authorization, 128 << 10);
    if (make_azure_url(l->config, stream, &url, err) || secret_generate(id, err))
        return EXPORTER_LATER;
    const char *request_id =
        arena_printf(l->arena, "x-ms-client-request-id: %.8s-%.4s-4%.3s-a%.3s-%.12s", id, id + 8, id + 13, id + 17, id + 20);
    for (int i = 0;; i++) {
        enum exporter_answer answer = azure_token_get(l, x->token, i > 0, &token, err);
        if (answer != EXPORTER_SENT)
            return answer;
        buf_clear(&authorization);
        buf_printf(&authorization, "Authorization: Bearer %s", token);
        if (!request_id || authorization.failed)
            return err_memory(err, "a request"), EXPORTER_LATER;
        const char *const headers[] = {authorization.p, request_id, NULL};
        const struct exporter_http_request q = {.url = url.p, .headers = headers, .body = body, .ret_status = ret_status};
        answer = exporter_http_call(l, x->http, &q, err);
        explicit_bzero(authorization.p, authorization.size);
        if (*ret_status != 401 || i > 0) {
            azure_hint(x, *ret_status, err);
            return answer;
        }
    }
}

/* Sends the first of n rows that fit into a request, at most `limit` of them. */
static enum exporter_answer send_azure_rows(struct exporter_link *l, const char *stream, const struct str *rows, size_t n, size_t *taken,
                                            struct err *err)
{
    struct buf body CLEANUP_BUF;
    uint64_t max = opt_bytes(&l->config->opts, HTTPJSON_KEY_MAX_BODY);
    int status = 0;
    max = max && max < API_MAX ? max : API_MAX;
    buf_init(&body, BODY_BYTES);
    for (size_t limit = n;; limit = *taken / 2) {
        buf_clear(&body);
        buf_putc(&body, '[');
        for (*taken = 0; *taken < limit && (*taken == 0 || body.n + rows[*taken].n + 2 <= max); ++*taken) {
            if (*taken)
                buf_putc(&body, ',');
            buf_str(&body, rows[*taken]);
        }
        buf_putc(&body, ']');
        if (body.failed)
            return err_set(err, ERR_SYSTEM, "a row is larger than %d bytes", BODY_BYTES), EXPORTER_REFUSED;
        enum exporter_answer answer = send_azure_array(l, stream, buf_text(&body), &status, err);
        if (status != 413 || *taken < 2)
            return answer;
    }
}

static enum exporter_answer azure_send_records(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    return send_azure_rows(l, b->stream, b->records, b->count, taken, err);
}

/* ---- runs ---- */

/* In ReFrame's form each record gets its time, unless a key sets it. */
static int make_reframe_rows(const struct exporter_config *c, const struct exporter_run *run, bool each, struct httpjson_records *to,
                             struct err *err)
{
    struct httpjson_records plain;
    int rc;
    bool has_time = false;
    for (const struct opt_value *v = opt_find(&c->opts, HTTPJSON_KEY_EXTRA); v && v->text; v = v->next)
        has_time |= strncmp(v->text, "TimeGenerated=", 14) == 0;
    if (has_time)
        return httpjson_reframe(c, run, each, to, err);
    httpjson_records_init(&plain);
    rc = httpjson_reframe(c, run, each, &plain, err);
    for (size_t i = 0; rc == 0 && i < plain.count; i++) {
        struct str record = httpjson_record(&plain, i);
        buf_puts(&to->text, "{\"TimeGenerated\":");
        buf_json(&to->text, str_of(template_utc_text(run->run->end_ms ? run->run->end_ms : run->run->start_ms, run->arena)));
        buf_putc(&to->text, record.n > 2 ? ',' : '}');
        buf_str(&to->text, record.n > 2 ? str_sub(record, 1, record.n) : STR(""));
        rc = httpjson_records_add(to, err);
    }
    httpjson_records_deinit(&plain);
    return rc;
}

static int make_azure_rows(const struct exporter_config *c, const struct exporter_run *run, struct httpjson_records *to, struct err *err)
{
    const char *kind = opt_text(&c->opts, HTTPJSON_KEY_RECORD);
    if (strcmp(kind, "metric") == 0)
        return azure_rows_make(run, strcmp(opt_text(&c->opts, HTTPJSON_KEY_METRICS), "all") == 0, to, err);
    return make_reframe_rows(c, run, strcmp(kind, "reframe-lines") == 0, to, err);
}

/* A run that makes no rows leaves nothing of itself among those of others. */
static enum exporter_answer azure_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct azure_link *x = l->state;
    struct httpjson_records rows;
    (void)done;
    httpjson_records_init(&rows);
    int rc = make_azure_rows(l->config, run, &rows, err);
    for (size_t i = 0; rc == 0 && i < rows.count; i++) {
        buf_str(&x->rows.text, httpjson_record(&rows, i));
        rc = httpjson_records_add(&x->rows, err);
    }
    httpjson_records_deinit(&rows);
    l->is_full = x->rows.text.n >= FULL_BYTES;
    return rc ? EXPORTER_REFUSED : EXPORTER_SENT;
}

static enum exporter_answer azure_flush(struct exporter_link *l, struct err *err)
{
    struct azure_link *x = l->state;
    enum exporter_answer answer = EXPORTER_SENT;
    struct str *rows = arena_get(l->arena, (x->rows.count + 1) * sizeof *rows);
    size_t taken;
    for (size_t i = 0; rows && i < x->rows.count; i++)
        rows[i] = httpjson_record(&x->rows, i);
    for (size_t i = 0; rows && i < x->rows.count && answer == EXPORTER_SENT; i += taken)
        answer = send_azure_rows(l, NULL, rows + i, x->rows.count - i, &taken, err);
    buf_clear(&x->rows.text);
    x->rows.count = 0;
    return rows ? answer : (err_memory(err, "a request"), EXPORTER_LATER);
}

static int azure_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct httpjson_records rows;
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    httpjson_records_init(&rows);
    int rc = make_azure_rows(l->config, run, &rows, err) || make_azure_url(l->config, NULL, &url, err) ? -1 : 0;
    if (rc == 0) {
        buf_printf(to, "POST %s\nAuthorization: Bearer ***\nContent-Type: application/json\n%s\n", url.p,
                   opt_on(&l->config->opts, EXPORTER_KEY_GZIP) ? "Content-Encoding: gzip\n" : "");
        for (size_t i = 0; i < rows.count; i++) {
            buf_puts(to, i ? ",\n " : "[");
            buf_str(to, httpjson_record(&rows, i));
        }
        buf_puts(to, "]\n");
    }
    httpjson_records_deinit(&rows);
    return rc ? rc : to->failed ? err_memory(err, "a request") : 0;
}

/* An empty array is no row: Azure checks token, rule and stream first. */
static enum exporter_answer azure_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    struct azure_link *x = l->state;
    int status;
    enum exporter_answer answer = send_azure_array(l, NULL, STR("[]"), &status, err);
    if (answer != EXPORTER_SENT && status != 400)
        return answer;
    buf_printf(found, "a token from %s; the rule answers an empty array with status %d", azure_token_source(x->token), status);
    return EXPORTER_SENT;
}

/* ---- reading back ---- */

/* How many rows of the table have this id; -1 with err. */
static int64_t count_azure_rows(struct exporter_link *l, struct exporter_http *http, struct azure_token *token, const char *url,
                                const char *id, struct err *err)
{
    const char *stream = exporter_text(l->config, AZURE_KEY_STREAM), *text;
    struct buf query CLEANUP_BUF, body CLEANUP_BUF, reply CLEANUP_BUF, authorization CLEANUP_BUF;
    struct json *j = NULL;
    int64_t count = -1;
    buf_init(&query, 1000);
    buf_init(&body, 4000);
    buf_init(&reply, BODY_BYTES);
    buf_init(&authorization, 128 << 10);
    if (azure_token_get(l, token, false, &text, err) != EXPORTER_SENT)
        return -1;
    buf_printf(&authorization, "Authorization: Bearer %s", text);
    buf_printf(&query, "%s | where RecordId == \"%s\" | count", strncmp(stream, "Custom-", 7) == 0 ? stream + 7 : stream, id);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_str(&out, "query", buf_text(&query));
    json_text(&out, "timespan", "PT1H");
    json_close(&out, '}');
    const char *const headers[] = {authorization.p, NULL};
    const struct exporter_http_request q = {.url = url, .headers = headers, .body = buf_text(&body), .ret_body = &reply};
    enum exporter_answer answer = exporter_http_call(l, http, &q, err);
    explicit_bzero(authorization.p, authorization.size);
    if (answer != EXPORTER_SENT)
        return -1;
    if (json_parse(&j, buf_text(&reply), NULL, NULL) == 0)
        count = json_integer(json_pointer(j, "/tables/0/rows/0/0"), -1);
    json_free(j);
    return count >= 0 ? count : err_set(err, ERR_REMOTE, "the reply to a query has no count");
}

static enum exporter_answer send_check_row(struct exporter_link *l, const char *id, struct err *err)
{
    struct buf row CLEANUP_BUF;
    int status;
    buf_init(&row, 4000);
    struct json_out j = json_begin(&row, JSON_TIGHT, '[');
    json_open(&j, NULL, '{');
    json_text(&j, "TimeGenerated", template_utc_text(clock_wall_ms(), l->arena));
    json_text(&j, "RecordId", id);
    json_text(&j, "RunName", "benchwrap exporter check");
    json_close(&j, '}');
    json_close(&j, ']');
    return send_azure_array(l, NULL, buf_text(&row), &status, err);
}

static bool azure_pause(const struct exporter_link *l)
{
    struct pollfd p = {.fd = l->cancel_fd, .events = POLLIN};
    return clock_mono_ns() + READ_BACK_MS * INT64_C(1000000) < l->until_ns && poll(&p, 1, READ_BACK_MS) == 0;
}

static enum exporter_answer azure_read_back(struct exporter_link *l, struct buf *found, struct err *err)
{
    const char *workspace = exporter_text(l->config, AZURE_KEY_WORKSPACE), *host = exporter_text(l->config, AZURE_KEY_QUERY_HOST);
    struct azure_token *token = NULL;
    struct exporter_http *http = NULL;
    char digits[SECRET_DIGITS + 1];
    int64_t begin = clock_mono_ns(), count = 0;
    if (!workspace)
        return err_set(err, ERR_INPUT, "to read a record back, configure the key workspace"), EXPORTER_REFUSED;
    if (secret_generate(digits, err))
        return EXPORTER_LATER;
    const char *id = arena_printf(l->arena, "check/%s", digits);
    enum exporter_answer answer = id ? send_check_row(l, id, err) : (err_memory(err, "a record"), EXPORTER_LATER);
    if (answer == EXPORTER_SENT && azure_token_open(l, exporter_text(l->config, AZURE_KEY_ENDPOINT), AZURE_FOR_QUERIES, &token, err))
        answer = EXPORTER_LATER;
    host = host ? host : token ? azure_token_query_host(token) : "";
    const char *url = arena_printf(l->arena, "%s/v1/workspaces/%s/query", host, workspace);
    if (answer == EXPORTER_SENT)
        answer = exporter_http_open_own(l, &(struct exporter_http_own){.url = url, .is_plain = true}, &http, err);
    while (answer == EXPORTER_SENT && (count = count_azure_rows(l, http, token, url, id, err)) == 0 && azure_pause(l))
        ;
    if (answer == EXPORTER_SENT && count == 0)
        err_set(err, ERR_REMOTE, "Azure accepted the record %s, but the workspace did not have it in time", id);
    if (answer == EXPORTER_SENT && count > 0)
        buf_printf(found, "a record was sent, and read back after %.0f s", (double)(clock_mono_ns() - begin) / 1e9);
    exporter_http_close(http);
    azure_token_close(token);
    return answer == EXPORTER_SENT && count <= 0 ? EXPORTER_LATER : answer;
}

static const char *const azure_secrets[] = {"AZURE_CLIENT_SECRET", "IDENTITY_HEADER", NULL};

const struct exporter exporter_azure = {
    .type = "azure",
    .summary = "rows to a table of Azure Monitor (Log Analytics), by the Logs Ingestion API",
    .description =
        "A row for each metric of a run, in requests of at most 1 MB. `benchwrap exporter azure-setup` prints the tables, the rule and the "
        "endpoint, as Bicep and as az commands. Access tokens come from the key token, a client secret or certificate, a workload identity "
        "file, the managed identity of the machine, or az. They are held in memory and renewed five minutes before they expire.",
    .rows = azure_keys,
    .count = sizeof azure_keys / sizeof *azure_keys,
    .batch = RUNS_BATCH,
    .secret_variables = azure_secrets,
    .configure = azure_configure,
    .open = azure_open,
    .send = azure_send,
    .flush = azure_flush,
    .check = azure_check,
    .read_back = azure_read_back,
    .print = azure_print,
    .send_records = azure_send_records,
    .close = azure_close,
};
