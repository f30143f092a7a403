/* cmd_slurm_stats.c: `benchwrap slurm-stats`: metrics of a Slurm cluster for Prometheus: to standard output, a file or a scrape endpoint. */
#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/http.h"
#include "base/http_serve.h"
#include "base/place.h"
#include "base/query.h"
#include "base/stop_signals.h"
#include "cmd/record_delivery.h"
#include "exporters/metric_records.h"
#include "exporters/metric_text.h"
#include "exporters/slurm_metrics.h"
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 256 << 20, TEXT_MAX = 64 << 20, REQUEST_MS = 20000, LOCK_MS = 25000, LOCK_STEP_MS = 50, REPLY_MAX = 64 << 20 };

static const struct opt_row rows[] = {
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Output",
     .help = "Replace this file as one step, for node exporter's textfile collector (default: standard output)"},
    {.name = OPTION_SERVE,
     .kind = OPT_TEXT,
     .arg = "[ADDRESS:]PORT",
     .group = "Output",
     .help = "Serve them at http://ADDRESS:PORT/metrics until stopped (default: 127.0.0.1)"},
    {.name = OPTION_TO,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Output",
     .help = "Deliver them by this exporter of the configuration: azure, otlp, httpjson or jsonl"},
    {.name = OPTION_WAIT,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "30s",
     .group = "Output",
     .help = "With --to, end when the destination accepts nothing for so long"},
    {.name = OPTION_OPENMETRICS, .kind = OPT_FLAG, .group = "Output", .help = "Print OpenMetrics 1.0 instead of Prometheus's text format"},
    {.name = OPTION_SLURMCTLD,
     .kind = OPT_TEXT,
     .arg = "URL",
     .group = "Source",
     .help = "Read the metrics that slurmctld 25.11 and newer serves itself, such as http://ctl:6817, instead of commands of Slurm"},
    {.name = OPTION_MAX_AGE,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "30s",
     .group = "Source",
     .help = "Use what this user read from Slurm so long ago"},
    {.name = OPTION_NO_USERS, .kind = OPT_FLAG, .group = "Source", .help = "Leave out metrics of single users"},
};

struct slurm_reading {
    struct cmd_context *c;
    const char *url; /* of slurmctld; NULL: commands */
    bool open, hide_users;
    double max_age_s;
};

/* ---- the cache, which is one user's ---- */

/* Opens the folder of the cache. Returns a descriptor that the caller closes; -1: no cache is used,
 * or another user owns the folder. */
static int cache_open_folder(const struct slurm_reading *g)
{
    struct buf path CLEANUP_BUF;
    buf_init(&path, 4096);
    if (g->max_age_s <= 0 || !probes_cache_dir(g->c->env, &path))
        return -1;
    int fd = place_open_folder(path.p, 0700);
    if (fd >= 0 && place_is_own(fd))
        return fd;
    fs_close(&fd);
    return -1;
}

enum { CACHE_NAME = 64 };

/* Writes the name of the file with the answer to this request: one for each source, format and set
 * of users. */
static void slurm_cache_name(const struct slurm_reading *g, char ret[CACHE_NAME])
{
    char source[24] = "";
    if (g->url)
        snprintf(source, sizeof source, "-%016" PRIx64, hash_bytes(1, g->url, strlen(g->url)));
    snprintf(ret, CACHE_NAME, "slurm-stats%s%s%s", source, g->open ? "-open" : "", g->hide_users ? "-few" : "");
}

static bool cache_read(const struct slurm_reading *g, int folder, struct buf *to)
{
    struct stat st;
    struct timespec now;
    char name[CACHE_NAME];
    slurm_cache_name(g, name);
    clock_gettime(CLOCK_REALTIME, &now);
    if (folder < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid())
        return false;
    double age_s = difftime(now.tv_sec, st.st_mtim.tv_sec) + (double)(now.tv_nsec - st.st_mtim.tv_nsec) / 1e9;
    return age_s >= -1 && age_s <= g->max_age_s && fs_read(folder, name, TEXT_MAX - 1, 0, to, NULL) == 0 && to->n > 0;
}

