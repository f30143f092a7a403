/* request.c: the bytes of a request, from its prompt. */
#include "base/json_out.h"
#include "benchmarks/native/llmload/worker.h"

#include <string.h>

enum { ID_DIGITS = 12 };

void request_put_message(struct json_out *j, const char *role, struct str text)
{
    json_open(j, NULL, '{');
    json_text(j, "role", role);
    json_str(j, "content", text);
    json_close(j, '}');
}

/* Appends the messages: the session's history, then the prompt. */
static void put_messages(struct json_out *j, const struct session *s, const struct prompt *p)
{
    json_open(j, "messages", '[');
    if (s)
        json_members(j, buf_text(&s->history));
    if (p->messages.n)
        json_members(j, p->messages);
    else
        request_put_message(j, "user", p->text);
    json_close(j, ']');
}

static void put_openai(struct json_out *j, const struct load *l, uint32_t tokens)
{
    if (l->stream) {
        json_flag(j, "stream", true);
        json_open(j, "stream_options", '{');
        json_flag(j, "include_usage", true);
        if (l->continuous_usage)
            json_flag(j, "continuous_usage_stats", true);
        json_close(j, '}');
    }
    if (tokens)
        json_uint(j, l->max_field, tokens);
    if (l->ignore_eos)
        json_flag(j, "ignore_eos", true);
    if (l->token_ids)
        json_flag(j, "return_token_ids", true);
    if (l->temperature >= 0)
        json_printf(j, "temperature", "%g", l->temperature);
}

static void put_ollama(struct json_out *j, const struct load *l, const struct prompt *p, uint32_t tokens)
{
    json_flag(j, "stream", l->stream);
    if (!tokens && l->temperature < 0 && !p->options.n)
        return;
    json_open(j, "options", '{');
    if (tokens)
        json_uint(j, "num_predict", tokens);
    if (l->temperature >= 0)
        json_printf(j, "temperature", "%g", l->temperature);
    json_members(j, p->options);
    json_close(j, '}');
}

/* Triton's servers know no common names of inputs: these are those of its backends for vLLM and TensorRT-LLM. */
static void put_triton(struct json_out *j, const struct load *l, const struct prompt *p, uint32_t tokens)
{
    json_str(j, "text_input", p->text);
    json_open(j, "parameters", '{');
    json_flag(j, "stream", l->stream);
    json_flag(j, "exclude_input_in_output", true);
    if (tokens)
        json_uint(j, "max_tokens", tokens);
    if (l->ignore_eos)
        json_flag(j, "ignore_eos", true);
    if (l->temperature >= 0)
        json_printf(j, "temperature", "%g", l->temperature);
    json_close(j, '}');
}

static void put_model_body(struct json_out *j, const struct load *l, const struct session *s, const struct prompt *p, uint32_t tokens)
{
    if (l->model)
        json_text(j, "model", l->model);
    if (dialects[l->dialect].chat)
        put_messages(j, s, p);
    else if (p->ids.n && l->dialect == DIALECT_COMPLETIONS)
        json_raw(j, "prompt", p->ids);
    else
        json_str(j, "prompt", p->text);
    if (dialects[l->dialect].ollama)
        put_ollama(j, l, p, tokens);
    else
        put_openai(j, l, tokens);
}

/* Renders the request's body into w->body. */
static void put_body(struct worker *w, const struct session *s, const struct prompt *p, uint32_t tokens)
{
    const struct load *l = w->run->load;
    buf_clear(&w->body);
    struct json_out j = json_begin(&w->body, JSON_TIGHT, '{');
    if (l->dialect == DIALECT_TRITON)
        put_triton(&j, l, p, tokens);
    else
        put_model_body(&j, l, s, p, tokens);
    json_members(&j, l->extra_body);
    json_members(&j, p->extra);
    json_close(&j, '}');
}

/* Appends the head for the body in w->body to w->wire, and sets w->fixed_id to the place of the
 * request id. */
static void request_put_head(struct worker *w, const struct endpoint *e)
{
    const struct load *l = w->run->load;
    struct buf *b = &w->wire;
    buf_printf(b, "POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: %s\r\nUser-Agent: llmload/%s\r\n", e->path,
               e->query, e->host, l->stream ? "text/event-stream, application/x-ndjson, application/json" : "application/json", BW_VERSION);
    if (l->key)
        buf_printf(b, "Authorization: Bearer %s\r\n", l->key);
    for (size_t i = 0; i < l->header_count; i++)
        buf_printf(b, "%s\r\n", l->headers[i]);
    buf_printf(b, "Content-Length: %zu\r\nX-Request-Id: ", w->body.n);
    w->fixed_id = b->n;
    buf_puts(b, "000000000000\r\n\r\n");
}

