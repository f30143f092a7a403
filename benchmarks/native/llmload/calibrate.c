/* calibrate.c: the client's error against llmfake's true send times; see calibrate.h. */
#include "benchmarks/native/llmload/calibrate.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/listing.h"
#include "benchmarks/native/llm/sendlog.h"
#include "benchmarks/native/llmload/child.h"
#include "benchmarks/native/llmload/engine.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_PER_S = 50000, WORKERS_MAX = 256 };

/* What one side measures of an event. */
struct seen_event {
    uint64_t request;
    uint32_t event;
    bool shared, unknown; /* unknown: a late read brought it, with others */
    int64_t at_ns;
};

struct seen_list {
    struct seen_event *p;
    size_t n, size;
    bool failed;
};

struct calibration_sink {
    struct result_sink sink;
    struct seen_list lists[WORKERS_MAX];
};

static void seen_list_add(struct seen_list *l, struct seen_event s)
{
    l->failed |= !ARRAY_FITS(l->p, l->size, l->n + 1);
    if (!l->failed)
        l->p[l->n++] = s;
}

static void calibration_take_result(struct result_sink *sink, unsigned worker, const struct request_result *r)
{
    struct seen_list *l = &((struct calibration_sink *)sink)->lists[worker];
    if (ending_rows[r->ending].failed || !r->chunk_list || r->phase != PHASE_MEASURE)
        return;
    seen_list_add(l, (struct seen_event){r->index, SENDLOG_RECEIVED, false, false, r->sent_ns});
    for (uint32_t i = 0; i < r->chunks; i++)
        seen_list_add(l,
                      (struct seen_event){r->index, i, r->chunk_list[i].shared, i == 0 && !result_first_known(r), r->chunk_list[i].at_ns});
}

static int by_event(const void *a, const void *b)
{
    const struct seen_event *x = a, *y = b;
    if (x->request != y->request)
        return x->request < y->request ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Appends the events of llmfake's log. Returns 0, or another value with *err. */
static int read_log(struct seen_list *ret, const char *path, struct err *err)
{
    struct stat st;
    int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "reading %s", path);
    if (st.st_size < 8)
        return err_set(err, ERR_SYSTEM, "llmfake wrote no log");
    char *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_sys(err, "reading %s", path);
    bool ours = memcmp(p, SENDLOG_MAGIC, 8) == 0;
    for (size_t at = 8; ours && at + sizeof(struct sendlog_record) <= (size_t)st.st_size; at += sizeof(struct sendlog_record)) {
        struct sendlog_record r;
        memcpy(&r, p + at, sizeof r);
        seen_list_add(ret, (struct seen_event){r.request, r.event, false, false, r.at_ns});
    }
    munmap(p, (size_t)st.st_size);
    if (!ours)
        return err_set(err, ERR_SYSTEM, "%s is no log of this version of llmfake", path);
    return ret->failed ? err_memory(err, "the events of llmfake's log") : 0;
}

static int64_t time_distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Returns when the request of event i was sent, or had arrived, which is the last of its events. 0:
 * not known. */
static int64_t request_time(const struct seen_list *l, size_t i)
{
    uint64_t request = l->p[i].request;
    while (i < l->n && l->p[i].request == request && l->p[i].event != SENDLOG_RECEIVED)
        i++;
    return i < l->n && l->p[i].request == request ? l->p[i].at_ns : 0;
}

/* Compares the first token of a request. The true time begins with the request's arrival at the
 * server: the client's own stamp may be wrong, too. */
static void compare_first(struct calibration *c, const struct seen_list *client, size_t i, const struct seen_list *server, size_t k)
{
    int64_t sent = request_time(client, i), arrived = request_time(server, k);
    hdr_add(&c->arrival, client->p[i].at_ns - server->p[k].at_ns);
    if (sent && arrived)
        hdr_add(&c->ttft, client->p[i].at_ns - sent), hdr_add(&c->true_ttft, server->p[k].at_ns - arrived);
}

/* Compares the times of the client with those of the server, event by event, for the calibration.
 * Both lists are sorted. */
