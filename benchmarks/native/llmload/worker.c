/* worker.c: a thread with its epoll loop: begins requests when they are due, hands events to their
 * connections, drains. */
#include "base/json_out.h"
#include "benchmarks/native/llmload/worker.h"

#include "base/clock.h"
#include "benchmarks/native/llmload/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <poll.h>

enum { EVENTS_AT_ONCE = 256, READ_SIZE = 256 << 10, WIRE_MAX = 64 << 20, HISTORY_MAX = 64 << 20, LOOK_NS = 20000000, ARRIVALS_EVERY = 8 };

int worker_init(struct worker *w, struct load_run *run, unsigned number, struct err *err)
{
    *w = (struct worker){.run = run, .number = number, .epoll = -1, .late.fd = -1};
    if (metrics_init(&w->m, err) < 0)
        return -1;
    w->idle = calloc(run->endpoint_count, sizeof(struct conn *));
    w->in_flight_at = calloc(run->endpoint_count, sizeof *w->in_flight_at);
    w->address = calloc(run->endpoint_count, sizeof *w->address);
    w->bytes = malloc(READ_SIZE);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    buf_init(&w->wire, WIRE_MAX);
    buf_init(&w->body, WIRE_MAX);
    buf_init(&w->scratch, WIRE_MAX);
    buf_init(&w->fixed, WIRE_MAX);
    w->next_arrival = number;
    w->turn_of = number;
    w->m.series_begin_ns = run->begin_ns;
    if (!w->idle || !w->in_flight_at || !w->address || !w->bytes || w->epoll < 0)
        return err_sys(err, "setting up a worker");
    return run->via ? via_init(w, err) : 0;
}

static void free_list(struct conn *c)
{
    while (c) {
        struct conn *next = c->next;
        conn_free(c);
        c = next;
    }
}

static struct session *session_of(struct timer *t)
{
    return (struct session *)((char *)t - offsetof(struct session, timer));
}

/* Ends the use of a slot of this worker. Where an arrival found none, full_ns becomes the time from which it could have
 * been sent: the worker may have slept since then. */
static void slot_free(struct worker *w)
{
    w->users--;
    if (w->is_full)
        w->full_ns = w->now_ns;
    w->is_full = false;
}

static void session_free(struct worker *w, struct session *s)
{
    timers_clear(&w->timers, &s->timer);
    buf_deinit(&s->history);
    buf_deinit(&s->question);
    free(s);
    slot_free(w);
}

void worker_deinit(struct worker *w)
{
    for (struct timer *t; (t = timers_due(&w->timers, INT64_MAX));) /* users that were thinking when it was over */
        if (t->kind == TIMER_SESSION)
            session_free(w, session_of(t));
    for (size_t i = 0; w->idle && i < w->run->endpoint_count; i++)
        free_list(w->idle[i]);
    free_list(w->busy);
    free_list(w->spare);
    if (w->via)
        via_deinit(w);
    free(w->idle);
    free(w->in_flight_at);
    free(w->address);
    free(w->bytes);
    if (w->epoll >= 0)
        close(w->epoll);
    lateness_deinit(&w->late);
    buf_deinit(&w->wire);
    buf_deinit(&w->body);
    buf_deinit(&w->scratch);
    buf_deinit(&w->fixed);
    timers_deinit(&w->timers);
    metrics_deinit(&w->m);
}

static double index_chance(const struct load *l, uint64_t index, uint64_t salt) /* in [0, 1) */
{
    return random_unit(random_at(l->seed, salt, index));
}

/* Returns the endpoint of the next request: in turn, or with --balance least one with the fewest
 * requests in flight. */
static size_t pick_endpoint(struct worker *w)
{
    size_t n = w->run->endpoint_count, first = w->turn_of++ % n, best = first;
    for (size_t i = 1; w->run->load->least_in_flight && i < n; i++) {
        size_t k = (first + i) % n;
        best = w->in_flight_at[k] < w->in_flight_at[best] ? k : best;
    }
    return best;
}

