/* cmd_exporter.c: `benchwrap exporter`: lists, checks and uses the exporters of the configuration, and shows dead letters. */
#include "base/json_out.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/listing.h"
#include "base/place.h"
#include "base/show.h"
#include "base/stop_signals.h"
#include "cmd/selection.h"
#include "exporters/azure_setup.h"
#include "exporters/exporter_pass.h"
#include "exporters/sns_setup.h"
#include "plan/plan.h"
#include "sync/sync_exporters.h"
#include "sync/sync_records.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_S = 30, READ_BACK_S = 900, PRINT_MAX = 256 << 20, LETTERS_STEP = 256 };

struct exporter_work {
    struct cmd_context *c;
    struct plan plan;
    int cancel_fd;
};

static const struct opt_row rows[] = {
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Send",
     .help = "With send: print what would be sent, without secrets, and send nothing"},
    {.name = OPTION_LINES,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Send",
     .help = "With send: send the lines of this file, a JSON object each, instead of runs (- for standard input)"},
    {.name = OPTION_MESSAGE,
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .group = "Send",
     .help = "With send: send this text once, by an exporter of messages"},
    {.name = OPTION_STREAM,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Send",
     .help = "With --lines: send to this stream or table, where the destination has several"},
    {.name = OPTION_READ_BACK,
     .kind = OPT_FLAG,
     .group = "Send",
     .help = "With check: send a record, and wait until it can be read where it is stored, at most 15 minutes"},
    {.name = OPTION_RESEND, .kind = OPT_FLAG, .group = "Send", .help = "With dead-letter: send these runs again (default: list them)"},
    {.name = OPTION_DROP,
     .kind = OPT_FLAG,
     .group = "Send",
     .help = "With dead-letter: remove these dead letters; the runs stay in the tree"},
    CMD_ROW_TREE,
    CMD_ROW_EXPERIMENT("Selection", "With send: choose runs of this experiment (name or id)"),
    {.name = OPTION_SINCE,
     .kind = OPT_TEXT,
     .arg = "TIME",
     .group = "Selection",
     .help = "With send: choose runs that began then or later: 2026-11-20, \"2026-11-20 17:03\", or an age: 12h, 7d"},
    CMD_ROW_JSON,
};

static bool exporter_wants_json(const struct exporter_work *w)
{
    return opt_on(&w->c->opts, OPTION_JSON);
}

static int exporter_print_listing(const struct exporter_work *w, struct listing *l, int status)
{
    if (listing_write(l, exporter_wants_json(w) ? LISTING_JSON : LISTING_TABLE, w->c->out) < 0)
        status = err_memory(w->c->err, "a list");
    listing_deinit(l);
    return status;
}

/* The exporter of this name. NULL with c->err. */
static const struct exporter_config *exporter_by_name(struct exporter_work *w, const char *name)
{
    const struct exporter_config *c = name ? exporter_config_find(w->plan.exporters, name) : NULL;
    if (c)
        return c;
    if (!name)
        err_set(w->c->err, ERR_USAGE, "expected the name of an exporter");
    else
        err_set(w->c->err, ERR_INPUT, "no exporter has the name %.80s", name);
    err_hint(w->c->err, "benchwrap exporter list");
    return NULL;
}

static const char *exporter_time_text(int64_t ms, struct arena *a)
{
    struct tm t;
    char text[40];
    time_t at = (time_t)(ms / 1000);
    if (ms <= 0 || !localtime_r(&at, &t))
        return NULL;
    strftime(text, sizeof text, "%F %H:%M:%S", &t);
    return arena_dup(a, text, strlen(text));
}

/* ---- types ---- */

