/* engine.c: runs one load: sets up, starts the workers, watches, collects; see engine.h. */
#include "benchmarks/native/llmload/engine.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/join.h"
#include "benchmarks/native/llmload/limits.h"
#include "benchmarks/native/llmload/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic int stopped; /* number of the signal; a handler sets it */

void engine_stop(int signal)
{
    int none = 0;
    atomic_compare_exchange_strong(&stopped, &none, signal ? signal : -1);
}

int engine_signal(void)
{
    return atomic_load(&stopped);
}

struct crew {
    struct load_run run;
    struct worker *workers;
    pthread_t *threads;
    bool *running;
    struct arena arena;
    struct schedule schedule;
    int warm_socket;
    uint64_t ttft_n, itl_n, ttft_ns, itl_ns, e2el_n, e2el_ns, completed; /* at the last call of crew_live */
    int64_t live_ns; /* time of that */
};

/* Returns how many CPUs this process may use; 1 where that is not known. */
static unsigned cpus_allowed(void)
{
    enum { MOST = 65536 };
    unsigned n = 0;
    for (int most = CPU_SETSIZE; !n && most <= MOST; most *= 4) { /* the kernel refuses a set smaller than its own */
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        if (set && sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)most), set) == 0)
            n = (unsigned)CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)most), set);
        CPU_FREE(set);
    }
    return n ? n : 1;
}

/* Returns the number of threads: one for each CPU, but never more than there are requests at a
 * time. */
static unsigned crew_size(const struct load *l)
{
    unsigned n = l->threads ? l->threads : cpus_allowed();
    double most = profile_most(&l->concurrency);
    if (l->concurrency.n && l->arrivals != ARRIVALS_CLOSED) /* each arrival is one worker's: all need a slot to the end */
        most = l->concurrency.piece[l->concurrency.n - 1].to;
    most /= l->shares;
    if (l->concurrency.n && n > most)
        n = most < 1 ? 1 : (unsigned)most;
    return n < 1 ? 1 : n > 256 ? 256 : n;
}

/* Opens a socket that makes the kernel stamp what arrives, which begins a little after the first
 * request: so before any of the load. Returns its descriptor, which the caller closes. *ret_works:
 * whether the kernel can. */
static int ask_for_stamps(bool *ret_works)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    *ret_works = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps) == 0;
    return fd;
}

/* Binds a socket to the address, to check that connections can come from it. Returns 0, or -1 with
 * errno. */
static int check_source(const struct sockaddr_storage *from)
{
    socklen_t length = from->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int fd = socket(from->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0),
        rc = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)(const void *)from, length);
    int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return rc;
}

/* Reads --source: addresses with commas between them, from which connections come. They are in
 * c->run, which frees them. -1 with err: an address is none, or cannot be used here. */
static int read_sources(struct crew *c, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    size_t room = 0;
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        char address[64];
        if (!ARRAY_FITS(c->run.sources, room, c->run.source_count + 1))
            return err_memory(err, "the addresses of --source");
        struct sockaddr_storage *to = memset(&c->run.sources[c->run.source_count], 0, sizeof *to);
        if (one.n >= sizeof address)
            return err_set(err, ERR_USAGE, "--source: expected an IP address, got \"%.70s\"", text);
        memcpy(address, one.p, one.n);
        address[one.n] = '\0';
        if (inet_pton(AF_INET, address, &((struct sockaddr_in *)(void *)to)->sin_addr) == 1)
            to->ss_family = AF_INET;
        else if (inet_pton(AF_INET6, address, &((struct sockaddr_in6 *)(void *)to)->sin6_addr) == 1)
            to->ss_family = AF_INET6;
        else
            return err_set(err, ERR_USAGE, "--source: expected an IP address, got \"%s\"", address);
        c->run.source_count++;
        if (check_source(to) < 0)
            return err_sys(err, "--source %s: connections cannot come from there", address);
    }
    return 0;
}

/* Uses several source addresses where many streams go to loopback: Linux searches long for a free
 * port once half of the range is in use. Returns 0, or -1 with *err. */
