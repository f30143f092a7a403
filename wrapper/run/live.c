/* live.c: metrics of a run in progress; see live.h. */
#include "run/live.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/http_serve.h"
#include "exporters/exporter_http.h"
#include "exporters/metric_text.h"
#include "exporters/pushgateway.h"
#include "launch/fd.h"
#include "run/exports.h"
#include "run/send.h"
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    KEYS_MAX = 16384, /* further ones are left out */
    SLOTS = 4 * KEYS_MAX, /* a power of two */
    FACTS_AT_ONCE = 10000,
    JOURNAL_TRIES_MS = 200,
    PARTING_S = 5, /* time limit for the end of a group */
    TEXT_BYTES = 64 << 20
};

/* ---- the run as its journal has it so far ---- */

struct live_fact {
    struct tree_entry entry;
    struct tree_sample last;
    enum fact_kind kind;
    size_t room; /* of its text */
};
struct live {
    const char *spool_root, *spool_name;
    struct spool spool;
    struct journal_tail *tail;
    struct arena arena;
    struct tree_run run;
    struct live_fact **slots;
    size_t count;
};

static size_t live_slot(const struct live *x, enum fact_kind kind, struct str key)
{
    uint32_t hash = 2166136261u ^ (uint32_t)kind;
    for (size_t i = 0; i < key.n; i++)
        hash = (hash ^ (unsigned char)key.p[i]) * 16777619u;
    size_t at = hash % SLOTS;
    while (x->slots[at] && !(x->slots[at]->kind == kind && str_is(key, x->slots[at]->entry.key)))
        at = (at + 1) % SLOTS;
    return at;
}

/* Returns the fact of this kind and key, added to the run where it is new, in the arena. NULL:
 * KEYS_MAX are there, or out of memory. */
static struct live_fact *live_find(struct live *x, const struct fact *f)
{
    size_t at = live_slot(x, f->kind, f->key);
    if (x->slots[at] || x->count == KEYS_MAX)
        return x->slots[at];
    struct live_fact *e = ARENA_NEW(&x->arena, struct live_fact);
    const char *key = arena_dup(&x->arena, f->key.p, f->key.n);
    struct tree_entry **list = f->kind == FACT_METRIC ? &x->run.metrics : f->kind == FACT_TAG ? &x->run.tags : &x->run.params;
    if (!e || !key)
        return NULL;
    *e = (struct live_fact){.kind = f->kind, .entry = {.key = key, .next = *list}};
    *list = &e->entry;
    x->slots[at] = e;
    x->count++;
    return e;
}

/* Called for each new fact of the journal: keeps the last value of each metric, tag and param in
 * x->run. */
static void live_note_fact(void *context, const struct fact *f)
{
    struct live *x = context;
    if (f->kind != FACT_METRIC && f->kind != FACT_TAG && f->kind != FACT_PARAM)
        return;
    struct live_fact *e = live_find(x, f);
    if (!e)
        return;
    if (f->kind == FACT_METRIC) {
        e->last = (struct tree_sample){f->time_ms, f->step, f->value};
        e->entry.samples = &e->last;
        e->entry.count = 1;
        return;
    }
    if (f->text.n > e->room || !e->entry.value.p) {
        char *room = arena_get(&x->arena, f->text.n + 1);
        if (!room)
            return;
        e->entry.value.p = room;
        e->room = f->text.n;
    }
    memcpy((char *)e->entry.value.p, f->text.p, f->text.n); /* it is the arena's */
    e->entry.value.n = f->text.n;
}

/* Reads the new facts of the recorder's journal and passes each to live_note_fact. Opens the
 * journal first where it is not open. A spool or a journal that does not exist yet is tried again
 * by the next call. */
static void live_follow(struct live *x)
{
    struct journal_head head;
    if (!x->tail) {
        if (x->spool.dir < 0 && spool_open(&x->spool, x->spool_root, x->spool_name, NULL))
            return;
        if (journal_follow(&x->tail, x->spool.dir, &head, NULL))
            return;
        x->run.experiment = head.experiment;
        x->run.name = head.run_name;
        x->run.user = head.user;
        x->run.start_ms = head.start_ms;
        x->run.status = RUN_RUNNING;
        memcpy(x->run.id, head.id, sizeof x->run.id);
    }
    while (journal_tail_read(x->tail, FACTS_AT_ONCE, live_note_fact, x) == FACTS_AT_ONCE)
        journal_tail_mark(x->tail);
    journal_tail_mark(x->tail);
}

/* Prepares *x without opening anything; the texts stay the caller's. False: out of memory. The
 * caller calls live_deinit. */
