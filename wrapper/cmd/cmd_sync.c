/* cmd_sync.c: `benchwrap sync`: finishes the runs of the spool, and sends published runs to an
 * MLflow server. */
#include "base/stop_signals.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/place.h"
#include "benchmarks/rules.h"
#include "sync/complete.h"
#include "cmd/selection.h"
#include "sync/sync_exporters.h"
#include "sync/sync_runs.h"
#include "plan/plan.h"
#include "run/commit.h"
#include "run/leftovers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOLLOW_MS = 2000, FOLLOW_MAX_MS = 60000, PATIENCE_S = 30, SAID_BYTES = 1 << 20, FAILED = 2 };

static const struct opt_row rows[] = {
    {.name = OPTION_TO,
     .kind = OPT_TEXT,
     .arg = "URL",
     .group = "Server",
     .help = "Send to this tracking server (default: BENCHWRAP_TO, MLFLOW_TRACKING_URI, a configuration file)"},
    {.name = OPTION_LOCAL, .letter = 'l', .kind = OPT_FLAG, .group = "Server", .help = "Do only what needs no server"},
    {.name = OPTION_RESTORE, .kind = OPT_FLAG, .group = "Server", .help = "Bring back runs that were deleted on the server"},
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Server",
     .help = "Print what would be sent, and change nothing here or there"},
    {.name = OPTION_FOLLOW,
     .letter = 'f',
     .kind = OPT_FLAG,
     .group = "Server",
     .help = "Continue: send new runs until stopped by a signal"},
    CMD_ROW_TREE,
    CMD_ROW_EXPERIMENT("Selection", "Send runs of this experiment (name or id)"),
    {.name = OPTION_SINCE,
     .kind = OPT_TEXT,
     .arg = "TIME",
     .group = "Selection",
     .help = "Choose runs that began then or later: 2026-11-20, \"2026-11-20 17:03\", or an age: 12h, 7d"},
    {.name = OPTION_REF,
     .kind = OPT_TEXT,
     .arg = "COMMIT",
     .group = "Selection",
     .help = "Send the runs of a git commit or branch (origin/main), without a checkout"},
    CMD_ROW_JSON,
};

enum { SYNC_NOTES_MAX = 16 << 20 };

struct sync_work {
    struct cmd_context *c;
    struct plan plan;
    struct buf json; /* notes, by list */
    struct json_out list;
    struct buf exporters; /* what was delivered: a line each, or by delivered as JSON */
    struct json_out delivered;
    bool exporter_failed;
    struct buf said, said_before; /* with --follow: the notes of this pass over the tree and of the one before, a line each */
    bool as_json, dry;
    unsigned notes;
    struct progress progress;
    struct leftovers_count swept;
    struct sync_counts n;
    struct mlflow *client;
    size_t completed, incomplete; /* runs that lacked what their program's MLflow client logged: have it now, lack it still */
    bool asked; /* a server is named */
    const char *to; /* its address as given; NULL: none */
    const char *server;
    int64_t since_ms;
    int cancel_fd;
    sigset_t blocked;
};

static bool sync_has_line(const struct buf *lines, struct str line)
{
    struct str rest = buf_text(lines);
    while (rest.p && rest.n)
        if (str_eq(str_cut(&rest, '\n'), line))
            return true;
    return false;
}

/* Without how long something was tried, which is another number each time. */
static void put_lasting(struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        buf_putc(to, text.p[i]);
        while (str_ends(buf_text(to), " after ") && i + 1 < text.n && str_is_digit(text.p[i + 1]))
            i++;
    }
}

/* Prints a lasting problem once, and again when it comes back. */
static bool is_news(struct sync_work *w, struct str text)
{
    struct buf lasting CLEANUP_BUF;
    buf_init(&lasting, 64 << 10);
    put_lasting(&lasting, text);
    bool said = sync_has_line(&w->said, buf_text(&lasting)), before = sync_has_line(&w->said_before, buf_text(&lasting));
    if (!said && opt_on(&w->c->opts, OPTION_FOLLOW) && w->said.n + lasting.n + 1 < SAID_BYTES) {
        buf_str(&w->said, buf_text(&lasting));
        buf_putc(&w->said, '\n');
    }
    return !said && !before;
}