static void compare_events(struct calibration *c, const struct seen_list *client, const struct seen_list *server)
{
    const struct seen_event *before = NULL, *before_true = NULL;
    for (size_t i = 0, k = 0; i < client->n; i++) {
        const struct seen_event *s = &client->p[i];
        while (k < server->n && by_event(&server->p[k], s) < 0)
            k++;
        const struct seen_event *t = k < server->n && by_event(&server->p[k], s) == 0 ? &server->p[k] : NULL;
        if (!t || s->event == SENDLOG_RECEIVED) {
            before = NULL;
            continue;
        }
        if (s->event == 0 && !s->unknown)
            compare_first(c, client, i, server, k);
        else if (s->event && before && before->request == s->request && before->event + 1 == s->event) {
            c->shared += s->shared || before->shared;
            hdr_add_open(&c->itl_error, INT64_MAX, s->shared || before->shared);
            if (!s->shared && !before->shared) {
                int64_t gap = s->at_ns - before->at_ns, truth = t->at_ns - before_true->at_ns;
                hdr_add(&c->itl_error, time_distance(gap, truth));
                hdr_add(&c->itl, gap);
                hdr_add(&c->true_itl, truth);
                c->compared++;
            }
        }
        before = s, before_true = t;
    }
}

/* Runs the load of the calibration against the URL, and stores its results in *c. Returns 0, or
 * another value with *err, also where it was interrupted or no request succeeded. */
static int calibration_run_load(struct calibration *c, const char *url, struct calibration_sink *w, struct err *err)
{
    const struct calibration_plan *p = &c->plan;
    struct prompt_source *prompts;
    struct outcome o;
    struct load l = {.urls = &url,
                     .url_count = 1,
                     .dialect = DIALECT_CHAT,
                     .path = dialects[DIALECT_CHAT].path,
                     .model = "fake",
                     .stream = true,
                     .max_tokens = p->tokens,
                     .max_field = "max_tokens",
                     .temperature = -1,
                     .turns = 1,
                     .shares = 1,
                     .seed = 1,
                     .trace_speed = 1,
                     .grace_s = 30,
                     .connect_s = 30,
                     .stall_s = 60,
                     .requests = (uint64_t)p->streams * p->rounds,
                     .user_clock = p->user_clock,
                     .threads = p->threads};
    double ramp = p->ttft_s + p->itl_s * p->tokens; /* streams begin spread over one answer's time */
    l.concurrency.piece[0].to = l.concurrency.piece[1].from = l.concurrency.piece[1].to = p->streams;
    l.concurrency.piece[0].seconds = ramp;
    l.concurrency.n = 2;
    if (prompt_fixed(&prompts, "Count to a hundred.", err) < 0)
        return -1;
    int status = engine_run(&o, &l, prompts, w ? &w->sink : NULL, NULL, err);
    prompts->close(prompts);
    if (status < 0)
        return -1;
    c->completed = metrics_completed(&o.m);
    c->failed = metrics_failed(&o.m);
    c->events = o.m.events_all;
    c->events_per_s = o.wall_s > 0 ? (double)o.m.events_all / o.wall_s : NAN;
    c->cpu_us_per_event = o.m.events_all ? o.m.cpu_s * 1e6 / (double)o.m.events_all : NAN;
    c->steal_percent = o.steal_percent;
    c->kernel_stamps = o.kernel_stamps;
    c->first_unknown = o.m.first_unknown;
    struct hdr *firsts[] = {&c->arrival, &c->ttft, &c->true_ttft};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        hdr_add_open(firsts[i], INT64_MAX, c->first_unknown);
    report_client(&c->client, &o);
    bool early = o.why_early != NULL;
    outcome_deinit(&o);
    if (early)
        return err_set(err, ERR_SYSTEM, "the calibration was interrupted");
    return c->completed ? 0 : err_set(err, ERR_SYSTEM, "no request to llmfake succeeded");
}

/* Compares what the client measured with the log of llmfake. -1 with err: the log cannot be read,
 * out of memory, or no gap is in both. */
