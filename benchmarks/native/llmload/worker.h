/* worker.h: what the engine's files share: a worker (thread with an epoll loop), its connections,
 * the request in flight on each. */
#ifndef LLMLOAD_WORKER_H
#define LLMLOAD_WORKER_H
#include "base/json_out.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/endpoint.h"
#include "benchmarks/native/llmload/http1.h"
#include "benchmarks/native/llmload/lateness.h"
#include "benchmarks/native/llmload/schedule.h"
#include "benchmarks/native/llmload/stream.h"
#include "benchmarks/native/llm/timers.h"

#include <stdatomic.h>

struct worker;

/* A user that sends one turn after the other, with pauses between. */
struct session {
    struct timer timer; /* end of the thinking */
    uint64_t id;
    unsigned turn;
    int64_t scheduled_ns; /* of the turn to come */
    struct buf history; /* JSON objects of "messages" so far, with commas between */
    struct buf question; /* of the turn in flight, in the same form */
    const struct arrival *arrival; /* of its first turn; NULL: closed loop */
};

/* A request in flight, whatever carries it. */
struct flight {
    struct request_result r;
    struct reply_stream stream;
    struct session *session; /* NULL: a request of its own */
    const struct arrival *arrival; /* NULL: closed loop */
    int64_t last_byte_ns, pending_gap_ns;
    uint32_t usage_tokens; /* usage so far, where it comes on every chunk */
    uint32_t read_events, read_chunks; /* of the read being worked on */
    uint32_t read_rank; /* of the read: events up to its last chunk */
    uint32_t read_pieces; /* of the read: pieces of the body */
    size_t read_tail; /* of the read: bytes behind its last chunk that are no end of an event or of an HTTP chunk */
    uint32_t reads; /* since the socket's segments were counted */
    int64_t segments; /* so many it had received then, and all were read; -1: not known */
    int64_t held_ns; /* since then the server may have been held up: the client left the socket's buffer full; 0: never */
    bool is_stamped; /* the last read that brought bytes has the kernel's stamp */
    bool is_judged; /* of the read: its segments were counted */
    int64_t read_segments; /* then; -1: not known */
    bool read_byte, read_second, read_output; /* the read brought the first byte, the second token, the first token of output */
    uint32_t pending_tokens, ids;
    bool finished, has_status, cancel, wants_text;
    struct chunk *chunks;
    size_t chunk_room;
    struct buf text, thinking; /* thinking: kept where a tokenizer counts the answer */
    char *error;
};

enum conn_state { CONN_IDLE, CONN_CONNECTING, CONN_SENDING, CONN_RECEIVING };

struct conn {
    struct flight f;
    struct timer timer;
    struct conn *next, *prev; /* of the busy list, or of the endpoint's idle list */
    struct http1 http;
    struct buf rest; /* bytes of the request that the socket did not accept yet */
    int fd; /* -1: none */
    uint64_t received; /* bytes, on this socket */
    uint32_t full_bytes; /* so many in one read may have filled the socket's buffer */
    int64_t connect_ns; /* since when this address has been tried */
    uint8_t state, address; /* address: which of the endpoint's is tried */
    uint8_t tried; /* addresses tried for this request */
    uint16_t endpoint;
    bool reused; /* this request was sent on a kept connection */
    struct inflater *inflater; /* compressed body */
    void *easy; /* of the libcurl path */
};

/* What all workers of a run share; read-only but for the atomics. */
struct load_run {
    const struct load *load;
    const struct prompt_source *prompts;
    struct result_sink *sinks;
    const struct schedule *schedule; /* n 0: closed loop */
    struct endpoint *endpoints;
    size_t endpoint_count;
    unsigned workers;
    struct sockaddr_storage *sources; /* addresses that connections come from */
    size_t source_count;
    bool wants_chunks, wants_text, wants_body, kernel_stamps, via;
    int64_t begin_ns, measure_ns, cooldown_ns, stop_ns; /* absolute; INT64_MAX: by count */
    _Atomic uint64_t next_index, next_session, measured, in_flight;
    _Atomic int stop;
};

/* Counters a watcher may read at any time. */
struct live_counters {
    _Alignas(64) _Atomic uint64_t sent, completed, failed, tokens, chunks, dropped, ttft_n, itl_n;
    _Atomic uint64_t ttft_ns, itl_ns, e2el_ns,
        latency[LIVE_LATENCIES + 1]; /* completed requests by duration: live_latencies_s, then longer ones */
};

struct worker {
    struct load_run *run;
    unsigned number;
    struct metrics m;
    struct live_counters live;
    struct timers timers;
    struct conn *busy, *spare, **idle; /* spare: without a socket; idle: [endpoint_count] */
    unsigned *in_flight_at; /* [endpoint_count] */
    uint8_t *address; /* [endpoint_count]: of its addresses, the one that answered last */
    uint64_t in_flight, users; /* requests; closed loop: slots in use (thinking ones too) */
    size_t next_arrival; /* index into the schedule; step run->workers */
    int epoll;
    char *bytes; /* read buffer */
    struct buf wire, body, scratch;
    struct buf fixed; /* the complete request, if all are the same */
    size_t fixed_id; /* place of its X-Request-Id */
    size_t fixed_vary; /* place of the bytes that differ from prompt to prompt; 0: none do */
    uint32_t fixed_tokens;
    enum token_source fixed_source;
    int64_t now_ns; /* of this turn of the loop */
    int64_t real_to_mono_ns; /* to be added to a kernel stamp */
    bool clock_was_set; /* since the turn before: stamps of both clocks may wait */
    bool draining;
    struct lateness late;
    bool stamped; /* the read being worked on has the kernel's stamp */
    int64_t read_ns; /* when it returned */
    bool ends_within; /* a segment brought the end of a chunk together with its bytes */
    bool ends_apart; /* one brought it without them: the server writes it by itself */
    int64_t full_ns; /* until then at least no slot was free for an arrival */
    bool is_full; /* an arrival waits for a slot */
    int64_t pause_until_ns; /* a connection could not be made: no new request before */
    size_t turn_of; /* round robin */
    size_t next_source; /* of the source addresses */
    struct via *via; /* libcurl's side; NULL: not needed */
    struct err failure; /* first failure of the client itself */
};