static void sync_note(void *context, const char *text)
{
    struct sync_work *w = context;
    if (!is_news(w, str_of(text)))
        return;
    if (w->as_json) {
        json_text(&w->list, NULL, text);
        return;
    }
    progress_clear(&w->progress);
    fprintf(w->c->out, "%s\n", text);
    fflush(w->c->out);
}

/* ---- the spool ---- */

static void sweep_spools(struct sync_work *w)
{
    const char *roots[] = {w->plan.spool, w->plan.spool_fallback};
    struct leftovers_count all = {0};
    for (size_t i = 0; i < 2; i++) {
        struct leftovers_count s = {0};
        if (!roots[i] || (i && roots[0] && strcmp(roots[0], roots[1]) == 0))
            continue;
        if (w->plan.spool_fallback && strcmp(roots[i], w->plan.spool_fallback) != 0)
            finish_leftovers(roots[i], NULL, 0, sync_note, w, &s);
        else
            finish_leftovers_of(w->plan.tree, roots[i], sync_note, w, &s);
        all.closed += s.closed;
        all.released += s.released;
        all.alive += s.alive;
        all.failed += s.failed;
    }
    w->swept.closed += all.closed;
    w->swept.released += all.released;
    w->swept.alive = all.alive;
    w->swept.failed = all.failed;
}

/* ---- the exporters ---- */

static void add_exporter_json(struct sync_work *w, const struct exporter_config *c, const struct exporter_outcome *o)
{
    struct json_out *j = &w->delivered;
    json_open(j, NULL, '{');
    json_text(j, "name", c->name);
    json_uint(j, "delivered", o->sent);
    json_uint(j, "pending", o->pending);
    json_uint(j, "dead_letters", o->letters);
    json_uint(j, "dropped", o->dropped);
    json_text(j, "why", o->why);
    json_close(j, '}');
}

static void add_exporter_line(struct sync_work *w, const struct exporter_config *c, const struct exporter_outcome *o)
{
    if (!o->sent && !o->pending && !o->dead && !o->dropped && !o->failed)
        return;
    buf_printf(&w->exporters, "exporter %s: %zu run%s delivered", c->name, o->sent, str_plural(o->sent));
    if (o->pending)
        buf_printf(&w->exporters, ", %zu wait%s", o->pending, o->pending == 1 ? "s" : "");
    if (o->dead)
        buf_printf(&w->exporters, ", %zu refused (benchwrap exporter dead-letter %s)", o->dead, c->name);
    if (o->dropped)
        buf_printf(&w->exporters, ", %zu dropped, more than max-pending or max-size", o->dropped);
    if (o->why[0])
        buf_printf(&w->exporters, ": %s", o->why);
    else if (o->busy)
        buf_puts(&w->exporters, ": another process delivers now");
    buf_putc(&w->exporters, '\n');
}

static void deliver_to_exporters(struct sync_work *w)
{
    for (const struct exporter_config *c = w->plan.exporters; c; c = c->next) {
        struct exporter_outcome o;
        if (!exporter_is_enabled(c))
            continue;
        sync_exporter(&w->plan, c, w->c->env, w->cancel_fd, &o);
        w->exporter_failed |= o.failed || o.pending;
        if (w->as_json)
            add_exporter_json(w, c, &o);
        else
            add_exporter_line(w, c, &o);
    }
}

/* ---- which runs ---- */

