/* recipe_logs.c: merge, print and check the logs of a campaign; see recipe_logs.h. */
#include "recipe/recipe_logs.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "base/stop_signals.h"
#include "recipe/campaign_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOGS_NAMES_MAX = 256,
    LOGS_REAP_MS = 1000,
    LOGS_ALERT_MAX = 64 << 10,
    ALERTS_STORED_MAX = 10000 /* of this execution, and of those before it: a text on each line is no alert, and merging must not wait */
};

static int open_logs_folder(const char *folder, bool make, struct arena *a, struct err *err)
{
    const char *path = arena_printf(a, "%s/logs", folder);
    if (!path)
        return err_memory(err, "the logs of a campaign");
    if (make && fs_mkdirs(AT_FDCWD, path, 0700, err))
        return -1;
    int fd = place_open_folder(path, 0);
    if (fd < 0)
        err_sys(err, "cannot read the logs of the campaign (%s)", path);
    return fd;
}

/* ---- the process that merges ---- */

struct logger_work {
    int folder, control;
    int alerts; /* alerts.log, -1 before the first one */
    int64_t begin_ns; /* earlier lines are those of the execution that is resumed */
    size_t stored[2]; /* alerts: earlier ones, and those of this execution */
    struct logs_outputs outputs;
};

/* Appends a line that contains a text of logs.alert to the file of alerts, which is created with
 * the first one. Stores at most ALERTS_STORED_MAX lines of earlier executions, and as many of this
 * one. */
static void append_alert(void *context, const struct logs_line *line, const char *text)
{
    struct logger_work *w = context;
    size_t *stored = &w->stored[line->time_ns >= w->begin_ns];
    if (*stored > ALERTS_STORED_MAX)
        return;
    char time[LOGS_TIME_SIZE];
    CLEANUP_BUF struct buf b;
    buf_init(&b, LOGS_ALERT_MAX);
    if (w->alerts < 0)
        w->alerts = place_open(w->folder, LOGS_ALERTS, O_WRONLY | O_CREAT | O_APPEND, 0600);
    buf_printf(&b, "[%s] [%s] [%s.%u] ", logs_time_text(line->time_ns, time), line->node, line->component, line->instance);
    if (++*stored > ALERTS_STORED_MAX)
        buf_printf(&b, "further lines are only in the merged logs: more than %d have a text of logs.alert\n", ALERTS_STORED_MAX);
    else {
        buf_printf(&b, "%s: ", text);
        buf_plain(&b, line->text, LOGS_ALERT_MAX / 8);
        buf_putc(&b, '\n');
    }
    if (w->alerts >= 0 && !b.failed)
        fs_write_all(w->alerts, b.p, b.n);
}

/* Reads the keys `outputs` and `logs` of the recipe. */
static int read_outputs(const struct recipe *r, struct logger_work *w, struct arena *a)
{
    const struct yaml *outputs = yaml_get(r->root, "outputs"), *logs = yaml_get(r->root, "logs"), *alert = yaml_get(logs, "alert"),
                      *first = alert && alert->kind == YAML_LIST ? alert->child : alert;
    const struct yaml *jsonl = yaml_get(logs, "jsonl");
    const char **texts;
    bool lines = true;
    int64_t pieces;
    size_t n = 0;
    w->outputs = (struct logs_outputs){.out = recipe_scalar(r, outputs, "stdout", NULL),
                                       .error = recipe_scalar(r, outputs, "stderr", NULL),
                                       .lines = recipe_scalar(r, outputs, "aggregated", NULL),
                                       .alert = append_alert,
                                       .context = w};
    if (jsonl)
        yaml_bool(jsonl, &lines);
    if (!lines)
        w->outputs.lines = "";
    if (!str_duration(str_of(recipe_scalar(r, logs, "flush", "5")), &w->outputs.flush_s))
        w->outputs.flush_s = 5;
    str_size(yaml_text(logs, "rotate", ""), &w->outputs.max_bytes);
    if (str_int(yaml_text(logs, "pieces", ""), &pieces) && pieces <= UINT_MAX)
        w->outputs.keep = (unsigned)pieces;
    for (const struct yaml *y = first; y; y = y == alert ? NULL : y->next)
        n++;
    texts = arena_get(a, (n + 1) * sizeof *texts);
    n = 0;
    for (const struct yaml *y = texts ? first : NULL; y; y = y == alert ? NULL : y->next)
        if (y->kind == YAML_SCALAR && y->text.n)
            texts[n++] = arena_dup(a, y->text.p, y->text.n);
    w->outputs.alerts = texts;
    return a->failed ? -1 : 0;
}