static int calibration_gather(struct calibration *c, struct calibration_sink *w, const char *log, struct err *err)
{
    struct seen_list client = {0}, server = {0};
    for (size_t i = 0; i < WORKERS_MAX; i++) {
        for (size_t k = 0; k < w->lists[i].n; k++)
            seen_list_add(&client, w->lists[i].p[k]);
        client.failed |= w->lists[i].failed;
    }
    int status = client.failed ? err_memory(err, "the events of the calibration") : read_log(&server, log, err);
    if (status == 0) {
        qsort(client.p, client.n, sizeof *client.p, by_event);
        qsort(server.p, server.n, sizeof *server.p, by_event);
        compare_events(c, &client, &server);
        if (!c->compared) {
            CLEANUP_BUF struct buf say;
            buf_init(&say, 4096);
            if (c->client.is_late)
                report_client_say(&c->client, &say);
            status = err_set(err, ERR_SYSTEM, "no gap between tokens could be compared%s%s", say.n ? ": " : "", say.n ? say.p : "");
        }
    }
    free(client.p);
    free(server.p);
    return status;
}

int calibration_run(struct calibration *ret, const struct calibration_plan *plan, struct err *err)
{
    struct hdr *all[] = {&ret->itl_error, &ret->arrival, &ret->ttft, &ret->true_ttft, &ret->itl, &ret->true_itl};
    char folder[] = "/tmp/llmload-XXXXXX", log[sizeof folder + 8], ttft[40], itl[40];
    struct calibration_sink *w = calloc(1, sizeof *w);
    struct child_process child;
    *ret = (struct calibration){.plan = *plan};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hdr_init(all[i]);
    if (!w || !mkdtemp(folder)) {
        free(w);
        return err_sys(err, "a folder for the calibration");
    }
    w->sink = (struct result_sink){.wants_chunks = true, .take = calibration_take_result};
    snprintf(log, sizeof log, "%s/sent", folder);
    snprintf(ttft, sizeof ttft, "%.9fs", plan->ttft_s);
    snprintf(itl, sizeof itl, "%.9fs", plan->itl_s);
    char *argv[] = {
        (char *)"llmfake", (char *)"--ttft", ttft, (char *)"--itl", itl, (char *)"--tail", (char *)"5ms", (char *)"--log", log, NULL};
    int status = child_start(&child, argv, err);
    if (status == 0) {
        status = calibration_run_load(ret, child.line, w, err);
        child_end(&child);
    }
    if (status == 0)
        status = calibration_gather(ret, w, log, err);
    for (size_t i = 0; i < WORKERS_MAX; i++)
        free(w->lists[i].p);
    free(w);
    unlink(log);
    rmdir(folder);
    return status < 0 ? err_wrap(err, "measuring the client's own error") : 0;
}

void calibration_deinit(struct calibration *c)
{
    struct hdr *all[] = {&c->itl_error, &c->arrival, &c->ttft, &c->true_ttft, &c->itl, &c->true_itl};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hdr_deinit(all[i]);
}

struct calibration_plan calibration_plan_for(unsigned streams)
{
    double itl = fmax(0.010, (double)streams / EVENTS_PER_S);
    return (struct calibration_plan){.streams = streams, .tokens = 20, .rounds = streams < 100 ? 8 : 3, .ttft_s = 0.100, .itl_s = itl};
}

static double calibration_ms(const struct hdr *h, double p)
{
    return hdr_may_be_open(h, p) ? NAN : hdr_quantile(h, p) / 1e6;
}

static void put_ms(struct json_out *j, const char *name, double v)
{
    if (isfinite(v))
        json_printf(j, name, "%.6f", v);
    else
        json_null(j, name);
}

void calibration_json(const struct calibration *c, const char *key, struct json_out *j)
{
    CLEANUP_BUF struct buf say;
    buf_init(&say, 4096);
    if (c->client.is_late)
        report_client_say(&c->client, &say);
    json_open(j, key, '{');
    json_uint(j, "streams", c->plan.streams);
    json_uint(j, "completed", c->completed);
    json_uint(j, "failed", c->failed);
    json_uint(j, "gaps", c->compared);
    json_uint(j, "gaps_shared_stamp", c->shared);
    json_flag(j, "kernel_stamps", c->kernel_stamps);
    put_ms(j, "itl_error_mean_ms", c->itl_error.n ? c->itl_error.mean / 1e6 : NAN);
    put_ms(j, "itl_error_p99_ms", calibration_ms(&c->itl_error, 0.99));
    put_ms(j, "itl_error_max_ms", hdr_max(&c->itl_error) / 1e6);
    put_ms(j, "itl_mean_ms", c->itl.n ? c->itl.mean / 1e6 : NAN);
    put_ms(j, "true_itl_mean_ms", c->true_itl.n ? c->true_itl.mean / 1e6 : NAN);
    json_uint(j, "first_tokens_unknown", c->first_unknown);
    put_ms(j, "ttft_median_ms", calibration_ms(&c->ttft, 0.5));
    put_ms(j, "true_ttft_median_ms", calibration_ms(&c->true_ttft, 0.5));
    put_ms(j, "arrival_after_send_mean_ms", c->arrival.n ? c->arrival.mean / 1e6 : NAN);
    put_ms(j, "arrival_after_send_p99_ms", calibration_ms(&c->arrival, 0.99));
    put_ms(j, "events_per_s", c->events_per_s);
    put_ms(j, "cpu_us_per_event", c->cpu_us_per_event);
    put_ms(j, "steal_percent", c->steal_percent < 0 ? NAN : c->steal_percent);
    json_text(j, "bottleneck", c->client.is_late ? say.p : NULL);
    json_close(j, '}');
}