static int sync_choose_runs(struct sync_work *w, struct sync_runs *s)
{
    struct cmd_context *c = w->c;
    const char *experiment = opt_text(&c->opts, OPTION_EXPERIMENT);
    for (int i = 0; i < c->argc; i++) {
        struct tree_run *run;
        struct sync_item *item;
        if (runs_find(s->runs, c->argv[i], TREE_META, c->arena, &run, c->err))
            return -1;
        if ((item = sync_runs_item(s, run->id)))
            item->wanted = true;
    }
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct tree_run *run = s->items[i].run;
        char id[24];
        snprintf(id, sizeof id, "%" PRIu64, run->experiment_id);
        bool here = !experiment || strcmp(experiment, run->experiment) == 0 || strcmp(experiment, id) == 0;
        found += here;
        if (c->argc == 0)
            s->items[i].wanted = here && run->start_ms >= w->since_ms;
    }
    if (experiment && !found && !opt_on(&c->opts, OPTION_FOLLOW))
        return err_set(c->err, ERR_INPUT, "%s", runs_explain_none(s->runs, &(struct runs_filter){.experiment = experiment}, c->arena));
    return 0;
}

/* ---- the server ---- */

static int sync_open_server(struct sync_work *w, struct mlflow **ret)
{
    struct cmd_context *c = w->c;
    struct mlflow_config config;
    if (mlflow_config_from(&config, w->to, c->env, c->arena, c->err))
        return err_wrap(c->err, "server");
    if (config.warning)
        sync_note(w, config.warning);
    if (!getenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES")) /* a user may be waiting at a terminal: not MLflow's two minutes */
        config.patience_s = PATIENCE_S;
    config.http.cancel_fd = w->cancel_fd;
    w->server = config.uri;
    return mlflow_open(ret, &config, c->err);
}

static const char *state_folder(const struct sync_work *w)
{
    const char *spool = w->plan.spool;
    size_t n = spool ? strlen(spool) : 0;
    return n > 6 ? arena_printf(w->c->arena, "%.*s/sync", (int)(n - 6), spool) : NULL; /* …/.benchwrap/spool */
}

/* Adds one pass through a tree to the sum of several: what was done in all of them, and what the
 * last one left. */
static void add_look(struct sync_counts *to, const struct sync_counts *look)
{
    struct sync_counts before = *to;
    size_t there = look->there + look->known;
    *to = *look;
    to->there = there > before.sent ? there - before.sent : 0; /* those that were sent before are there now */
    to->known = 0;
    to->sent += before.sent;
    to->made += before.made;
    to->updated += before.updated;
    to->files += before.files;
    to->bytes += before.bytes;
}

/* Completes the chosen runs that lack what the server has of them, each by a new run that amends
 * it, and commits these. After a sign that the server is away, the rest is not tried. A failure
 * becomes a note, and counts in w->incomplete. Returns true where the tree may have new runs, of
 * this or another process. */
static bool complete_runs(struct sync_work *w, const struct sync_runs *s)
{
    struct reparse_parents parents = {0};
    struct completion_job x = {
        .arena = w->c->arena, .env = w->c->env, .runs = s->runs, .plan = &w->plan, .server = w->client, .parents = &parents};
    enum mlflow_answer answer = MLFLOW_FINE;
    size_t before = w->completed;
    w->incomplete = 0;
    for (size_t i = 0; i < s->count; i++) {
        const char *place = NULL;
        struct err err = {0};
        if (!s->items[i].wanted || !complete_is_due(&x, s->items[i].run))
            continue;
        bool away = answer == MLFLOW_LATER || answer == MLFLOW_DENIED || answer == MLFLOW_CANCELLED;
        if (away || complete_run(&x, s->items[i].run, &place, &answer, &err) < 0) {
            w->incomplete++;
            if (!away)
                sync_note(w, err.text);
            continue;
        }
        w->completed++;
        if (place)
            sync_note(w, arena_printf(w->c->arena, "run %.8s was incomplete; %s completes it", s->items[i].run->id, place));
    }
    complete_parents(&x, sync_note, w);
    if (w->completed > before)
        run_commit_made(&w->plan, "sync", w->c->notes);
    return w->completed > before;
}

/* The runs of the tree, and which of them are to be sent. */
static int sync_load_runs(struct sync_work *w, struct sync_runs *s)
{
    static const struct runs_filter everything = {.corrected = true};
    struct cmd_context *c = w->c;
    sync_runs_deinit(s);
    free(s->runs->all);
    s->runs->all = NULL;
    s->runs->count = 0;
    return runs_load(s->runs, &everything, c->arena, c->err) < 0 || sync_runs_init(s, c->err) || sync_choose_runs(w, s) ? -1 : 0;
}

/* The tree as it is now: its runs are read, chosen, sent. */
static int send_tree(struct sync_work *w, struct upload *upload)
{
    struct cmd_context *c = w->c;
    struct runs runs = {.root = -1, .place.notes = c->notes};
    struct sync_ref *ref = NULL;
    const char *name = opt_text(&c->opts, OPTION_REF);
    int rc = 0;
    if (name) {
        const struct runs_place place = {
            .tree = opt_text(&c->opts, OPTION_TREE), .ref = name, .fetch = true, .env = c->env, .notes = c->notes};
        const char *state = state_folder(w);
        rc = sync_ref_open(&ref, &place, state ? state : ".benchwrap", c->arena, &runs.tree, c->err);
    } else
        runs.tree = w->plan.tree;
    if (rc == 0 && (runs.root = ref ? sync_ref_root(ref) : place_open_folder(runs.tree, 0)) < 0)
        rc = opt_on(&c->opts, OPTION_FOLLOW)
                 ? 1
                 : err_set(c->err, ERR_INPUT,
                           "no runs in %s yet: record one (\"benchwrap -- PROGRAM\"), or name another folder with --tree", runs.tree);
    struct sync_runs s = {.arena = c->arena,
                          .runs = &runs,
                          .upload = upload,
                          .ref = ref,
                          .progress = &w->progress,
                          .cancel_fd = w->cancel_fd,
                          .note = sync_note,
                          .context = w};
    if (rc == 0)
        rc = sync_load_runs(w, &s);
    if (rc == 0 && !ref && !w->dry && complete_runs(w, &s)) /* first: their files may replace the client's of the same name */
        rc = sync_load_runs(w, &s);
    if (rc == 0) {
        sync_runs_send(&s);
        add_look(&w->n, &s.n);
    }
    sync_runs_deinit(&s);
    runs_close(&runs);
    sync_ref_close(ref);
    return rc < 0 ? -1 : 0;
}

/* Waits between two passes; passes use a twentieth of the time at most. False: a signal requests
 * the end. */
static bool wait_more(const struct sync_work *w, int64_t looked_ns)
{
    struct pollfd p = {.fd = w->cancel_fd, .events = POLLIN};
    int64_t ms = looked_ns / 1000000 * 20;
    return poll(&p, 1, ms < FOLLOW_MS ? FOLLOW_MS : ms > FOLLOW_MAX_MS ? FOLLOW_MAX_MS : (int)ms) == 0;
}

/* One pass. What it reads of the tree is freed afterwards. */
static int send_once(struct sync_work *w, struct upload *upload)
{
    struct arena *whole = w->c->arena, round;
    arena_init(&round, 0);
    w->c->arena = &round;
    int rc = send_tree(w, upload);
    w->c->arena = whole;
    arena_deinit(&round);
    return rc;
}

/* With --follow: what is delivered is printed at once. */
static void follow_exporters(struct sync_work *w)
{
    buf_clear(&w->exporters);
    w->delivered.comma = false;
    w->exporter_failed = false;
    deliver_to_exporters(w);
    if (w->as_json)
        return;
    for (struct str rest = buf_text(&w->exporters), line; rest.n && (line = str_cut(&rest, '\n')).n;)
        sync_note(w, arena_printf(w->c->arena, STR_FMT, STR_ARG(line)));
    buf_clear(&w->exporters);
}

static int to_server(struct sync_work *w)
{
    struct mlflow *m = NULL;
    struct upload *u = NULL;
    struct cmd_context *c = w->c;
    if (sync_open_server(w, &m))
        return -1;
    w->client = m;
    struct upload_config config = {.server = m,
                                   .state = state_folder(w),
                                   .restore = opt_on(&c->opts, OPTION_RESTORE),
                                   .dry = w->dry,
                                   .together = true,
                                   .note = sync_note,
                                   .context = w};
    int rc = upload_new(&u, &config, c->err);
    bool more = opt_on(&c->opts, OPTION_FOLLOW);
    while (rc == 0) {
        int64_t begin = clock_mono_ns();
        rc = send_once(w, u);
        if (rc || !more || !wait_more(w, clock_mono_ns() - begin))
            break;
        struct buf said = w->said_before;
        w->said_before = w->said;
        w->said = said;
        buf_clear(&w->said);
        sweep_spools(w);
        follow_exporters(w);
    }
    upload_free(u);
    mlflow_close(m);
    return rc;
}

/* ---- all of sync ---- */

/* Runs of the tree: those in it are complete. 0 where there is no tree. */
static size_t count_local(struct sync_work *w)
{
    static const struct runs_filter everything = {.corrected = true};
    struct runs runs;
    struct err ignored = {0};
    if (selection_open(&runs, w->c, &ignored) < 0)
        return 0;
    size_t n = runs_load(&runs, &everything, w->c->arena, &ignored) < 0 ? 0 : runs.count;
    runs_close(&runs);
    return n;
}

/* What was done on this machine. Without anything: a sentence, unless a server's line follows. */
static void print_local(struct sync_work *w)
{
    const struct {
        unsigned count;
        const char *what;
    } parts[] = {{w->swept.closed, "closed: their recorder had ended"},
                 {w->swept.released, "synced to disk"},
                 {w->swept.alive, "still being recorded"},
                 {w->swept.failed, "failed"}};
    FILE *out = w->c->out;
    const char *lead = "";
    if (!w->asked && !opt_on(&w->c->opts, OPTION_LOCAL)) {
        size_t n = count_local(w);
        fprintf(out, "sync: no server: set MLFLOW_TRACKING_URI or use --to URL. %zu local run%s complete.\n", n, n == 1 ? " is" : "s are");
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count) {
            fprintf(out, "%s%u %s", *lead ? lead : "local runs: ", parts[i].count, parts[i].what);
            lead = ", ";
        }
    if (*lead)
        fputc('\n', out);
    else if (opt_on(&w->c->opts, OPTION_LOCAL))
        fputs("local runs: nothing to finish\n", out);
}

static void sync_print_json(const struct sync_work *w)
{
    const struct sync_counts *n = &w->n;
    struct buf b CLEANUP_BUF;
    buf_init(&b, SYNC_NOTES_MAX + 4096);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_uint(&j, "closed", w->swept.closed);
    json_uint(&j, "released", w->swept.released);
    json_uint(&j, "running", w->swept.alive);
    json_uint(&j, "failed", w->swept.failed);
    if (w->asked) {
        json_open(&j, "server", '{');
        json_uint(&j, "runs", n->wanted);
        json_uint(&j, "sent", n->sent);
        json_uint(&j, "made", n->made);
        json_uint(&j, "there", n->there + n->known);
        json_uint(&j, "deleted", n->deleted);
        json_uint(&j, "damaged", n->damaged);
        json_uint(&j, "failed", n->failed);
        json_uint(&j, "waiting", n->waiting);
        json_uint(&j, "files", n->files);
        json_uint(&j, "bytes", n->bytes);
        json_uint(&j, "completed", w->completed);
        json_uint(&j, "incomplete", w->incomplete);
        json_close(&j, '}');
    }
    if (w->exporters.n) {
        json_open(&j, "exporters", '[');
        json_members(&j, buf_text(&w->exporters));
        json_close(&j, ']');
    }
    json_open(&j, "notes", '[');
    json_members(&j, buf_text(&w->json));
    json_close(&j, ']');
    json_close(&j, '}');
    fprintf(w->c->out, "%s\n", b.p ? b.p : "");
}

/* "http://…: sent 2 runs, updated 1, 3 up to date": what was done, then what was not. */
static void sync_print_sent(const struct sync_work *w)
{
    const struct sync_counts *n = &w->n;
    size_t fresh = n->sent > n->updated ? n->sent - n->updated : 0, there = n->there + n->known;
    const struct {
        size_t count;
        const char *verb, *state;
    } parts[] = {{fresh, w->dry ? "would send " : "sent ", ""},
                 {n->updated, w->dry ? "would update " : "updated ", ""},
                 {there, "", " up to date"},
                 {n->deleted, "", " deleted there (--restore sends them again)"},
                 {n->damaged, "", " cannot be read"},
                 {n->failed, "", " refused or failed"},
                 {w->completed, "", " completed from the server"},
                 {w->incomplete, "", " still incomplete"},
                 {n->waiting, "", " not tried; all is kept: repeat \"benchwrap sync\""}};
    const bool sent = fresh + n->updated;
    size_t named = 0;
    FILE *out = w->c->out;
    fprintf(out, "%s: %s", w->server, sent ? "" : n->damaged + n->failed + n->waiting ? "sent nothing" : "nothing to send");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count) {
            const char *noun = named ? "" : parts[i].count == 1 ? " run" : " runs";
            fprintf(out, "%s%s%zu%s%s", named || !sent ? ", " : "", parts[i].verb, parts[i].count, noun, parts[i].state);
            named++;
        }
    fputc('\n', out);
}

