/* cmd_ui.c: `benchwrap ui`: the runs of this tree in MLflow's own web interface. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/json_out.h"
#include "base/stop_signals.h"
#include "cmd/help.h"
#include "sync/sync_runs.h"
#include "ui/ui_front.h"
#include "ui/ui_server.h"
#include "ui/ui_view.h"
#include "cmd/selection.h"
#include "plan/plan.h"
#include "mlflow/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORT = 5000, PORTS = 100, START_MS = 180000, LOOK_MS = 2000, DEPTH_MAX = 32 };

/* Of an experiment: the metrics whose column is their median, a line each. */
struct ui_medians {
    const char *experiment, *keys;
    struct ui_medians *next;
};

struct ui {
    struct cmd_context *c;
    struct runs runs; /* of the current round */
    const char *folder; /* .benchwrap/ui */
    const char *host, *experiment /* requested, or NULL */;
    int port, lock, cancel_fd, dir /* the folder, open */;
    char *argv[16];
    const char *socket; /* in the folder: where MLflow listens */
    char secret[UI_SECRET_MAX + 1];
    struct ui_server server;
    struct ui_front front;
    struct mlflow *client;
    struct mlflow_store *store; /* the database, NULL: runs are sent by requests */
    struct upload *upload;
    struct ui_medians *medians;
    struct progress progress;
    char url[300], open_url[500]; /* the address, and with the secret */
    bool waited; /* a line has reported that the server is being started */
};

static void ui_note(void *context, const char *text)
{
    struct ui *ui = context;
    progress_clear(&ui->progress);
    fprintf(ui->c->notes, "benchwrap: ui: %s\n", text);
}