/* Begins a request on a connection of an endpoint, in a slot that the caller has counted in w->users. s: the session it is
 * a turn of, which every request has where sessions have several turns. Out of memory: it is not sent, its slot and
 * session are freed, w->failure is set, and no request begins for a moment. */
static void begin_request(struct worker *w, enum phase phase, uint64_t index, int64_t scheduled_ns, const struct arrival *arrival,
                          struct session *s)
{
    const struct load *l = w->run->load;
    size_t endpoint = pick_endpoint(w);
    struct conn *c = l->turns > 1 && !s ? NULL : conn_take(w, endpoint);
    if (!c) {
        if (!w->failure.kind)
            err_memory(&w->failure, "a request");
        w->m.dropped += phase == PHASE_MEASURE;
        w->pause_until_ns = w->now_ns + 10000000;
        if (s)
            session_free(w, s);
        else
            slot_free(w);
        return;
    }
    flight_begin(w, &c->f, phase, index, scheduled_ns);
    c->f.arrival = arrival;
    c->f.session = s;
    c->f.r.endpoint = (uint16_t)endpoint;
    c->f.cancel = l->cancel_share > 0 && index_chance(l, index, 1) < l->cancel_share;
    if (arrival)
        c->f.r.session = arrival->session;
    if (s)
        c->f.r.session = s->id, c->f.r.turn = s->turn;
    w->in_flight_at[endpoint]++;
    if (w->via)
        via_begin(w, c);
    else
        raw_begin(w, c);
}

/* Returns how many of n things that several agents do together are of this one. */
static uint64_t agents_part(const struct load *l, uint64_t n)
{
    return n / l->shares + (l->share < n % l->shares);
}

static bool sending_is_over(const struct worker *w)
{
    return w->draining || w->now_ns >= w->run->stop_ns;
}

static enum phase phase_now(const struct worker *w)
{
    const struct load_run *run = w->run;
    return w->now_ns < run->measure_ns ? PHASE_WARMUP : w->now_ns < run->cooldown_ns ? PHASE_MEASURE : PHASE_COOLDOWN;
}

/* Returns whether a closed loop may send one more, in which phase and with which index, and counts
 * it then. After the last one w->draining is set. */
static bool may_send_next(struct worker *w, enum phase *ret_phase, uint64_t *ret_index)
{
    struct load_run *run = w->run;
    const struct load *l = run->load;
    if (sending_is_over(w) || w->now_ns < w->pause_until_ns)
        return false;
    enum phase phase = phase_now(w);
    uint64_t n = atomic_fetch_add_explicit(&run->next_index, 1, memory_order_relaxed);
    if (n < agents_part(l, l->warmup_requests))
        phase = PHASE_WARMUP;
    if (phase == PHASE_MEASURE && l->requests &&
        atomic_fetch_add_explicit(&run->measured, 1, memory_order_relaxed) >= agents_part(l, l->requests)) {
        w->draining = true;
        return false;
    }
    w->m.scheduled += phase == PHASE_MEASURE;
    *ret_phase = phase;
    *ret_index = n * l->shares + l->share;
    return true;
}

/* Open loop: the schedule has the sessions' first turns, the others follow until sending is over.
 * Their indexes follow the schedule's, the same ones whichever worker sends them; where the
 * warm-up is a number of arrivals, a session belongs to it completely. */
static bool turn_may_follow(struct worker *w, const struct session *s, enum phase *ret_phase, uint64_t *ret_index)
{
    if (sending_is_over(w))
        return false;
    *ret_phase = s->arrival->index < w->run->load->warmup_requests ? PHASE_WARMUP : phase_now(w);
    *ret_index = s->arrival->index + s->turn * w->run->schedule->whole_n;
    w->m.scheduled += *ret_phase == PHASE_MEASURE;
    return true;
}