static void sync_print(struct sync_work *w)
{
    FILE *out = w->c->out;
    if (w->as_json) {
        sync_print_json(w);
        return;
    }
    if (!w->dry && !opt_text(&w->c->opts, OPTION_REF))
        print_local(w);
    fputs(w->exporters.p ? w->exporters.p : "", out);
    if (w->asked)
        sync_print_sent(w);
}

static int status_of(const struct sync_work *w)
{
    const struct sync_counts *n = &w->n;
    size_t bad = n->damaged + n->failed + n->waiting;
    if (bad && bad == n->wanted)
        return FAILED;
    return w->swept.failed || bad || w->incomplete || w->exporter_failed ? 1 : 0;
}

static int sync_plan_for(struct sync_work *w)
{
    struct cmd_context *c = w->c;
    return plan_make_for(&w->plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE);
}

static int sync_everything(struct sync_work *w)
{
    struct cmd_context *c = w->c;
    bool selected = c->argc || opt_text(&c->opts, OPTION_REF) || opt_text(&c->opts, OPTION_EXPERIMENT) || opt_text(&c->opts, OPTION_SINCE);
    w->to = opt_text(&c->opts, OPTION_TO) ? opt_text(&c->opts, OPTION_TO) : w->plan.server_uri;
    w->asked = !opt_on(&c->opts, OPTION_LOCAL) && w->to;
    if (!w->asked && (selected || opt_on(&c->opts, OPTION_DRY_RUN) || opt_on(&c->opts, OPTION_FOLLOW)))
        return err_set(c->err, ERR_USAGE, "no server is named, to which runs could be sent: --to URL, or MLFLOW_TRACKING_URI");
    if (selection_since(c, &w->since_ms))
        return -1;
    if (!w->dry && !opt_text(&c->opts, OPTION_REF))
        sweep_spools(w);
    if (!w->dry && !selected && !opt_on(&c->opts, OPTION_LOCAL))
        deliver_to_exporters(w);
    return w->asked ? to_server(w) : 0;
}

