/* ready.c: the gates that a service passes before it can be measured, each with its time; see
 * server.h. */
#include "base/clock.h"
#include "benchmarks/native/llmload/server/server.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum gate { GATE_CONNECT, GATE_HEALTH, GATE_MODEL, GATE_ANSWER, GATES };
enum gate_verdict { PASSED, NOT_YET, ABSENT /* there is no such page: the gate is left out */, NEVER };

struct waiting {
    struct llm_server *server;
    const char **model;
    struct err *err; /* why not yet, or never */
    bool late; /* the last request was stopped at the time limit */
};

enum { SILENT_S = 6 }; /* more than the limit of a connection (server.c) */

static int gate_request(struct waiting *w, const char *path, const char *body, struct http_reply *r)
{
    int rc = server_ask(w->server, path, body, r, w->err);
    w->late = r->trouble == HTTP_CANCELLED;
    return rc;
}

/* Sets err to the server's own message about its status. */
static void gate_set_error(struct waiting *w, const char *path, const struct http_reply *r)
{
    struct buf said CLEANUP_BUF;
    buf_init(&said, 600);
    buf_plain(&said, str_trim(buf_text(&r->body)), 300);
    err_set(w->err, ERR_REMOTE, "%s answers %d%s%s", path, r->status, said.n ? ": " : "", said.n ? said.p : "");
}

static enum gate_verdict gate_judge(struct waiting *w, const char *path, const struct http_reply *r)
{
    if (r->status == 200)
        return PASSED;
    gate_set_error(w, path, r);
    if (r->status == 401 || r->status == 403)
        return NEVER;
    if (r->status == 404 || r->status == 405)
        return ABSENT;
    return r->status >= 500 || r->status == 429 || r->status == 408 ? NOT_YET : NEVER;
}

static enum gate_verdict ask_health(struct waiting *w)
{
    struct http_reply r;
    const char *path = dialects[w->server->dialect].health;
    enum gate_verdict v = NOT_YET;
    if (gate_request(w, path, NULL, &r) == 0)
        v = gate_judge(w, path, &r);
    http_reply_deinit(&r);
    return v;
}

/* A server that accepts and sends nothing has passed this gate. */
static enum gate_verdict ask_connection(struct waiting *w)
{
    struct http_reply r;
    enum gate_verdict v = PASSED;
    if (gate_request(w, dialects[w->server->dialect].health, NULL, &r) < 0 && r.trouble == HTTP_UNSENT)
        v = NOT_YET;
    else if (r.trouble == HTTP_UNTRUSTED || r.trouble == HTTP_HOPELESS)
        v = NEVER;
    http_reply_deinit(&r);
    return v;
}

/* {"data": [{"id": …}]} or Ollama's {"models": [{"name": …}]} */
static const char *model_name(const struct json *entry)
{
    return json_string(json_get(entry, "id"), json_string(json_get(entry, "name"), NULL));
}

static const struct json *list_of(const struct json *j)
{
    return json_first(json_get(j, "data") ? json_get(j, "data") : json_get(j, "models"));
}

static bool same_model(const char *listed, const char *wanted)
{
    size_t n = strlen(wanted);
    return strncmp(listed, wanted, n) == 0 && (!listed[n] || strcmp(listed + n, ":latest") == 0);
}

/* Searches the load's model in the list, or uses the first one. Returns ABSENT where other models
 * are listed, except for Ollama. */
static enum gate_verdict look_for_model(struct waiting *w, const struct json *j)
{
    enum { SHOWN = 5 };
    struct buf names CLEANUP_BUF;
    size_t listed = 0;
    buf_init(&names, 4000);
    for (const struct json *m = list_of(j); m; m = json_next(m)) {
        const char *name = model_name(m);
        if (!name)
            continue;
        if (!*w->model)
            *w->model = arena_dup(&w->server->arena, name, strlen(name));
        if (*w->model && same_model(name, *w->model))
            return PASSED;
        if (++listed > SHOWN)
            continue;
        buf_puts(&names, names.n ? ", " : "");
        buf_plain(&names, str_of(name), 80);
    }
    if (listed > SHOWN)
        buf_printf(&names, " and %zu more", listed - SHOWN);
    err_set(w->err, ERR_REMOTE, "the model %.100s is not among those the server lists (%s)", *w->model ? *w->model : "",
            names.n ? names.p : "none");
    return listed && !dialects[w->server->dialect].ollama ? ABSENT : NOT_YET; /* proxies serve more than they list: the request decides */
}

/* Triton answers for one model. */
static enum gate_verdict ask_triton_model(struct waiting *w)
{
    struct http_reply r;
    char path[400];
    enum gate_verdict v = NOT_YET;
    snprintf(path, sizeof path, "/v2/models/%.300s/ready", *w->model);
    if (gate_request(w, path, NULL, &r) == 0)
        v = gate_judge(w, path, &r);
    http_reply_deinit(&r);
    return v == NEVER ? NOT_YET : v; /* 400 while it is loaded */
}

/* Queries the list of models, and whether it has the model of the load. ABSENT: the server has no
 * such list. */
