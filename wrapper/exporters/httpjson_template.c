/* httpjson_template.c: JSON texts with {{KEY}} in them; see httpjson_template.h. */
#include "exporters/httpjson_template.h"

#include "base/http.h"
#include "base/json_out.h"
#include "exporters/httpjson_keys.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KEY_BYTES = 300, VALUE_BYTES = 64 << 20 };

enum template_kind { TEMPLATE_NONE, TEMPLATE_TEXT, TEMPLATE_NUMBER, TEMPLATE_JSON };
struct template_value {
    enum template_kind kind;
    struct str text; /* of TEXT and JSON: in the buffer of the caller, or the run's */
    double number;
};

const struct json *template_reference(const struct exporter_run *r, const char *metric)
{
    for (const struct json *j = json_first(json_get(r->detail, "references")); j; j = json_next(j))
        if (strcmp(json_string(json_get(j, "metric"), ""), metric) == 0)
            return j;
    return NULL;
}

/* ---- values ---- */

static const struct tree_entry *metric_of(const struct exporter_run *r, const char *key)
{
    const struct tree_entry *e = r->run->metrics;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

static struct template_value template_text_value(const char *text)
{
    return (struct template_value){text ? TEMPLATE_TEXT : TEMPLATE_NONE, str_of(text), 0};
}

static struct template_value template_number_value(double v)
{
    return (struct template_value){isfinite(v) ? TEMPLATE_NUMBER : TEMPLATE_NONE, {NULL, 0}, v};
}

/* Returns the last sample of the metric as a number; NONE where the metric is NULL or has none. */
static struct template_value template_last_value(const struct tree_entry *metric)
{
    const struct tree_sample *s = metric ? exporter_run_last(metric) : NULL;
    return template_number_value(s ? s->value : NAN);
}

static struct template_value template_json_value(const struct json *j)
{
    if (json_is_number(j))
        return template_number_value(json_number(j, NAN));
    return template_text_value(json_string(j, NULL));
}

const char *template_utc_text(int64_t ms, struct arena *a)
{
    time_t at = (time_t)(ms / 1000);
    char text[40];
    struct tm t;
    if (ms <= 0 || !gmtime_r(&at, &t))
        return NULL;
    strftime(text, sizeof text, "%FT%T", &t);
    return arena_printf(a, "%s.%03dZ", text, (int)(ms % 1000));
}

static struct template_value template_time_value(int64_t ms, struct arena *a)
{
    return template_text_value(template_utc_text(ms, a));
}

/* "write.bw 1882 MiB/s (reference 1900: pass)" for each headline metric. */
static void template_put_headlines(const struct exporter_run *r, struct buf *to)
{
    const char *names = exporter_run_tag(r, "benchwrap.headline");
    struct str rest = str_of(names), word;
    while ((word = str_word(&rest)).n) {
        const char *key = arena_dup(r->arena, word.p, word.n);
        const struct tree_entry *e = key ? metric_of(r, key) : NULL;
        const struct tree_sample *s = e ? exporter_run_last(e) : NULL;
        const struct json *ref = key ? template_reference(r, key) : NULL;
        struct headline h = {.key = key, .unit = key ? exporter_run_unit(r, key) : "", .value = s ? s->value : NAN};
        if (!s || !isfinite(s->value))
            continue;
        headline_show(to, &h);
        if (!ref)
            continue;
        buf_puts(to, " (reference ");
        buf_double(to, json_number(json_get(ref, "reference"), NAN));
        buf_printf(to, ": %s)", json_string(json_get(ref, "verdict"), ""));
    }
}

/* A sentence for people: outcome, headline metrics against their reference, link. */
static void template_put_summary(const struct template_values *v, struct buf *to, struct err *err)
{
    const struct exporter_run *r = v->run;
    const char *verdict = exporter_run_tag(r, "benchwrap.verdict"), *reason = exporter_run_tag(r, "benchwrap.reason"),
               *link = exporter_text(v->config, HTTPJSON_KEY_LINK);
    struct buf lines CLEANUP_BUF;
    buf_init(&lines, 64 << 10);
    buf_printf(to, "%s: %s", r->run->name ? r->run->name : r->run->id, record_status_name(r->run->status));
    if (verdict && strcmp(verdict, "none") != 0)
        buf_printf(to, ", %s", verdict);
    if (reason)
        buf_printf(to, " (%s)", reason);
    template_put_headlines(r, &lines);
    if (lines.n)
        buf_printf(to, "\n%s", lines.p);
    if (link) {
        buf_putc(to, '\n');
        template_expand_url(link, v, to, err);
    }
}

size_t template_put_measures(const struct exporter_run *r, bool all, struct buf *to)
{
    const char *benchmark = exporter_run_tag(r, "benchmark"), *headline = exporter_run_tag(r, "benchwrap.headline");
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    size_t n = 0;
    json_open(&j, benchmark ? benchmark : r->run->experiment, '{');
    for (const struct tree_entry *e = r->run->metrics; e; e = e->next) {
        const struct tree_sample *s = exporter_run_last(e);
        if (!s || !isfinite(s->value) || !(all ? key_is_result(e->key) : str_has_word(headline, str_of(e->key))))
            continue;
        json_open(&j, e->key, '{');
        json_double(&j, "value", s->value);
        json_close(&j, '}');
        n++;
    }
    json_close(&j, '}');
    json_close(&j, '}');
    return n;
}

/* ---- keys ---- */

/* Returns the value of a template key about v->metric, which must be set: its last sample, its
 * unit, or a part of its reference. */
static struct template_value template_of_metric(const struct template_values *v, const char *key)
{
    const struct tree_entry *e = v->metric;
    const struct tree_sample *s = exporter_run_last(e);
    const struct json *ref = template_reference(v->run, e->key);
    if (strcmp(key, "key") == 0)
        return template_text_value(e->key);
    if (strcmp(key, "value") == 0)
        return template_last_value(e);
    if (strcmp(key, "unit") == 0)
        return template_text_value(exporter_run_unit(v->run, e->key));
    if (strcmp(key, "time_ms") == 0 || strcmp(key, "step") == 0)
        return template_number_value(!s ? NAN : key[0] == 't' ? (double)s->time_ms : (double)s->step);
    if (strcmp(key, "time") == 0)
        return template_time_value(s ? s->time_ms : 0, v->run->arena);
    return template_json_value(json_get(ref, strcmp(key, "metric_verdict") == 0 ? "verdict" : key)); /* reference, low, high */
}

/* Sets *ret to a field of the run, such as "id" or "start"; NONE where it is missing. A text is in
 * the run, its arena or the configuration. False: the key is no field. */
static bool template_of_field(const struct template_values *v, const char *key, struct template_value *ret)
{
    const struct exporter_run *r = v->run;
    const struct tree_run *run = r->run;
    const struct {
        const char *key, *text;
    } texts[] = {{"id", run->id},
                 {"name", run->name},
                 {"experiment", run->experiment},
                 {"status", record_status_name(run->status)},
                 {"verdict", exporter_run_tag(r, "benchwrap.verdict")},
                 {"reason", exporter_run_tag(r, "benchwrap.reason")},
                 {"benchmark", exporter_run_tag(r, "benchmark")},
                 {"site", exporter_run_tag(r, "site")},
                 {"cluster", exporter_run_tag(r, "cluster")},
                 {"host", exporter_run_tag(r, "hostname")},
                 {"user", run->user},
                 {"path", run->path},
                 {"topic", exporter_text(v->config, HTTPJSON_KEY_TOPIC)},
                 {"branch", exporter_text(v->config, HTTPJSON_KEY_BRANCH)}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].key, key) == 0)
            return *ret = template_text_value(texts[i].text), true;
    if (strcmp(key, "start_ms") == 0 || strcmp(key, "end_ms") == 0)
        return *ret = template_number_value(key[0] == 's' ? (double)run->start_ms : run->end_ms ? (double)run->end_ms : NAN), true;
    if (strcmp(key, "start") == 0 || strcmp(key, "end") == 0)
        return *ret = template_time_value(key[0] == 's' ? run->start_ms : run->end_ms, r->arena), true;
    return false;
}