static int exporter_print_types(struct exporter_work *w)
{
    static const struct listing_column columns[] = {
        {"type", "TYPE", .whole = true}, {"key", "KEY", .whole = true}, {"value", "VALUE", .drop = 1}, {"help", "MEANING", .wrap = true}};
    const char *one = w->c->argc > 1 ? w->c->argv[1] : NULL;
    struct listing l;
    if (one && !exporter_find(str_of(one)))
        return err_set(w->c->err, ERR_INPUT, "expected a type that \"benchwrap exporter types\" lists, got \"%.80s\"", one);
    listing_init(&l, columns, 4, w->c->arena);
    for (size_t i = 0; i < exporters_count; i++) {
        const struct exporter *x = exporters[i];
        if (one && strcmp(one, x->type) != 0)
            continue;
        listing_text(&l, x->type);
        listing_text(&l, "");
        listing_text(&l, "");
        listing_text(&l, x->summary);
        for (size_t k = 0; k < x->count + exporter_rows_count; k++) {
            const struct opt_row *row = k < x->count ? &x->rows[k] : &exporter_rows[k - x->count];
            const char *value = row->kind == OPT_FLAG ? "yes|no" : row->arg;
            listing_text(&l, exporter_wants_json(w) ? x->type : "");
            listing_text(&l, row->name);
            listing_text(&l, value);
            listing_text(&l, row->value ? arena_printf(w->c->arena, "%s (default: %s)", row->help, row->value) : row->help);
        }
    }
    return exporter_print_listing(w, &l, 0);
}

/* ---- list ---- */

static const char *list_problem(const struct exporter_config *c, const struct exporter_outcome *o, const struct exporter_state *s,
                                struct arena *a)
{
    if (!exporter_is_enabled(c))
        return "switched off";
    if (o->failed)
        return arena_dup(a, o->why, strlen(o->why));
    if (s->failures)
        return arena_printf(a, "not delivered since %s: %s", exporter_time_text(s->since_ms, a), s->why);
    return s->dropped ? arena_printf(a, "%" PRIu64 " runs were dropped: more than max-pending or max-size waited", s->dropped) : "";
}

static int exporter_print_list(struct exporter_work *w)
{
    static const struct listing_column columns[] = {
        {"name", "NAME", .whole = true},
        {"type", "TYPE"},
        {"enabled", NULL},
        {"delivered", "DELIVERED", .right = true},
        {"pending", "PENDING", .right = true},
        {"dead_letters", "DEAD LETTERS", .right = true},
        {"dropped", NULL},
        {"failing_since_ms", NULL},
        {"next_try_ms", NULL},
        {"where", "CONFIGURED IN", .drop = 1},
        {"problem", "PROBLEM", .wrap = true, .no_empty = true},
    };
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, w->c->arena);
    for (const struct exporter_config *c = w->plan.exporters; c; c = c->next) {
        struct exporter_outcome o;
        struct exporter_state s;
        sync_exporter_count(&w->plan, c, &o, &s);
        listing_text(&l, c->name);
        listing_text(&l, c->kind->type);
        listing_text(&l, exporter_is_enabled(c) ? "yes" : "no");
        listing_number(&l, (double)s.sent, NULL);
        listing_number(&l, (double)o.pending, NULL);
        listing_number(&l, (double)o.letters, NULL);
        listing_number(&l, (double)s.dropped, NULL);
        if (s.since_ms)
            listing_number(&l, (double)s.since_ms, NULL);
        else
            listing_none(&l);
        if (s.not_before_ms)
            listing_number(&l, (double)s.not_before_ms, NULL);
        else
            listing_none(&l);
        listing_text(&l, c->where);
        listing_text(&l, list_problem(c, &o, &s, w->c->arena));
    }
    if (!w->plan.exporters && !exporter_wants_json(w))
        fputs("No exporter is configured: see \"benchwrap help exporter\".\n", w->c->out);
    return exporter_print_listing(w, &l, 0);
}

/* ---- check ---- */

/* Opens the destination of an exporter and lets it check itself, with --read-back also by a record.
 * Sets `found` to what was found, or to the error and its hint. False: it failed. */
static bool exporter_check_one(const struct exporter_work *w, const struct exporter_config *c, struct buf *found)
{
    struct arena a;
    struct err err = {0};
    bool read_back = opt_on(&w->c->opts, OPTION_READ_BACK);
    arena_init(&a, 0);
    struct exporter_link l = {.config = c,
                              .env = w->c->env,
                              .arena = &a,
                              .until_ns = clock_mono_ns() + (read_back ? READ_BACK_S : CHECK_S) * INT64_C(1000000000),
                              .cancel_fd = w->cancel_fd,
                              .retry_after_s = -1};
    bool good = c->kind->open(&l, &err) == EXPORTER_SENT && (!c->kind->check || c->kind->check(&l, found, &err) == EXPORTER_SENT);
    if (good && read_back && c->kind->read_back) {
        buf_puts(found, "; ");
        good = c->kind->read_back(&l, found, &err) == EXPORTER_SENT;
    } else if (good && read_back)
        buf_printf(found, "; the type %s cannot read a record back", c->kind->type);
    if (c->kind->close)
        c->kind->close(&l);
    if (!good) {
        buf_clear(found);
        buf_puts(found, err.text);
        if (err.hint[0])
            buf_printf(found, " (hint: %s)", err.hint);
    }
    arena_deinit(&a);
    return good;
}