static enum gate_verdict ask_models(struct waiting *w)
{
    if (dialects[w->server->dialect].by_model)
        return ask_triton_model(w);
    struct http_reply r;
    struct json *j = NULL;
    const char *path = dialects[w->server->dialect].ollama ? "/api/tags" : "/v1/models";
    enum gate_verdict v = NOT_YET;
    if (gate_request(w, path, NULL, &r) == 0) {
        v = gate_judge(w, path, &r);
        if (v == PASSED && json_parse(&j, buf_text(&r.body), NULL, w->err) < 0)
            v = ABSENT;
        else if (v == PASSED)
            v = look_for_model(w, j);
        if (r.status >= 500 && r.status != 503) /* a list that is broken for good (happens with transformers serve) */
            v = ABSENT;
    }
    json_free(j);
    http_reply_deinit(&r);
    return v;
}

static void one_token(const struct waiting *w, struct buf *body)
{
    const bool chats = dialects[w->server->dialect].chat;
    struct json_out j = json_begin(body, JSON_TIGHT, '{');
    if (w->server->dialect == DIALECT_TRITON) {
        json_members(&j, STR("\"text_input\":\"Hi\",\"parameters\":{\"max_tokens\":1}"));
        json_close(&j, '}');
        return;
    }
    if (*w->model)
        json_text(&j, "model", *w->model);
    json_members(&j, chats ? STR("\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]") : STR("\"prompt\":\"Hi\""));
    if (dialects[w->server->dialect].ollama)
        json_members(&j, STR("\"options\":{\"num_predict\":1}"));
    else
        json_int(&j, w->server->max_field, 1);
    json_flag(&j, "stream", false);
    json_close(&j, '}');
}

/* Requests a first token. Returns PASSED, NOT_YET, or NEVER where the server refuses the
 * request. */
static enum gate_verdict ask_token(struct waiting *w)
{
    struct http_reply r;
    struct buf body CLEANUP_BUF;
    enum gate_verdict v = NOT_YET;
    buf_init(&body, 8192);
    one_token(w, &body);
    if (gate_request(w, w->server->api_path, body.p, &r) == 0) {
        v = gate_judge(w, w->server->api_path, &r);
        if (v == PASSED && str_has(buf_text(&r.body), "\"error\"") && !str_has(buf_text(&r.body), "\"choices\"")) {
            gate_set_error(w, w->server->api_path, &r);
            v = NEVER;
        }
        if (v == ABSENT)
            v = NEVER;
    }
    http_reply_deinit(&r);
    return v;
}

static void pause_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

int server_ready(struct llm_server *s, const char **model, double limit_s, struct readiness *ret, struct err *err)
{
    enum gate_verdict (*const gates[GATES])(struct waiting * w) = {ask_connection, ask_health, ask_models, ask_token};
    static const char *const names[GATES] = {"a connection", "its health", "its models", "a first answer"};
    int64_t begin = clock_mono_ns();
    double gap = 0.05, *const times[GATES] = {&ret->connect_s, &ret->health_s, &ret->model_s, &ret->answer_s};
    struct waiting w = {s, model, err, false};
    *ret = (struct readiness){NAN, NAN, NAN, NAN, 0};
    for (int gate = 0; gate < GATES;) {
        double left = limit_s - (double)(clock_mono_ns() - begin) / 1e9;
        ret->tries++;
        server_patience(s, gate == GATE_CONNECT && left > SILENT_S ? SILENT_S : left);
        enum gate_verdict v = gates[gate](&w);
        double now = (double)(clock_mono_ns() - begin) / 1e9;
        if (server_is_cancelled(s))
            return err_set(err, ERR_SYSTEM, "stopped after %.1f s of waiting for %s", now, names[gate]);
        if (v == PASSED || v == ABSENT) {
            *times[gate++] = v == PASSED ? now : NAN;
            gap = 0.05;
            continue;
        }
        if (v == NEVER)
            return err_wrap(err, "the service is not usable: asking for %s", names[gate]);
        if (!server_lives(s))
            return err_set(err, ERR_SYSTEM, "the server's process %d is gone, after %.1f s of waiting for %s", (int)s->pid, now,
                           names[gate]);
        if (w.late)
            return err_set(err, ERR_REMOTE, "the service was not ready within %g s: waiting for %s: it has not answered", limit_s,
                           names[gate]);
        if (now + gap > limit_s)
            return err_wrap(err, "the service was not ready within %g s: waiting for %s", limit_s, names[gate]);
        pause_s(gap);
        gap = gap * 2 < 2 ? gap * 2 : 2;
    }
    err_clear(err);
    return 0;
}

void server_ready_json(const struct readiness *r, struct json_out *j)
{
    json_known(j, "server_ready_connect_s", round(r->connect_s * 1e6) / 1e6);
    json_known(j, "server_ready_health_s", round(r->health_s * 1e6) / 1e6);
    json_known(j, "server_ready_model_s", round(r->model_s * 1e6) / 1e6);
    json_known(j, "server_ready_first_answer_s", round(r->answer_s * 1e6) / 1e6);
    json_uint(j, "server_ready_tries", r->tries);
}

const char *server_first_model(struct llm_server *s)
{
    struct json *j = server_json(s, dialects[s->dialect].ollama ? "/api/tags" : "/v1/models");
    const char *name = list_of(j) ? model_name(list_of(j)) : NULL;
    name = name ? arena_dup(&s->arena, name, strlen(name)) : NULL;
    json_free(j);
    return name;
}