/* Sets *ret to the value of a key of the complete run, such as "id" or "summary"; NONE where it
 * is missing. A composed text is in `scratch`, which is overwritten. err: the link cannot be
 * filled. */
static void template_of_run(const struct template_values *v, const char *key, struct buf *scratch, struct template_value *ret,
                            struct err *err)
{
    const struct exporter_run *r = v->run;
    if (template_of_field(v, key, ret))
        return;
    buf_clear(scratch);
    *ret = (struct template_value){.kind = TEMPLATE_TEXT};
    if (strcmp(key, "headline") == 0)
        template_put_headlines(r, scratch);
    else if (strcmp(key, "summary") == 0)
        template_put_summary(v, scratch, err);
    else if (strcmp(key, "link") == 0 && exporter_text(v->config, HTTPJSON_KEY_LINK))
        template_expand_url(exporter_text(v->config, HTTPJSON_KEY_LINK), v, scratch, err);
    else if (strcmp(key, "run") == 0) {
        exporter_run_json(r, false, scratch);
        ret->kind = TEMPLATE_JSON;
    } else if (strcmp(key, "measures") == 0) {
        template_put_measures(r, strcmp(opt_text(&v->config->opts, HTTPJSON_KEY_METRICS), "all") == 0, scratch);
        ret->kind = TEMPLATE_JSON;
    } else if (strcmp(key, "testbed") == 0) {
        const char *cluster = exporter_run_tag(r, "cluster"), *host = exporter_run_tag(r, "hostname");
        buf_puts(scratch, cluster ? cluster : host ? host : "unknown");
    } else {
        *ret = template_text_value(NULL);
        return;
    }
    ret->text = buf_text(scratch);
}

