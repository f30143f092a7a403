/* coordinate.c: see coordinate.h. Each agent has a kept connection of its own; clocks are compared
 * as NTP does it: the exchange with the shortest round trip counts, and the error is at most half
 * of it. */
#include "benchmarks/native/llmload/agent/coordinate.h"

#include "base/clock.h"
#include "base/listing.h"
#include "base/secret.h"
#include "benchmarks/native/llmload/agent/hosts.h"
#include "benchmarks/native/llmload/agent/share.h"
#include "benchmarks/native/llmload/agent/token.h"
#include "benchmarks/native/llmload/options.h"
#include "benchmarks/native/llmload/verbs.h"

#include <inttypes.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    PROBES = 24,
    LOST_AFTER_S = 15,
    GONE_AFTER_S = 3 /* where connections are refused */,
    LEAD_MS = 1000,
    IDLE_MORE_S = 60,
    POLL_NS = 50000000
};

struct remote {
    const char *address, *token;
    struct http *http;
    char at[80]; /* the address that has proved to be an agent with the same token; "": none has yet */
    int64_t offset_ns, round_trip_ns; /* its CLOCK_MONOTONIC minus the leader's */
    struct live_counts live;
    int64_t heard_ns; /* when it answered last */
    bool done, lost, counted, unsent;
    uint64_t completed;
    char host[100], why[200];
};

struct coordination {
    const struct opt_set *set;
    struct remote *remote;
    size_t count;
    struct buf token;
    double wait_s;
    int64_t start_ns;
};

/* ---- requests ---- */

/* Writes the header that signs a request, with a new nonce; the token itself is never sent. Returns
 * 0, or -1 with *err. */
static int sign_request(const struct remote *r, const char *method, const char *path, struct str body, char *nonce, char *ret, size_t size,
                        struct err *err)
{
    char signature[SHA256_HEX];
    if (secret_generate(nonce, err))
        return -1;
    token_sign_request(r->token, &(struct token_request){nonce, r->at, method, path, body}, signature);
    snprintf(ret, size, "Authorization: " TOKEN_SCHEME "%s %s", nonce, signature);
    return 0;
}

/* Checks that the process that answered knows the token, at this very address: another user may
 * listen in the place of an agent, and pass requests on to a real one. Returns 0 with r->at set, or
 * -1 with *err. */
static int check_identity(struct remote *r, const char *nonce, const struct http_reply *reply, struct err *err)
{
    struct json *j = NULL;
    char expected[SHA256_HEX];
    if (reply->status == 401)
        return err_set(err, ERR_REMOTE, "agent %.200s: 401: it expects another token", r->address);
    if (reply->status != 200 || json_parse(&j, buf_text(&reply->body), NULL, NULL))
        return err_set(err, ERR_REMOTE, "agent %.200s is no llmload " BW_VERSION, r->address);
    const char *at = json_string(json_get(j, "at"), "");
    token_sign_agent(r->token, nonce, at, expected);
    bool proved = secret_equal(str_of(json_string(json_get(j, "signature"), "")), str_of(expected)), same = strcmp(at, reply->peer) == 0;
    if (proved && same)
        snprintf(r->at, sizeof r->at, "%s", at);
    else if (proved)
        err_set(err, ERR_REMOTE, "agent %.200s is no agent itself: it passes requests on to %.80s\nhint: name that address", r->address,
                at);
    else
        err_set(err, ERR_REMOTE, "agent %.200s is no agent that knows the token: another process listens there", r->address);
    json_free(j);
    return proved && same ? 0 : -1;
}

/* Lets the agent prove that it knows the token. Returns 0, or another value with *err. */
static int remote_greet(struct remote *r, struct err *err)
{
    char url[400], header[200], nonce[SECRET_DIGITS + 1];
    const char *const headers[] = {header, NULL};
    struct http_reply reply;
    struct http_request q = {.method = "GET", .url = url, .headers = headers, .reply_max = 1 << 16};
    snprintf(url, sizeof url, "http://%.300s" TOKEN_HELLO, r->address);
    if (sign_request(r, "GET", TOKEN_HELLO, (struct str){0}, nonce, header, sizeof header, err))
        return -1;
    int rc = http_do(r->http, &q, &reply, err);
    r->unsent = rc < 0 && reply.trouble == HTTP_UNSENT;
    if (rc == 0)
        rc = check_identity(r, nonce, &reply, err);
    http_reply_deinit(&reply);
    return rc;
}

