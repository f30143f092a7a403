/* reply.c: the pieces that replies are made of. */
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
    if (reply_is_openai(api))
        buf_printf(to, "data: %s%s%s", json, end, end);
    else
        buf_printf(to, "%s\n", json);
}

/* The members that stand before those that matter. */
static void reply_print_prefix(const struct fake *f, enum fake_api api, struct buf *to)
{
    if (reply_is_openai(api))
        buf_printf(to, "{\"id\":\"chatcmpl-5f0c1a7e9b3d4268\",\"object\":\"%s\",\"created\":1767225600,\"model\":\"%s\"",
                   api == API_CHAT ? "chat.completion.chunk" : "text_completion", f->model);
    else
        buf_printf(to, "{\"model\":\"%s\",\"created_at\":\"2026-01-01T00:00:00.000000000Z\"", f->model);
}

/* An object with one token's text; member: what its text is called where several names are known. */
static void token_json(const struct fake *f, enum fake_api api, struct buf *to, const char *text, const char *member, bool role,
                       const char *more)
{
    reply_print_prefix(f, api, to);
    switch (api) {
    case API_CHAT:
        buf_printf(to, ",\"choices\":[{\"index\":0,\"delta\":{%s\"%s\":\"%s\"},\"logprobs\":null,\"finish_reason\":null}]",
                   role ? "\"role\":\"assistant\"," : "", member, text);
        break;
    case API_COMPLETIONS:
        buf_printf(to, ",\"choices\":[{\"index\":0,\"text\":\"%s\",\"logprobs\":null,\"finish_reason\":null}]", text);
        break;
    case API_OLLAMA_CHAT:
        buf_printf(to, ",\"message\":{\"role\":\"assistant\",\"%s\":\"%s\"},\"done\":false",
                   strcmp(member, "content") == 0 ? member : "thinking", text);
        break;
    default: buf_printf(to, ",\"%s\":\"%s\",\"done\":false", strcmp(member, "content") == 0 ? "response" : "thinking", text); break;
    }
    buf_puts(to, more);
    if (f->usage == USAGE_ZEROS && reply_is_openai(api))
        buf_puts(to, ",\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0,\"total_tokens\":0}");
    if (to->n + 40 < f->pad) {
        buf_puts(to, ",\"system_fingerprint\":\"");
        while (to->n + 10 < f->pad)
            buf_putc(to, 'x');
        buf_putc(to, '"');
    }
    buf_putc(to, '}');
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

static int make_tokens(const struct fake *f, enum fake_api api, struct reply_parts *p, struct err *err)
{
    struct buf b, json CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&b, PIECE_MAX);
    buf_init(&json, JSON_MAX);
    buf_init(&text, JSON_MAX);
    chunk_text(f, &text);
    token_json(f, api, &json, text.p, "content", false, "");
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->token, &b, err) < 0)
        return -1;
    token_json(f, api, &json, text.p, "content", !f->no_role && !f->role_alone, "");
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->first_token, &b, err) < 0)
        return -1;
    token_json(f, api, &json, text.p, "reasoning_content", false, "");
    reply_frame_json(f, api, &b, &json);
    if (reply_store_piece(&p->reasoning, &b, err) < 0)
        return -1;
    if (f->role_alone && !f->no_role && api == API_CHAT) {
        token_json(f, api, &json, "", "content", true, "");
        reply_frame_json(f, api, &b, &json);
    }
    return reply_store_piece(&p->role, &b, err);
}