static bool is_template_key(const char *key)
{
    static const char *const keys[] = {"id",      "name",     "experiment", "status", "verdict", "reason",    "benchmark",      "site",
                                       "cluster", "host",     "user",       "path",   "topic",   "start_ms",  "end_ms",         "start",
                                       "end",     "headline", "run",        "link",   "summary", "key",       "value",          "unit",
                                       "time_ms", "time",     "step",       "low",    "high",    "reference", "metric_verdict", "stream",
                                       "branch",  "measures", "testbed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return strncmp(key, "param.", 6) == 0 || strncmp(key, "tag.", 4) == 0 || strncmp(key, "metric.", 7) == 0 ||
           strncmp(key, "unit.", 5) == 0;
}

static bool is_metric_key(const char *key)
{
    static const char *const keys[] = {"key", "value", "unit", "time_ms", "time", "step", "low", "high", "reference", "metric_verdict"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* Sets *ret to the value of {{NAME}}; its text may be in scratch, until the next call. Without a
 * run, only stream, summary and topic have a value. 0; -1 with err: there is no such name, or it
 * may not be in a link. */
static int template_value_of(const struct template_values *v, struct str name, struct buf *scratch, struct template_value *ret,
                             struct err *err)
{
    char key[KEY_BYTES];
    name = str_trim(name);
    snprintf(key, sizeof key, STR_FMT, STR_ARG(name));
    *ret = template_text_value(NULL);
    if (!name.n || name.n >= sizeof key || !is_template_key(key))
        return err_set(err, ERR_INPUT, "no value has the name \"{{%.60s}}\"", key);
    if (v->is_link && (strcmp(key, "link") == 0 || strcmp(key, "summary") == 0))
        return err_set(err, ERR_INPUT, "the value of {{%s}} contains the link itself", key);
    if (!v->run) {
        if (strcmp(key, "stream") == 0)
            *ret = template_text_value(v->stream);
        if (strcmp(key, "summary") == 0)
            *ret = template_text_value(v->message);
        if (strcmp(key, "topic") == 0)
            *ret = template_text_value(exporter_text(v->config, HTTPJSON_KEY_TOPIC));
        return 0;
    }
    if (strncmp(key, "param.", 6) == 0)
        *ret = template_text_value(exporter_run_param(v->run, key + 6));
    else if (strncmp(key, "tag.", 4) == 0)
        *ret = template_text_value(exporter_run_tag(v->run, key + 4));
    else if (strncmp(key, "metric.", 7) == 0)
        *ret = template_last_value(metric_of(v->run, key + 7));
    else if (strncmp(key, "unit.", 5) == 0)
        *ret = template_text_value(exporter_run_unit(v->run, key + 5));
    else if (is_metric_key(key))
        *ret = v->metric ? template_of_metric(v, key) : template_text_value(NULL);
    else
        template_of_run(v, key, scratch, ret, err);
    return 0;
}

/* ---- expanding ---- */

/* As characters of a JSON text: without its quotes. */
static void put_inside(const struct template_value *v, struct buf *to)
{
    struct buf quoted CLEANUP_BUF;
    buf_init(&quoted, VALUE_BYTES);
    if (v->kind == TEMPLATE_NUMBER)
        buf_double(to, v->number);
    if (v->kind != TEMPLATE_TEXT && v->kind != TEMPLATE_JSON)
        return;
    buf_json(&quoted, v->text);
    to->failed |= quoted.failed;
    if (quoted.n > 2)
        buf_add(to, quoted.p + 1, quoted.n - 2);
}

static void put_outside(const struct template_value *v, struct buf *to)
{
    switch (v->kind) {
    case TEMPLATE_TEXT: buf_json(to, v->text); break;
    case TEMPLATE_JSON: buf_str(to, v->text); break;
    case TEMPLATE_NUMBER: buf_double(to, v->number); break;
    default: buf_puts(to, "null");
    }
}

static void put_escaped(const struct template_value *v, struct buf *to)
{
    struct buf number CLEANUP_BUF;
    buf_init(&number, 64);
    if (v->kind == TEMPLATE_NUMBER)
        buf_double(&number, v->number);
    http_escape(to, v->kind == TEMPLATE_NUMBER ? buf_text(&number) : v->kind == TEMPLATE_NONE ? STR("") : v->text, false);
}

static void put_verbatim(const struct template_value *v, struct buf *to)
{
    if (v->kind == TEMPLATE_NUMBER)
        buf_double(to, v->number);
    else if (v->kind != TEMPLATE_NONE)
        buf_str(to, v->text);
}

/* Slack reads <!channel> and links in a text. What a run has is neither: it would call all members of a channel. */
static void escape_for_slack(struct template_value *v, struct buf *to)
{
    if (v->kind != TEMPLATE_TEXT)
        return;
    buf_clear(to);
    for (size_t i = 0; i < v->text.n; i++)
        switch (v->text.p[i]) {
        case '&': buf_puts(to, "&amp;"); break;
        case '<': buf_puts(to, "&lt;"); break;
        case '>': buf_puts(to, "&gt;"); break;
        default: buf_putc(to, v->text.p[i]);
        }
    v->text = buf_text(to);
}

/* Returns whether values are escaped for the preset slack. Lines of programs and values of runs are,
 * so that "<!channel>" in them notifies no user. The user's own messages and templates may notify. */
static bool is_for_slack(const struct template_values *v)
{
    const char *preset = (v->run || v->is_foreign) && v->config ? exporter_text(v->config, HTTPJSON_KEY_PRESET) : NULL;
    return preset && strcmp(preset, "slack") == 0 && !exporter_text(v->config, HTTPJSON_KEY_TEMPLATE);
}

enum template_form { TEMPLATE_OF_JSON, TEMPLATE_OF_URL, TEMPLATE_OF_TEXT };

/* Appends the template with each {{NAME}} replaced by its value, escaped for its form: inside or
 * outside of a JSON string, in a URL, or verbatim. 0; -1 with err: a name is not known, or out of
 * memory. */
static int template_fill(const char *text, const struct template_values *v, enum template_form form, struct buf *to, struct err *err)
{
    struct buf scratch CLEANUP_BUF, slack CLEANUP_BUF;
    bool inside = false;
    buf_init(&scratch, VALUE_BYTES);
    buf_init(&slack, 5 * VALUE_BYTES);
    for (const char *p = text; *p; p++) {
        const char *end = p[0] == '{' && p[1] == '{' ? strstr(p, "}}") : NULL;
        struct template_value value;
        if (!end) {
            buf_putc(to, *p);
            if (*p == '\\' && inside && p[1])
                buf_putc(to, *++p);
            else if (*p == '"')
                inside = !inside;
            continue;
        }
        if (template_value_of(v, (struct str){p + 2, (size_t)(end - p) - 2}, &scratch, &value, err))
            return -1;
        if (form == TEMPLATE_OF_JSON && is_for_slack(v))
            escape_for_slack(&value, &slack);
        to->failed |= scratch.failed || slack.failed;
        (form == TEMPLATE_OF_TEXT ? put_verbatim : form == TEMPLATE_OF_URL ? put_escaped : inside ? put_inside : put_outside)(&value, to);
        p = end + 1;
    }
    return to->failed ? err_memory(err, "a request") : 0;
}

int template_expand(const char *text, const struct template_values *v, struct buf *to, struct err *err)
{
    return template_fill(text, v, TEMPLATE_OF_JSON, to, err);
}

int template_expand_text(const char *text, const struct template_values *v, struct buf *to, struct err *err)
{
    return template_fill(text, v, TEMPLATE_OF_TEXT, to, err);
}

int template_expand_url(const char *text, const struct template_values *v, struct buf *to, struct err *err)
{
    return template_fill(text, v, TEMPLATE_OF_URL, to, err);
}

bool template_has_keys(const char *text)
{
    const char *begin = strstr(text, "{{");
    return begin && strstr(begin, "}}");
}