/* Of callers at one time, one queries Slurm; the others wait for its answer. */
static int cache_lock(int folder)
{
    int fd = folder >= 0 ? openat(folder, "slurm-stats.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    const struct timespec step = {.tv_nsec = LOCK_STEP_MS * 1000000L};
    for (int ms = 0; fd >= 0 && fs_lock(fd) && (errno == EAGAIN || errno == EACCES) && ms < LOCK_MS; ms += LOCK_STEP_MS)
        nanosleep(&step, NULL);
    return fd;
}

/* ---- reading ---- */

/* Runs all Slurm commands at once and appends their metrics. -1 with err, which has the first
 * command's reason: none returned an answer that is known. */
static int read_from_commands(const struct slurm_reading *g, struct buf *to, struct err *err)
{
    struct query queries[SLURM_SOURCES];
    struct slurm_tally tally;
    struct metric_set set;
    struct arena a;
    size_t up = 0;
    char why[200] = "";
    arena_init(&a, 512 << 20);
    int rc = slurm_tally_init(&tally, &a, g->hide_users, err);
    for (size_t i = 0; i < SLURM_SOURCES; i++)
        query_start(&queries[i], (char *const *)slurm_sources[i].command, g->c->env, ANSWER_MAX, REQUEST_MS, 0, NULL);
    for (size_t i = 0; i < SLURM_SOURCES; i++) {
        struct query *q = &queries[i];
        bool good = query_wait(q, REQUEST_MS + 1000) == QUERY_DONE && WIFEXITED(q->status) && WEXITSTATUS(q->status) == 0 && rc == 0 &&
                    slurm_tally_add(&tally, i, buf_text(&q->text));
        if (rc == 0)
            slurm_tally_state(&tally, i, good);
        if (!good && !why[0]) {
            struct buf plain CLEANUP_BUF;
            buf_init(&plain, 800);
            buf_plain(&plain, str_trim(buf_text(&q->why)), 100);
            snprintf(why, sizeof why, "%s: %.120s", slurm_sources[i].name,
                     q->end == QUERY_LATE ? "no answer"
                     : plain.n            ? plain.p
                                          : "it is not installed, or its output is unknown");
        }
        up += good;
        query_close(q);
    }
    if (rc == 0 && up == 0)
        rc = err_set(err, ERR_SYSTEM, "no command of Slurm answers: %s", why);
    if (rc == 0 && (rc = slurm_tally_end(&tally, &set, err)) == 0)
        metric_text_put(&set, g->open ? METRIC_TEXT_OPENMETRICS : METRIC_TEXT_PLAIN, NULL, to);
    if (rc == 0 && why[0])
        fprintf(g->c->notes, "benchwrap: slurm-stats: %s\n", why);
    arena_deinit(&a);
    return rc;
}

/* Appends the metrics that slurmctld serves, as one document: each part ends with "# EOF", which is
 * left out. -1 with err. */
static int read_from_slurmctld(const struct slurm_reading *g, struct buf *to, struct err *err)
{
    static const char *const parts[] = {"jobs", "nodes", "partitions", "jobs-users-accts", "scheduler"};
    struct http *h = NULL;
    const struct http_config config = {
        .agent = "benchwrap/" BW_VERSION, .connect_s = 5, .total_s = 20, .cancel_fd = -1, .no_redirects = true};
    size_t n = strlen(g->url);
    if (http_new(&h, &config, err))
        return -1;
    while (n && g->url[n - 1] == '/')
        n--;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
        struct http_reply r = {.status = 0};
        if (g->hide_users && strcmp(parts[i], "jobs-users-accts") == 0)
            continue;
        const char *url = arena_printf(g->c->arena, "%.*s/metrics/%s", (int)n, g->url, parts[i]);
        struct http_request q = {.method = "GET", .url = url, .reply_max = REPLY_MAX};
        rc = url ? http_do(h, &q, &r, err) : err_memory(err, "an address");
        if (rc == 0 && r.status != 200)
            rc = err_set(err, ERR_REMOTE, "%s: status %d; slurmctld serves metrics from version 25.11 on, with MetricsType in slurm.conf",
                         url, r.status);
        for (struct str rest = buf_text(&r.body); rc == 0 && rest.p;) {
            struct str line = str_cut(&rest, '\n');
            if (line.n && !str_starts(line, "# EOF")) {
                buf_str(to, line);
                buf_putc(to, '\n');
            }
        }
        http_reply_deinit(&r);
    }
    http_free(h);
    if (rc == 0 && g->open)
        buf_puts(to, "# EOF\n");
    if (rc == 0 && to->p)
        str_make_plain(to->p, to->n);
    return rc;
}

