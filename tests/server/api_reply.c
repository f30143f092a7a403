/* api_reply.c: what was asked, and what replies hold; see api_parts.h. */
#include "server/api_parts.h"

#include <math.h>
#include <stdlib.h>

void reply_say(struct call *c, int status, const char *code, const char *text)
{
    buf_clear(&c->a->body);
    c->a->status = status;
    buf_printf(&c->a->body, "{\"error_code\":\"%s\",\"message\":", code);
    buf_json(&c->a->body, str_of(text));
    buf_putc(&c->a->body, '}');
}

void reply_invalid(struct call *c, const char *text)
{
    reply_say(c, 400, "INVALID_PARAMETER_VALUE", text);
}

void reply_absent(struct call *c, const char *text)
{
    reply_say(c, 404, "RESOURCE_DOES_NOT_EXIST", text);
}

static int hex(char ch)
{
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

char *call_decoded(struct str s)
{
    char *to = calloc(1, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '%' && i + 2 < s.n && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0) {
            to[n++] = (char)(hex(s.p[i + 1]) * 16 + hex(s.p[i + 2]));
            i += 2;
        } else
            to[n++] = s.p[i] == '+' ? ' ' : s.p[i];
    return to;
}

/* A value of the query, decoded; "" if it is not there. */
const char *call_asked(const struct call *c, const char *name)
{
    struct str rest = c->query;
    while (rest.p) {
        struct str value = str_cut(&rest, '&'), key = str_cut(&value, '=');
        if (str_is(key, name))
            return call_decoded(value.p ? value : STR(""));
    }
    return "";
}

const char *call_text(const struct call *c, const char *key)
{
    return json_string(json_get(c->j, key), "");
}

/* ---- what replies hold ---- */

void reply_pairs(struct buf *b, const char *name, const struct pairs *pairs)
{
    buf_printf(b, "\"%s\":[", name);
    for (size_t i = 0; i < pairs->n; i++) {
        buf_puts(b, i ? ",{\"key\":" : "{\"key\":");
        buf_json(b, str_of(pairs->p[i].key));
        buf_puts(b, ",\"value\":");
        buf_json(b, str_of(pairs->p[i].value));
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

void reply_text(struct buf *b, const char *key, const char *value)
{
    buf_printf(b, "\"%s\":", key);
    buf_json(b, str_of(value));
    buf_putc(b, ',');
}

void reply_sample(struct buf *b, const char *key, const struct sample *s)
{
    buf_puts(b, "{\"key\":");
    buf_json(b, str_of(key));
    buf_puts(b, isfinite(s->value) ? ",\"value\":" : ",\"value\":\"");
    buf_double(b, s->value);
    buf_printf(b, "%s,\"timestamp\":%lld,\"step\":%lld}", isfinite(s->value) ? "" : "\"", (long long)s->time_ms, (long long)s->step);
}

/* Of a key the sample that the real server shows: greatest step, then time, then value. */
static const struct sample *latest(const struct metric *m)
{
    const struct sample *best = &m->p[0];
    for (size_t i = 1; i < m->n; i++)
        if (m->p[i].step > best->step || (m->p[i].step == best->step && m->p[i].time_ms > best->time_ms) ||
            (m->p[i].step == best->step && m->p[i].time_ms == best->time_ms && m->p[i].value > best->value))
            best = &m->p[i];
    return best;
}

void reply_info(struct buf *b, const struct run *r)
{
    buf_putc(b, '{');
    reply_text(b, "run_id", r->id);
    reply_text(b, "run_uuid", r->id);
    reply_text(b, "experiment_id", r->experiment);
    reply_text(b, "run_name", r->name);
    reply_text(b, "user_id", r->user);
    reply_text(b, "status", r->status);
    buf_printf(b, "\"start_time\":%lld,", (long long)r->start_ms);
    if (r->end_ms)
        buf_printf(b, "\"end_time\":%lld,", (long long)r->end_ms);
    buf_printf(b, "\"artifact_uri\":\"mlflow-artifacts:/%s/%s/artifacts\",\"lifecycle_stage\":\"%s\"}", r->experiment, r->id,
               r->deleted ? "deleted" : "active");
}

void reply_run(struct buf *b, const struct run *r)
{
    buf_puts(b, "{\"info\":");
    reply_info(b, r);
    buf_puts(b, ",\"data\":{");
    reply_pairs(b, "params", &r->params);
    buf_putc(b, ',');
    reply_pairs(b, "tags", &r->tags);
    buf_puts(b, ",\"metrics\":[");
    for (size_t i = 0; i < r->n_metrics; i++) {
        if (i)
            buf_putc(b, ',');
        reply_sample(b, r->metrics[i].key, latest(&r->metrics[i]));
    }
    buf_puts(b, "]},\"inputs\":{\"dataset_inputs\":[");
    for (size_t i = 0; i < r->inputs.n; i++)
        buf_printf(b, "%s%s", i ? "," : "", r->inputs.p[i].value);
    buf_puts(b, "]}}");
}

void reply_experiment(struct buf *b, const struct experiment *e)
{
    buf_putc(b, '{');
    reply_text(b, "experiment_id", e->id);
    reply_text(b, "name", e->name);
    buf_printf(b, "\"artifact_location\":\"mlflow-artifacts:/%s\",\"lifecycle_stage\":\"%s\",", e->id, e->deleted ? "deleted" : "active");
    reply_pairs(b, "tags", &e->tags);
    buf_putc(b, '}');
}