/* Returns a session without turns, which the caller frees with its buffers. NULL: out of memory. */
static struct session *session_new(uint64_t id, const struct arrival *arrival)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct session){.id = id, .arrival = arrival, .timer.kind = TIMER_SESSION};
    buf_init(&s->history, HISTORY_MAX);
    buf_init(&s->question, HISTORY_MAX);
    return s;
}

/* Returns the number of the next session of a closed loop. Sessions are counted by themselves (the
 * requests' numbers leave gaps), so that a data set's rows all have their turn. */
static uint64_t next_session(struct load_run *run)
{
    return atomic_fetch_add_explicit(&run->next_session, 1, memory_order_relaxed) * run->load->shares + run->load->share;
}

/* Counts a measured request as sent late where the client itself was the reason: not where it
 * waited for a free slot. */
static void note_send(struct worker *w, enum phase phase, int64_t scheduled_ns)
{
    int64_t due = scheduled_ns > w->full_ns ? scheduled_ns : w->full_ns;
    w->m.sends_late += phase == PHASE_MEASURE && w->now_ns - due > LATENESS_LATE_NS;
}

/* Begins the next turn of a session, or frees the session where none may follow. */
static void next_turn(struct worker *w, struct session *s)
{
    enum phase phase;
    uint64_t index;
    if (w->now_ns < w->pause_until_ns && !w->draining) {
        timers_set(&w->timers, &s->timer, w->pause_until_ns);
        return;
    }
    if (!(s->arrival ? turn_may_follow(w, s, &phase, &index) : may_send_next(w, &phase, &index))) {
        session_free(w, s);
        return;
    }
    note_send(w, phase, s->scheduled_ns > w->pause_until_ns ? s->scheduled_ns : w->pause_until_ns);
    begin_request(w, phase, index, s->scheduled_ns, NULL, s);
}

static void add_history(struct session *s, const struct request_result *r)
{
    struct json_out j = {.to = &s->history, .layout = JSON_TIGHT, .comma = s->history.n > 0};
    json_members(&j, buf_text(&s->question));
    request_put_message(&j, "assistant", r->text);
}

void worker_freed(struct worker *w, struct conn *c)
{
    struct session *s = c->f.session;
    const struct load *l = w->run->load;
    if (!s) {
        slot_free(w);
        return;
    }
    enum request_ending how = c->f.r.ending;
    if (++s->turn >= l->turns || ending_rows[how].failed || how == ENDING_UNFINISHED || how == ENDING_CANCELLED || w->draining) {
        session_free(w, s);
        return;
    }
    add_history(s, &c->f.r);
    double think = l->think_s > 0 ? -log(1 - index_chance(l, s->id * 1009 + s->turn, 2)) * l->think_s : 0;
    s->scheduled_ns = c->f.r.end_ns + (int64_t)(think * 1e9);
    if (s->history.failed || !timers_set(&w->timers, &s->timer, s->scheduled_ns))
        session_free(w, s);
}

/* Returns this worker's part of a number that is divided among all. */
static uint64_t worker_part(const struct worker *w, double whole)
{
    const struct load *l = w->run->load;
    uint64_t n = whole > 0 ? (uint64_t)(whole + 0.5) : 0;
    n = agents_part(l, n);
    return n / w->run->workers + (w->number < n % w->run->workers);
}

static uint64_t worker_slots(const struct worker *w)
{
    const struct profile *p = &w->run->load->concurrency;
    return p->n ? worker_part(w, profile_at(p, (double)(w->now_ns - w->run->begin_ns) / 1e9)) : UINT64_MAX;
}

/* Begins requests until each slot of this worker has one, as far as the load allows. */
static void fill_closed(struct worker *w)
{
    const struct load *l = w->run->load;
    uint64_t most = worker_slots(w), index;
    enum phase phase;
    /* One that has no slot any more would not learn from `may_send_next` that all are sent. */
    w->draining |= l->requests && atomic_load_explicit(&w->run->measured, memory_order_relaxed) >= agents_part(l, l->requests);
    while (w->users < most && may_send_next(w, &phase, &index)) {
        w->users++;
        struct session *s = l->turns > 1 ? session_new(next_session(w->run), NULL) : NULL;
        begin_request(w, phase, index, w->now_ns, NULL, s);
        if (w->pause_until_ns > w->now_ns)
            return;
    }
    w->draining |= w->now_ns >= w->run->stop_ns;
}

