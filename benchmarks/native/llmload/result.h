/* result.h: the outcome of one request, and the sinks that receive it.
 *
 * All times are CLOCK_MONOTONIC, nanoseconds; 0: it did not happen. Arrivals are kernel receive
 * stamps where the socket has them (TCP), else the time after the read that brought the event's
 * last byte. */
#ifndef LLMLOAD_RESULT_H
#define LLMLOAD_RESULT_H
#include "benchmarks/native/llmload/lateness.h"
#include "benchmarks/native/llmload/prompt.h"

enum phase { PHASE_WARMUP, PHASE_MEASURE, PHASE_COOLDOWN /* sent after the window, to keep the load up */, PHASES };
extern const char *const phase_names[PHASES];

/* How a request ended. Rows of endings.def: name, failed?, help. */
enum request_ending {
#define ENDING(id, name, failed, help) ENDING_##id,
#include "benchmarks/native/llmload/endings.def"
#undef ENDING
    ENDINGS
};
struct ending_row {
    const char *name, *help;
    bool failed;
};
extern const struct ending_row ending_rows[ENDINGS];

/* One piece of the answer that had text. */
struct chunk {
    int64_t at_ns;
    uint32_t tokens; /* if the server reports it (ids, continuous usage), else 0 */
    uint8_t shared; /* this stamp is another event's too: its gap to the one before means nothing */
    uint8_t reasoning;
};

struct request_result {
    uint64_t index, session, item;
    unsigned turn;
    uint16_t endpoint; /* of the load's list */
    uint16_t worker;
    enum phase phase;
    enum request_ending ending;
    uint16_t status; /* HTTP; 0: no reply */
    bool short_answer; /* fewer tokens came than were forced (--ignore-eos) */
    bool good; /* met every objective, as far as is known; false without any */
    bool good_unknown; /* not good by the stamps of late reads, but it may have been */
    uint8_t reconnects; /* a kept connection was found dead and the request sent again */
    int64_t scheduled_ns; /* when it should have been sent: schedule (open loop), or when its slot became free (closed loop) */
    int64_t begin_ns; /* a worker began it: it needs a connection */
    int64_t connected_ns; /* connection made for this request; 0: a kept one was used */
    int64_t sent_ns; /* the request's first byte was given to the kernel */
    int64_t first_byte_ns; /* of the reply */
    int64_t first_ns; /* first chunk with text of any kind (TTFT); 0 too where the answer came in one piece (not streamed) */
    int64_t first_output_ns; /* first chunk with text that is no reasoning */
    int64_t second_ns, last_ns; /* second and last chunk with text */
    int64_t first_early_ns, last_early_ns; /* by how much the first and last may be earlier, after late reads; 0: exact */
    int64_t second_early_ns, output_early_ns, byte_early_ns,
        connect_early_ns; /* the same of second_ns, first_output_ns, first_byte_ns, connected_ns */
    int64_t end_ns; /* end of the reply's body, or when the request was stopped */
    uint32_t input_tokens, output_tokens, cached_tokens, reasoning_tokens; /* 0 with source unknown: missing */
    bool has_thoughts; /* reasoning came as text */
    bool several; /* several choices came concurrently: a gap between chunks is none between tokens */
    bool in_one_piece; /* no stream, though one was requested */
    bool has_cached; /* the server reports how many of the prompt's tokens came from its cache */
    enum token_source input_source, output_source;
    uint32_t asked_tokens; /* max_tokens sent; 0: none */
    uint32_t events, chunks; /* all events; those with text */
    uint32_t shared; /* chunks whose stamp is shared */
    uint32_t bytes; /* of the body */
    int64_t server_prefill_ns, server_decode_ns, server_load_ns,
        server_total_ns; /* as the server reports (llama.cpp, Ollama); 0: it does not */
    char finish[24]; /* finish_reason, done_reason */
    const char *error; /* message; NULL: none */
    const struct chunk *chunk_list; /* [chunks] if a sink needs them, else NULL */
    struct str text; /* the answer's text if a sink needs it */
    struct str body; /* the reply's complete body (not streamed) if a sink needs it */
};

/* Are the arrivals of the first and the last chunk, and the time between them, known well enough to
 * be samples? */
static inline bool result_first_known(const struct request_result *r)
{
    return lateness_known(r->first_early_ns, r->first_ns - r->sent_ns);
}
static inline bool result_last_known(const struct request_result *r)
{
    return lateness_known(r->last_early_ns, r->last_ns - r->sent_ns);
}
static inline bool result_span_known(const struct request_result *r)
{
    return lateness_known(r->first_early_ns + r->last_early_ns, r->last_ns - r->first_ns);
}

/* Tokens of the answer that came as chunks: a server may count reasoning that it does not send. */
static inline uint32_t result_sent_tokens(const struct request_result *r)
{
    bool is_counted = r->output_source == TOKENS_USAGE || r->output_source == TOKENS_CONTINUOUS;
    bool is_hidden = is_counted && !r->has_thoughts && (uint64_t)r->chunks + r->reasoning_tokens <= r->output_tokens;
    return r->output_tokens - (is_hidden ? r->reasoning_tokens : 0);
}

/* The same of the time from the first to the second chunk, and to the first one of output. */
static inline bool result_second_known(const struct request_result *r)
{
    return lateness_known(r->first_early_ns + r->second_early_ns, r->second_ns - r->first_ns);
}
static inline bool result_output_known(const struct request_result *r)
{
    return lateness_known(r->output_early_ns, r->first_output_ns - r->sent_ns);
}

/* Receives every finished request, warm-up included. */
struct result_sink {
    struct result_sink *next;
    bool wants_chunks, wants_text, wants_body;
    /* Before the first request; may be NULL. */
    int (*start)(struct result_sink *sink, unsigned workers, struct err *err);
    /* On the thread of that worker: no data shared with other workers, no locks, no long waits. r is valid during the call. */
    void (*take)(struct result_sink *sink, unsigned worker, const struct request_result *r);
    /* After the last request, on the main thread; may be NULL. */
    int (*finish)(struct result_sink *sink, struct err *err);
};
#endif
