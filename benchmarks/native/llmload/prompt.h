/* prompt.h: the interface of sources of prompts; prompt_fixed.c and prompts/ implement it.
 *
 * A source is opened once and then only read: `make` is called from several threads at once and
 * must not write to the source. The same `want` yields the same prompt, on every machine, so that
 * agents can split one load by index and a repeated request is the same. */
#ifndef LLMLOAD_PROMPT_H
#define LLMLOAD_PROMPT_H
#include "base/json_out.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a count of tokens comes from. The result names the one that most of its counts have. */
enum token_source {
    TOKENS_UNKNOWN,
    TOKENS_CHUNKS, /* chunks with text were counted, one token each */
    TOKENS_ASKED, /* the length from the options or the trace */
    TOKENS_FILE, /* a tokenizer file counted the text */
    TOKENS_IDS, /* token ids, sent by llmload or by the server with each chunk */
    TOKENS_CONTINUOUS, /* usage on every chunk, and none at the end */
    TOKENS_USAGE, /* the server's usage at the end (Ollama: eval_count) */
    TOKENS_SOURCES
};
extern const char *const token_source_names[TOKENS_SOURCES]; /* "unknown", "chunks" … */

/* Which prompt to make. The lengths of a trace's row replace those that the source would choose. */
struct prompt_want {
    uint64_t index; /* of the request in the schedule, warm-up included; the sole source of variety with session and turn */
    uint64_t session; /* of the session, and the turn in it from 0; one turn without sessions: session == index */
    unsigned turn;
    uint32_t input_tokens; /* from the schedule (trace); 0: the source decides */
    uint32_t output_tokens; /* the same for the answer */
    const uint64_t *blocks; /* Mooncake's hash_ids: equal ids are equal blocks of text (512 tokens); NULL */
    size_t block_count;
};

struct prompt {
    struct str text; /* UTF-8, not escaped; unused where ids or messages are given */
    struct str messages; /* JSON objects with commas between, for "messages":[…]; n 0: text becomes one user message */
    struct str ids; /* JSON array of token ids, "[1,2,3]", for completions; n 0: text */
    struct str extra; /* further members of the body, "\"logprobs\":1,\"echo\":true"; n 0: none */
    struct str options; /* members of Ollama's "options"; n 0: none */
    uint32_t input_tokens; /* how many tokens this is, by input_source; 0: not known */
    uint32_t output_tokens; /* to request (max_tokens); 0: --max-tokens */
    enum token_source input_source;
    uint64_t item; /* which row of a file it was, from 0 (scoring); UINT64_MAX: none */
};

struct prompt_source {
    const char *name; /* "fixed", "synthetic", "sharegpt" … in the result */
    size_t rows; /* number of rows of the data set; 0: there is no data set */
    const char *warning; /* which rows were left out, as a sentence; NULL: none */
    bool constant; /* every `want` yields the same prompt, but for its first bytes, if they vary: the request's bytes are made once */
    /* Writes the first `varied` bytes of that request's text, ASCII that JSON does not escape; varied 0: they are always the same. */
    void (*vary)(const struct prompt_source *source, uint64_t index, char *to);
    size_t varied;
    /* Fills ret; its texts point into the source or into scratch (cleared by the caller before; one per thread). -1: err. */
    int (*make)(const struct prompt_source *source, const struct prompt_want *want, struct buf *scratch, struct prompt *ret,
                struct err *err);
    /* Tokens of a text by this source's tokenizer; NULL: it has none. Called from several threads. */
    uint32_t (*count)(const struct prompt_source *source, struct str text);
    /* Appends members to the result's JSON object (what was read, its distribution, its SHA-256); may be NULL. */
    void (*describe)(const struct prompt_source *source, struct json_out *j);
    void (*close)(struct prompt_source *source);
};

/* One text for all requests; copied. */
int prompt_fixed(struct prompt_source **ret, const char *text, struct err *err);
#endif
