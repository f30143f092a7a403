/* agent.c: `llmload agent`: waits on a node for loads to make, and is steered over HTTP.
 *
 *   GET  /health               is it there; its clocks, for the estimate of their offset
 *   POST /start                {"args": [options of llmload], "share": 0, "shares": 2, "hold": true}: prepares; then {"at_ns": time}, or {}: begins;
 *                              without args and with nothing prepared: the load of the agent's own operands
 *   GET  /status               state, and the current metrics
 *   GET  /metrics              the result, once it is there, mergeable (hdr histograms)
 *   GET  /metrics/prometheus   the current metrics for Prometheus
 *   POST /stop                 ends the load; its result is what it has until then */
#include "base/json_out.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/secret.h"
#include "benchmarks/native/llmload/agent/api.h"
#include "benchmarks/native/llmload/agent/part.h"
#include "benchmarks/native/llmload/agent/share.h"
#include "benchmarks/native/llmload/agent/token.h"
#include "benchmarks/native/llmload/options.h"
#include "benchmarks/native/llmload/verbs.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ARGS_MAX = 400, LEADER_GONE_S = 30 /* it sends a request every second */ };

static const struct opt_row agent_rows[] = {
    {.name = OPTION_LISTEN,
     .letter = 'l',
     .kind = OPT_TEXT,
     .arg = "ADDRESS:PORT",
     .value = "127.0.0.1:6000",
     .group = "Agent",
     .help = "Listen at this address; port 0: any free port"},
    {.name = OPTION_TOKEN_FILE,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Agent",
     .help = "Require the token in this file (Authorization: Bearer); a missing file is created with a generated token "
             "(default: LLMLOAD_TOKEN, else ~/.config/llmload/agent-token)"},
    {.name = OPTION_PORT_FILE, .kind = OPT_TEXT, .arg = "FILE", .group = "Agent", .help = "write the port there when it listens"},
    {.name = OPTION_ONCE,
     .kind = OPT_FLAG,
     .group = "Agent",
     .help = "end when one load's result has been fetched, or the leader reports that there will be none"},
    {.name = OPTION_IDLE, .kind = OPT_DURATION, .arg = "T", .group = "Agent", .help = "end when no request arrives for this time"},
    {.name = OPTION_SERVICE,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Agent",
     .help = "In /metrics/prometheus, also use the names of the HPC Benchmark Toolkit: NAME_throughput_rps and so on"},
    {.name = OPTION_HELP, .letter = 'h', .kind = OPT_FLAG, .group = "Agent", .help = "this text"},
};

struct agent {
    struct agent_part *part; /* the load that is made, or was made last; NULL: none yet */
    pthread_mutex_t lock; /* handlers, and the main thread's check of the leader */
    const char *service; /* of --service; NULL */
    const char *const *usual; /* options of a load that POST /start begins without args, NULL-terminated */
    bool fetched;
    _Atomic bool led; /* the load waits for, and is watched by, a leader */
    _Atomic int64_t asked_ns; /* when the last request came */
    int wake[2]; /* wakes the main thread, which reads `fetched` */
};

/* Appends who answers, with both clocks. Returns the HTTP status. */
static unsigned answer_health(struct buf *to)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "status", "ok");
    json_text(&j, "program", "llmload");
    json_text(&j, "version", BW_VERSION);
    json_int(&j, "pid", getpid());
    json_text(&j, "host", host);
    json_int(&j, "wall_ms", clock_wall_ms());
    json_int(&j, "mono_ns", clock_mono_ns());
    json_close(&j, '}');
    buf_putc(to, '\n');
    return 200;
}

/* Appends the state, and of a load its share, its counts and its error. Returns the HTTP status. */
static unsigned answer_status(struct agent *a, struct buf *to)
{
    struct part_view v;
    if (!a->part) {
        api_answer_text(to, "state", "idle");
        return 200;
    }
    part_look(a->part, &v);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "state", part_state_names[v.state]);
    json_text(&j, "share", v.share);
    share_print_live(&v.live, &j);
    if (v.error[0])
        json_text(&j, "error", v.error);
    json_close(&j, '}');
    buf_putc(to, '\n');
    return 200;
}

/* Appends the load's result. Returns the HTTP status: 404 where there is none yet, 500 where the
 * load failed. */