static bool asked_to_end(const struct ui *ui, int ms)
{
    struct pollfd p = {.fd = ui->cancel_fd, .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

/* --open: by a page of benchwrap, since every user of the machine can read the command line of a
 * browser. */
static void open_link(struct ui *ui, const char *link)
{
    CLEANUP_BUF struct buf page;
    const char *path = arena_printf(ui->c->arena, "%s/open.html", ui->folder);
    buf_init(&page, 4096);
    if (!opt_on(&ui->c->opts, OPTION_OPEN))
        return;
    buf_printf(&page, "<!doctype html><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url=%s\">\n", link);
    if (page.failed || fs_write(AT_FDCWD, path, buf_text(&page), 0600, false, NULL))
        ui_note(ui, "the page for the browser cannot be written");
    else
        ui_open("xdg-open", path);
}

/* ---- the folder ---- */

/* .benchwrap/ui next to the tree, or where a tree that cannot be written has its spool. */
static int choose_folder(struct ui *ui, bool make)
{
    struct cmd_context *c = ui->c;
    struct plan plan;
    char *line[] = {arena_dup(c->arena, "ui", 2), arena_printf(c->arena, "--tree=%s", ui->runs.tree), NULL};
    if (plan_make(&plan, 2, line, c->env, c->err))
        return -1;
    const char *roots[] = {plan.spool, plan.spool_fallback};
    for (size_t i = 0; i < 2 && !ui->folder; i++) {
        size_t n = roots[i] ? strlen(roots[i]) : 0, suffix = sizeof "/spool" - 1;
        if (n <= suffix)
            continue;
        const char *path =
            i == 0 ? arena_printf(c->arena, "%.*s/ui", (int)(n - suffix), roots[i]) /* several trees share the second place */
                   : arena_printf(c->arena, "%.*s/ui-%u", (int)(n - suffix), roots[i], tree_experiment_id(str_of(ui->runs.tree)));
        CLEANUP_FD int dir = path && make ? place_open_below(path, 2, 0700) : -1;
        if (path && (!make || (dir >= 0 && faccessat(dir, ".", W_OK, 0) == 0)))
            ui->folder = path;
        if (ui->folder && make) /* "git status" is quiet, also in a clone that "init" has not set up */
            fs_write(dir, ".gitignore", STR("*\n"), 0600, false, NULL);
    }
    plan_deinit(&plan);
    return ui->folder
               ? 0
               : err_set(c->err, ERR_SYSTEM,
                         "there is no place for the database: no folder can be written, neither next to the tree %s nor in the home folder",
                         ui->runs.tree);
}

/* The folder has the database, MLflow's socket and the link with its secret. The user must own it,
 * and others have no access.. */
static int close_folder(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    struct stat st;
    ui->dir = place_open_below(ui->folder, 2, 0);
    if (ui->dir < 0 || fstat(ui->dir, &st))
        return err_sys(c->err, "cannot open %s", ui->folder);
    if (st.st_uid != geteuid())
        return err_set(c->err, ERR_INPUT, "%s belongs to another user (uid %u)", ui->folder, (unsigned)st.st_uid);
    if (st.st_mode & 0022)
        return err_set(c->err, ERR_INPUT, "others may write to %s: remove it, it holds nothing but copies of runs", ui->folder);
    return st.st_mode & 0077 && fchmod(ui->dir, 0700) ? err_sys(c->err, "cannot close %s to others", ui->folder) : 0;
}

/* One server a tree. 1: there is one already; its address is printed. */
static int take_lock(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    char link[700] = "";
    ui->lock = openat(ui->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (ui->lock < 0)
        return err_sys(c->err, "opening %s/lock", ui->folder);
    if (fs_lock(ui->lock) == 0 || (errno != EAGAIN && errno != EACCES)) /* a file system without locks: as if locked */
        return ftruncate(ui->lock, 0) < 0 ? err_sys(c->err, "emptying %s/lock", ui->folder) : 0;
    ssize_t n = pread(ui->lock, link, sizeof link - 1, 0);
    if (n <= 0)
        return err_set(c->err, ERR_INPUT, "another \"benchwrap ui\" is just starting a server for this tree");
    fprintf(c->out, "%s\n", link);
    ui_note(ui, "the runs of this tree are served there already");
    open_link(ui, link);
    return 1;
}

/* ---- the server ---- */

static int choose_port(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    if (opt_text(&c->opts, OPTION_PORT)) {
        ui->port = (int)opt_integer(&c->opts, OPTION_PORT);
        return ui_port_free(ui->host, ui->port)
                   ? 0
                   : err_set(c->err, ERR_INPUT, "port %d of %s is in use: name another with --port", ui->port, ui->host);
    }
    for (ui->port = PORT; ui->port < PORT + PORTS; ui->port++)
        if (ui_port_free(ui->host, ui->port))
            return 0;
    return err_set(c->err, ERR_SYSTEM, "no port from %d to %d of %s is free: name one with --port", PORT, PORT + PORTS - 1, ui->host);
}

/* Paths are relative: in an address of a database, '?' and '%' of a path would have another
 * meaning. */
static int make_server_command(struct ui *ui, const char *mlflow)
{
    struct arena *a = ui->c->arena;
    static const char *const words[] = {"server",
                                        "--backend-store-uri",
                                        "sqlite:///mlflow.db",
                                        "--artifacts-destination",
                                        "./artifacts",
                                        "--default-artifact-root",
                                        "mlflow-artifacts:/",
                                        "--workers",
                                        "1",
                                        "--host"};
    size_t n = 0;
    ui->argv[n++] = arena_dup(a, mlflow, strlen(mlflow));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ui->argv[n++] = arena_dup(a, words[i], strlen(words[i]));
    ui->argv[n++] =
        arena_dup(a, "unix:mlflow.sock", 16); /* gunicorn's word for a socket; it appends the port. UVICORN_UDS names the same */
    ui->argv[n++] = arena_dup(a, "--port", 6);
    ui->argv[n++] = arena_printf(a, "%d", ui->port);
    ui->argv[n] = NULL;
    ui->socket = arena_printf(a, "mlflow.sock:%d", ui->port);
    const char *host = strcmp(ui->host, "0.0.0.0") == 0 ? "127.0.0.1" : ui->host;
    snprintf(ui->url, sizeof ui->url, "http://%.250s:%d", host, ui->port);
    snprintf(ui->open_url, sizeof ui->open_url, "http://" UI_FRONT_USER ":%s@%.250s:%d", ui->secret, host, ui->port);
    return a->failed ? err_memory(ui->c->err, "the server of the UI") : 0;
}

/* Waits until it answers. Returns 0; 1: a signal requests the end; -1: it ended, or was too slow. */
static int wait_ready(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    int64_t begin = clock_mono_ns(), waited_ms;
    progress_begin(&ui->progress, c->notes, "starting MLflow: second", 0);
    while ((waited_ms = (clock_mono_ns() - begin) / 1000000) < START_MS) {
        struct err why = {0};
        progress_show(&ui->progress, (size_t)waited_ms / 1000 + 1, NULL);
        bool ended = ui_server_ended(&ui->server), ready = !ended && mlflow_health(ui->client, &why) == MLFLOW_FINE;
        if (ended || ready || asked_to_end(ui, 200)) {
            progress_clear(&ui->progress);
            return ended ? err_set(c->err, ERR_SYSTEM, "MLflow ended while it started") : !ready;
        }
    }
    progress_clear(&ui->progress);
    return err_set(c->err, ERR_SYSTEM, "MLflow does not answer at %s after %d s", ui->url, START_MS / 1000);
}

/* The last words of the server, for a message; true: they complain of a database of another version. */
static bool last_words(struct ui *ui, struct buf *to)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 8 << 20);
    fs_read(ui->dir, "server.log", 4 << 20, FS_CUT, &text, NULL);
    struct str all = str_trim(buf_text(&text));
    size_t from = all.n;
    for (int lines = 0; from > 0 && lines < 3; from--)
        lines += all.p[from - 1] == '\n';
    buf_plain(to, str_trim(str_sub(all, from, all.n)), 500);
    return str_has(all, "out-of-date database schema") || str_has(all, "Can't locate revision");
}

/* The database holds nothing that the tree does not: one that this MLflow cannot read is made
 * again. */
static void forget_database(struct ui *ui)
{
    static const char *const names[] = {"mlflow.db", "mlflow.db-wal", "mlflow.db-shm", "mlflow.db-journal", "artifacts", "state"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err why = {0};
        fs_remove_tree(ui->dir, names[i], &why);
    }
}

/* Starts the server and waits until it answers. A database that this MLflow cannot read is made
 * again, once. 0; 1: a signal requests the end; -1 with c->err, which has the server's last
 * messages. */
static int start_server(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    struct mlflow_config config = {.uri = ui->url,
                                   .http = {.agent = "benchwrap/" BW_VERSION,
                                            .cancel_fd = ui->cancel_fd,
                                            .total_s = 120,
                                            .unix_socket = arena_printf(c->arena, "/proc/self/fd/%d/%s", ui->dir, ui->socket)},
                                   .retries = 5,
                                   .backoff_s = 0.2,
                                   .jitter_s = 0.1};
    if (mlflow_open(&ui->client, &config, c->err))
        return -1;
    for (int i = 0;; i++) {
        CLEANUP_BUF struct buf words;
        buf_init(&words, 8192);
        if (ui_server_start(&ui->server, arena_printf(c->arena, "/proc/self/fd/%d", ui->dir), ui->socket, ui->argv, c->env, c->err))
            return -1;
        ui_note(ui, "starting MLflow, which needs about 15 s");
        int rc = wait_ready(ui);
        if (rc >= 0)
            return rc;
        ui_server_stop(&ui->server);
        bool old = last_words(ui, &words);
        const char *why = arena_printf(c->arena, "%s", c->err->text);
        if (!old || i)
            return err_set(c->err, ERR_SYSTEM, "%.200s; its last words (%.200s/server.log): %s", why ? why : "", ui->folder,
                           words.n ? words.p : "none");
        ui_note(ui, "the database is of another version of MLflow: it is made again from the tree");
        forget_database(ui);
    }
}

/* ---- runs into the database ---- */

/* Rows instead of requests, where that can be. */
static void open_store(struct ui *ui)
{
    struct err why = {0};
    if (store_open(&ui->store, arena_printf(ui->c->arena, "/proc/self/fd/%d/mlflow.db", ui->dir), &why) == 0)
        mlflow_use_store(ui->client, ui->store);
    else
        ui_note(ui, arena_printf(ui->c->arena, "runs are sent one by one, which takes longer: %s", why.text));
}

/* The artifacts are linked to where the server keeps this run's: it refuses links that lead out, so each file has a second name. */
static int link_folder(int from, int to, int depth, struct err *err)
{
    struct fs_names list;
    int rc = 0;
    if (depth > DEPTH_MAX)
        return err_set(err, ERR_INPUT, "the artifacts have more than %d folders below one another", DEPTH_MAX);
    if (fs_list(from, ".", &list, err))
        return -1;
    for (size_t i = 0; i < list.count && rc == 0; i++) {
        const char *name = list.names[i];
        struct stat st;
        if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(st.st_mode)) {
            CLEANUP_FD int sub = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            rc = sub < 0 ? err_sys(err, "opening the artifacts %s", name) : fs_mkdirs(to, name, 0755, err);
            CLEANUP_FD int there = rc ? -1 : openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            if (rc == 0 && there < 0)
                rc = err_sys(err, "opening the folder for the artifacts %s", name);
            rc = rc ? -1 : link_folder(sub, there, depth + 1, err);
        } else if (S_ISREG(st.st_mode) && faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) && fs_link(from, name, to, name, 0444, err))
            rc = -1;
    }
    fs_names_deinit(&list);
    return rc;
}

