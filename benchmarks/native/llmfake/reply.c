/* reply.c: the pieces that replies are made of. */
#include "base/json_out.h"
#include "benchmarks/native/llmfake/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reply_parts reply_pieces[APIS];
const char *const fault_names[FAULTS] = {
    "none",
#define FAULT(id, name, help) name,
#include "benchmarks/native/llmfake/faults.def"
#undef FAULT
};

enum { PIECE_MAX = 1 << 20, JSON_MAX = 1 << 16 };

static bool reply_is_openai(enum fake_api api)
{
    return api == API_CHAT || api == API_COMPLETIONS;
}

/* Server-sent events; else lines of JSON. */
static bool reply_is_sse(enum fake_api api)
{
    return reply_is_openai(api) || api == API_TRITON;
}

void reply_frame(const struct fake *f, struct buf *to, const char *text, size_t n)
{
    if (f->by_close) {
        buf_add(to, text, n);
        return;
    }
    buf_printf(to, "%zx\r\n", n);
    buf_add(to, text, n);
    buf_puts(to, "\r\n");
}

void reply_event(const struct fake *f, enum fake_api api, struct buf *to, const char *json)
{
    const char *end = f->crlf ? "\r\n" : f->cr ? "\r" : "\n";
    if (reply_is_sse(api))
        buf_printf(to, "data: %s%s%s", json, end, end);
    else
        buf_printf(to, "%s\n", json);
}

/* Opens the object, with the members that precede those that matter. */
static struct json_out reply_begin(const struct fake *f, enum fake_api api, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    if (reply_is_openai(api)) {
        json_text(&j, "id", "chatcmpl-5f0c1a7e9b3d4268");
        json_text(&j, "object", api == API_CHAT ? "chat.completion.chunk" : "text_completion");
        json_int(&j, "created", 1767225600);
        json_text(&j, "model", f->model);
    } else if (api == API_TRITON) {
        json_text(&j, "model_name", f->model);
        json_text(&j, "model_version", "1");
    } else {
        json_text(&j, "model", f->model);
        json_text(&j, "created_at", "2026-01-01T00:00:00.000000000Z");
    }
    return j;
}

static void reply_put_usage(struct json_out *j, uint32_t input, uint32_t output)
{
    json_open(j, "usage", '{');
    json_uint(j, "prompt_tokens", input);
    json_uint(j, "completion_tokens", output);
    json_uint(j, "total_tokens", (uint64_t)input + output);
    json_close(j, '}');
}

/* {"role": "assistant", MEMBER: TEXT} */
static void reply_put_message(struct json_out *j, const char *name, bool role, const char *member, const char *text)
{
    json_open(j, name, '{');
    if (role)
        json_text(j, "role", "assistant");
    json_text(j, member, text);
    json_close(j, '}');
}

/* Opens the one choice of a reply of OpenAI's APIs. */
static void reply_open_choice(struct json_out *j)
{
    json_open(j, "choices", '[');
    json_open(j, NULL, '{');
    json_int(j, "index", 0);
}

static void reply_close_choice(struct json_out *j, const char *finish_reason)
{
    json_text(j, "finish_reason", finish_reason);
    json_close(j, '}');
    json_close(j, ']');
}

/* Appends the object with one token's text. member: the name of the text's member, where the API
 * knows several. counted: input and output tokens so far; NULL: the reply has no usage. */
static void token_json(const struct fake *f, enum fake_api api, struct buf *to, const char *text, const char *member, bool role,
                       const uint32_t counted[2])
{
    bool content = strcmp(member, "content") == 0;
    struct json_out j = reply_begin(f, api, to);
    if (reply_is_openai(api)) {
        reply_open_choice(&j);
        if (api == API_CHAT)
            reply_put_message(&j, "delta", role, member, text);
        else
            json_text(&j, "text", text);
        json_null(&j, "logprobs");
        reply_close_choice(&j, NULL);
        if (counted)
            reply_put_usage(&j, counted[0], counted[1]);
        if (f->usage == USAGE_ZEROS)
            reply_put_usage(&j, 0, 0);
    } else if (api == API_TRITON)
        json_text(&j, "text_output", text);
    else {
        if (api == API_OLLAMA_CHAT)
            reply_put_message(&j, "message", true, content ? member : "thinking", text);
        else
            json_text(&j, content ? "response" : "thinking", text);
        json_flag(&j, "done", false);
    }
    if (to->n + 40 < f->pad) {
        json_printf(&j, "system_fingerprint", "\"");
        while (to->n + 10 < f->pad)
            buf_putc(to, 'x');
        buf_putc(to, '"');
    }
    json_close(&j, '}');
}

