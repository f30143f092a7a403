/* llm_reply.h: a whole HTTP reply read as llmload reads it, cut into pieces as wished, and what was seen in it; for tests and fuzzers. */
#ifndef TESTS_LLM_REPLY_H
#define TESTS_LLM_REPLY_H
#include "benchmarks/native/llmload/http1.h"
#include "benchmarks/native/llmload/stream.h"

#include <stdlib.h>
#include <string.h>

struct reply_seen {
    struct buf text; /* content and reasoning of all events, decoded; errors; finish reasons */
    uint32_t events, chunks, bodies_end, after_done;
    int64_t input, output;
    int status, end, trouble; /* end: enum http1_got that ended it, HTTP1_MORE: bytes ran out */
    bool done, finished, error;
};

static inline void reply_take(void *context, const struct event *e)
{
    struct reply_seen *s = context;
    s->events++;
    s->chunks += e->text;
    event_unescape(e->content, &s->text);
    buf_putc(&s->text, '|');
    event_unescape(e->reasoning, &s->text);
    buf_putc(&s->text, '\n');
    buf_str(&s->text, e->error);
    buf_str(&s->text, e->message);
    buf_str(&s->text, e->finish);
    if (e->input_tokens > 0)
        s->input = e->input_tokens;
    if (e->output_tokens > 0)
        s->output = e->output_tokens;
    s->finished |= e->finish.n || e->done;
    s->error |= e->error.n > 0;
}

struct reply_reading {
    struct http1 http;
    struct reply_stream stream;
    struct reply_seen *seen;
    bool lines, over;
};

static inline void reply_piece(struct reply_reading *r, const char *p, size_t n)
{
    static const enum stream_framing framings[] = {FRAMING_UNKNOWN, FRAMING_SSE, FRAMING_LINES, FRAMING_JSON, FRAMING_JSON, FRAMING_UNKNOWN};
    struct str body;
    while (!r->over) {
        enum http1_got got = http1_next(&r->http, &p, &n, &body);
        if (got == HTTP1_MORE)
            return;
        if (got == HTTP1_HEAD) {
            r->seen->status = r->http.status;
            stream_reset(&r->stream, framings[r->http.type], r->lines);
        } else if (got == HTTP1_BODY) {
            if (!reply_stream_feed(&r->stream, body.p, body.n, reply_take, r->seen))
                r->over = true;
        } else {
            r->seen->end = (int)got;
            r->over = true;
        }
    }
}

/* p[n] read in pieces of `first`, then `step` bytes (0: the rest at once). */
static inline void reply_read(struct reply_seen *ret, const char *p, size_t n, bool lines, size_t first, size_t step)
{
    struct reply_reading r = {.seen = ret, .lines = lines};
    *ret = (struct reply_seen){.input = -1, .output = -1};
    buf_init(&ret->text, 64 << 20);
    http1_init(&r.http);
    reply_stream_init(&r.stream, FRAMING_UNKNOWN, lines);
    for (size_t at = 0, size = first ? first : n; at < n; at += size, size = step ? step : n) {
        size_t k = size < n - at ? size : n - at;
        char *copy = malloc(k); /* so that a read beyond it is seen by the sanitizers */
        memcpy(copy, p + at, k);
        reply_piece(&r, copy, k);
        free(copy);
    }
    if (!r.stream.trouble && (ret->end == HTTP1_END || http1_eof_is_end(&r.http)))
        stream_end(&r.stream, reply_take, ret);
    ret->trouble = r.stream.trouble;
    ret->done = r.stream.done;
    ret->after_done = r.stream.after_done;
    reply_stream_deinit(&r.stream);
    http1_deinit(&r.http);
}

static inline bool reply_same(const struct reply_seen *a, const struct reply_seen *b)
{
    return a->events == b->events && a->chunks == b->chunks && a->input == b->input && a->output == b->output && a->status == b->status &&
           a->end == b->end && a->trouble == b->trouble && a->done == b->done && a->finished == b->finished && a->error == b->error &&
           a->after_done == b->after_done && str_eq(buf_text(&a->text), buf_text(&b->text));
}
#endif