/* Checks all exporters, or those that are named, and prints what was found. Returns 0; 1: one
 * failed; -1 with c->err: a name is not known, or out of memory. */
static int check_exporters(struct exporter_work *w)
{
    static const struct listing_column columns[] = {
        {"name", "NAME", .whole = true}, {"result", "RESULT", .whole = true}, {"found", "FOUND", .wrap = true}};
    struct listing l;
    bool bad = false;
    for (int i = 1; i < w->c->argc; i++)
        if (!exporter_by_name(w, w->c->argv[i]))
            return -1;
    listing_init(&l, columns, 3, w->c->arena);
    for (const struct exporter_config *c = w->plan.exporters; c; c = c->next) {
        bool asked = w->c->argc == 1;
        for (int i = 1; i < w->c->argc; i++)
            asked |= strcmp(w->c->argv[i], c->name) == 0;
        if (!asked)
            continue;
        struct buf found CLEANUP_BUF;
        buf_init(&found, 64 << 10);
        bool good = exporter_check_one(w, c, &found);
        bad |= !good;
        listing_text(&l, c->name);
        listing_text(&l, good ? "good" : "failed");
        listing_text(&l, found.p ? found.p : "");
    }
    return exporter_print_listing(w, &l, bad);
}

/* ---- send ---- */

struct chosen_run {
    const struct tree_run *run;
    struct chosen_run *next;
};