static int run_logger(void *context, int out)
{
    struct logger_work *w = context;
    struct err err = {0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* it ends when the campaign closes the pipe */
    if (logs_write_merged(w->folder, &w->outputs, true, w->control, &err) == 0)
        return 0;
    fs_write_all(out, err.text, strlen(err.text));
    return 1;
}

int campaign_logger_begin(struct campaign_logger *ret, const char *folder, const struct recipe *r, struct err *err)
{
    static struct arena texts; /* of the child process, too */
    struct logger_work w = {.folder = -1, .alerts = -1, .begin_ns = clock_wall_ms() * INT64_C(1000000)};
    int ends[2];
    *ret = CAMPAIGN_LOGGER_NONE;
    if (read_outputs(r, &w, &texts))
        return err_memory(err, "the logs of a campaign");
    w.folder = open_logs_folder(folder, true, &texts, err);
    if (w.folder < 0)
        return -1;
    unlinkat(w.folder, LOGS_ALERTS, 0); /* all lines are merged again, also those of the execution that is resumed */
    if (pipe2(ends, O_CLOEXEC)) {
        fs_close(&w.folder);
        return err_sys(err, "cannot merge logs");
    }
    w.control = ends[0];
    const struct child_work_plan plan = {
        .run = run_logger, .context = &w, .name = "bw-logs", .keep = {&w.folder, &w.control}, .outlives = true, .nice = 10, .max = 4096};
    int rc = child_work_start(&ret->work, &plan), why = errno;
    close(ends[0]);
    fs_close(&w.folder);
    ret->control = ends[1];
    if (rc == 0)
        return 0;
    fs_close(&ret->control);
    child_work_deinit(&ret->work);
    errno = why;
    return err_sys(err, "cannot merge logs");
}

bool campaign_logger_end(struct campaign_logger *l, int wait_ms)
{
    fs_close(&l->control);
    if (!l->work.pid)
        return true;
    if (!child_work_wait(&l->work, clock_mono_ns() + wait_ms * INT64_C(1000000)))
        return false;
    int status = child_work_reap(&l->work, LOGS_REAP_MS);
    char words[EXIT_WORDS_SIZE];
    exit_words(words, 0, status > 0 ? status & 0x7f : 0);
    if (words[0])
        buf_printf(&l->work.text, "the process that merges them was %s", words);
    return true;
}

void campaign_logger_close(struct campaign_logger *l)
{
    l->work.pid = 0;
    child_work_deinit(&l->work);
    *l = CAMPAIGN_LOGGER_NONE;
}

/* ---- the summary at the end ---- */

enum { REPORT_BYTES = 16 << 20, REPORT_ROWS = 8 };

void campaign_logs_report(int dir, const char *folder, struct buf *to)
{
    CLEANUP_BUF struct buf text;
    struct json *summary = NULL;
    struct err err = {0};
    size_t rows = 0;
    buf_init(&text, REPORT_BYTES + 1);
    if (fs_read(dir, "logs/" LOGS_SUMMARY, REPORT_BYTES, 0, &text, &err) || json_parse(&summary, buf_text(&text), NULL, &err))
        return;
    buf_printf(to, "logs: %lld lines in %s/logs\n", (long long)json_integer(json_get(summary, "lines"), 0), folder);
    for (const struct json *s = json_first(json_get(summary, "streams")); s; s = json_next(s)) {
        double lines = json_number(json_get(s, "lines"), 0), seconds = json_number(json_get(s, "seconds"), 0);
        if (rows++ >= REPORT_ROWS)
            continue;
        buf_printf(to, "logs: %s on %s, %s: %.0f line%s", json_string(json_get(s, "component"), ""), json_string(json_get(s, "node"), ""),
                   json_string(json_get(s, "stream"), ""), lines, str_plural((size_t)lines));
        if (seconds > 0)
            buf_printf(to, " in %.3g s, %.3g lines/s", seconds, lines / seconds);
        buf_putc(to, '\n');
    }
    if (rows > REPORT_ROWS)
        buf_printf(to, "logs: %zu more streams: benchwrap recipe logs --summary\n", rows - REPORT_ROWS);
    json_free(summary);
}

/* ---- logs of earlier executions ---- */

enum { EARLIER_MAX = 10000 };

struct earlier_logs {
    int dir;
    struct arena a;
    struct earlier {
        char *path; /* before-TIME/logs */
        int64_t ended_ms;
        uint64_t bytes;
    } * list;
    size_t count, room;
    uint64_t bytes; /* of all logs of the campaign */
};

struct log_bytes {
    int dir;
    const char *folder;
    uint64_t sum;
};

static int add_log_bytes(void *context, const char *name, unsigned char type)
{
    struct log_bytes *n = context;
    char path[800];
    struct stat st;
    (void)type;
    if (snprintf(path, sizeof path, "%s/%s", n->folder, name) < (int)sizeof path && fstatat(n->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        n->sum += (uint64_t)st.st_size;
    return 0;
}

static uint64_t bytes_of_logs(int dir, const char *folder)
{
    struct log_bytes n = {.dir = dir, .folder = folder};
    fs_each_name(dir, folder, add_log_bytes, &n);
    return n.sum;
}

static int add_earlier(void *context, const char *name, unsigned char type)
{
    struct earlier_logs *e = context;
    int64_t when;
    (void)type;
    char *path = arena_printf(&e->a, "%.200s/logs", name);
    if (!str_starts(str_of(name), "before-") || !str_int(str_of(name + 7), &when) || e->count == EARLIER_MAX || !path ||
        faccessat(e->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) || !ARRAY_FITS_IN(&e->a, e->list, e->room, e->count + 1))
        return 0;
    e->list[e->count] = (struct earlier){path, when, bytes_of_logs(e->dir, path)};
    e->bytes += e->list[e->count++].bytes;
    return 0;
}

static int order_earlier(const void *x, const void *y)
{
    const struct earlier *a = x, *b = y;
    return a->ended_ms < b->ended_ms ? -1 : a->ended_ms > b->ended_ms;
}

size_t campaign_logs_keep(int dir, const struct recipe *r)
{
    const struct yaml *keep = yaml_get(yaml_get(r->root, "logs"), "keep");
    struct earlier_logs e = {.dir = dir};
    double age_s = 0;
    uint64_t most = 0;
    size_t removed = 0;
    struct err err = {0};
    bool has_age = str_duration(yaml_text(keep, "age", ""), &age_s), has_size = str_size(yaml_text(keep, "size", ""), &most);
    if (!has_age && !has_size)
        return 0;
    arena_init(&e.a, 0);
    fs_each_name(dir, NULL, add_earlier, &e);
    e.bytes += bytes_of_logs(dir, "logs");
    if (e.count)
        qsort(e.list, e.count, sizeof *e.list, order_earlier);
    for (size_t i = 0; i < e.count; i++) {
        bool is_old = has_age && (double)(clock_wall_ms() - e.list[i].ended_ms) / 1e3 > age_s;
        if ((is_old || (has_size && e.bytes > most)) && fs_remove_tree(dir, e.list[i].path, &err) == 0) {
            e.bytes -= e.list[i].bytes;
            removed++;
        }
    }
    arena_deinit(&e.a);
    return removed;
}

/* ---- printing ---- */

/* The names of an option that may be repeated, NULL-terminated; NULL: none. */
static const char *const *logs_names(const struct opt_set *opts, const char *option, struct arena *a)
{
    const char **names = arena_get(a, (LOGS_NAMES_MAX + 1) * sizeof *names);
    size_t n = 0;
    for (const struct opt_value *v = opt_find(opts, option); names && v && v->text && n < LOGS_NAMES_MAX; v = v->next)
        names[n++] = v->text;
    return n ? (const char *const *)names : NULL;
}

/* Reads the options that choose log lines. Texts are in the arena. -1 with err: one has a wrong
 * value. */
static int logs_filter_of(const struct opt_set *opts, struct arena *a, struct logs_filter *ret, struct err *err)
{
    const char *severity = opt_text(opts, OPTION_SEVERITY), *request = opt_text(opts, OPTION_REQUEST);
    uint64_t number;
    *ret = (struct logs_filter){.components = logs_names(opts, OPTION_COMPONENT, a),
                                .nodes = logs_names(opts, OPTION_NODE, a),
                                .stream = opt_text(opts, OPTION_STREAM),
                                .least = LOGS_UNKNOWN};
    if (severity && (ret->least = logs_severity_find(str_of(severity))) == LOGS_UNKNOWN)
        return err_set(err, ERR_USAGE, "--severity: expected fatal, error, warning, info or debug, got \"%.40s\"", severity);
    if (request && !str_uint(str_of(request), &number))
        return err_set(err, ERR_USAGE, "--request: expected the number of a request, got \"%.40s\"", request);
    ret->request = request ? arena_printf(a, "%0*llu", LOGS_REQUEST_DIGITS, (unsigned long long)number) : NULL;
    if (request && !ret->request)
        return err_memory(err, "log lines");
    if (ret->stream && strcmp(ret->stream, "stdout") != 0 && strcmp(ret->stream, "stderr") != 0)
        return err_set(err, ERR_USAGE, "--stream: expected stdout or stderr, got \"%.40s\"", ret->stream);
    return 0;
}

static int logs_print_listing(struct listing *l, bool json, FILE *out, struct err *err)
{
    int rc = listing_write(l, json ? LISTING_JSON : LISTING_TABLE, out);
    listing_deinit(l);
    return rc < 0 ? err_memory(err, "the listing") : 0;
}

int campaign_logs_print(const char *folder, const struct opt_set *opts, struct arena *a, FILE *out, struct err *err)
{
    struct logs_view v = {.out = out, .json = opt_on(opts, OPTION_JSON), .follow = opt_on(opts, OPTION_FOLLOW), .stop_fd = -1};
    const char *last = opt_text(opts, OPTION_LAST);
    if (logs_filter_of(opts, a, &v.filter, err))
        return -1;
    CLEANUP_FD int fd = open_logs_folder(folder, false, a, err);
    v.folder = fd;
    if (fd < 0)
        return -1;
    if (opt_on(opts, OPTION_SUMMARY)) {
        struct listing l;
        listing_init(&l, logs_summary_columns, logs_summary_columns_count, a);
        int rc = logs_summary_list(fd, &v.filter, &l, err);
        return rc ? (listing_deinit(&l), rc) : logs_print_listing(&l, v.json, out, err);
    }
    v.last = last ? (size_t)opt_integer(opts, OPTION_LAST) : v.follow ? 10 : 0;
    if (last && (opt_integer(opts, OPTION_LAST) < 1 || v.last > 1000000))
        return err_set(err, ERR_USAGE, "--last: expected 1 to 1000000, got \"%.40s\"", last);
    CLEANUP_FD int stop = v.follow ? stop_signals_open(NULL) : -1;
    v.stop_fd = stop;
    return logs_view_print(&v, err);
}

/* How the merged files were written: the keys of the recipe that was executed last. */
static int read_written_outputs(const char *folder, struct logger_work *w, struct arena *a, struct err *err)
{
    struct buf text CLEANUP_BUF;
    struct yaml *root;
    const char *path = arena_printf(a, "%s/" CAMPAIGN_RECIPE, folder);
    buf_init(&text, RECIPE_FILE_MAX + 1);
    if (!path)
        return err_memory(err, "the recipe of the campaign");
    if (faccessat(AT_FDCWD, path, F_OK, 0) && errno == ENOENT)
        return 0;
    if (fs_read(AT_FDCWD, path, RECIPE_FILE_MAX, 0, &text, err))
        return -1;
    const char *copy = arena_dup(a, text.p ? text.p : "", text.n); /* the tree has parts of it */
    if (!copy)
        return err_memory(err, "the recipe of the campaign");
    if (yaml_parse(&root, path, (struct str){copy, text.n}, a, err))
        return -1;
    return read_outputs(&(struct recipe){.arena = a, .root = root}, w, a) ? err_memory(err, "the recipe of the campaign") : 0;
}

int campaign_logs_check(const char *folder, bool json, struct arena *a, FILE *out, struct err *err)
{
    struct logger_work w = {.folder = -1, .alerts = -1};
    struct listing l;
    size_t bad = 0;
    if (read_written_outputs(folder, &w, a, err))
        return -1;
    CLEANUP_FD int fd = open_logs_folder(folder, false, a, err);
    if (fd < 0)
        return -1;
    listing_init(&l, logs_check_columns, logs_check_columns_count, a);
    int rc = logs_check_folder(fd, &w.outputs, &l, &bad, err);
    if (rc) {
        listing_deinit(&l);
        return rc;
    }
    return logs_print_listing(&l, json, out, err) ? -1 : bad > 0;
}
