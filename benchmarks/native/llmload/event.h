/* event.h: the content of one JSON object of a reply: an event of a stream, or a complete reply
 * that was
 * not streamed.
 *
 * One pass over the bytes, no memory: the dialects (OpenAI chat and completions, Ollama native and
 * OpenAI, TGI, Triton's generate) have no key in common that means different things, so one reader
 * accepts them all.
 * Unknown members are skipped, and checked to be JSON. */
#ifndef LLMLOAD_EVENT_H
#define LLMLOAD_EVENT_H
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { EVENT_DEPTH = 96 };

struct event {
    struct str content; /* text of the first choice that has some, as in the JSON (escaped); n 0: none */
    struct str reasoning; /* the same for thinking */
    bool text; /* content, reasoning, a refusal or a tool call that is not empty */
    bool output; /* some of it is no reasoning */
    bool simple; /* one content string is all that this object has: see stream.c */
    bool done; /* Ollama's "done": true */
    bool usage; /* a usage object (Ollama: counts) with something in it */
    bool several; /* a choice that is not the first one */
    uint32_t choices; /* elements of "choices" */
    uint32_t ids; /* token ids of the answer in it */
    struct str finish; /* finish_reason or done_reason, as in the JSON; n 0: none or null */
    int64_t input_tokens, output_tokens, cached_tokens, reasoning_tokens; /* -1: not in the reply */
    int64_t prefill_ns, decode_ns, load_ns, total_ns; /* as the server measured; 0: not in the reply */
    struct str error; /* error object or text, as in the JSON; n 0: none */
    struct str message; /* the message in it, as in the JSON (escaped), or the text itself */
};

/* false: text is not one JSON object (with nothing but blanks around), or nests deeper than
 * EVENT_DEPTH. */
bool event_read(struct event *ret, struct str text);
/* The characters that a JSON string's inside stands for, as UTF-8 (unpaired surrogates and bad
 * escapes as U+FFFD). */
struct buf;
void event_unescape(struct str escaped, struct buf *to);
/* Returns the first quote or backslash at or after p, `end` where there is none. */
const char *event_quote(const char *p, const char *end);
#endif