static void patch_id(struct buf *b, size_t at, uint64_t index)
{
    for (int i = ID_DIGITS - 1; i >= 0; i--, index /= 10)
        b->p[at + (size_t)i] = (char)('0' + index % 10);
}

/* Stores this turn's question until its answer is complete. */
static void keep_question(struct worker *w, struct session *s, const struct prompt *p)
{
    buf_clear(&s->question);
    struct json_out j = {.to = &s->question, .layout = JSON_TIGHT};
    if (p->messages.n)
        json_members(&j, p->messages);
    else
        request_put_message(&j, "user", p->text);
    if (s->question.failed && !w->failure.kind)
        err_set(&w->failure, ERR_SYSTEM, "a session's history is too long to be kept");
}

/* A trace's own text goes before what the source would make. */
static void prompt_take_text(const struct prompt_source *source, struct str text, struct prompt *p)
{
    p->text = text;
    p->input_tokens = source->count ? source->count(source, text) : 0;
    p->input_source = p->input_tokens ? TOKENS_FILE : TOKENS_UNKNOWN;
}

/* Makes the prompt of a request. Returns 0, or -1 with w->failure. Its text may be in
 * w->scratch. */
static int make_prompt(struct worker *w, struct conn *c, struct prompt *p)
{
    const struct schedule *schedule = w->run->schedule;
    const struct prompt_source *source = w->run->prompts;
    const struct arrival *a = c->f.arrival;
    uint64_t used = w->run->load->prompts_used;
    struct prompt_want want = {.index = c->f.r.index + used, .session = c->f.r.session + used, .turn = c->f.r.turn};
    if (a) {
        want.input_tokens = a->input_tokens, want.output_tokens = a->output_tokens;
        if (a->blocks)
            want.blocks = schedule->blocks + a->blocks - 1, want.block_count = a->block_count;
    }
    *p = (struct prompt){.item = UINT64_MAX};
    buf_clear(&w->scratch);
    struct err err = {0};
    if (a && a->text) {
        prompt_take_text(source, (struct str){schedule->texts + a->text - 1, a->text_bytes}, p);
    } else if (source->make(source, &want, &w->scratch, p, &err) < 0) {
        if (!w->failure.kind)
            w->failure = err;
        return -1;
    }
    if (a && a->output_tokens && !p->output_tokens)
        p->output_tokens = a->output_tokens;
    return 0;
}

bool request_render(struct worker *w, struct conn *c)
{
    const struct load_run *run = w->run;
    struct prompt p;
    struct session *s = c->f.session;
    bool fixed = run->prompts->constant && run->load->turns <= 1 && run->endpoint_count == 1 && !run->schedule->trace_kind && !run->via;
    c->f.r.asked_tokens = run->load->max_tokens;
    if (fixed && w->fixed.n) {
        patch_id(&w->fixed, w->fixed_id, c->f.r.index);
        if (w->fixed_vary)
            run->prompts->vary(run->prompts, c->f.r.index + run->load->prompts_used, w->fixed.p + w->fixed_vary);
        c->f.r.input_tokens = w->fixed_tokens, c->f.r.input_source = w->fixed_source;
        return true;
    }
    if (make_prompt(w, c, &p) < 0)
        return false;
    uint32_t tokens = p.output_tokens ? p.output_tokens : run->load->max_tokens;
    put_body(w, s, &p, tokens);
    buf_clear(&w->wire);
    request_put_head(w, &run->endpoints[c->endpoint]);
    buf_str(&w->wire, buf_text(&w->body));
    if (w->wire.failed || w->body.failed) {
        if (!w->failure.kind)
            err_set(&w->failure, ERR_SYSTEM, "request %llu is too long (%zu bytes at most)", (unsigned long long)c->f.r.index, w->wire.max);
        return false;
    }
    c->f.r.asked_tokens = tokens;
    c->f.r.item = p.item;
    c->f.r.input_tokens = p.input_tokens, c->f.r.input_source = p.input_source;
    if (s && s->history.n) /* the source knows the question alone, not what is sent before it */
        c->f.r.input_tokens = 0, c->f.r.input_source = TOKENS_UNKNOWN;
    if (s)
        keep_question(w, s, &p);
    patch_id(&w->wire, w->fixed_id, c->f.r.index);
    if (fixed) {
        const char *varied = run->prompts->varied ? memmem(w->wire.p, w->wire.n, p.text.p, run->prompts->varied) : NULL;
        buf_str(&w->fixed, buf_text(&w->wire));
        w->fixed_vary = varied ? (size_t)(varied - w->wire.p) : 0;
        w->fixed_tokens = p.input_tokens, w->fixed_source = p.input_source;
        return !w->fixed.failed;
    }
    return true;
}