static unsigned answer_metrics(struct agent *a, struct buf *to)
{
    struct part_view v = {.state = PART_PREPARING};
    if (a->part)
        part_look(a->part, &v);
    if (!a->part || !part_result(a->part, to)) {
        api_answer_text(to, "error", v.state == PART_FAILED ? v.error : "there is no result yet");
        return v.state == PART_FAILED ? 500 : 404;
    }
    buf_putc(to, '\n');
    a->fetched = true;
    return 200;
}

/* On the server's thread, as the handlers are. */
static void agent_note_sent(void *context)
{
    struct agent *a = context;
    ssize_t written = a->fetched ? write(a->wake[1], "", 1) : 0;
    (void)written;
}

/* Appends the metric PREFIX_NAME with its type; nothing where the value is not finite. help: NULL:
 * none. */
static void prometheus_value(struct buf *to, const char *prefix, const char *name, const char *kind, const char *help, double v)
{
    if (!isfinite(v))
        return;
    if (help)
        buf_printf(to, "# HELP %s_%s %s\n", prefix, name, help);
    buf_printf(to, "# TYPE %s_%s %s\n%s_%s ", prefix, name, kind, prefix, name);
    buf_double(to, v);
    buf_putc(to, '\n');
}

static void prometheus_row(struct buf *to, const char *name, const char *kind, const char *help, double v)
{
    prometheus_value(to, "llmload", name, kind, help, v);
}

/* Appends the durations of requests as the buckets of a histogram, each with the shorter ones. */
static void prometheus_buckets(struct buf *to, const char *name, const struct live_counts *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= LIVE_LATENCIES; i++) {
        sum += l->latency[i];
        buf_printf(to, "%s_bucket{le=\"", name);
        if (i < LIVE_LATENCIES)
            buf_double(to, live_latencies_s[i]);
        else
            buf_puts(to, "+Inf");
        buf_printf(to, "\"} %llu\n", (unsigned long long)sum);
    }
    buf_printf(to, "%s_sum ", name);
    buf_double(to, l->latency_sum_s);
    buf_printf(to, "\n%s_count %llu\n", name, (unsigned long long)sum);
}

static void toolkit_row(struct buf *to, const char *service, const char *name, const char *kind, double v)
{
    prometheus_value(to, service, name, kind, NULL, v);
}

/* Appends the metrics under the names of the HPC Benchmark Toolkit, whose dashboards and queries
 * then have data. */
static void put_toolkit_names(const struct agent *a, const struct part_view *v, struct buf *to)
{
    const struct live_counts *l = &v->live;
    char service[80];
    bool running = a->part && v->state == PART_RUNNING;
    size_t n = 0;
    for (; n < sizeof service - 1 && a->service[n]; n++)
        service[n] = str_is_letter(a->service[n]) || (n && str_is_digit(a->service[n])) ? a->service[n] : '_';
    service[n] = 0;
    toolkit_row(to, service, "workload_running", "gauge", running);
    if (!a->part)
        return;
    toolkit_row(to, service, "throughput_rps", "gauge", running ? l->rate : 0);
    toolkit_row(to, service, "request_latency_seconds", "gauge", running ? l->e2el_s : NAN);
    toolkit_row(to, service, "requests_total", "counter", (double)(l->completed + l->failed));
    toolkit_row(to, service, "errors_total", "counter", (double)l->failed);
    if (l->completed)
        toolkit_row(to, service, "tokens_per_request", "gauge", (double)l->tokens / (double)l->completed);
    char name[120]; /* the gauge has the name of the family, so the buckets have no type */
    snprintf(name, sizeof name, "%s_request_latency_seconds", service);
    prometheus_buckets(to, name, l);
}

/* Appends the metrics of the load that runs, or ran last, as Prometheus reads them. Returns the
 * HTTP status. */
