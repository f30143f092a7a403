/* serve.h: what the loop's files of llmfake share: a client's connection and a thread. */
#ifndef LLMFAKE_SERVE_H
#define LLMFAKE_SERVE_H
#include "benchmarks/native/llm/sendlog.h"
#include "benchmarks/native/llm/timers.h"
#include "benchmarks/native/llmfake/fake.h"

struct thread;

enum client_stage { STAGE_IDLE, STAGE_WAIT_HEAD /* first token is due */, STAGE_TOKENS, STAGE_TAIL, STAGE_DRIP, STAGE_HUGE, STAGE_SILENT };

struct fake_client {
    struct timer timer;
    struct thread *thread;
    struct fake_client *next_dead;
    int fd;
    struct buf in, out; /* an incomplete request; bytes the socket did not accept */
    const char *burst; /* the same, of a reply that is kept for all */
    size_t burst_left;
    uint64_t request; /* its number */
    int64_t due_ns;
    int64_t arrived_ns; /* its last bytes, by the kernel's stamp where there is a log */
    uint32_t input, tokens, sent; /* sent: chunks */
    uint32_t chunks; /* of this answer */
    uint64_t random;
    uint8_t stage, api, fault;
    bool stream, close_after, broken, close_when_sent;
};

enum { LOG_RECORDS = 65536, BURSTS = 16 };
struct thread {
    const struct fake *fake;
    unsigned number;
    int epoll;
    struct timers timers;
    struct fake_client *dead; /* freed at the end of a turn */
    struct sendlog_record *log;
    size_t logged;
    int log_fd, log_trouble; /* log_trouble: errno of the first record that was not written */
    char *bytes;
    struct buf scratch, tail;
    struct {
        uint8_t api;
        uint32_t tokens, input;
        char *p;
        size_t n;
    } bursts[BURSTS];
    unsigned burst_count;
    uint64_t requests, tokens, input_tokens, events, late_over_1ms;
    double late_sum_ns;
    int64_t late_max_ns, now_ns;
};

/* answer.c: begins the answer to a complete request: sends it, or sets the timer of its first part.
 * The texts need not outlive the call. */
void answer_begin(struct thread *t, struct fake_client *c, const char *method, const char *path, struct str body);
/* Sends what is due when the client's timer fires, and sets the timer of the next part. */
void answer_due(struct thread *t, struct fake_client *c);
/* Continues an answer that waited until the socket accepts bytes again; others need nothing. */
void answer_resume(struct thread *t, struct fake_client *c);

/* client.c: reads what the client has sent, and answers each complete request; an incomplete one is
 * stored. Closes the connection at its end, or when a request is too long. */
void client_input(struct thread *t, struct fake_client *c);
/* Sends bytes behind those that wait, and stores a copy of what the socket does not accept. Closes
 * the client where sending fails. */
void client_send(struct thread *t, struct fake_client *c, const char *p, size_t n);
/* Sends the bytes that wait. Once all are sent it closes the client, or continues its answer. */
void client_flush(struct thread *t, struct fake_client *c);
/* Closes the socket and clears the timer. The client stays, with `broken`, to the end of the loop's
 * turn. */
void client_close(struct thread *t, struct fake_client *c);
/* Adds a record to the thread's log, if there is one. */
void log_event(struct thread *t, const struct fake_client *c, uint32_t event, int64_t at_ns, int64_t cost_ns);
/* Writes the records. A failure is stored in t->log_trouble, and these are lost. */
void log_flush(struct thread *t);
#endif