static bool live_init(struct live *x, const char *spool_root, const char *spool_name)
{
    *x = (struct live){.spool_root = spool_root, .spool_name = spool_name, .spool = SPOOL_NONE};
    arena_init(&x->arena, TEXT_BYTES);
    x->slots = calloc(SLOTS, sizeof *x->slots);
    return x->slots;
}

/* Appends the metrics so far. config: of the Pushgateway; NULL: all metrics. */
static int live_text(struct live *x, const struct exporter_config *config, enum metric_text_form form, const char *const *leave_out,
                     struct buf *to)
{
    struct arena a;
    struct metric_set set;
    live_follow(x);
    if (!x->tail)
        return -1;
    arena_init(&a, TEXT_BYTES);
    const struct exporter_run view = {.run = &x->run, .arena = &a};
    int rc = metric_series_make(&set, config, &view, METRIC_LIVE, NULL);
    if (rc == 0)
        metric_text_put(&set, form, leave_out, to);
    arena_deinit(&a);
    return rc;
}

/* ---- the endpoint ---- */

/* Called for each request: appends the metrics to the body, as OpenMetrics where that is accepted.
 * Returns the HTTP status. */
static int live_serve_text(void *context, const struct http_question *q, const char **ret_type, struct buf *body)
{
    bool open = str_has(q->accept, "application/openmetrics-text");
    if (!str_is(q->path, "/metrics")) {
        buf_puts(body, "benchwrap: metrics of this run are at /metrics\n");
        return str_is(q->path, "/") ? 200 : 404;
    }
    *ret_type = open ? METRIC_TEXT_OPENMETRICS_TYPE : METRIC_TEXT_TYPE;
    return live_text(context, NULL, open ? METRIC_TEXT_OPENMETRICS : METRIC_TEXT_PLAIN, NULL, body) ? 500 : 200;
}

static void live_serve(struct live *x, int listener, int line)
{
    struct http_server *s = http_serve_new(listener, live_serve_text, x);
    while (s && !http_serve_wait(s, line, clock_mono_ns() + INT64_C(1000000000)))
        live_follow(x); /* so that a scrape finds little to read */
    http_serve_free(s);
}

/* ---- a group of a Pushgateway ---- */

/* Waits at most wait_ms for the end of the pipe, which shows that the other process has ended.
 * Returns whether it has. */
static bool is_line_closed(int line, int64_t wait_ms)
{
    struct pollfd p = {.fd = line, .events = POLLIN};
    return poll(&p, 1, (int)wait_ms) != 0;
}

/* Sends one request for the run's group to the Pushgateway, with all metrics unless the method is
 * DELETE. Failures are ignored. */
static void live_push_group(struct live *x, const struct exporter_config *c, struct exporter_link *l, const char *method)
{
    static const char *const leave_out[] = {"run", "job", NULL};
    struct exporter_http *h = l->state;
    struct buf url CLEANUP_BUF, body CLEANUP_BUF;
    buf_init(&url, 8192);
    buf_init(&body, TEXT_BYTES);
    buf_puts(&body, "");
    if (strcmp(method, "PUT") == 0 && live_text(x, c, METRIC_TEXT_PLAIN, leave_out, &body))
        return;
    const struct metric_label run = {"run", x->run.id};
    pushgateway_url(exporter_http_url(h), opt_text(&c->opts, PUSHGATEWAY_KEY_JOB), &run, 1, &url);
    const struct exporter_http_request q = {
        .method = method, .url = url.p, .type = METRIC_TEXT_TYPE, .body = body.n ? buf_text(&body) : STR("")};
    exporter_http_call(l, h, &q, NULL); /* the next one may be accepted */
}

/* Pushes until the run ends, then removes the group. */
static void live_push(struct live *x, const struct exporter_config *c, int line)
{
    double every_s = opt_seconds(&c->opts, PUSHGATEWAY_KEY_LIVE);
    int64_t every_ms = every_s < 86400 ? (int64_t)(every_s * 1e3) : 86400000;
    struct exporter_http *h = NULL;
    struct exporter_link l = {.config = c, .env = environ, .arena = &x->arena, .until_ns = INT64_MAX, .cancel_fd = line};
    struct err err = {0};
    while (!is_line_closed(line, every_ms)) {
        if (!h && exporter_http_open(&l, &h, &err) != EXPORTER_SENT) {
            exporter_http_close(h);
            h = NULL;
            continue;
        }
        l.state = h;
        live_push_group(x, c, &l, "PUT");
    }
    exporter_http_close(h);
    h = NULL;
    l.cancel_fd = -1;
    l.until_ns = clock_mono_ns() + PARTING_S * INT64_C(1000000000);
    alarm(PARTING_S + 1);
    if (x->tail && exporter_http_open(&l, &h, &err) == EXPORTER_SENT) {
        l.state = h;
        live_push_group(x, c, &l, "DELETE");
    }
    exporter_http_close(h);
}