/* flight.c: begins a request, which counts as in flight until flight_end. The memory of the flight's
 * last request is used again. */
void flight_begin(struct worker *w, struct flight *f, enum phase phase, uint64_t index, int64_t scheduled_ns);
/* Prepares for the body by the status and type of its head. An HTML page with a good status is
 * trouble. */
void flight_head(struct worker *w, struct flight *f, unsigned status, enum http1_type type);
/* Begins a read of the socket: nothing of it has come yet. */
void flight_read_begin(struct flight *f);
/* Reads bytes of the body that came at at_ns. Returns false after trouble, which is in f->stream. */
bool flight_body(struct worker *w, struct flight *f, struct str bytes, int64_t at_ns);
/* Returns the segments of the read that is being worked on, at most: the kernel counts those that
 * came since, too. -1: not known. */
int64_t flight_read_segments(struct worker *w, struct flight *f);
/* Ends the read: its bytes are used up. Decides which of its times are known, and counts its gaps. */
void flight_read_end(struct worker *w, struct flight *f);
/* Fills r's ending, counts it, passes the result to the sinks. ending: ENDING_OK: the reply is
 * complete, judge it; else what happened. error may be NULL. */
void flight_end(struct worker *w, struct flight *f, enum request_ending ending, const char *error);
/* Returns what is wrong with the reply's bytes, in words. */
const char *flight_trouble(const struct flight *f);
void flight_deinit(struct flight *f);

/* request.c: */
/* Appends {"role": …, "content": …} of a conversation. */
void request_put_message(struct json_out *j, const char *role, struct str text);
/* Renders the bytes of a request into w->wire, or into w->fixed where all are the same. Returns
 * false where the prompt cannot be made, or is too long, with the reason in w->failure. */
bool request_render(struct worker *w, struct conn *c);

/* conn.c: connections, kept and new; their time limits. */
struct conn *conn_take(struct worker *w, size_t endpoint); /* a kept one, or a new one; NULL: no memory */
/* The request is over. keep: the connection may carry another one. */
void conn_finish(struct worker *w, struct conn *c, enum request_ending ending, const char *error, bool keep);
void conn_arm(struct worker *w, struct conn *c); /* its timer to its first time limit */
void conn_due(struct worker *w, struct conn *c); /* its timer has fired */
void conn_drop(struct worker *w, struct conn *c); /* a kept one is no longer good */
void conn_close(struct worker *w, struct conn *c); /* its socket only */
void conn_free(struct conn *c);
/* The reply's head is in c->http. What is wrong with its encoding; NULL: nothing. */
const char *conn_head(struct worker *w, struct conn *c);
/* Handles bytes of the body as they came. Returns false after trouble: conn_trouble ends the
 * request. */
bool conn_body(struct worker *w, struct conn *c, struct str bytes, int64_t at_ns);
void conn_trouble(struct worker *w, struct conn *c);

/* raw.c: HTTP/1.1 over TCP and Unix sockets. */
/* Sends the request on the connection, or connects first. Ends the request where that fails. */
void raw_begin(struct worker *w, struct conn *c);
/* The connection attempt has failed: tries the next of the endpoint's addresses. false: all were
 * tried, nothing is done. */
bool raw_next_address(struct worker *w, struct conn *c);
/* Handles epoll's events of a connection. */
void raw_event(struct worker *w, struct conn *c, uint32_t events);

/* via.c: TLS, HTTP/2 and proxies, through libcurl. */
/* Loads libcurl, and sets w->via. Returns 0, or -1 with *err; worker_deinit frees it in both
 * cases. */
int via_init(struct worker *w, struct err *err);
void via_deinit(struct worker *w);
/* Sends the request. Ends it where that fails. */
void via_begin(struct worker *w, struct conn *c);
/* Ends the transfer of the connection, whose request is over or stopped. */
void via_cancel(struct worker *w, struct conn *c);
/* Handles epoll's events of a socket of libcurl. */
void via_socket(struct worker *w, int fd, uint32_t events);
int64_t via_next(const struct worker *w); /* CLOCK_MONOTONIC time of the next via_due, ns; INT64_MAX: none */
/* Lets libcurl do what its timer is for, where that time has come. */
void via_due(struct worker *w);

/* worker.c: the thread of a worker: runs its loop until its part of the load is over. Returns
 * NULL. */
void *worker_main(void *worker);
/* Prepares a worker. Returns 0, or -1 with *err; worker_deinit frees it in both cases. */
int worker_init(struct worker *w, struct load_run *run, unsigned number, struct err *err);
/* Closes the worker's connections and frees its memory, also of one that worker_init left
 * incomplete. */
void worker_deinit(struct worker *w);
/* Handles the end of c's request: frees its slot, or sets the timer of its session's next turn. */
void worker_freed(struct worker *w, struct conn *c);
#endif