/* Executes `benchwrap sync`. Returns the exit status of status_of; -1 with c->err: nothing could be
 * done. */
static int sync_command(struct cmd_context *c)
{
    struct sync_work w = {.c = c, .as_json = opt_on(&c->opts, OPTION_JSON), .dry = opt_on(&c->opts, OPTION_DRY_RUN), .cancel_fd = -1};
    buf_init(&w.json, SYNC_NOTES_MAX);
    w.list = (struct json_out){.to = &w.json, .layout = JSON_TIGHT};
    buf_init(&w.exporters, 1 << 20);
    w.delivered = (struct json_out){.to = &w.exporters, .layout = JSON_TIGHT};
    buf_init(&w.said, SAID_BYTES);
    buf_init(&w.said_before, SAID_BYTES);
    progress_begin(&w.progress, c->notes, w.dry ? "looking at run" : "sending run", 0);
    if (opt_on(&c->opts, OPTION_JSON) || opt_on(&c->opts, OPTION_FOLLOW))
        w.progress.on = false;
    if (!opt_on(&c->opts, OPTION_LOCAL))
        w.cancel_fd = stop_signals_open(&w.blocked); /* it ends between two requests */
    int rc = sync_plan_for(&w);
    if (rc == 0) {
        rc = sync_everything(&w);
        if (rc == 0)
            sync_print(&w);
        plan_deinit(&w.plan);
    }
    if (w.cancel_fd >= 0)
        close(w.cancel_fd);
    buf_deinit(&w.json);
    buf_deinit(&w.exporters);
    buf_deinit(&w.said);
    buf_deinit(&w.said_before);
    return rc ? rc : status_of(&w);
}