/* Appends the runs of --experiment and --since to the list. -1 with c->err. */
static int exporter_choose_filtered(struct exporter_work *w, struct runs *runs, struct chosen_run ***end)
{
    struct cmd_context *c = w->c;
    struct runs_filter filter = {.experiment = opt_text(&c->opts, OPTION_EXPERIMENT), .corrected = true};
    int64_t since_ms;
    if (selection_since(c, &since_ms) || runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    for (size_t i = 0; i < runs->count; i++) {
        struct chosen_run *one = runs->all[i]->start_ms >= since_ms ? ARENA_NEW(c->arena, struct chosen_run) : NULL;
        if (!one)
            continue;
        one->run = runs->all[i];
        **end = one;
        *end = &one->next;
    }
    return 0;
}

/* Sets *ret to the list of the runs that options and operands choose, in the command's arena. 0; -1
 * with c->err, also where no run is chosen. */
static int exporter_choose_runs(struct exporter_work *w, struct runs *runs, struct chosen_run **ret)
{
    struct cmd_context *c = w->c;
    struct chosen_run **end = ret;
    *ret = NULL;
    bool filtered = opt_text(&c->opts, OPTION_EXPERIMENT) || opt_text(&c->opts, OPTION_SINCE);
    if (c->argc < 3 && !filtered)
        return err_set(c->err, ERR_USAGE, "expected runs: their ids, last, -e NAME or --since TIME");
    if (filtered && exporter_choose_filtered(w, runs, &end))
        return -1;
    for (int i = 2; i < c->argc; i++) {
        struct tree_run *run;
        struct chosen_run *one = ARENA_NEW(c->arena, struct chosen_run);
        if (!one || runs_find(runs, c->argv[i], TREE_META, c->arena, &run, c->err))
            return one ? -1 : err_memory(c->err, "a list");
        one->run = run;
        *end = one;
        end = &one->next;
    }
    return *ret ? 0 : err_set(c->err, ERR_INPUT, "no run matches");
}

/* Prints what the exporter would send of one run, and sends nothing. `tree`: descriptor of the
 * tree. 0; -1 with c->err. */
static int exporter_print_run(struct exporter_work *w, const struct exporter_config *x, int tree, const struct tree_run *meta)
{
    struct arena a;
    struct exporter_run run;
    struct buf text CLEANUP_BUF;
    struct exporter_link l = {.config = x, .env = w->c->env, .arena = &a, .until_ns = INT64_MAX, .cancel_fd = -1, .retry_after_s = -1};
    arena_init(&a, 0);
    buf_init(&text, PRINT_MAX);
    int rc = exporter_run_read(&run, tree, meta->id, &a, w->c->err);
    if (rc == 0) {
        rc = x->kind->print(&l, &run, &text, w->c->err);
        exporter_run_deinit(&run);
    }
    if (rc == 0)
        fwrite(text.p ? text.p : "", 1, text.n, w->c->out);
    arena_deinit(&a);
    return rc > 0 ? err_set(w->c->err, ERR_INPUT, "run %.8s is not in the tree", meta->id) : rc;
}

static int queue_runs(struct exporter_work *w, const struct exporter_config *x, const struct chosen_run *chosen)
{
    struct exporter_queue q;
    int rc = exporter_queue_open(&q, w->plan.spool, x->name, true, w->c->err);
    for (; rc == 0 && chosen; chosen = chosen->next)
        rc = exporter_queue_add(&q, chosen->run->id, chosen->run->end_ms ? chosen->run->end_ms : chosen->run->start_ms, w->plan.tree,
                                w->c->err);
    exporter_queue_close(&q);
    return rc;
}

static bool was_delivered(const struct exporter_queue *q, const struct tree_run *run)
{
    char name[EXPORTER_ENTRY_SIZE], letter[EXPORTER_ENTRY_SIZE + sizeof EXPORTER_DEAD + 1];
    snprintf(name, sizeof name, "%013" PRId64 "-%.32s", run->end_ms ? run->end_ms : run->start_ms, run->id);
    snprintf(letter, sizeof letter, EXPORTER_DEAD "/%s", name);
    return faccessat(q->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && faccessat(q->dir, letter, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

/* Prints how many of the chosen runs were delivered. Returns 0; 1: some were not; -1 with
 * c->err. */
static int print_sent(struct exporter_work *w, const struct exporter_config *x, const struct chosen_run *chosen,
                      const struct exporter_outcome *o)
{
    struct exporter_queue q;
    size_t n = 0, delivered = 0;
    if (exporter_queue_open(&q, w->plan.spool, x->name, false, w->c->err))
        return -1;
    for (; chosen; chosen = chosen->next) {
        n++;
        delivered += was_delivered(&q, chosen->run);
    }
    exporter_queue_close(&q);
    if (exporter_wants_json(w)) {
        struct buf line CLEANUP_BUF;
        buf_init(&line, 16384);
        struct json_out j = json_begin(&line, JSON_ROW, '{');
        json_text(&j, "exporter", x->name);
        json_uint(&j, "runs", n);
        json_uint(&j, "delivered", delivered);
        json_uint(&j, "pending", o->pending);
        json_uint(&j, "dead_letters", o->letters);
        json_str(&j, "why", str_of(delivered < n ? o->why : ""));
        json_close(&j, '}');
        fprintf(w->c->out, "%s\n", line.p ? line.p : "");
    } else {
        fprintf(w->c->out, "%s: %zu of %zu run%s delivered", x->name, delivered, n, str_plural(n));
        if (delivered < n)
            fprintf(w->c->out, "; %zu wait%s, %zu dead letter%s: %s", o->pending, o->pending == 1 ? "s" : "", o->letters,
                    str_plural(o->letters), o->busy ? "another process delivers now" : o->why);
        fputc('\n', w->c->out);
    }
    return delivered < n;
}

/* Sends the lines of --lines as records and prints the counts. Returns 0; 1: some were refused, or
 * are not delivered; -1 with c->err. */
static int exporter_send_lines(struct exporter_work *w, const struct exporter_config *x)
{
    struct sync_records_result result;
    struct err why = {0};
    const struct sync_records what = {.exporter = x,
                                      .env = w->c->env,
                                      .cancel_fd = w->cancel_fd,
                                      .path = opt_text(&w->c->opts, OPTION_LINES),
                                      .stream = opt_text(&w->c->opts, OPTION_STREAM),
                                      .wait_s = SYNC_EXPORTERS_S,
                                      .notes = w->c->notes};
    if (w->c->argc > 2)
        return err_set(w->c->err, ERR_USAGE, "--lines and runs exclude each other");
    int rc = sync_records_file(&what, &result, &why);
    if (rc < 0) {
        *w->c->err = why;
        return -1;
    }
    if (exporter_wants_json(w)) {
        struct buf line CLEANUP_BUF;
        buf_init(&line, 16384);
        struct json_out j = json_begin(&line, JSON_ROW, '{');
        json_text(&j, "exporter", x->name);
        json_uint(&j, "delivered", result.sent);
        json_uint(&j, "refused", result.refused);
        json_str(&j, "why", str_of(rc ? why.text : ""));
        json_close(&j, '}');
        fprintf(w->c->out, "%s\n", line.p ? line.p : "");
    } else
        fprintf(w->c->out, "%s: %" PRIu64 " line%s delivered, %" PRIu64 " refused%s%s\n", x->name, result.sent, str_plural(result.sent),
                result.refused, rc ? "; the rest is not delivered: " : "", rc ? why.text : "");
    return rc || result.refused;
}

static int exporter_send_text(struct exporter_work *w, const struct exporter_config *x)
{
    const char *text = opt_text(&w->c->opts, OPTION_MESSAGE);
    int64_t until_ns = clock_mono_ns() + CHECK_S * INT64_C(1000000000);
    struct err err = {0};
    if (w->c->argc > 2 || !*text || !str_valid_utf8(str_of(text)))
        return err_set(w->c->err, ERR_USAGE, "--message: expected a text, and no runs");
    if (!x->kind->send_message)
        return err_set(w->c->err, ERR_INPUT, "the exporter %s has the type %s, which has no messages", x->name, x->kind->type);
    if (exporter_send_message(x, w->c->env, text, until_ns, w->cancel_fd, false, &err)) {
        *w->c->err = err;
        return err_wrap(w->c->err, "cannot send the message");
    }
    fprintf(w->c->out, "%s: message sent\n", x->name);
    return 0;
}

/* Sends runs, or with --lines or --message these; with --dry-run only prints the requests. Returns
 * 0; 1: something was not delivered; -1 with c->err. */
static int exporter_send_runs(struct exporter_work *w)
{
    const struct exporter_config *x = exporter_by_name(w, w->c->argc > 1 ? w->c->argv[1] : NULL);
    if (x && opt_text(&w->c->opts, OPTION_LINES))
        return exporter_send_lines(w, x);
    if (x && opt_text(&w->c->opts, OPTION_MESSAGE))
        return exporter_send_text(w, x);
    const struct runs_place place = selection_place(w->c);
    struct chosen_run *chosen;
    struct exporter_outcome o;
    struct runs runs;
    if (!x || runs_open(&runs, &place, w->c->arena, w->c->err) < 0)
        return -1;
    int rc = exporter_choose_runs(w, &runs, &chosen);
    if (rc == 0 && opt_on(&w->c->opts, OPTION_DRY_RUN)) {
        for (; rc == 0 && chosen; chosen = chosen->next)
            rc = exporter_print_run(w, x, runs.root, chosen->run);
    } else if (rc == 0 && (rc = queue_runs(w, x, chosen)) == 0) {
        sync_exporter(&w->plan, x, w->c->env, w->cancel_fd, &o);
        rc = print_sent(w, x, chosen, &o);
    }
    runs_close(&runs);
    return rc;
}

/* ---- dead letters ---- */

/* Returns true if the letter's run is among the operands, or there are none. */
static bool is_letter_chosen(const struct exporter_work *w, const char *name)
{
    const char *id = exporter_entry_run(name);
    for (int i = 2; i < w->c->argc; i++)
        if (strlen(w->c->argv[i]) >= 4 && strncmp(id, w->c->argv[i], strlen(w->c->argv[i])) == 0)
            return true;
    return w->c->argc < 3;
}

static void list_letter(struct exporter_work *w, struct listing *l, const struct exporter_queue *q, const char *name)
{
    struct exporter_item item = {.tree = "", .why = "it cannot be read"};
    struct arena *a = w->c->arena;
    const char *id = exporter_entry_run(name);
    exporter_queue_read(q, EXPORTER_DEAD, name, a, &item, NULL);
    listing_text(l, arena_dup(a, id, 8));
    listing_text(l, arena_dup(a, id, 32));
    listing_text(l, exporter_time_text(item.failed_ms, a));
    if (item.failed_ms)
        listing_number(l, (double)item.failed_ms, NULL);
    else
        listing_none(l);
    listing_text(l, item.why ? item.why : "");
}

/* Lists the chosen dead letters of one spool, or with --resend or --drop sends them again or
 * removes them, and adds their number to *ret_count. 0; -1 with c->err. */
static int handle_letters(struct exporter_work *w, const char *spool, const char *exporter, struct listing *l, size_t *ret_count)
{
    struct exporter_entry step[LETTERS_STEP];
    struct exporter_queue q;
    char after[EXPORTER_ENTRY_SIZE] = "";
    bool resend = opt_on(&w->c->opts, OPTION_RESEND), drop = opt_on(&w->c->opts, OPTION_DROP);
    int rc = exporter_queue_open(&q, spool, exporter, false, w->c->err);
    if (rc)
        return rc < 0 ? -1 : 0;
    for (size_t n = LETTERS_STEP; rc == 0 && n == LETTERS_STEP;) {
        n = exporter_queue_first(&q, EXPORTER_DEAD, after, step, LETTERS_STEP, NULL);
        for (size_t i = 0; i < n && rc == 0; i++) {
            memcpy(after, step[i].name, sizeof after);
            if (!is_letter_chosen(w, step[i].name))
                continue;
            ++*ret_count;
            if (resend)
                rc = exporter_queue_resend(&q, step[i].name, w->c->err);
            else if (drop)
                exporter_queue_remove(&q, EXPORTER_DEAD, step[i].name);
            else
                list_letter(w, l, &q, step[i].name);
        }
    }
    exporter_queue_close(&q);
    return rc;
}

/* Lists the dead letters of one exporter, or sends or removes them. 0; 1: not all could be sent; -1
 * with c->err. */
static int dead_letters(struct exporter_work *w)
{
    static const struct listing_column columns[] = {{"short", "RUN", .whole = true},
                                                    {"run", NULL},
                                                    {"time", "SET ASIDE", .whole = true},
                                                    {"failed_ms", NULL},
                                                    {"why", "REASON", .wrap = true}};
    const struct exporter_config *x = exporter_by_name(w, w->c->argc > 1 ? w->c->argv[1] : NULL);
    const char *spools[] = {w->plan.spool, w->plan.spool_fallback};
    bool resend = opt_on(&w->c->opts, OPTION_RESEND), drop = opt_on(&w->c->opts, OPTION_DROP);
    struct listing l;
    size_t count = 0;
    int rc = 0;
    if (!x)
        return -1;
    if (resend && drop)
        return err_set(w->c->err, ERR_USAGE, "--resend and --drop exclude each other");
    listing_init(&l, columns, sizeof columns / sizeof *columns, w->c->arena);
    for (size_t i = 0; i < 2 && rc == 0; i++)
        if (spools[i] && (i == 0 || !spools[0] || strcmp(spools[0], spools[1]) != 0))
            rc = handle_letters(w, spools[i], x->name, &l, &count);
    if (rc || (!resend && !drop))
        return rc ? (listing_deinit(&l), rc) : exporter_print_listing(w, &l, 0);
    listing_deinit(&l);
    struct exporter_outcome o = {.sent = 0};
    if (resend && count)
        sync_exporter(&w->plan, x, w->c->env, w->cancel_fd, &o);
    if (exporter_wants_json(w)) {
        struct buf line CLEANUP_BUF;
        buf_init(&line, 16384);
        struct json_out j = json_begin(&line, JSON_ROW, '{');
        json_text(&j, "exporter", x->name);
        json_uint(&j, "letters", count);
        json_uint(&j, "delivered", o.sent);
        json_uint(&j, "pending", o.pending);
        json_uint(&j, "dead_letters", o.letters);
        json_close(&j, '}');
        fprintf(w->c->out, "%s\n", line.p ? line.p : "");
    } else if (drop)
        fprintf(w->c->out, "%s: %zu dead letter%s dropped; the runs are still in the tree\n", x->name, count, str_plural(count));
    else
        fprintf(w->c->out, "%s: %zu dead letter%s, %zu run%s delivered%s%s\n", x->name, count, str_plural(count), o.sent,
                str_plural(o.sent), o.why[0] ? ": " : "", o.why);
    return resend && (o.pending || o.letters) ? 1 : 0;
}

/* ---- azure-setup, sns-setup ---- */

static int print_azure_setup(struct exporter_work *w)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 4 << 20);
    if (azure_setup_print(w->c->argc > 1 ? w->c->argv[1] : "az", w->c->env, &text, w->c->err))
        return -1;
    fwrite(text.p, 1, text.n, w->c->out);
    return 0;
}

static int print_sns_setup(struct exporter_work *w)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    if (sns_setup_print(w->c->argc > 1 ? w->c->argv[1] : "benchwrap", &text, w->c->err))
        return -1;
    fwrite(text.p, 1, text.n, w->c->out);
    return 0;
}

/* ---- the command ---- */

static int exporter_run_verb(struct exporter_work *w)
{
    static const struct {
        const char *verb;
        int (*run)(struct exporter_work *w);
    } verbs[] = {{"list", exporter_print_list}, {"types", exporter_print_types}, {"check", check_exporters},
                 {"send", exporter_send_runs},  {"dead-letter", dead_letters},   {"azure-setup", print_azure_setup},
                 {"sns-setup", print_sns_setup}};
    const char *verb = w->c->argc ? w->c->argv[0] : "list";
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].verb, verb) == 0)
            return verbs[i].run(w);
    return err_set(w->c->err, ERR_USAGE, "expected list, types, check, send, dead-letter, azure-setup or sns-setup, got \"%.40s\"", verb);
}