static void put_late(const struct calibration *c, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf say;
    buf_init(&say, 4096);
    if (!c->client.is_late)
        return;
    buf_printf(&say, "! %u streams: ", c->plan.streams);
    report_client_say(&c->client, &say);
    screen_wrap(&(struct screen){.width = screen_columns(screen)}, buf_text(&say), 0, 2, to);
    buf_putc(to, '\n');
}

void calibration_table(const struct calibration *c, size_t n, const struct screen *screen, struct buf *to)
{
    static const struct listing_column columns[] = {
        {.key = "streams", .heading = "streams", .right = true},
        {.key = "mean", .heading = "mean", .right = true},
        {.key = "p99", .heading = "p99", .right = true},
        {.key = "max", .heading = "max", .right = true},
        {.key = "first", .heading = "first", .right = true},
        {.key = "true", .heading = "true", .right = true},
        {.key = "events", .heading = "events/s", .right = true, .drop = 1},
        {.key = "gaps", .heading = "gaps", .right = true, .drop = 4},
        {.key = "shared", .heading = "shared%", .right = true, .drop = 5},
        {.key = "cpu", .heading = "CPU us", .right = true, .drop = 2},
        {.key = "steal", .heading = "steal%", .right = true, .drop = 3},
    };
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    for (size_t i = 0; i < n; i++) {
        const struct calibration *x = &c[i];
        report_cell(&l, x->plan.streams);
        report_cell(&l, x->itl_error.n ? x->itl_error.mean / 1e6 : NAN);
        report_cell(&l, calibration_ms(&x->itl_error, 0.99));
        report_cell(&l, hdr_max(&x->itl_error) / 1e6);
        report_cell(&l, calibration_ms(&x->ttft, 0.5));
        report_cell(&l, calibration_ms(&x->true_ttft, 0.5));
        report_cell(&l, x->events_per_s);
        report_cell(&l, (double)x->compared);
        report_cell(&l, x->compared ? 100 * (double)x->shared / (double)(x->compared + x->shared) : NAN);
        report_cell(&l, x->cpu_us_per_event);
        report_cell(&l, x->steal_percent < 0 ? NAN : x->steal_percent);
    }
    static const char about[] =
        "The client's own error, in ms: time between tokens (mean, p99, max), as llmload measured it against the times at "
        "which llmfake sent each token. First token, in ms: p50 as measured, and true.";
    screen_wrap(&(struct screen){.width = screen_columns(screen)}, str_of(about), 0, 0, to);
    buf_putc(to, '\n');
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    bool late = false;
    for (size_t i = 0; i < n; i++)
        late = late || c[i].shared;
    if (late)
        screen_wrap(&(struct screen){.width = screen_columns(screen)},
                    STR("\"-\": one of the times that are not known (shared%) may be this value.\n"), 0, 0, to);
    for (size_t i = 0; i < n; i++)
        put_late(&c[i], screen, to);
    listing_deinit(&l);
    arena_deinit(&arena);
}

unsigned calibration_streams(const struct load *load)
{
    enum { OPEN_LOOP = 100, MOST = 2000 };
    double n = load->concurrency.n ? load->concurrency.piece[load->concurrency.n - 1].to : OPEN_LOOP;
    return n < 1 ? 1 : n > MOST ? MOST : (unsigned)n;
}