/* ---- the processes ---- */

/* Runs in the child: follows the journal and pushes to c, or without c serves on `listener`, until
 * the recorder closes `line`. */
_Noreturn static void become_live(struct run *run, const char *root, const char *name, int line, int listener,
                                  const struct exporter_config *c)
{
    static struct live x;
    run_exports_leave(run);
    if (listener == 3 && (listener = dup(listener)) < 0) /* at the limit of open files; `line` replaces number 3 */
        _exit(1);
    if (dup2(line, 3) < 0 || (listener >= 0 && dup2(listener, 4) < 0))
        _exit(1);
    run_exports_settle("benchwrap-live", listener >= 0 ? 5 : 4);
    send_stand_back(run->host.pid);
    if (!live_init(&x, root, name))
        _exit(1);
    while (live_follow(&x), !x.tail)
        if (is_line_closed(3, JOURNAL_TRIES_MS))
            _exit(0);
    if (c)
        live_push(&x, c, 3);
    else
        live_serve(&x, 4, 3);
    _exit(0);
}

/* Starts a process that serves or pushes, and keeps its line, whose end stops it. False: it
 * cannot be started. `listener` stays the caller's. */
static bool live_start(struct run *run, int listener, const struct exporter_config *c)
{
    struct run_live *l = &run->live;
    struct buf root CLEANUP_BUF;
    char *slash, name[sizeof run->spool.name];
    int ends[2];
    buf_init(&root, 8192);
    snprintf(name, sizeof name, "%s", run->spool.name);
    if (l->count == RUN_LIVES_MAX || spool_path(&run->spool, &root) || !root.p || !(slash = strrchr(root.p, '/')) ||
        fd_socketpair(SOCK_STREAM, ends))
        return false;
    *slash = 0;
    pid_t pid = fork();
    if (pid == 0)
        become_live(run, root.p, name, ends[1], listener, c);
    close(ends[1]);
    if (pid > 0)
        l->lines[l->count++] = ends[0];
    else
        close(ends[0]);
    return pid > 0;
}

int run_live_check(const struct run *run, struct err *err)
{
    const char *text = opt_text(&run->plan.opts, OPTION_SERVE);
    struct http_place place;
    if (!text || http_serve_place(text, &place))
        return 0;
    return err_set(err, ERR_USAGE, "--serve: expected [ADDRESS:]PORT with a numeric address, such as 9100 or 0.0.0.0:9100, got \"%.80s\"",
                   text);
}

/* Starts serving at --serve, and prints the address. A failure becomes a warning. */
static void live_begin_serving(struct run *run, const char *text)
{
    struct http_place place;
    struct err err = {0};
    struct buf words CLEANUP_BUF;
    buf_init(&words, 1000);
    int listener = http_serve_place(text, &place) ? http_serve_listen(&place, &err) : -1;
    if (listener < 0) {
        err_wrap(&err, "--serve");
        run_warn(run, err.text);
        return;
    }
    listener = fd_high(listener);
    http_serve_url(listener, &words);
    buf_puts(&words, "/metrics has the metrics of this run while it is in progress");
    if (!live_start(run, listener, NULL))
        run_warn(run, "--serve: cannot start the process that serves the metrics of this run");
    else if (!opt_on(&run->plan.opts, OPTION_QUIET))
        run_report(run, WIRE_NOTE, 0, words.p);
    close(listener);
}

void run_live_begin(struct run *run)
{
    const char *serve = opt_text(&run->plan.opts, OPTION_SERVE);
    if (serve && !run->nested)
        live_begin_serving(run, serve);
    for (const struct exporter_config *c = run->plan.exporters; c; c = c->next) {
        char text[300];
        if (run->nested || !exporter_is_enabled(c) || opt_on(&run->plan.opts, OPTION_NO_EXPORT) ||
            strcmp(c->kind->type, "pushgateway") != 0 || !exporter_text(c, PUSHGATEWAY_KEY_LIVE) || live_start(run, -1, c))
            continue;
        snprintf(text, sizeof text, "exporter %s: cannot start the process that pushes metrics while the run is in progress", c->name);
        run_warn(run, text);
    }
}

void run_live_end(struct run *run)
{
    for (int i = 0; i < run->live.count; i++)
        close(run->live.lines[i]);
    run->live.count = 0;
}