const struct cmd cmd_sync = {
    .name = "sync",
    .summary = "Send runs to an MLflow server",
    .usage = "[OPTIONS] [RUN...]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description = "Searches the spool of the tree, and the user's own (used when the tree could not be written) for runs of this tree. A "
                   "run whose recorder died is closed as KILLED at its last fact and published in the tree; a published one is synced to "
                   "disk and released. Runs that are still being recorded, here or on another host that shares the file system, are left "
                   "alone. The line \"local runs\" counts these runs of the spool, the server's line counts the runs of the tree.\n\n"
                   "If a server is named (--to, MLFLOW_TRACKING_URI), sync sends it the runs of the tree: all, or those that are chosen, "
                   "parents before their children. Times, status, values and artifacts are the tree's, with every sample of a long series."
                   " The server has each run once, found by the tag benchwrap.run_id, however often and from wherever it is sent. sync "
                   "adds what is missing, and continues an interrupted transfer in the middle of a run. It notes complete runs in "
                   ".benchwrap/sync, so that a repetition only checks whether the server still has their experiments. Losing these notes "
                   "is harmless. A run that lacks what its program's own MLflow client logged there (--share-run, tag "
                   "benchwrap.incomplete) is completed by a run that amends it. A run that was deleted on the server stays deleted, unless"
                   " --restore is given. An experiment of this name that was deleted there is restored.\n\n"
                   "What waits for exporters (`benchwrap exporter list`) is delivered as well, unless runs are chosen or --local is given."
                   " An exporter that accepts nothing is tried for half a minute.\n\n"
                   "Texts that are longer than the server keeps (params 6000 characters, tags 8000) are cut, and the tag benchwrap.cut "
                   "names them. The complete text is in the artifact benchwrap.json. If the server fails in the middle, the rest stays "
                   "here and the next sync continues. All environment variables of MLflow's own client count (credentials, certificates, "
                   "time-outs, retries); without MLFLOW_HTTP_REQUEST_MAX_RETRIES, a request is not tried again after half a minute.\n\n"
                   "Status 0: all done. 1: a part could not be done; it stays where it is, and sync can be repeated. 2: nothing that was "
                   "to be sent could be.",
    .examples = "$ benchwrap sync --local\n"
                "Close what a power cut or a kill left unfinished.\n"
                "$ benchwrap sync --to http://tracking.example.org:5000\n"
                "Send every run of the tree that the server does not have yet.\n"
                "$ benchwrap sync --to http://tracking.example.org:5000 --ref origin/main -e ior --since 7d\n"
                "Send last week's runs of an experiment from a branch of the results repository.\n",
    .run = sync_command,
};