static int exporter_command(struct cmd_context *c)
{
    struct exporter_work w = {.c = c};
    if (plan_make_for(&w.plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    for (const struct plan_warning *x = w.plan.warnings; x; x = x->next)
        fprintf(c->notes, "benchwrap: exporter: %s\n", x->text);
    w.cancel_fd = stop_signals_open(NULL); /* a delivery ends between two runs */
    int rc = exporter_run_verb(&w);
    if (w.cancel_fd >= 0)
        close(w.cancel_fd);
    plan_deinit(&w.plan);
    return rc;
}

const struct cmd cmd_exporter = {
    .name = "exporter",
    .summary = "Deliver runs to other systems: JSON lines …",
    .usage =
        "list | types [TYPE] | check [NAME...] | send NAME RUN... | send NAME --lines FILE | dead-letter NAME [RUN...] | azure-setup [az|bicep|agent|kql] | sns-setup [TOPIC]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "An exporter delivers each run that benchwrap records to another system, after the run is in the tree. The list `exporters:` in "
        "~/.config/benchwrap/config.yaml, or the administrator's in /etc/benchwrap.yaml, configures them. A repository's files configure none. "
        "docs/howto-exporter.md has examples.\n"
        "\n"
        "`list` shows each exporter with the number of runs delivered, waiting (pending), and refused (dead letters). `types` lists the kinds of "
        "exporters and their keys. `check` tests whether each destination would accept runs. `send` delivers runs of the tree, also those "
        "recorded before the exporter was configured, or with --lines JSON objects of yours. `dead-letter` lists the runs that the destination refused, with the reason, or with "
        "--resend or --drop sends or removes them. `azure-setup` prints what Azure Monitor needs: a shell script of az commands, a Bicep template, a "
        "script that binds rules to machines with Azure Monitor Agent, or KQL queries. `sns-setup` prints a script that makes "
        "a topic of Amazon SNS and the right to publish to it.\n"
        "\n"
        "After a run, a process of lowest priority delivers it. The run waits for nothing. What a destination does not accept stays in "
        "`.benchwrap/export` and goes out with the next run, or by `benchwrap sync`. A run can be delivered twice after a kill or a broken "
        "connection; its id is the same. `benchwrap --no-export` delivers a run nowhere.\n"
        "\n"
        "Status 0: done. 1: a check failed, or a run is not delivered; it stays.",
    .examples = "$ benchwrap exporter list\n"
                "Show the exporters, and what waits for delivery.\n"
                "$ benchwrap exporter types jsonl\n"
                "Show the keys of an exporter of type jsonl.\n"
                "  benchwrap exporter check lake\n"
                "Test whether the destination of the exporter lake accepts runs.\n"
                "  benchwrap exporter send lake --since 7d\n"
                "Deliver last week's runs.\n",
    .run = exporter_command,
};