/* Links the files of a run to where the local server searches them. `dir`: the run's folder. -1
 * with err. */
static int place_artifacts(void *context, const struct mlflow_run *run, int dir, struct err *err)
{
    struct ui *ui = context;
    struct str uri = str_of(run->artifact_uri), scheme = STR("mlflow-artifacts:/");
    if (!str_starts(uri, scheme.p) || str_has(uri, ".."))
        return err_set(err, ERR_REMOTE, "the artifacts of the run have the unknown place %.200s", run->artifact_uri);
    CLEANUP_FD int from = openat(dir, "artifacts", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (from < 0)
        return errno == ENOENT ? 0 : err_sys(err, "opening artifacts");
    char path[4200];
    snprintf(path, sizeof path, "artifacts/%.200s", run->artifact_uri + scheme.n);
    if (fs_mkdirs(ui->dir, path, 0700, err))
        return -1;
    CLEANUP_FD int to = place_open(ui->dir, path, O_RDONLY | O_DIRECTORY, 0);
    return to < 0 ? err_sys(err, "opening %s", path) : link_folder(from, to, 0, err);
}

/* Reads the tree again, in memory of its own. */
static int load_runs_again(struct ui *ui, struct cmd_context *round)
{
    struct runs_filter filter = {.experiment = ui->experiment, .corrected = true};
    return runs_load(&ui->runs, &filter, round->arena, round->err) < 0 ? -1 : 0;
}

static int import_runs(struct ui *ui, struct cmd_context *round)
{
    struct sync_runs s = {.arena = round->arena,
                          .runs = &ui->runs,
                          .upload = ui->upload,
                          .progress = &ui->progress,
                          .cancel_fd = ui->cancel_fd,
                          .newest_first = true,
                          .note = ui_note,
                          .context = ui};
    if (sync_runs_init(&s, round->err))
        return -1;
    for (size_t i = 0; i < s.count; i++)
        s.items[i].wanted = true;
    progress_begin(&ui->progress, ui->c->notes, "sending run", 0);
    sync_runs_send(&s);
    sync_runs_deinit(&s);
    return 0;
}

/* What changes whenever a run comes or goes: the times of the folders. */
static uint64_t tree_times_sum(const struct ui *ui)
{
    struct fs_names list;
    struct stat st;
    uint64_t sum = 0;
    if (fs_list(ui->runs.root, ".", &list, NULL))
        return 0;
    for (size_t i = 0; i < list.count; i++)
        if (fstatat(ui->runs.root, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            sum = sum * 1000003 + (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    fs_names_deinit(&list);
    return sum;
}

/* ---- the view, the link ---- */

static struct ui_medians *find_medians(struct ui *ui, const char *experiment)
{
    struct ui_medians *m = ui->medians;
    while (m && strcmp(m->experiment, experiment) != 0)
        m = m->next;
    return m;
}

static const char *medians_of(void *context, const char *experiment)
{
    const struct ui_medians *m = find_medians(context, experiment);
    return m ? m->keys : "";
}

/* They outlive the round in which they were found. */
static int note_medians(struct ui *ui, const char *experiment, struct str keys)
{
    struct arena *a = ui->c->arena;
    struct ui_medians *m = find_medians(ui, experiment);
    if (str_is(keys, m ? m->keys : ""))
        return 0;
    if (!m && (m = ARENA_NEW(a, struct ui_medians))) {
        *m = (struct ui_medians){.experiment = arena_dup(a, experiment, strlen(experiment)), .next = ui->medians};
        ui->medians = m;
    }
    const char *text = arena_dup(a, keys.n ? keys.p : "", keys.n);
    if (!m || !text || !m->experiment)
        return err_memory(ui->c->err, "the columns");
    m->keys = text;
    return 0;
}

static int set_views(struct ui *ui, struct cmd_context *round, const char **ret_id)
{
    const char *last = "";
    *ret_id = NULL;
    for (size_t i = 0; i < ui->runs.count; i++) {
        const char *name = ui->runs.all[i]->experiment, *id;
        bool seen = strcmp(name, last) == 0; /* newest first: those of one experiment are often adjacent */
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(ui->runs.all[k]->experiment, name) == 0;
        last = name;
        if (seen)
            continue;
        CLEANUP_BUF struct buf state, medians;
        buf_init(&state, 16 << 10);
        buf_init(&medians, 16 << 10);
        ui_view_state(&ui->runs, name, round->arena, &state, &medians);
        if (note_medians(ui, name, buf_text(&medians)))
            return -1;
        enum mlflow_answer answer = mlflow_experiment(ui->client, name, ui->c->arena, &id, round->err);
        if (answer == MLFLOW_FINE)
            answer = ui_view_set(ui->client, id, buf_text(&state), round->err);
        if (answer != MLFLOW_FINE)
            return -1;
        *ret_id = *ret_id ? *ret_id : id;
    }
    return 0;
}

static void print_link(struct ui *ui, const char *id)
{
    FILE *out = ui->c->out;
    char link[700];
    snprintf(link, sizeof link,
             id ? "%s/?enter#/experiments/%.64s/runs?viewStateShareKey=" UI_VIEW "&workflowType=machine_learning" : "%s/?enter",
             ui->open_url, id);
    fprintf(out, "%s\n", link);
    fflush(out);
    if (pwrite(ui->lock, link, strlen(link), 0) < 0)
        ui_note(ui, "the address cannot be noted for others");
    if (isatty(fileno(ui->c->notes)))
        ui_note(ui, "Ctrl-C ends the server");
    open_link(ui, link);
}

/* Imports the tree, checks it, and imports again when something is new, until a signal requests the
 * end. */
static int serve_until_stopped(struct ui *ui)
{
    struct err why = {0};
    uint64_t seen = 0;
    for (bool first = true;; first = false) {
        uint64_t now = tree_times_sum(ui);
        struct arena a;
        arena_init(&a, 0);
        struct cmd_context round = *ui->c;
        round.arena = &a;
        round.err = first ? ui->c->err : &why;
        int rc = 0;
        if (first || now != seen) {
            const char *id;
            rc = load_runs_again(ui, &round) || set_views(ui, &round, &id);
            if (rc == 0 && first)
                print_link(ui, id);
            rc = rc ? rc : import_runs(ui, &round);
            seen = now;
        }
        free(ui->runs.all);
        ui->runs.all = NULL;
        ui->runs.count = 0;
        arena_deinit(&a);
        if (rc && first)
            return asked_to_end(ui, 0) ? 0 : -1;
        if (rc && why.text[0])
            ui_note(ui, why.text);
        if (asked_to_end(ui, LOOK_MS))
            return 0;
        if (ui_server_ended(&ui->server))
            return err_set(ui->c->err, ERR_SYSTEM, "MLflow has ended by itself; %s/server.log may have the reason", ui->folder);
    }
}

/* ---- all of ui ---- */

static void ui_quoted(struct buf *b, const char *word)
{
    buf_putc(b, ' ');
    help_quote(b, word);
}

/* Prints what would be done, for users who do it by hand or check it first. */
static int ui_print(struct ui *ui)
{
    struct cmd_context *c = ui->c;
    CLEANUP_BUF struct buf b, text;
    buf_init(&b, 64 << 10);
    buf_init(&text, 256 << 10);
    buf_puts(&b, "cd");
    ui_quoted(&b, ui->folder);
    buf_printf(&b, " && UVICORN_UDS=%s", ui->socket);
    for (char **word = ui->argv; *word; word++)
        ui_quoted(&b, *word);
    if (b.failed)
        return err_memory(c->err, "the server of the UI");
    if (!opt_on(&c->opts, OPTION_JSON)) {
        fprintf(c->out, "%s\n%s/\n", b.p, ui->url);
        return 0;
    }
    struct json_out j = {.to = &text};
    json_open(&j, NULL, '{');
    json_text(&j, "folder", ui->folder);
    json_text(&j, "command", b.p);
    json_text(&j, "link", arena_printf(c->arena, "%s/", ui->url));
    json_text(&j, "experiment", ui->experiment);
    json_close(&j, '}');
    fputs(text.p ? text.p : "", c->out);
    return 0;
}

static int check_experiment(struct ui *ui)
{
    struct runs_filter filter = {.experiment = ui->experiment};
    if (!ui->experiment)
        return 0;
    if (runs_load(&ui->runs, &filter, ui->c->arena, ui->c->err) < 0)
        return -1;
    if (!ui->runs.count)
        return err_set(ui->c->err, ERR_INPUT, "%s", runs_explain_none(&ui->runs, &filter, ui->c->arena));
    free(ui->runs.all);
    ui->runs.all = NULL;
    ui->runs.count = 0;
    return 0;
}

static int refuse_without_mlflow(struct ui *ui)
{
    const char *own = ui_environment(ui->c->env, ui->c->arena);
    return err_set(
        ui->c->err, ERR_INPUT,
        "MLflow is not installed: there is no mlflow in PATH, in an active virtual environment, or in %s. \"benchwrap ui --install\" installs it there "
        "(Python, about 850 MB; once); or \"pip install mlflow\" where you like, and put it into PATH",
        own ? own : "$XDG_DATA_HOME/benchwrap/mlflow");
}

static int serve_tree(struct ui *ui, const char *mlflow)
{
    struct cmd_context *c = ui->c;
    int rc = choose_folder(ui, true);
    rc = rc ? rc : close_folder(ui);
    rc = rc ? rc : take_lock(ui);
    if (rc)
        return rc < 0 ? -1 : 0;
    ui->cancel_fd = stop_signals_open(NULL);
    if (ui_front_secret(opt_text(&c->opts, OPTION_SECRET_FILE), ui->secret, c->err) || choose_port(ui) || make_server_command(ui, mlflow) ||
        ui_front_start(&ui->front, ui->host, ui->port, ui->dir, ui->socket, ui->secret, c->err))
        return -1;
    rc = start_server(ui);
    struct upload_config config = {.server = ui->client,
                                   .state = arena_printf(c->arena, "%s/state", ui->folder),
                                   .together = true,
                                   .machine_apart = true,
                                   .medians = medians_of,
                                   .note = ui_note,
                                   .place = place_artifacts,
                                   .context = ui};
    if (rc == 0)
        open_store(ui);
    if (rc == 0)
        rc = upload_new(&ui->upload, &config, c->err) || serve_until_stopped(ui) ? -1 : 0;
    upload_free(ui->upload);
    mlflow_close(ui->client);
    store_close(ui->store);
    ui_server_stop(&ui->server);
    ui_front_stop(&ui->front); /* second: the server's guard has inherited the end of its pipe */
    unlinkat(ui->dir, ui->socket, 0);
    unlinkat(ui->dir, "open.html", 0);
    return rc < 0 ? -1 : 0;
}

static int ui_command(struct cmd_context *c)
{
    struct ui ui = {.c = c,
                    .host = opt_text(&c->opts, OPTION_HOST),
                    .experiment = opt_text(&c->opts, OPTION_EXPERIMENT),
                    .lock = -1,
                    .cancel_fd = -1,
                    .dir = -1,
                    .front = {.hold = -1},
                    .server = {.hold = -1}};
    const char *port = opt_text(&c->opts, OPTION_PORT);
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%s\"", c->argv[0]);
    if (port && (opt_integer(&c->opts, OPTION_PORT) < 1 || opt_integer(&c->opts, OPTION_PORT) > 65535))
        return err_set(c->err, ERR_USAGE, "--port: expected a number from 1 to 65535, got \"%.40s\"", opt_text(&c->opts, OPTION_PORT));
    bool prints = opt_on(&c->opts, OPTION_PRINT) || opt_on(&c->opts, OPTION_JSON);
    if (!prints && opt_on(&c->opts, OPTION_INSTALL) && !ui_find_mlflow(c->env, c->arena) && ui_install(c->env, c->arena, c->err))
        return -1;
    if (selection_open(&ui.runs, c, c->err) < 0)
        return -1;
    const char *mlflow = ui_find_mlflow(c->env, c->arena);
    int rc = check_experiment(&ui);
    if (rc == 0 && prints) {
        ui.port = port ? (int)opt_integer(&c->opts, OPTION_PORT) : PORT;
        rc = choose_folder(&ui, false) || make_server_command(&ui, mlflow ? mlflow : "mlflow") || ui_print(&ui) ? -1 : 0;
    } else if (rc == 0)
        rc = mlflow ? serve_tree(&ui, mlflow) : refuse_without_mlflow(&ui);
    runs_close(&ui.runs);
    fs_close(&ui.lock);
    fs_close(&ui.cancel_fd);
    fs_close(&ui.dir);
    explicit_bzero(ui.secret, sizeof ui.secret);
    return rc;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_EXPERIMENT("Selection", "Serve only this one, and link to it (default: all, and to the newest run's)"),
    {.name = OPTION_HOST, .kind = OPT_TEXT, .arg = "ADDRESS", .value = "127.0.0.1", .group = "Server", .help = "Listen at this address"},
    {.name = OPTION_PORT,
     .letter = 'p',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Server",
     .help = "Listen at this port (default: the first free one from 5000 on)"},
    {.name = OPTION_SECRET_FILE,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Server",
     .help =
         "Read the secret of the link from this file, closed to others: 16 to 128 letters and digits (default: a new one for each start)"},
    {.name = OPTION_INSTALL,
     .kind = OPT_FLAG,
     .group = "Server",
     .help = "Install MLflow for benchwrap alone, where there is none ($XDG_DATA_HOME/benchwrap/mlflow)"},
    {.name = OPTION_OPEN, .letter = 'o', .kind = OPT_FLAG, .group = "Output", .help = "Open the link in the browser (xdg-open)"},
    {.name = OPTION_PRINT,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Only print the command of the server and its address; install and start nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_ui = {
    .name = "ui",
    .summary = "Open the runs in MLflow's web interface",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Starts an MLflow server on this machine, brings the runs of the tree into its database, the newest first, and prints "
        "the link that leads straight to their table. The table opens with the headline metrics that \"benchwrap ls\" shows, "
        "the parameters that differ and the verdict as columns (MLflow by itself shows none of them, and newer versions open a "
        "page without the runs). New runs of the tree appear in it. What was measured of the machine and of the run as such is "
        "on MLflow's page of system metrics, as system/KEY. Ctrl-C ends the server.\n\n"
        "Only the printed link opens the interface: it carries a secret. MLflow itself listens on a socket in a folder that no "
        "other user can enter; benchwrap passes on what comes to the port with the secret. An MLflow client authenticates with "
        "the user \"" UI_FRONT_USER "\" and the secret "
        "(MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD). Keep the link to yourself.\n"
        "\n"
        "The database is .benchwrap/ui next to the tree. Rows are only added, so the next start is quick; artifacts are links to the tree's "
        "files and take no room. Nothing in the tree is changed, and the folder can be deleted at any time. A newer MLflow makes it anew where it must.\n"
        "\n"
        "benchwrap searches MLflow in the active virtual environment, in PATH, and where --install puts it. Any version from 2.22 on will do.",
    .examples = "$ benchwrap ui --print\n"
                "The command that would be started, and the address. Nothing is started.\n",
    .run = ui_command,
};
