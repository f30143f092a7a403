/* fake.h: the parts of llmfake: its settings, the replies made from them, and the loop that sends them. */
#ifndef LLMFAKE_FAKE_H
#define LLMFAKE_FAKE_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum fake_api { API_CHAT, API_COMPLETIONS, API_TRITON, API_OLLAMA_CHAT, API_OLLAMA_GENERATE, APIS };
enum usage_place { USAGE_LAST, USAGE_WITH_CHOICES, USAGE_EVERY, USAGE_ZEROS, USAGE_NONE };

/* A duration that is drawn again each time. */
struct delay {
    double median_s, sigma; /* sigma 0: constant; else lognormal */
};

/* What goes wrong on purpose. Rows of faults.def. */
enum fault {
    FAULT_NONE,
#define FAULT(id, name, help) FAULT_##id,
#include "benchmarks/native/llmfake/faults.def"
#undef FAULT
    FAULTS
};
extern const char *const fault_names[FAULTS];

struct fake {
    const char *host, *socket, *model, *log_path;
    uint16_t port;
    unsigned threads;
    struct delay ttft, itl;
    double tail_s; /* last token to finish chunk */
    double starting_s; /* 503 for so long */
    uint32_t tokens; /* 0: as requested */
    unsigned per_chunk; /* tokens of a chunk */
    unsigned pad; /* an event has at least so many bytes */
    unsigned split; /* cut what is sent into pieces of so many bytes; 0: not */
    enum usage_place usage;
    bool role_alone, no_role, done, close_after, by_close, crlf, cr, reasoning, comments, gzip, keep_silent_finish;
    double fault_share[FAULTS];
    uint64_t seed;
    struct fake_slots *slots; /* NULL: all requests are served at once */
};

/* slots.c: a capacity: when which request's turn is. */
struct fake_slots *slots_new(unsigned n); /* NULL: no memory; free with slots_free */
void slots_free(struct fake_slots *s);
/* Returns when a request begins that arrives then and is served for so long. Called by any thread,
 * in the order of arrival. */
int64_t slots_take(struct fake_slots *s, int64_t at_ns, int64_t service_ns);

/* reply.c: the pieces that replies are made of, framed as HTTP requires. Made once; read by all
 * threads. */
struct reply_part {
    char *p;
    size_t n;
};
struct reply_parts {
    struct reply_part head, role, token, first_token, reasoning, comment, finish, done, end;
};
extern struct reply_parts reply_pieces[APIS];
int reply_make(const struct fake *f, struct err *err);
/* Appends the text in a frame: an HTTP chunk, where the body has chunks. */
void reply_frame(const struct fake *f, struct buf *to, const char *text, size_t n);
/* Appends an event of that API around one JSON object, without a frame. */
void reply_event(const struct fake *f, enum fake_api api, struct buf *to, const char *json);
/* Appends the end of a stream: finish chunk, usage, [DONE], end of the body. */
void reply_tail(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output);
/* Prints a token's event where each event reports usage. */
void reply_counted(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t so_far);
/* Appends the complete reply of a request that does not stream. Its text has 1000 tokens at most. */
void reply_whole(const struct fake *f, enum fake_api api, struct buf *to, uint32_t input, uint32_t output);
void reply_status(const struct fake *f, struct buf *to, unsigned status, const char *message);
/* Answers to GET: health, models, tags, version. */
void reply_get(const struct fake *f, struct buf *to, const char *path);

/* serve.c. Runs until SIGTERM or SIGINT; then prints its own lateness on stderr. */
int fake_serve(const struct fake *f, struct err *err);
#endif