static int slurm_metrics_get(const struct slurm_reading *g, struct buf *to, struct err *err)
{
    CLEANUP_FD int folder = cache_open_folder(g);
    if (cache_read(g, folder, to))
        return 0;
    buf_clear(to);
    CLEANUP_FD int lock = cache_lock(folder);
    if (lock >= 0 && cache_read(g, folder, to))
        return 0;
    buf_clear(to);
    if (g->url ? read_from_slurmctld(g, to, err) : read_from_commands(g, to, err))
        return -1;
    if (to->failed)
        return err_memory(err, "the metrics of Slurm");
    char name[CACHE_NAME];
    slurm_cache_name(g, name);
    if (folder >= 0)
        fs_write(folder, name, buf_text(to), 0600, false, NULL); /* without a cache the next call queries Slurm again */
    return 0;
}

/* ---- the endpoint ---- */

/* Answers one HTTP request: the metrics in the format that it accepts. Returns the HTTP status; the
 * body of 500 has the note that was printed. */
static int serve_slurm_metrics(void *context, const struct http_question *q, const char **ret_type, struct buf *body)
{
    struct slurm_reading g = *(const struct slurm_reading *)context;
    struct err err = {0};
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    if (!str_is(q->path, "/metrics"))
        return 404;
    g.open = str_has(q->accept, "application/openmetrics-text");
    *ret_type = g.open ? METRIC_TEXT_OPENMETRICS_TYPE : METRIC_TEXT_TYPE;
    if (slurm_metrics_get(&g, &text, &err)) {
        fprintf(g.c->notes, "benchwrap: slurm-stats: %s\n", err.text);
        *ret_type = "text/plain; charset=utf-8";
        return 500;
    }
    buf_str(body, buf_text(&text));
    return 200;
}

static int serve_slurm_until_stopped(struct slurm_reading *g, const char *text)
{
    struct http_place place;
    struct buf url CLEANUP_BUF;
    buf_init(&url, 200);
    if (!http_serve_place(text, &place))
        return err_set(g->c->err, ERR_USAGE, "--serve: expected [ADDRESS:]PORT with a numeric address, got \"%.80s\"", text);
    int listener = http_serve_listen(&place, g->c->err);
    if (listener < 0)
        return -1;
    CLEANUP_FD int fd = stop_signals_open(NULL);
    http_serve_url(listener, &url);
    fprintf(g->c->notes, "benchwrap: slurm-stats: %s/metrics\n", url.p ? url.p : "");
    struct http_server *s = http_serve_new(listener, serve_slurm_metrics, g);
    if (!s)
        close(listener);
    while (s && !http_serve_wait(s, fd, clock_mono_ns() + INT64_C(3600000000000))) {}
    http_serve_free(s);
    return s ? 0 : err_memory(g->c->err, "a server");
}

/* ---- an exporter ---- */

static int send_slurm_batch(struct cmd_context *c, const struct exporter_config *to, const struct exporter_batch *b)
{
    size_t handled, refused;
    if (record_delivery_send(c, to, b, opt_seconds(&c->opts, OPTION_WAIT), "metric", &handled, &refused))
        return -1;
    fprintf(c->out, "%zu metrics delivered", handled - refused);
    if (refused)
        fprintf(c->out, ", %zu refused", refused);
    fputc('\n', c->out);
    return refused ? 1 : 0;
}