/* Begins the requests that are due. Where no slot is free, --drop counts them as dropped, else they
 * wait. */
static void send_arrivals(struct worker *w)
{
    const struct schedule *s = w->run->schedule;
    int64_t begin_ns = w->run->begin_ns;
    uint64_t most = worker_slots(w);
    while (w->next_arrival < s->n && s->list[w->next_arrival].at_ns + begin_ns <= w->now_ns) {
        const struct arrival *a = &s->list[w->next_arrival];
        w->is_full = w->users >= most;
        if (w->is_full)
            w->full_ns = w->now_ns;
        if (w->users >= most && !w->run->load->drop)
            return;
        note_send(w, (enum phase)a->phase, a->at_ns + begin_ns);
        w->next_arrival += w->run->workers;
        w->m.scheduled += a->phase == PHASE_MEASURE;
        if (w->users >= most) {
            if (a->phase == PHASE_MEASURE) {
                w->m.dropped++;
                atomic_fetch_add_explicit(&w->live.dropped, 1, memory_order_relaxed);
            }
            continue;
        }
        w->users++;
        struct session *session = w->run->load->turns > 1 ? session_new(a->session, a) : NULL;
        begin_request(w, (enum phase)a->phase, a->index, a->at_ns + begin_ns, a, session);
    }
    w->draining |= w->next_arrival >= s->n && w->run->load->turns <= 1;
}

static void fill_slots(struct worker *w)
{
    if (w->draining)
        return;
    if (w->run->schedule->n)
        send_arrivals(w);
    else
        fill_closed(w);
}

static void timers_run(struct worker *w)
{
    struct timer *t;
    while ((t = timers_due(&w->timers, w->now_ns))) {
        if (t->kind == TIMER_CONN)
            conn_due(w, (struct conn *)((char *)t - offsetof(struct conn, timer)));
        else
            next_turn(w, session_of(t));
    }
}

/* Arrivals that were never sent, when sending is over. */
static void count_dropped(struct worker *w)
{
    const struct schedule *s = w->run->schedule;
    for (; w->next_arrival < s->n; w->next_arrival += w->run->workers)
        if (s->list[w->next_arrival].phase == PHASE_MEASURE) {
            w->m.scheduled++, w->m.dropped++;
            atomic_fetch_add_explicit(&w->live.dropped, 1, memory_order_relaxed);
        }
}

static void give_up(struct worker *w, const char *why)
{
    w->draining = true;
    while (w->busy)
        conn_finish(w, w->busy, ENDING_UNFINISHED, why, false);
}

/* Reads both clocks into w->now_ns and the known difference. The thread may have stopped between
 * the two, so the difference stays as long as it is possible. w->clock_was_set: the wall clock was
 * set. */
static void look_at_clocks(struct worker *w)
{
    enum { SET_NS = 100000 };
    struct timespec real;
    int64_t before = clock_mono_ns();
    clock_gettime(CLOCK_REALTIME, &real);
    w->now_ns = clock_mono_ns();
    int64_t real_ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec, least = before - real_ns, most = w->now_ns - real_ns;
    int64_t known = w->real_to_mono_ns;
    w->clock_was_set = known && (known < least - SET_NS || known > most + SET_NS);
    w->real_to_mono_ns = known < least ? least : known > most ? most : known;
}