static int reply_make_pieces(const struct fake *f, enum fake_api api, struct err *err)
{
    struct reply_parts *p = &reply_pieces[api];
    struct buf b;
    buf_init(&b, PIECE_MAX);
    buf_printf(&b, "HTTP/1.1 200 OK\r\nServer: llmfake\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n%s%s\r\n",
               reply_is_openai(api) ? "text/event-stream; charset=utf-8" : "application/x-ndjson",
               f->by_close ? "" : "Transfer-Encoding: chunked\r\n", f->by_close ? "Connection: close\r\n" : "");
    if (reply_store_piece(&p->head, &b, err) < 0 || make_tokens(f, api, p, err) < 0)
        return -1;
    if (f->comments && reply_is_openai(api))
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

static void usage_json(struct buf *to, uint32_t input, uint32_t output)
{
    buf_printf(to, ",\"usage\":{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%u}", input, output, input + output);
}

static void ollama_end(struct buf *to, enum fake_api api, uint32_t input, uint32_t output, const char *text)
{
    if (api == API_OLLAMA_CHAT)
        buf_printf(to, ",\"message\":{\"role\":\"assistant\",\"content\":\"%s\"}", text);
    else
        buf_printf(to, ",\"response\":\"%s\"", text);
    buf_printf(
        to,
        ",\"done\":true,\"done_reason\":\"stop\",\"total_duration\":1000000,\"load_duration\":1000,\"prompt_eval_count\":%u,\"prompt_eval_duration\":1000,"
        "\"eval_count\":%u,\"eval_duration\":1000}",
        input, output);
}

void reply_counted(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t so_far)
{
    struct buf json CLEANUP_BUF, text CLEANUP_BUF, usage CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    buf_init(&text, JSON_MAX);
    buf_init(&usage, 200);
    chunk_text(f, &text);
    usage_json(&usage, input, so_far);
    token_json(f, api, &json, text.p, "content", false, reply_is_openai(api) ? usage.p : "");
    reply_frame_json(f, api, to, &json);
}

void reply_tail(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    reply_print_prefix(f, api, &json);
    if (reply_is_openai(api)) {
        buf_printf(&json, ",\"choices\":[{\"index\":0,%s,\"finish_reason\":\"length\"}]",
                   api == API_CHAT ? "\"delta\":{}" : "\"text\":\"\"");
        if (f->usage == USAGE_WITH_CHOICES || f->usage == USAGE_EVERY)
            usage_json(&json, input, output);
        buf_putc(&json, '}');
        reply_frame_json(f, api, to, &json);
        if (f->usage == USAGE_LAST || f->usage == USAGE_ZEROS) {
            reply_print_prefix(f, api, &json);
            buf_puts(&json, ",\"choices\":[]");
            usage_json(&json, input, output);
            buf_putc(&json, '}');
            reply_frame_json(f, api, to, &json);
        }
        if (f->done) {
            buf_puts(&json, "[DONE]");
            reply_frame_json(f, api, to, &json);
        }
    } else {
        ollama_end(&json, api, input, output, "");
        reply_frame_json(f, api, to, &json);
    }
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
    reply_print_prefix(f, api, &json);
    if (reply_is_openai(api)) {
        if (api == API_CHAT)
            buf_printf(&json,
                       ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},\"finish_reason\":\"length\"}]",
                       text.p ? text.p : "");
        else
            buf_printf(&json, ",\"choices\":[{\"index\":0,\"text\":\"%s\",\"finish_reason\":\"length\"}]", text.p ? text.p : "");
        if (f->usage != USAGE_NONE)
            usage_json(&json, input, output);
        buf_putc(&json, '}');
    } else {
        ollama_end(&json, api, input, output, text.p ? text.p : "");
    }
    put_reply(f, to, 200, "application/json", "", buf_text(&json));
}

void reply_status(const struct fake *f, struct buf *to, unsigned status, const char *message)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    buf_printf(&json, "{\"error\":{\"message\":\"%s\",\"type\":\"fault\",\"code\":%u}}", message, status);
    put_reply(f, to, status, "application/json", status == 429 || status == 503 ? "Retry-After: 1\r\n" : "", buf_text(&json));
}

void reply_get(const struct fake *f, struct buf *to, const char *path)
{
    struct buf json CLEANUP_BUF;
    buf_init(&json, JSON_MAX);
    if (strcmp(path, "/health") == 0)
        buf_puts(&json, "{\"status\":\"ok\"}");
    else if (strcmp(path, "/v1/models") == 0)
        buf_printf(
            &json,
            "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"owned_by\":\"llmfake\",\"max_model_len\":131072}]}",
            f->model);
    else if (strcmp(path, "/api/tags") == 0)
        buf_printf(&json, "{\"models\":[{\"name\":\"%s\",\"model\":\"%s\"}]}", f->model, f->model);
    else if (strcmp(path, "/api/version") == 0 || strcmp(path, "/version") == 0)
        buf_puts(&json, "{\"version\":\"" BW_VERSION "\"}");
    else {
        reply_status(f, to, 404, "no such path");
        return;
    }
    put_reply(f, to, 200, "application/json", "", buf_text(&json));
}