static int spread_sources(struct crew *c, const struct load *l, struct err *err)
{
    enum { STREAMS_EACH = 8000, MOST = 64 };
    double streams = limits_streams(l);
    char list[MOST * 16] = "";
    size_t n = 0;
    for (size_t i = 0; i < c->run.endpoint_count; i++) {
        const struct endpoint *e = &c->run.endpoints[i];
        for (unsigned k = 0; k < e->addresses; k++)
            if (e->address[k].family != AF_INET ||
                ntohl(((const struct sockaddr_in *)(const void *)&e->address[k].u.storage)->sin_addr.s_addr) >> 24 != 127)
                return 0;
    }
    if (c->run.via || streams <= STREAMS_EACH)
        return 0;
    for (int i = 1; i <= MOST && (i - 1) * (double)STREAMS_EACH < streams; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s127.0.0.%d", i > 1 ? "," : "", i);
    return read_sources(c, list, err);
}

/* Resolves the endpoints, makes the schedule and checks the limits of this process. Returns 0, or
 * another value with *err. */
static int crew_set_up(struct crew *c, const struct load *l, const struct prompt_source *prompts, struct result_sink *sinks,
                       struct err *err)
{
    struct load_run *run = &c->run;
    *run = (struct load_run){
        .load = l, .prompts = prompts, .sinks = sinks, .schedule = &c->schedule, .endpoint_count = l->url_count, .workers = crew_size(l)};
    for (struct result_sink *s = sinks; s; s = s->next) {
        run->wants_chunks |= s->wants_chunks;
        run->wants_text |= s->wants_text;
        run->wants_body |= s->wants_body;
    }
    run->endpoints = calloc(l->url_count, sizeof *run->endpoints);
    if (!run->endpoints)
        return err_memory(err, "the addresses of servers");
    bool local = true;
    run->via = l->proxy || l->http2;
    for (size_t i = 0; i < l->url_count; i++) {
        struct endpoint *e = &run->endpoints[i];
        if (endpoint_read(e, l->urls[i], l->path, &c->arena, err) < 0)
            return -1;
        if (!l->proxy && endpoint_resolve(e, err) < 0)
            return -1;
        local &= e->socket != NULL;
        run->via |= e->tls;
    }
    if ((l->source_address ? read_sources(c, l->source_address, err) : spread_sources(c, l, err)) < 0)
        return -1;
    if (!local && !l->user_clock && !run->via) /* libcurl does not hand stamps on */
        c->warm_socket = ask_for_stamps(&run->kernel_stamps);
    if (load_check_end(l, l->shares, err) < 0 || schedule_make(&c->schedule, l, err) < 0)
        return -1;
    return limits_check(l, run, err);
}

/* Sets the absolute times at which the run's phases end; INT64_MAX for those that a count of
 * requests ends. */
static void set_times(struct load_run *run, const struct load *l, const struct schedule *s, int64_t begin_ns)
{
    run->begin_ns = begin_ns;
    run->measure_ns = begin_ns + (int64_t)(l->warmup_s * 1e9);
    run->cooldown_ns = l->duration_s > 0 ? run->measure_ns + (int64_t)(l->duration_s * 1e9) : INT64_MAX;
    run->stop_ns = l->duration_s > 0 ? run->cooldown_ns + (int64_t)(l->cooldown_s * 1e9) : INT64_MAX;
    if (s->n && l->duration_s <= 0) /* by count: sending is over with the last arrival, unless it has to wait for slots or sessions */
        run->stop_ns = l->turns > 1 || (l->concurrency.n && !l->drop) ? INT64_MAX : begin_ns + s->list[s->n - 1].at_ns + 1;
}

/* Starts a thread for each worker. Returns 0, or another value with *err; threads that have started
 * then stop, and must be joined. */
static int crew_start(struct crew *c, struct err *err)
{
    unsigned n = c->run.workers;
    c->workers = aligned_alloc(64, (n * sizeof *c->workers + 63) / 64 * 64);
    c->threads = calloc(n, sizeof *c->threads);
    c->running = calloc(n, sizeof *c->running);
    if (!c->workers || !c->threads || !c->running)
        return err_memory(err, "workers");
    memset(c->workers, 0, n * sizeof *c->workers);
    for (unsigned i = 0; i < n; i++)
        if (worker_init(&c->workers[i], &c->run, i, err) < 0)
            return -1;
    sigset_t all, old; /* signals are the main thread's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int status = 0;
    for (unsigned i = 0; i < n && status == 0; i++) {
        errno = pthread_create(&c->threads[i], NULL, worker_main, &c->workers[i]);
        c->running[i] = errno == 0;
        if (errno)
            status = err_sys(err, "starting a thread");
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (status < 0)
        atomic_store(&c->run.stop, 1);
    return status;
}

static uint64_t load_relaxed(_Atomic uint64_t *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

const double live_latencies_s[LIVE_LATENCIES] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160};

/* Durations of requests: counts, sum, and mean and rate since the last call. */
static void crew_live_requests(struct crew *c, struct live_counts *l, int64_t now)
{
    uint64_t n = 0, ns = 0;
    for (unsigned i = 0; i < c->run.workers; i++) {
        ns += load_relaxed(&c->workers[i].live.e2el_ns);
        for (size_t k = 0; k <= LIVE_LATENCIES; k++) {
            l->latency[k] += load_relaxed(&c->workers[i].live.latency[k]);
            n += load_relaxed(&c->workers[i].live.latency[k]);
        }
    }
    int64_t before = c->live_ns ? c->live_ns : c->run.begin_ns;
    l->latency_sum_s = (double)ns / 1e9;
    l->e2el_s = n > c->e2el_n ? (double)(ns - c->e2el_ns) / 1e9 / (double)(n - c->e2el_n) : NAN;
    l->rate = now > before && l->completed >= c->completed ? (double)(l->completed - c->completed) * 1e9 / (double)(now - before) : NAN;
    c->e2el_n = n, c->e2el_ns = ns, c->completed = l->completed, c->live_ns = now;
}

/* Sums the counters of all workers. Latencies (seconds) are the means since the last call, NAN
 * without any. */
static void crew_live(struct crew *c, struct live_counts *l)
{
    int64_t now = clock_mono_ns();
    uint64_t ttft_n = 0, itl_n = 0, ttft_ns = 0, itl_ns = 0;
    *l = (struct live_counts){.elapsed_s = (double)(now - c->run.begin_ns) / 1e9, .in_flight = load_relaxed(&c->run.in_flight)};
    l->phase = now < c->run.measure_ns ? PHASE_WARMUP : now < c->run.cooldown_ns ? PHASE_MEASURE : PHASE_COOLDOWN;
    l->draining = now >= c->run.stop_ns;
    for (unsigned i = 0; i < c->run.workers; i++) {
        struct live_counters *k = &c->workers[i].live;
        l->sent += load_relaxed(&k->sent), l->completed += load_relaxed(&k->completed), l->failed += load_relaxed(&k->failed);
        l->tokens += load_relaxed(&k->tokens), l->chunks += load_relaxed(&k->chunks), l->dropped += load_relaxed(&k->dropped);
        ttft_n += load_relaxed(&k->ttft_n), itl_n += load_relaxed(&k->itl_n), ttft_ns += load_relaxed(&k->ttft_ns),
            itl_ns += load_relaxed(&k->itl_ns);
    }
    l->ttft_s = ttft_n > c->ttft_n ? (double)(ttft_ns - c->ttft_ns) / 1e9 / (double)(ttft_n - c->ttft_n) : NAN;
    l->itl_s = itl_n > c->itl_n ? (double)(itl_ns - c->itl_ns) / 1e9 / (double)(itl_n - c->itl_n) : NAN;
    c->ttft_n = ttft_n, c->itl_n = itl_n, c->ttft_ns = ttft_ns, c->itl_ns = itl_ns;
    crew_live_requests(c, l, now);
}

/* Joins all threads. Until then it calls the hooks, and stops the load after a signal or where a
 * hook requires it. */
static void crew_watch(struct crew *c, struct outcome *o, const struct engine_hooks *h)
{
    enum { LOOK_NS = 20000000 };
    int64_t every = h && h->every_s > 0 ? (int64_t)(h->every_s * 1e9) : 1000000000, tick = c->run.begin_ns + every;
    for (unsigned i = 0; i < c->run.workers;) {
        int64_t now = clock_mono_ns(), until = now + LOOK_NS;
        int signal = atomic_load(&stopped);
        if (signal && !o->why_early) {
            o->signal = signal > 0 ? signal : 0;
            o->why_early = signal > 0 ? "a signal" : "a request to stop";
            atomic_store(&c->run.stop, 1);
        }
        if (now >= tick && h) {
            struct live_counts l;
            crew_live(c, &l);
            if (h->tick)
                h->tick(h->context, &l);
            if (h->stop && !o->why_early && h->stop(h->context)) {
                o->why_early = "the server is gone";
                atomic_store(&c->run.stop, 1);
            }
            tick = now + every;
        }
        i += !c->running[i] || join_until(c->threads[i], until);
    }
}

/* Adds up what the workers have measured, and the facts of the schedule, into *o. -1 with err: out
 * of memory. */
static int crew_collect(struct crew *c, struct outcome *o, struct err *err)
{
    if (metrics_init(&o->m, err) < 0)
        return -1;
    for (unsigned i = 0; i < c->run.workers; i++) {
        struct worker *w = &c->workers[i];
        metrics_merge(&o->m, &w->m);
        if (w->failure.kind && !o->trouble[0])
            memcpy(o->trouble, w->failure.text, sizeof o->trouble - 1);
    }
    o->m.window_begin_ns = c->run.measure_ns;
    o->m.window_end_ns = c->run.cooldown_ns < INT64_MAX ? c->run.cooldown_ns : 0;
    o->m.series_begin_ns = c->run.begin_ns;
    memcpy(o->schedule_hash, c->schedule.hash, sizeof o->schedule_hash);
    o->schedule_length = c->schedule.n;
    o->indexes = c->schedule.n ? c->schedule.whole_n * c->run.load->turns : atomic_load(&c->run.next_index) * c->run.load->shares;
    o->trace_kind = c->schedule.trace_kind;
    o->offered_rate = c->schedule.offered_rate;
    o->arrivals = c->schedule.arrivals, o->expected = c->schedule.expected, o->expected_sd = c->schedule.expected_sd;
    o->threads = c->run.workers;
    o->kernel_stamps = c->run.kernel_stamps;
    return 0;
}

static void crew_deinit(struct crew *c)
{
    for (unsigned i = 0; c->workers && i < c->run.workers; i++)
        if (c->workers[i].run)
            worker_deinit(&c->workers[i]);
    free(c->workers);
    free(c->threads);
    free(c->running);
    free(c->run.endpoints);
    free(c->run.sources);
    schedule_deinit(&c->schedule);
    arena_deinit(&c->arena);
    if (c->warm_socket >= 0)
        close(c->warm_socket);
}

static void wait_for_start_time(int64_t at_ns)
{
    struct timespec t = {at_ns / 1000000000, at_ns % 1000000000};
    while (!atomic_load(&stopped) && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Runs the load with all workers, from the start time of the hooks on where there is one, and fills
 * *o with times and the hypervisor's share. A failed sink only makes the outcome incomplete. -1
 * with err: the load could not begin. */
static int run_crew(struct crew *c, struct outcome *o, const struct engine_hooks *h, struct err *err)
{
    struct steal before, after;
    struct err sink = {0};
    sigset_t continued, old;
    int status = 0;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    for (struct result_sink *s = c->run.sinks; s; s = s->next)
        if (s->start && s->start(s, c->run.workers, err) < 0)
            return -1;
    if (h && h->start_at_ns)
        wait_for_start_time(h->start_at_ns);
    set_times(&c->run, c->run.load, &c->schedule, h && h->start_at_ns ? h->start_at_ns : clock_mono_ns());
    o->begin_ns = c->run.begin_ns;
    o->begin_wall_ms = clock_wall_ms() - (clock_mono_ns() - c->run.begin_ns) / 1000000;
    steal_look(&before);
    pthread_sigmask(SIG_BLOCK, &continued, &old); /* for lateness_stops() */
    status = crew_start(c, err);
    if (c->running)
        crew_watch(c, o, status == 0 ? h : NULL);
    if (c->running)
        crew_live(c, &o->last);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    steal_look(&after);
    o->wall_s = (double)(clock_mono_ns() - c->run.begin_ns) / 1e9;
    o->steal_percent = steal_percent(&before, &after);
    for (struct result_sink *s = c->run.sinks; s; s = s->next)
        if (s->finish && s->finish(s, &sink) < 0 && !o->incomplete) { /* the metrics exist all the same */
            o->incomplete = true;
            snprintf(o->trouble, sizeof o->trouble, "%.290s", sink.text);
        }
    return status;
}

int engine_run(struct outcome *ret, const struct load *load, const struct prompt_source *prompts, struct result_sink *sinks,
               const struct engine_hooks *hooks, struct err *err)
{
    struct crew c = {.warm_socket = -1};
    *ret = (struct outcome){0};
    arena_init(&c.arena, 1 << 20);
    if (hooks && hooks->begin)
        hooks->begin(hooks->context, load);
    int status = crew_set_up(&c, load, prompts, sinks, err);
    if (status == 0 && hooks && hooks->ready)
        hooks->ready(hooks->context, load, c.schedule.n ? (double)c.schedule.measured * load->turns : schedule_expected(load));
    if (status == 0)
        status = run_crew(&c, ret, hooks, err);
    if (status == 0)
        status = crew_collect(&c, ret, err);
    crew_deinit(&c);
    return status;
}

void outcome_deinit(struct outcome *o)
{
    metrics_deinit(&o->m);
}