/* Waits with the precision of nanoseconds where the kernel can (5.11), else through ppoll. */
static int wait_events(struct worker *w, struct epoll_event *events, int64_t ns)
{
    static atomic_bool old_kernel;
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    if (ns <= 0)
        return epoll_wait(w->epoll, events, EVENTS_AT_ONCE, 0);
#ifdef SYS_epoll_pwait2
    if (!atomic_load_explicit(&old_kernel, memory_order_relaxed)) {
        long n = syscall(SYS_epoll_pwait2, w->epoll, events, EVENTS_AT_ONCE, &t, NULL, 0);
        if (n >= 0 || errno != ENOSYS)
            return (int)n;
        atomic_store_explicit(&old_kernel, true, memory_order_relaxed);
    }
#endif
    struct pollfd p = {.fd = w->epoll, .events = POLLIN};
    int n = ppoll(&p, 1, &t, NULL);
    return n <= 0 ? n : epoll_wait(w->epoll, events, EVENTS_AT_ONCE, 0);
}

/* Returns how many ns the loop may wait: until the next timer, arrival or end of a pause, LOOK_NS
 * at most. Not positive: something is due. */
static int64_t until_next(const struct worker *w)
{
    const struct schedule *s = w->run->schedule;
    int64_t next = w->now_ns + LOOK_NS, timer = timers_next(&w->timers), via = w->via ? via_next(w) : INT64_MAX;
    next = timer < next ? timer : next;
    next = via < next ? via : next;
    if (!w->draining && w->pause_until_ns > w->now_ns && w->pause_until_ns < next)
        next = w->pause_until_ns;
    if (!w->draining && w->next_arrival < s->n) {
        int64_t at = s->list[w->next_arrival].at_ns + w->run->begin_ns;
        if (at < next && at > w->now_ns) /* one that is due waits for a slot */
            next = at;
    }
    return next - w->now_ns;
}

/* Handles n events, none where n is negative. Between them it begins requests that are due. */
static void handle_events(struct worker *w, const struct epoll_event *events, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t data = events[i].data.u64;
        if (data & 1)
            via_socket(w, (int)(data >> 1), events[i].events);
        else
            raw_event(w, events[i].data.ptr, events[i].events);
        if (i % ARRIVALS_EVERY == ARRIVALS_EVERY - 1) {
            w->now_ns = clock_mono_ns();
            fill_slots(w);
        }
    }
}

/* Makes one turn of the loop. Returns false once the worker's part of the load is over. */
static bool worker_turn(struct worker *w)
{
    const struct load_run *run = w->run;
    struct epoll_event events[EVENTS_AT_ONCE];
    int stop = atomic_load_explicit(&run->stop, memory_order_relaxed);
    timers_run(w);
    if (w->via)
        via_due(w);
    fill_slots(w);
    w->draining |= stop || (w->now_ns >= run->stop_ns && !run->schedule->n);
    if (stop)
        give_up(w, "the run was stopped");
    if (w->now_ns >= run->stop_ns &&
        w->now_ns - run->stop_ns > (int64_t)(run->load->grace_s * 1e9)) /* arrivals that still wait for a slot are dropped */
        give_up(w, "still going on after --grace");
    if (!w->in_flight && (w->draining || (run->schedule->n && w->next_arrival >= run->schedule->n && !w->users)))
        return false;
    int64_t wait_ns = until_next(w), now_ns = clock_mono_ns();
    lateness_wait_begin(&w->late, now_ns, now_ns + wait_ns);
    int n = wait_events(w, events, wait_ns);
    look_at_clocks(w);
    lateness_wait_end(&w->late, w->now_ns, n >= 0 && n < EVENTS_AT_ONCE);
    handle_events(w, events, n);
    w->now_ns = clock_mono_ns();
    return true;
}

void *worker_main(void *worker)
{
    struct worker *w = worker;
    struct timespec cpu;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    look_at_clocks(w);
    lateness_init(&w->late, w->now_ns);
    while (worker_turn(w))
        ;
    count_dropped(w);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    w->m.cpu_s = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9;
    w->m.queued_ns = (uint64_t)lateness_queued_ns(&w->late);
    return NULL;
}