static void chunk_text(const struct fake *f, struct buf *to)
{
    for (unsigned i = 0; i < f->per_chunk; i++)
        buf_puts(to, " tok");
}

static int reply_store_piece(struct reply_part *ret, struct buf *b, struct err *err)
{
    *ret = (struct reply_part){b->p, b->n};
    bool failed = b->failed;
    buf_init(b, PIECE_MAX);
    return failed ? err_memory(err, "replies") : 0;
}

static void reply_frame_json(const struct fake *f, enum fake_api api, struct buf *to, struct buf *json)
{
    struct buf event CLEANUP_BUF;
    buf_init(&event, PIECE_MAX);
    reply_event(f, api, &event, json->p ? json->p : "");
    reply_frame(f, to, event.p, event.n);
    buf_clear(json);
}

/* Makes the pieces of a reply that carry one token: the usual one, the first one with a role, one
 * of reasoning, and the role alone. -1 with err: out of memory. */
static int make_tokens(const struct fake *f, enum fake_api api, struct reply_parts *p, struct err *err)
{
    struct buf b, json CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&b, PIECE_MAX);
    buf_init(&json, JSON_MAX);
    buf_init(&text, JSON_MAX);
    chunk_text(f, &text);
    token_json(f, api, &json, text.p, "content", false, NULL);
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->token, &b, err) < 0)
        return -1;
    token_json(f, api, &json, text.p, "content", !f->no_role && !f->role_alone, NULL);
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->first_token, &b, err) < 0)
        return -1;
    token_json(f, api, &json, text.p, "reasoning_content", false, NULL);
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->reasoning, &b, err) < 0)
        return -1;
    if (f->role_alone && !f->no_role && api == API_CHAT) {
        token_json(f, api, &json, "", "content", true, NULL);
        reply_frame_json(f, api, &b, &json);
    }
    return reply_store_piece(&p->role, &b, err);
}

/* Makes the pieces of one API's replies, which live as long as the process. Returns 0, or -1 with
 * *err when out of memory. */
static int reply_make_pieces(const struct fake *f, enum fake_api api, struct err *err)
{
    struct reply_parts *p = &reply_pieces[api];
    struct buf b;
    buf_init(&b, PIECE_MAX);
    buf_printf(&b, "HTTP/1.1 200 OK\r\nServer: llmfake\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n%s%s\r\n",
               reply_is_sse(api) ? "text/event-stream; charset=utf-8" : "application/x-ndjson",
               f->by_close ? "" : "Transfer-Encoding: chunked\r\n", f->by_close ? "Connection: close\r\n" : "");
    if (reply_store_piece(&p->head, &b, err) < 0 || make_tokens(f, api, p, err) < 0)
        return -1;
    if (f->comments && reply_is_sse(api))
        reply_frame(f, &b, ": ping\n\n", 8);
    return reply_store_piece(&p->comment, &b, err);
}

int reply_make(const struct fake *f, struct err *err)
{
    for (int a = 0; a < APIS; a++)
        if (reply_make_pieces(f, (enum fake_api)a, err) < 0)
            return -1;
    return 0;
}

static void ollama_end(struct json_out *j, enum fake_api api, uint32_t input, uint32_t output, const char *text)
{
    if (api == API_OLLAMA_CHAT)
        reply_put_message(j, "message", true, "content", text);
    else
        json_text(j, "response", text);
    json_flag(j, "done", true);
    json_text(j, "done_reason", "stop");
    json_int(j, "total_duration", 1000000);
    json_int(j, "load_duration", 1000);
    json_uint(j, "prompt_eval_count", input);
    json_int(j, "prompt_eval_duration", 1000);
    json_uint(j, "eval_count", output);
    json_int(j, "eval_duration", 1000);
}

void reply_counted(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t so_far)
{
    struct buf json CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    buf_init(&text, JSON_MAX);
    chunk_text(f, &text);
    token_json(f, api, &json, text.p, "content", false, (const uint32_t[]){input, so_far});
    reply_frame_json(f, api, to, &json);
}

/* Appends the finish chunk, the usage where it has its own, and [DONE], each in a frame. The end of
 * the body is not among them. */