static unsigned answer_prometheus(struct agent *a, struct buf *to, const char **type)
{
    struct part_view v = {.state = PART_PREPARING};
    *type = "text/plain; version=0.0.4";
    if (a->part)
        part_look(a->part, &v);
    const struct live_counts *l = &v.live;
    prometheus_row(to, "running", "gauge", "Is a load being made.", a->part && v.state == PART_RUNNING);
    if (a->service)
        put_toolkit_names(a, &v, to);
    if (!a->part)
        return 200;
    prometheus_row(to, "requests_sent_total", "counter", "Requests sent.", (double)l->sent);
    prometheus_row(to, "requests_completed_total", "counter", "Requests that came to a good end.", (double)l->completed);
    prometheus_row(to, "requests_failed_total", "counter", "Requests that failed.", (double)l->failed);
    prometheus_row(to, "requests_dropped_total", "counter", "Arrivals that were not sent.", (double)l->dropped);
    prometheus_row(to, "requests_in_flight", "gauge", "Requests under way.", (double)l->in_flight);
    prometheus_row(to, "output_tokens_total", "counter", "Tokens received, as far as the server reports them.", (double)l->tokens);
    prometheus_row(to, "chunks_total", "counter", "Pieces of text received.", (double)l->chunks);
    prometheus_row(to, "ttft_seconds", "gauge", "Mean time to first token in the last second.", l->ttft_s);
    prometheus_row(to, "itl_seconds", "gauge", "Mean gap between chunks in the last second.", l->itl_s);
    buf_puts(to, "# HELP llmload_request_seconds Durations of completed requests.\n# TYPE llmload_request_seconds histogram\n");
    prometheus_buckets(to, "llmload_request_seconds", l);
    prometheus_row(to, "elapsed_seconds", "gauge", "Since the load's begin.", l->elapsed_s);
    return 200;
}

/* Returns what is wrong with an option of "args", NULL: nothing. Each must be one word,
 * "--name=value". */
static const char *wrong_arg(const char *arg)
{
    return !arg || strncmp(arg, "--", 2) != 0 || !arg[2] ? "args: expected texts \"--name=value\", or \"--name\" for a switch" : NULL;
}

/* Lets the prepared load begin at the time of the request ("at_ns"; 0: at once). Returns the HTTP
 * status: 409 where none waits. */
static unsigned release_load(struct agent *a, const struct json *j, struct buf *to)
{
    struct err err = {0};
    if (!a->part || part_release(a->part, json_integer(json_get(j, "at_ns"), 0), &err) < 0) {
        api_answer_text(to, "error", a->part ? err.text : "nothing is prepared: expected args");
        return 409;
    }
    api_answer_text(to, "state", "running");
    return 202;
}

/* Starts a part of a load in a process of its own. Returns the HTTP status, with the answer in
 * `to`. */
static unsigned begin_load(struct agent *a, const char *const *args, const struct json *j, struct buf *to)
{
    struct err err = {0};
    struct part_view v;
    int64_t share = json_integer(json_get(j, "share"), 0), shares = json_integer(json_get(j, "shares"), 1);
    if (shares < 1 || shares > 100000 || share < 0 || share >= shares)
        return api_answer_text(to, "error", "share must be from 0 to shares - 1"), 400;
    if (a->part && (part_look(a->part, &v), v.state < PART_DONE))
        return api_answer_text(to, "error", "a load is being made: POST /stop ends it"), 409;
    part_free(a->part);
    a->part = NULL;
    if (part_start(&a->part, args, (unsigned)share, (unsigned)shares, &err) < 0)
        return api_answer_text(to, "error", err.text), 500;
    atomic_store(&a->led, json_bool(json_get(j, "hold"), false));
    if (!atomic_load(&a->led))
        part_release_when_ready(a->part, json_integer(json_get(j, "at_ns"), 0));
    api_answer_text(to, "state", "preparing");
    return 202;
}

/* Begins a load of the options in "args". Returns the HTTP status: 400 where one is wrong. */
static unsigned prepare_load(struct agent *a, const struct json *j, struct buf *to)
{
    const char *args[ARGS_MAX + 1];
    size_t n = 0;
    for (const struct json *arg = json_first(json_get(j, "args")); arg; arg = json_next(arg)) {
        const char *wrong = n == ARGS_MAX ? "too many args" : wrong_arg(json_string(arg, NULL));
        if (wrong)
            return api_answer_text(to, "error", wrong), 400;
        args[n++] = json_string(arg, "");
    }
    args[n] = NULL;
    return begin_load(a, args, j, to);
}

/* Returns whether a load of a leader waits or runs. */
static bool is_load_held(struct agent *a)
{
    struct part_view v;
    if (!a->part || !atomic_load(&a->led))
        return false;
    part_look(a->part, &v);
    return v.state < PART_DONE;
}

/* Begins a load of the request's arguments or of the usual ones, or releases one that is held.
 * Returns the HTTP status. */