/* Sends a signed request to an agent. Returns 0 with the reply in *ret, which the caller frees, or
 * another value with *err and *ret NULL. */
static int remote_request(struct remote *r, const char *method, const char *path, struct str body, struct json **ret, struct err *err)
{
    char url[400], header[200], nonce[SECRET_DIGITS + 1];
    const char *const headers[] = {header, NULL};
    struct http_reply reply;
    struct http_request q = {
        .method = method, .url = url, .type = "application/json", .body = body, .headers = headers, .reply_max = 512 << 20};
    snprintf(url, sizeof url, "http://%.300s%s", r->address, path);
    *ret = NULL;
    if ((!r->at[0] && remote_greet(r, err)) || sign_request(r, method, path, body, nonce, header, sizeof header, err))
        return -1;
    int rc = http_do(r->http, &q, &reply, err);
    r->unsent = rc < 0 && reply.trouble == HTTP_UNSENT;
    if (rc == 0)
        rc = json_parse(ret, buf_text(&reply.body), NULL, err);
    if (rc == 0 && reply.status >= 300) {
        rc = err_set(err, ERR_REMOTE, "%d: %.300s", reply.status, json_string(json_get(*ret, "error"), "no reason given"));
        json_free(*ret);
        *ret = NULL;
    }
    http_reply_deinit(&reply);
    if (rc == 0)
        r->heard_ns = clock_mono_ns();
    return rc < 0 ? err_wrap(err, "agent %.200s: %s %s", r->address, method, path) : 0;
}

static void pause_ns(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    nanosleep(&t, NULL);
}

/* Measures the offset of the agent's clock, of which the shortest round trip counts. Returns 0, or
 * another value with *err, also for another version. */
static int remote_probe(struct remote *r, struct err *err)
{
    struct json *j;
    int64_t before = clock_mono_ns();
    if (remote_request(r, "GET", "/health", (struct str){0}, &j, err) < 0)
        return -1;
    int64_t after = clock_mono_ns(), theirs = json_integer(json_get(j, "mono_ns"), 0);
    if (!r->round_trip_ns || after - before < r->round_trip_ns) {
        r->round_trip_ns = after - before;
        r->offset_ns = theirs - before - (after - before) / 2;
    }
    snprintf(r->host, sizeof r->host, "%.99s", json_string(json_get(j, "host"), ""));
    const char *version = json_string(json_get(j, "version"), "");
    int rc = strcmp(version, BW_VERSION) == 0
                 ? 0
                 : err_set(err, ERR_REMOTE, "agent %.200s is llmload \"%.40s\", this is " BW_VERSION, r->address, version);
    json_free(j);
    return rc;
}

/* Waits until the agent answers, which may be starting still, and compares the clocks. Returns 0,
 * or -1 with *err after until_ns, a signal, or an answer that waiting does not change. */
static int remote_find(struct remote *r, int64_t until_ns, struct err *err)
{
    while (remote_probe(r, err) < 0) {
        if (clock_mono_ns() > until_ns || engine_signal() || strstr(err->text, " 401: ") || strstr(err->text, " is llmload ") ||
            strstr(err->text, " is no "))
            return err_wrap(err, "%s",
                            strstr(err->text, " 401: ") ? "the agent has another token (LLMLOAD_TOKEN, --token-file)"
                                                        : "an agent was not found");
        pause_ns(4 * POLL_NS);
    }
    for (int i = 1; i < PROBES; i++)
        if (remote_probe(r, err) < 0)
            return -1;
    err_clear(err);
    return 0;
}

/* ---- the agents' command line: the leader's, without what is for the leader alone ---- */