static void reply_tail_openai(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    struct json_out j = reply_begin(f, api, &json);
    reply_open_choice(&j);
    if (api == API_CHAT) {
        json_open(&j, "delta", '{');
        json_close(&j, '}');
    } else
        json_text(&j, "text", "");
    reply_close_choice(&j, "length");
    if (f->usage == USAGE_WITH_CHOICES || f->usage == USAGE_EVERY)
        reply_put_usage(&j, input, output);
    json_close(&j, '}');
    reply_frame_json(f, api, to, &json);
    if (f->usage == USAGE_LAST || f->usage == USAGE_ZEROS) {
        j = reply_begin(f, api, &json);
        json_texts(&j, "choices", NULL, 0);
        reply_put_usage(&j, input, output);
        json_close(&j, '}');
        reply_frame_json(f, api, to, &json);
    }
    if (f->done) {
        buf_puts(&json, "[DONE]");
        reply_frame_json(f, api, to, &json);
    }
}

static void reply_tail_ollama(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    struct json_out j = reply_begin(f, api, &json);
    ollama_end(&j, api, input, output, "");
    json_close(&j, '}');
    reply_frame_json(f, api, to, &json);
}

void reply_tail(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output)
{
    if (reply_is_openai(api))
        reply_tail_openai(f, api, to, input, output);
    else if (api != API_TRITON) /* its streams end without an event */
        reply_tail_ollama(f, api, to, input, output);
    if (!f->by_close)
        buf_puts(to, "0\r\n\r\n");
}

static void put_reply(const struct fake *f, struct buf *to, unsigned status, const char *type, const char *extra, struct str body)
{
    buf_printf(to, "HTTP/1.1 %u %s\r\nServer: llmfake\r\nContent-Type: %s\r\n%s%sContent-Length: %zu\r\n\r\n", status,
               status == 200 ? "OK" : "Error", type, extra, f->close_after ? "Connection: close\r\n" : "", body.n);
    buf_str(to, body);
}

void reply_whole(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output)
{
    struct buf json CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&json, PIECE_MAX);
    buf_init(&text, PIECE_MAX);
    for (uint32_t i = 0; i < output && i < 1000; i++)
        buf_puts(&text, " tok");
    buf_puts(&text, "");
    struct json_out j = reply_begin(f, api, &json);
    if (reply_is_openai(api)) {
        reply_open_choice(&j);
        if (api == API_CHAT)
            reply_put_message(&j, "message", true, "content", text.p);
        else
            json_text(&j, "text", text.p);
        reply_close_choice(&j, "length");
        if (f->usage != USAGE_NONE)
            reply_put_usage(&j, input, output);
    } else if (api == API_TRITON)
        json_text(&j, "text_output", text.p);
    else {
        ollama_end(&j, api, input, output, text.p);
    }
    json_close(&j, '}');
    put_reply(f, to, 200, "application/json", "", buf_text(&json));
}

void reply_status(const struct fake *f, struct buf *to, unsigned status, const char *message)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    struct json_out j = json_begin(&json, JSON_TIGHT, '{');
    json_open(&j, "error", '{');
    json_text(&j, "message", message);
    json_text(&j, "type", "fault");
    json_uint(&j, "code", status);
    json_close(&j, '}');
    json_close(&j, '}');
    put_reply(f, to, status, "application/json", status == 429 || status == 503 ? "Retry-After: 1\r\n" : "", buf_text(&json));
}

void reply_get(const struct fake *f, struct buf *to, const char *path)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    struct json_out j = json_begin(&json, JSON_TIGHT, '{');
    if (strcmp(path, "/health") == 0 || strcmp(path, "/v2/health/ready") == 0 ||
        (str_starts(str_of(path), "/v2/models/") && str_ends(str_of(path), "/ready")))
        json_text(&j, "status", "ok");
    else if (strcmp(path, "/v1/models") == 0) {
        json_text(&j, "object", "list");
        json_open(&j, "data", '[');
        json_open(&j, NULL, '{');
        json_text(&j, "id", f->model);
        json_members(&j, STR("\"object\":\"model\",\"owned_by\":\"llmfake\",\"max_model_len\":131072"));
        json_close(&j, '}');
        json_close(&j, ']');
    } else if (strcmp(path, "/api/tags") == 0) {
        json_open(&j, "models", '[');
        json_open(&j, NULL, '{');
        json_text(&j, "name", f->model);
        json_text(&j, "model", f->model);
        json_close(&j, '}');
        json_close(&j, ']');
    } else if (strcmp(path, "/api/version") == 0 || strcmp(path, "/version") == 0)
        json_text(&j, "version", BW_VERSION);
    else {
        reply_status(f, to, 404, "no such path");
        return;
    }
    json_close(&j, '}');
    put_reply(f, to, 200, "application/json", "", buf_text(&json));
}