static unsigned answer_start(struct agent *a, struct str body, struct buf *to)
{
    struct json *j = NULL;
    struct err err = {0};
    if (str_trim(body).n && json_parse(&j, body, NULL, &err) < 0)
        return api_answer_text(to, "error", err.text), 400;
    bool usual = !json_get(j, "args") && a->usual[0] && !is_load_held(a);
    unsigned code = usual                                ? begin_load(a, a->usual, j, to)
                    : json_is_array(json_get(j, "args")) ? prepare_load(a, j, to)
                                                         : release_load(a, j, to);
    json_free(j);
    return code;
}

/* Stops the load, whose result is what it has until then. {"end": true}: the leader will fetch no
 * result, so --once ends. Returns the HTTP status. */
static unsigned answer_stop(struct agent *a, struct str body, struct buf *to)
{
    struct json *j = NULL;
    if (body.n && json_parse(&j, body, NULL, NULL) == 0 && json_bool(json_get(j, "end"), false))
        a->fetched = true;
    json_free(j);
    if (a->part)
        part_stop(a->part);
    api_answer_text(to, "state", "stopping");
    return 202;
}

/* Answers one request of the agent's interface. Returns the HTTP status; the body is appended to
 * `to`, *type is set where it is not JSON. */
static unsigned agent_route(struct agent *a, const struct api_call *call, struct buf *to, const char **type)
{
    atomic_store(&a->asked_ns, clock_mono_ns());
    bool get = strcmp(call->method, "GET") == 0, post = strcmp(call->method, "POST") == 0;
    const struct {
        const char *path;
        bool good;
    } paths[] = {{"/health", get}, {"/status", get}, {"/metrics", get}, {"/metrics/prometheus", get}, {"/start", post}, {"/stop", post}};
    size_t which = 0;
    while (which < sizeof paths / sizeof *paths && strcmp(call->path, paths[which].path) != 0)
        which++;
    if (which == sizeof paths / sizeof *paths || !paths[which].good) {
        api_answer_text(to, "error",
                        which < sizeof paths / sizeof *paths ? "not with this method"
                                                             : "GET /health /status /metrics /metrics/prometheus, POST /start /stop");
        return which < sizeof paths / sizeof *paths ? 405 : 404;
    }
    switch (which) {
    case 0: return answer_health(to);
    case 1: return answer_status(a, to);
    case 2: return answer_metrics(a, to);
    case 3: return answer_prometheus(a, to, type);
    case 4: return answer_start(a, call->body, to);
    default: return answer_stop(a, call->body, to);
    }
}

static unsigned agent_handle(void *context, const struct api_call *call, struct buf *to, const char **type)
{
    struct agent *a = context;
    pthread_mutex_lock(&a->lock);
    unsigned code = agent_route(a, call, to, type);
    pthread_mutex_unlock(&a->lock);
    return code;
}

/* ---- the process ---- */

/* Divides "ADDRESS:PORT", with IPv6 addresses in brackets. -1 with err: another form, or an address
 * longer than `size`. */
static int read_listen(const char *text, char *ret_address, size_t size, uint16_t *ret_port, struct err *err)
{
    struct str s = str_of(text);
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon || !str_uint(str_of(colon + 1), &port) || port > 65535)
        return err_set(err, ERR_USAGE, "--listen: expected ADDRESS:PORT, got \"%.60s\"", text);
    s.n = (size_t)(colon - text);
    if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
        s = str_sub(s, 1, s.n - 2);
    if (!s.n || s.n >= size)
        return err_set(err, ERR_USAGE, "--listen: expected ADDRESS:PORT, got \"%.60s\"", text);
    memcpy(ret_address, s.p, s.n);
    ret_address[s.n] = 0;
    *ret_port = (uint16_t)port;
    return 0;
}

/* Stops the load where its leader has been silent for LEADER_GONE_S. */
static void look_after_leader(struct agent *a, double silent_s)
{
    if (!atomic_load(&a->led) || silent_s < LEADER_GONE_S)
        return;
    atomic_store(&a->led, false);
    fprintf(stderr, "llmload: agent: no request from the leader for %d s: its load is ended\n", LEADER_GONE_S);
    pthread_mutex_lock(&a->lock);
    if (a->part)
        part_stop(a->part);
    pthread_mutex_unlock(&a->lock);
}

/* Until a signal comes, with `once` the result has been fetched, or requests no longer come.
 * Returns the signal, or 0. */