static int send_slurm_metrics(struct cmd_context *c, struct str page, const char *name)
{
    struct plan plan;
    struct exporter_batch b;
    char computer[256] = "", *line[] = {arena_dup(c->arena, "slurm-stats", 11), NULL};
    gethostname(computer, sizeof computer - 1);
    const struct metric_records_source from = {clock_wall_ms(), computer, env_text(c->env, "SLURM_CLUSTER_NAME")};
    if (!line[0] || plan_make(&plan, 1, line, c->env, c->err))
        return -1;
    const struct exporter_config *to = record_delivery_find(&plan, name, c->err);
    int rc = to ? metric_records_make(&b, page, &from, c->arena, c->err) : -1;
    if (rc == 0)
        rc = send_slurm_batch(c, to, &b);
    plan_deinit(&plan);
    return rc;
}

static int slurm_stats_command(struct cmd_context *c)
{
    struct slurm_reading g = {.c = c,
                              .url = opt_text(&c->opts, OPTION_SLURMCTLD),
                              .open = opt_on(&c->opts, OPTION_OPENMETRICS),
                              .hide_users = opt_on(&c->opts, OPTION_NO_USERS),
                              .max_age_s = opt_seconds(&c->opts, OPTION_MAX_AGE)};
    const char *file = opt_text(&c->opts, OPTION_OUTPUT), *serve = opt_text(&c->opts, OPTION_SERVE), *to = opt_text(&c->opts, OPTION_TO);
    struct buf text CLEANUP_BUF;
    buf_init(&text, TEXT_MAX);
    if (c->argc > 0)
        return err_set(c->err, ERR_USAGE, "expected no words, got \"%.40s\"", c->argv[0]);
    if ((file != NULL) + (serve != NULL) + (to != NULL) > 1)
        return err_set(c->err, ERR_USAGE, "--output, --serve and --to exclude each other");
    if (serve)
        return serve_slurm_until_stopped(&g, serve);
    if (slurm_metrics_get(&g, &text, c->err))
        return -1;
    if (to)
        return send_slurm_metrics(c, buf_text(&text), to);
    if (file)
        return fs_write(AT_FDCWD, file, buf_text(&text), 0644, true, c->err);
    fwrite(text.p ? text.p : "", 1, text.n, c->out);
    return 0;
}

const struct cmd cmd_slurm_stats = {
    .name = "slurm-stats",
    .summary = "Print metrics of a Slurm cluster for Prometheus",
    .usage = "[--output FILE | --serve [ADDRESS:]PORT | --to NAME] [--slurmctld URL]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Jobs, nodes, CPUs and GPUs by state, by partition, account and user, statistics of the scheduler, and fair share, under the names of the "
        "Prometheus Slurm exporter. benchwrap runs squeue, sinfo, sdiag and sshare once each, and only when this command is called or its "
        "endpoint is scraped. What a user read within --max-age is used again, so that Slurm answers one request of each kind in that time.\n"
        "\n"
        "slurmctld 25.11 and newer serves metrics itself: --slurmctld reads them instead, under slurmctld's own names.\n"
        "\n"
        "The profile is a property of runs and changes nothing here: --no-users leaves metrics of single users out.\n"
        "\n"
        "A command that does not answer within 20 s is left out; benchwrap_slurm_source_up is 0 for it.",
    .examples = "$ benchwrap slurm-stats\n"
                "Print the metrics.\n"
                "$ benchwrap slurm-stats --output /var/lib/node_exporter/slurm.prom\n"
                "Write them for node exporter, from a timer.\n"
                "$ benchwrap slurm-stats --serve 9401\n"
                "Answer Prometheus's scrapes.\n"
                "$ benchwrap slurm-stats --to azure\n"
                "Deliver them once, from a timer, by the exporter azure of the configuration.\n",
    .run = slurm_stats_command,
};