/* Returns whether the option is for the leader alone. */
static bool leaders_own(const char *name)
{
    static const char *const names[] = {"agents",     "agent-port",   "agent-suffix", "agent-wait", "token-file", "json",
                                        "plots",      "quiet",        "wait-ready",   "facts",      "scrape",     "scrape-file",
                                        "server-pid", "schedule-out", "help",         "man",        "version",    "scrape-url"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Prints the options that an agent receives: those given, without the leader's own. */
static void put_args(const struct opt_set *set, size_t share, const char *model, struct json_out *j)
{
    struct buf one CLEANUP_BUF;
    buf_init(&one, 16 << 20);
    for (size_t i = 0; i < set->count; i++)
        for (const struct opt_value *v = &set->values[i]; v && v->text; v = v->next) {
            const char *name = set->rows[i].name;
            if (v->origin == OPT_DEFAULT || leaders_own(name) || (set->rows[i].kind == OPT_FLAG && !opt_on(set, name)))
                continue;
            buf_clear(&one);
            buf_printf(&one, "--%s", name);
            if (set->rows[i].kind != OPT_FLAG)
                buf_printf(&one, "=%s", v->text);
            if (strcmp(name, "records") == 0 || strcmp(name, "csv") == 0)
                buf_printf(&one, ".%zu", share); /* each its own file */
            json_str(j, NULL, buf_text(&one));
        }
    if (model && !opt_text(set, OPTION_MODEL)) {
        buf_clear(&one);
        buf_printf(&one, "--model=%s", model);
        json_str(j, NULL, buf_text(&one));
    }
}

/* Sends an agent its part of the load, which it holds until its release. Returns 0, or another
 * value with *err. */
static int remote_prepare(struct coordination *c, size_t share, const char *model, struct err *err)
{
    struct json *j;
    struct buf body CLEANUP_BUF;
    buf_init(&body, 32 << 20);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    json_uint(&out, "share", share);
    json_uint(&out, "shares", c->count);
    json_flag(&out, "hold", true);
    json_open(&out, "args", '[');
    put_args(c->set, share, model, &out);
    json_close(&out, ']');
    json_close(&out, '}');
    if (body.failed)
        return err_set(err, ERR_SYSTEM, "the command line is too long");
    int rc = remote_request(&c->remote[share], "POST", "/start", buf_text(&body), &j, err);
    json_free(j);
    return rc;
}

/* Polls an agent until its load is ready. Returns 0, or another value with *err where it failed or
 * is not ready at until_ns. */
static int wait_prepared(struct coordination *c, struct remote *r, int64_t until_ns, struct err *err)
{
    for (;;) {
        struct json *j;
        if (remote_request(r, "GET", "/status", (struct str){0}, &j, err) < 0)
            return -1;
        const char *state = json_string(json_get(j, "state"), "");
        bool ready = strcmp(state, "ready") == 0, failed = strcmp(state, "failed") == 0;
        if (failed)
            err_set(err, ERR_REMOTE, "agent %.200s: %.600s", r->address, json_string(json_get(j, "error"), "failed"));
        json_free(j);
        if (ready || failed)
            return ready ? 0 : -1;
        if (clock_mono_ns() > until_ns)
            return err_set(err, ERR_REMOTE, "agent %.200s was not prepared within %g s (--agent-wait)", r->address, c->wait_s);
        pause_ns(POLL_NS);
    }
}

/* ---- the story ---- */

/* Reads the agents' addresses into the arena, and makes their connections. Returns 0, or another
 * value with *err. */
static int find_hosts(struct coordination *c, const struct opt_set *set, struct arena *arena, struct err *err)
{
    struct hosts *hosts = arena_get(arena, sizeof *hosts);
    int64_t port = opt_integer(set, OPTION_AGENT_PORT);
    if (!hosts)
        return err_memory(err, "the agents");
    if (port < 1 || port > 60000)
        return err_set(err, ERR_USAGE, "--agent-port: expected a number from 1 to 60000, got \"%.20s\"", opt_text(set, OPTION_AGENT_PORT));
    int rc = strcmp(opt_text(set, OPTION_AGENTS), "srun") == 0
                 ? hosts_srun(hosts, opt_text(set, OPTION_AGENT_SUFFIX), (unsigned)port, getenv, arena, err)
                 : hosts_read(hosts, opt_text(set, OPTION_AGENTS), arena, err);
    if (rc < 0)
        return -1;
    c->remote = calloc(hosts->count, sizeof *c->remote);
    if (!c->remote)
        return err_memory(err, "the agents");
    c->count = hosts->count;
    struct http_config config = {
        .agent = "llmload/" BW_VERSION, .no_redirects = true, .proxy = "", .connect_s = 5, .total_s = 60, .cancel_fd = -1};
    for (size_t i = 0; i < c->count; i++) {
        c->remote[i].address = hosts->address[i];
        c->remote[i].token = c->token.p;
        if (http_new(&c->remote[i].http, &config, err) < 0)
            return -1;
    }
    return 0;
}

int coordinate_begin(struct coordination **ret, const struct opt_set *set, const struct load *load, struct arena *arena, struct err *err)
{
    struct coordination *c = calloc(1, sizeof *c);
    if (!c)
        return err_memory(err, "the agents");
    c->set = set;
    c->wait_s = opt_seconds(set, OPTION_AGENT_WAIT);
    buf_init(&c->token, TOKEN_MAX);
    secret_guard_process();
    int rc = token_find(opt_text(set, OPTION_TOKEN_FILE), &c->token, NULL, err);
    if (rc == 0)
        rc = find_hosts(c, set, arena, err);
    if (rc == 0)
        rc = load_check_end(load, (unsigned)c->count, err);
    int64_t until = clock_mono_ns() + (int64_t)(c->wait_s * 1e9);
    for (size_t i = 0; rc == 0 && i < c->count; i++)
        rc = remote_find(&c->remote[i], until, err);
    if (rc < 0) {
        coordinate_free(c);
        return -1;
    }
    *ret = c;
    return 0;
}

/* Stops the load of each agent that is neither done nor lost. Failures are ignored. */
static void stop_all(struct coordination *c)
{
    struct json *j;
    for (size_t i = 0; i < c->count; i++)
        if (!c->remote[i].done && !c->remote[i].lost) {
            remote_request(&c->remote[i], "POST", "/stop", (struct str){0}, &j, NULL);
            json_free(j);
        }
}

/* Waits until all agents are ready, and sends each the common start time in its clock. Returns 0,
 * or another value with *err, also where the time passed before all confirmed. */
static int coordinate_release(struct coordination *c, struct err *err)
{
    int64_t slowest = 0, until = clock_mono_ns() + (int64_t)(c->wait_s * 1e9);
    for (size_t i = 0; i < c->count; i++) {
        if (wait_prepared(c, &c->remote[i], until, err) < 0)
            return -1;
        slowest = c->remote[i].round_trip_ns > slowest ? c->remote[i].round_trip_ns : slowest;
    }
    c->start_ns = clock_mono_ns() + LEAD_MS * 1000000LL + (int64_t)c->count * 4 * slowest;
    for (size_t i = 0; i < c->count; i++) {
        struct json *j;
        struct buf body CLEANUP_BUF;
        buf_init(&body, 100);
        struct json_out out = json_begin(&body, JSON_TIGHT, '{');
        json_int(&out, "at_ns", c->start_ns + c->remote[i].offset_ns);
        json_close(&out, '}');
        if (remote_request(&c->remote[i], "POST", "/start", buf_text(&body), &j, err) < 0)
            return -1;
        json_free(j);
        c->remote[i].heard_ns = clock_mono_ns();
    }
    return clock_mono_ns() < c->start_ns
               ? 0
               : err_set(err, ERR_REMOTE, "cannot start the agents together: an agent confirmed the start time too late");
}

/* Reads the agent's state. Marks the agent as lost where it failed, or did not answer for too
 * long. */
static void remote_update(struct remote *r)
{
    struct json *j;
    struct err err = {0};
    if (remote_request(r, "GET", "/status", (struct str){0}, &j, &err) < 0) {
        if (clock_mono_ns() - r->heard_ns > (r->unsent ? GONE_AFTER_S : LOST_AFTER_S) * 1000000000LL) {
            r->lost = true;
            snprintf(r->why, sizeof r->why, "%.190s", err.text);
        }
        return;
    }
    const char *state = json_string(json_get(j, "state"), "");
    share_read_live(json_get(j, "live"), &r->live);
    r->done = strcmp(state, "done") == 0;
    if (strcmp(state, "failed") == 0) {
        r->lost = true;
        snprintf(r->why, sizeof r->why, "%.190s", json_string(json_get(j, "error"), "it failed"));
    }
    json_free(j);
}

/* Adds an agent's counts to the sum. Means are summed and counted in *ttfts and *itls, for the
 * caller to divide; the phase is this agent's. */
static void add_live(struct live_counts *sum, const struct live_counts *l, unsigned *ttfts, unsigned *itls)
{
    sum->elapsed_s = fmax(sum->elapsed_s, l->elapsed_s);
    sum->sent += l->sent, sum->completed += l->completed, sum->failed += l->failed, sum->in_flight += l->in_flight;
    sum->tokens += l->tokens, sum->chunks += l->chunks, sum->dropped += l->dropped;
    sum->phase = l->phase;
    if (isfinite(l->ttft_s))
        sum->ttft_s += l->ttft_s, ++*ttfts;
    if (isfinite(l->itl_s))
        sum->itl_s += l->itl_s, ++*itls;
}

/* Updates all agents and sums their counts. Returns true once each is done or lost; *why then may
 * have the reason. */
static bool remotes_update(struct coordination *c, struct live_counts *sum, const char **why)
{
    unsigned ttfts = 0, itls = 0;
    bool all = true;
    *sum = (struct live_counts){0};
    for (size_t i = 0; i < c->count; i++) {
        struct remote *r = &c->remote[i];
        if (!r->done && !r->lost)
            remote_update(r);
        if (r->lost)
            *why = "an agent was lost";
        all &= r->done || r->lost;
        add_live(sum, &r->live, &ttfts, &itls);
    }
    sum->ttft_s = ttfts ? sum->ttft_s / ttfts : NAN;
    sum->itl_s = itls ? sum->itl_s / itls : NAN;
    return all;
}

/* Updates the agents until all are done. A signal, a dead server or a lost agent stops the others. */
static void coordinate_watch(struct coordination *c, struct outcome *o, const struct engine_hooks *hooks)
{
    struct live_counts sum;
    const char *why = NULL;
    bool told = false;
    for (int64_t next = clock_mono_ns(); !remotes_update(c, &sum, &why);) {
        int signal = engine_signal();
        if (hooks->tick)
            hooks->tick(hooks->context, &sum);
        if (!why && hooks->stop && hooks->stop(hooks->context))
            why = "the server is gone";
        if (!why && signal)
            why = "a signal";
        if (why && !told) {
            told = true;
            o->signal = signal > 0 ? signal : 0;
            o->why_early = why;
            stop_all(c);
        }
        next += 1000000000;
        while (clock_mono_ns() < next && (told || !engine_signal())) {
            pause_ns(POLL_NS);
            if (told)
                break;
        }
        if (clock_mono_ns() < next)
            next = clock_mono_ns();
    }
    if (why && !o->why_early)
        o->why_early = why;
}

/* Adds the results of all agents to *o. Agents without one are named in o->trouble. Returns 0, or
 * another value with *err where none has a result. */
static int coordinate_collect(struct coordination *c, struct outcome *o, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        struct remote *r = &c->remote[i];
        struct json *j;
        if (r->lost || remote_request(r, "GET", "/metrics", (struct str){0}, &j, err) < 0) {
            if (!r->lost)
                snprintf(r->why, sizeof r->why, "%.190s", err->text);
            r->lost = true;
            o->why_early = o->why_early ? o->why_early : "an agent was lost";
            continue;
        }
        uint64_t before = metrics_completed(&o->m);
        if (share_add_outcome(o, j, r->offset_ns, !any, err) < 0) {
            json_free(j);
            return -1;
        }
        r->completed = metrics_completed(&o->m) - before;
        r->counted = any = true;
        json_free(j);
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->remote[i].lost && !o->trouble[0])
            snprintf(o->trouble, sizeof o->trouble, "%.290s", c->remote[i].why);
    return any ? 0 : err_set(err, ERR_REMOTE, "no agent has a result; the first: %.400s", c->remote[0].why);
}

int coordinate_prepare(struct coordination *c, const char *model, struct err *err)
{
    for (size_t i = 0; i < c->count; i++)
        if (remote_prepare(c, i, model, err) < 0)
            return -1;
    return 0;
}

int coordinate_run(struct coordination *c, struct outcome *ret, const struct engine_hooks *hooks, struct err *err)
{
    *ret = (struct outcome){.steal_percent = -1};
    if (coordinate_release(c, err) < 0) {
        stop_all(c);
        return -1;
    }
    if (metrics_init(&ret->m, err) < 0)
        return -1;
    coordinate_watch(c, ret, hooks);
    return coordinate_collect(c, ret, err);
}

void coordinate_json(const struct coordination *c, struct json_out *j)
{
    json_open(j, "agents", '[');
    for (size_t i = 0; i < c->count; i++) {
        const struct remote *r = &c->remote[i];
        json_open(j, NULL, '{');
        json_text(j, "address", r->address);
        json_text(j, "host", r->host);
        json_int(j, "clock_offset_ns", r->offset_ns);
        json_int(j, "round_trip_ns", r->round_trip_ns);
        json_uint(j, "completed", r->completed);
        json_flag(j, "counted", r->counted);
        if (r->why[0])
            json_text(j, "error", r->why);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void coordinate_table(const struct coordination *c, const struct screen *screen, struct buf *to)
{
    static const struct listing_column columns[] = {
        {.key = "agent", .heading = "agent", .whole = true},
        {.key = "completed", .heading = "completed", .right = true},
        {.key = "clock", .heading = "clock error, ms", .right = true, .drop = 1},
        {.key = "why", .heading = "", .no_empty = true},
    };
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    for (size_t i = 0; i < c->count; i++) {
        const struct remote *r = &c->remote[i];
        struct buf text CLEANUP_BUF;
        buf_init(&text, 400);
        listing_text(&l, r->address);
        buf_printf(&text, "%llu", (unsigned long long)r->completed);
        listing_str(&l, buf_text(&text));
        buf_clear(&text);
        buf_printf(&text, "%.3f", (double)r->round_trip_ns / 2e6);
        listing_str(&l, buf_text(&text));
        buf_clear(&text);
        if (r->why[0])
            buf_puts(&text, "LOST: "), buf_plain(&text, str_of(r->why), 180);
        listing_str(&l, buf_text(&text));
    }
    buf_putc(to, '\n');
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    listing_deinit(&l);
    arena_deinit(&arena);
}

/* Reports to the agent that no result will be fetched, so that --once ends. A failure is ignored. */
static void remote_dismiss(struct remote *r)
{
    struct json *j;
    remote_request(r, "POST", "/stop", STR("{\"end\":true}"), &j, NULL);
    json_free(j);
}

void coordinate_free(struct coordination *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->remote && i < c->count; i++) {
        if (c->remote[i].http && !c->remote[i].counted && !c->remote[i].lost)
            remote_dismiss(&c->remote[i]);
        http_free(c->remote[i].http);
    }
    free(c->remote);
    if (c->token.p)
        explicit_bzero(c->token.p, c->token.n);
    buf_deinit(&c->token);
    free(c);
}

/* ---- under srun: each task is an agent; the first one leads, and has an agent of its own in a
 * child process ---- */

static int serve_as_agent(const struct opt_set *set, unsigned port, struct err *err)
{
    char listen[40];
    const char *file = opt_text(set, OPTION_TOKEN_FILE);
    char *argv[] = {
        (char *)"agent", (char *)"--listen", listen, (char *)"--once", file ? (char *)"--token-file" : NULL, (char *)file, NULL};
    snprintf(listen, sizeof listen, "0.0.0.0:%u", port);
    return verb_agent(file ? 6 : 4, argv, err);
}

int coordinate_srun(const struct opt_set *set, int *ret_status, struct err *err)
{
    const char *rank = getenv("SLURM_PROCID"), *local = getenv("SLURM_LOCALID");
    uint64_t rank_n, local_n;
    if (!opt_text(set, OPTION_AGENTS) || strcmp(opt_text(set, OPTION_AGENTS), "srun") != 0)
        return 0;
    if (!rank || !local || !str_uint(str_of(rank), &rank_n) || !str_uint(str_of(local), &local_n) || local_n > 5000)
        return err_set(err, ERR_USAGE, "--agents srun: this is not within srun (no SLURM_PROCID); name them: --agents HOST:PORT,HOST:PORT");
    unsigned port = (unsigned)opt_integer(set, OPTION_AGENT_PORT) + (unsigned)local_n;
    if (rank_n > 0) {
        *ret_status = serve_as_agent(set, port, err);
        return *ret_status < 0 ? -1 : 1;
    }
    pid_t leader = getpid(), own = fork();
    if (own < 0)
        return err_sys(err, "--agents srun: starting this task's agent");
    if (own == 0) {
        struct err why = {0};
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* without a leader there is nothing to serve */
        int status = getppid() == leader ? serve_as_agent(set, port, &why) : 0;
        if (status < 0)
            fprintf(stderr, "llmload: agent: %s\n", why.text);
        _exit(status < 0 ? 1 : status);
    }
    return 0;
}