static int wait_for_end(struct agent *a, int signals, bool once, double idle_s)
{
    for (;;) {
        struct pollfd p[2] = {{.fd = signals, .events = POLLIN}, {.fd = a->wake[0], .events = POLLIN}};
        struct signalfd_siginfo got;
        char drop[16];
        if (poll(p, 2, 1000) < 0)
            continue;
        if (p[0].revents && read(signals, &got, sizeof got) == sizeof got)
            return (int)got.ssi_signo;
        if (p[1].revents && read(a->wake[0], drop, sizeof drop) > 0 && once)
            return 0;
        double silent_s = (double)(clock_mono_ns() - atomic_load(&a->asked_ns)) / 1e9;
        look_after_leader(a, silent_s);
        if (idle_s > 0 && silent_s > idle_s) {
            fprintf(stderr, "llmload: agent: no request for %g s: it ends\n", idle_s);
            return 0;
        }
    }
}

/* Serves requests until a signal, --once or --idle ends the agent. Returns the exit status, or -1
 * with *err. */
static int agent_serve(const struct opt_set *set, char *const *usual, const char *token, const char *source, struct err *err)
{
    struct agent a = {.lock = PTHREAD_MUTEX_INITIALIZER,
                      .wake = {-1, -1},
                      .asked_ns = clock_mono_ns(),
                      .service = opt_text(set, OPTION_SERVICE),
                      .usual = (const char *const *)usual};
    char address[256];
    struct api_config config = {.address = address, .token = token, .handler = agent_handle, .sent = agent_note_sent, .context = &a};
    struct api *api = NULL;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT), sigaddset(&ends, SIGTERM), sigaddset(&ends, SIGHUP), sigaddset(&ends, SIGUSR1);
    if (read_listen(opt_text(set, OPTION_LISTEN), address, sizeof address, &config.port, err) < 0)
        return -1;
    sigprocmask(SIG_BLOCK, &ends, NULL); /* before the threads of the server */
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &ends, SFD_CLOEXEC), got = 0, rc = 0;
    if (signals < 0 || pipe2(a.wake, O_CLOEXEC | O_NONBLOCK) < 0)
        rc = err_sys(err, "preparing the agent");
    if (rc == 0)
        rc = api_start(&api, &config, err);
    if (rc == 0 && opt_text(set, OPTION_PORT_FILE)) {
        char text[16];
        int n = snprintf(text, sizeof text, "%u\n", api_port(api));
        rc = fs_write(AT_FDCWD, opt_text(set, OPTION_PORT_FILE), (struct str){text, (size_t)n}, 0644, false, err);
    }
    if (rc == 0) {
        fprintf(stderr, "llmload: agent: listening at %s port %u, token: %s\n", address, api_port(api), source);
        got = wait_for_end(&a, signals, opt_on(set, OPTION_ONCE), opt_text(set, OPTION_IDLE) ? opt_seconds(set, OPTION_IDLE) : 0);
    }
    api_stop(api);
    part_free(a.part);
    fs_close(&signals);
    fs_close(&a.wake[0]);
    fs_close(&a.wake[1]);
    return rc < 0 ? -1 : got ? 128 + got : 0;
}

static int agent_run(const struct opt_set *set, char **operands, struct err *err)
{
    struct buf token CLEANUP_BUF, source CLEANUP_BUF;
    buf_init(&token, TOKEN_MAX);
    buf_init(&source, PATH_MAX);
    secret_guard_process();
    if (token_find(opt_text(set, OPTION_TOKEN_FILE), &token, &source, err) < 0)
        return -1;
    int rc = agent_serve(set, operands, token.p, source.p ? source.p : "", err);
    explicit_bzero(token.p, token.n);
    return rc;
}

int verb_agent(int argc, char **argv, struct err *err)
{
    static const struct verb verb = {
        .usage = "agent [--listen ADDRESS:PORT] [--token-file FILE] [--once] [-- --url URL [OPTIONS]]",
        .about = "Makes loads on this node for a coordinator (llmload --agents), or for any client over HTTP:\n"
                 "GET /health /status /metrics /metrics/prometheus, POST /start /stop.\n"
                 "Options behind -- are those of the load that POST /start begins without a load of its own.",
        .rows = agent_rows,
        .count = sizeof agent_rows / sizeof *agent_rows,
        .operands = -1,
        .run = agent_run,
    };
    return verb_run(&verb, argc, argv, err);
}
