/* conn.c: connections, kept and new, and the time limits of what they carry. */
#include "benchmarks/native/llmload/worker.h"

#include "base/clock.h"
#include "base/inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_MAX = 64 << 20 };

static void conn_link(struct conn **list, struct conn *c)
{
    c->prev = NULL;
    c->next = *list;
    if (*list)
        (*list)->prev = c;
    *list = c;
}

static void conn_unlink(struct conn **list, struct conn *c)
{
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        *list = c->next;
    c->next = c->prev = NULL;
}

/* Returns a connection without a socket, a spare one where there is one. The caller releases it
 * into w->spare. NULL: out of memory. */
static struct conn *conn_new(struct worker *w)
{
    struct conn *c = w->spare;
    if (c) {
        w->spare = c->next;
        c->next = NULL;
        return c;
    }
    if (!(c = calloc(1, sizeof *c)))
        return NULL;
    c->fd = -1;
    c->timer.kind = TIMER_CONN;
    http1_init(&c->http);
    reply_stream_init(&c->f.stream, FRAMING_UNKNOWN, false);
    buf_init(&c->rest, REQUEST_MAX);
    return c;
}

void conn_free(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    http1_deinit(&c->http);
    flight_deinit(&c->f);
    buf_deinit(&c->rest);
    inflate_free(c->inflater);
    free(c);
}

struct conn *conn_take(struct worker *w, size_t endpoint)
{
    struct conn *c = w->idle[endpoint];
    if (c)
        conn_unlink(&w->idle[endpoint], c);
    else if ((c = conn_new(w)))
        c->address = w->address[endpoint];
    else
        return NULL;
    c->endpoint = (uint16_t)endpoint;
    c->reused = c->fd >= 0;
    c->tried = 0;
    conn_link(&w->busy, c);
    return c;
}

void conn_close(struct worker *w, struct conn *c)
{
    (void)w;
    if (c->fd >= 0)
        close(c->fd); /* leaves the epoll set by that */
    c->fd = -1;
    http1_reset(&c->http);
}

/* Stores a connection without a socket for another request. Its flight keeps its memory. */
static void conn_spare(struct worker *w, struct conn *c)
{
    timers_clear(&w->timers, &c->timer);
    buf_deinit(&c->rest);
    buf_init(&c->rest, REQUEST_MAX);
    c->state = CONN_IDLE;
    c->next = w->spare;
    w->spare = c;
}

void conn_drop(struct worker *w, struct conn *c)
{
    conn_unlink(&w->idle[c->endpoint], c);
    conn_close(w, c);
    conn_spare(w, c);
}

void conn_finish(struct worker *w, struct conn *c, enum request_ending ending, const char *error, bool keep)
{
    if (c->easy)
        via_cancel(w, c);
    inflate_free(c->inflater);
    c->inflater = NULL;
    flight_end(w, &c->f, ending, error);
    enum request_ending how = c->f.r.ending;
    if (how == ENDING_REFUSED || how == ENDING_DNS || how == ENDING_INTERNAL)
        w->pause_until_ns = w->now_ns + 10000000;
    conn_unlink(&w->busy, c);
    worker_freed(w, c);
    c->f.session = NULL;
    if (keep && c->fd >= 0) {
        c->state = CONN_IDLE;
        http1_reset(&c->http);
        conn_link(&w->idle[c->endpoint], c);
        return;
    }
    conn_close(w, c);
    conn_spare(w, c);
}

static int64_t time_after(int64_t from_ns, double seconds)
{
    return seconds > 0 && from_ns ? from_ns + (int64_t)(seconds * 1e9) : INT64_MAX;
}

/* Returns when the request meets its first time limit if nothing more comes, and its ending then.
 * INT64_MAX: it has none. */
static int64_t conn_next_limit(const struct worker *w, const struct conn *c, enum request_ending *ret, const char **ret_why)
{
    const struct load *l = w->run->load;
    const struct request_result *r = &c->f.r;
    int64_t connect = c->state == CONN_CONNECTING ? time_after(c->connect_ns, l->connect_s) : INT64_MAX;
    const struct {
        int64_t at;
        enum request_ending ending;
        const char *why;
    } limits[] = {
        {connect, ENDING_CONNECT_TIMEOUT, "no connection within --connect-timeout"},
        {time_after(r->sent_ns, l->request_s), ENDING_TIMEOUT, "not complete within --timeout"},
        {r->first_ns ? INT64_MAX : time_after(r->sent_ns, l->ttft_s), ENDING_TIMEOUT, "no token within --ttft-timeout"},
        {time_after(c->f.last_byte_ns, l->stall_s), ENDING_STALLED, "no byte came for --stall-timeout"},
        {c->f.cancel ? time_after(r->sent_ns, l->cancel_after_s) : INT64_MAX, ENDING_CANCELLED, NULL},
    };
    size_t best = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].at < limits[best].at)
            best = i;
    *ret = limits[best].ending;
    *ret_why = limits[best].why;
    return limits[best].at;
}

void conn_arm(struct worker *w, struct conn *c)
{
    enum request_ending ending;
    const char *why;
    int64_t at = conn_next_limit(w, c, &ending, &why);
    if (at < INT64_MAX && (!c->timer.place || c->timer.at_ns > at))
        timers_set(&w->timers, &c->timer, at);
}

void conn_due(struct worker *w, struct conn *c)
{
    enum request_ending ending;
    const char *why;
    if (c->state == CONN_IDLE)
        return;
    int64_t at = conn_next_limit(w, c, &ending, &why);
    if (at <= w->now_ns) {
        if (ending != ENDING_CONNECT_TIMEOUT || !raw_next_address(w, c))
            conn_finish(w, c, ending, why, false);
    } else if (at < INT64_MAX)
        timers_set(&w->timers, &c->timer, at);
}

struct inflating {
    struct worker *w;
    struct conn *c;
    int64_t at_ns;
};

static bool put_inflated(void *context, struct str out)
{
    struct inflating *i = context;
    return flight_body(i->w, &i->c->f, out, i->at_ns);
}

bool conn_body(struct worker *w, struct conn *c, struct str bytes, int64_t at_ns)
{
    struct inflating i = {w, c, at_ns};
    if (!c->http.gzip && !c->http.strange_encoding)
        return flight_body(w, &c->f, bytes, at_ns);
    if (!c->inflater) /* of an error: its status is enough */
        return true;
    if (!inflate_feed(c->inflater, bytes, put_inflated, &i) && !c->f.stream.trouble && c->http.status / 100 == 2)
        c->f.stream.trouble = STREAM_CODING;
    return !c->f.stream.trouble;
}

const char *conn_head(struct worker *w, struct conn *c)
{
    flight_head(w, &c->f, c->http.status, c->http.type);
    if (c->http.gzip && !c->inflater)
        c->inflater = inflate_new(INFLATE_HEADER);
    if (c->http.status / 100 != 2)
        return NULL;
    return c->http.strange_encoding       ? "an encoding that was not requested"
           : c->http.gzip && !c->inflater ? "a compressed body, and no zlib (libz.so.1) here"
                                          : NULL;
}

void conn_trouble(struct worker *w, struct conn *c)
{
    conn_finish(w, c, ENDING_MALFORMED, flight_trouble(&c->f), false); /* which kind of trouble: flight_end knows */
}
