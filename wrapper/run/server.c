/* server.c: the recorder's side of sending a run to an MLflow server. */
#include "run/server.h"

#include "base/clock.h"
#include "base/credentials.h"
#include "base/http.h"
#include "launch/fd.h"
#include "run/shared.h"
#include "run/state.h"
#include "run/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SHARE_MS = 2000, /* design: --share-run delays the program's start so long at most */
    START_MS = 1000,
    SILENCE_MS = 300, /* a server that does not answer delays the start and the end of the job by this in all, as a controller does */
    AGAIN_MS = 5000, /* a sender that was killed is replaced then, */
    STARTS_MAX = 20 /* so often */
};
static const int64_t MS = 1000000;

/* ---- the process ---- */

/* Runs in the child: detaches from the program's group and streams, restores the credentials, and
 * executes the core as a sender. Exit status 125 or 126 where it cannot. */
_Noreturn static void become_sender(struct run *run, const struct send_job *job, int line, char **words)
{
    char core[4096];
    ssize_t n = readlink("/proc/self/exe", core, sizeof core - 1);
    int null = open("/dev/null", O_RDWR);
    atomic_store(&run->wire->sender, getpid());
    setsid(); /* what is meant for the program's group does not reach it */
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    if (run->wire->has_credentials)
        credentials_restore(WIRE_CREDENTIALS_FD);
    if (n <= 0 || null < 0 || line <= SEND_LINE_FD || dup2(line, SEND_LINE_FD) < 0)
        _exit(125);
    core[n] = 0;
    fd_close_from(SEND_LINE_FD + 1);
    bool alone = job->mode == SEND_FINISH && run->wire->in_series;
    if (job->mode == SEND_FINISH) /* as long as it may be waited for, and then alone */
        alarm(SEND_ALONE_S + (alone ? 0 : (unsigned)opt_seconds(&run->plan.opts, OPTION_FINISH_WAIT)));
    if (alone || job->mode == SEND_LIVE)
        send_stand_back(run->host.pid);
    setenv("MLFLOW_TRACKING_URI", run->plan.server_uri, 1);
    execv(core, words);
    _exit(126);
}

/* Starts a sender for this mode, and keeps its pid and line in run->server. False: there is no
 * process. */
static bool start_sender(struct run *run, enum send_mode mode, double patience_s)
{
    struct run_server *s = &run->server;
    struct arena a;
    struct buf root CLEANUP_BUF;
    char *slash, name[sizeof run->spool.name];
    int ends[2];
    s->asked_ns = 0;
    arena_init(&a, 1 << 20);
    buf_init(&root, 8192);
    snprintf(name, sizeof name, "%s", run->spool.name);
    if (spool_path(&run->spool, &root) || !(slash = strrchr(root.p, '/')))
        return false;
    *slash = 0; /* the spool's folder; the run's may have been renamed, its name is known */
    struct send_job job = {.mode = mode,
                           .root = root.p,
                           .name = name,
                           .state = arena_printf(&a, "%.*s/sync", (int)(strlen(run->plan.spool) - strlen("/spool")), run->plan.spool),
                           .server_run = mode == SEND_DISCARD || mode == SEND_FETCH ? s->place.id : run->plan.server_run,
                           .patience_s = patience_s};
    char **words = job.state ? send_line(&job, &a) : NULL;
    if (words && fd_socketpair(SOCK_SEQPACKET, ends) == 0) {
        pid_t pid = fork();
        if (pid == 0)
            become_sender(run, &job, ends[1], words);
        close(ends[1]);
        s->line = ends[0];
        s->pid = pid > 0 ? pid : 0;
        if (pid < 0)
            fd_close(&s->line);
        s->starts++;
    }
    arena_deinit(&a);
    return s->pid > 0;
}

/* Kills the sender if it still runs: its state is on the server and in the tree. */
static void stop_sender(struct run *run)
{
    struct run_server *s = &run->server;
    if (s->pid > 0) {
        kill(s->pid, SIGKILL); /* before the line is closed: that means the recorder's death */
        if (waitpid(s->pid, NULL, WNOHANG) == 0)
            s->dying = s->pid; /* one that gets no processor dies later */
    }
    fd_close(&s->line);
    s->pid = 0;
}

/* ---- its messages ---- */

/* Updates what is known of server and sender. Prints the first trouble while the program runs. */
static void handle_sender_message(struct run *run, const struct send_msg *m)
{
    struct run_server *s = &run->server;
    char text[SEND_TEXT_MAX + 200];
    switch (m->kind) {
    case SEND_ASKING: s->asked_ns = clock_mono_ns(); break;
    case SEND_REPLY:
        s->asked_ns = clock_mono_ns();
        s->silence_ns = SILENCE_MS * MS;
        break;
    case SEND_PLACE:
        s->place = *m;
        s->live = true;
        s->trouble[0] = 0;
        break;
    case SEND_NOTE: run_report(run, WIRE_NOTE, 0, m->text); break;
    case SEND_TROUBLE:
        memcpy(s->trouble, m->text, sizeof s->trouble);
        s->live = false;
        if (s->told || s->asking || run->end.kind)
            break;
        s->told = true;
        snprintf(text, sizeof text, "%s; the run is recorded here, and sent when the server accepts it", m->text);
        run_report(run, WIRE_NOTE, 0, text);
        break;
    case SEND_DONE:
        s->done = true;
        s->trouble[0] = 0;
        break;
    default: break;
    }
}

/* Receives and handles one message. 1; 0: none now; -1: the sender has ended. */
static int receive_sender_message(struct run *run)
{
    struct send_msg m = {0};
    ssize_t n = recv(run->server.line, &m, sizeof m, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n != (ssize_t)sizeof m)
        return -1;
    m.id[sizeof m.id - 1] = m.experiment[sizeof m.experiment - 1] = m.url[sizeof m.url - 1] = m.text[sizeof m.text - 1] = 0;
    handle_sender_message(run, &m);
    return 1;
}

enum wait_end { WAIT_ENOUGH, WAIT_ENDED /* the sender, before */, WAIT_SILENT /* the server */, WAIT_OVER };

/* Returns until when the server may owe its reply, monotonic ns, but not after until_ns. */
static int64_t patience_ends(const struct run *run, int64_t until_ns)
{
    const struct run_server *s = &run->server;
    int64_t end = s->asked_ns && !run_is_patient(run) ? s->asked_ns + s->silence_ns : INT64_MAX;
    return end < until_ns ? end : until_ns;
}

/* Reads messages until `until_ns`, until `enough`, or until the server has been silent for too long in
 * this run. */
static enum wait_end wait_for_sender(struct run *run, int64_t until_ns, bool (*enough)(const struct run_server *s))
{
    struct run_server *s = &run->server;
    enum wait_end end = WAIT_OVER;
    if (s->asked_ns) /* what came before was waited for by nothing */
        s->asked_ns = clock_mono_ns();
    while (s->line >= 0 && !enough(s)) {
        int64_t limit = patience_ends(run, until_ns), ms = (limit - clock_mono_ns() + MS - 1) / MS;
        struct pollfd p = {.fd = s->line, .events = POLLIN};
        if (ms <= 0) {
            end = limit < until_ns ? WAIT_SILENT : WAIT_OVER;
            break;
        }
        if (poll(&p, 1, ms > 60000 ? 60000 : (int)ms) < 0 && errno != EINTR)
            break;
        if (p.revents && receive_sender_message(run) < 0) {
            end = WAIT_ENDED;
            break;
        }
    }
    int64_t waited = s->asked_ns ? clock_mono_ns() - s->asked_ns : 0;
    s->silence_ns = waited < s->silence_ns ? s->silence_ns - waited : 0;
    return enough(s) ? WAIT_ENOUGH : end;
}

/* ---- the run's story ---- */

/* Returns whether --share-run applies; a series has no program of its own. */
static bool shares_run(const struct run *run)
{
    return !run->series && opt_on(&run->plan.opts, OPTION_SHARE_RUN);
}

void run_server_begin(struct run *run)
{
    struct run_server *s = &run->server;
    s->line = -1;
    s->start_ns = INT64_MAX;
    s->silence_ns = SILENCE_MS * MS;
    if (!run->plan.server && !run->plan.exporters && run->wire->has_credentials) {
        close(WIRE_CREDENTIALS_FD);
        run->wire->has_credentials = 0;
    }
    if (run->plan.server && run->wire->lost_credentials)
        run_report(
            run, WIRE_NOTE, 0,
            "the server's credentials cannot be passed to the process that sends: no memory file; send the run by \"benchwrap sync\"");
    if (!run->plan.server || !shares_run(run))
        return;
    if (run->plan.server_run) {
        run_report(run, WIRE_NOTE, 0, "--share-run: the program has a run already, that of MLFLOW_RUN_ID");
        return;
    }
    s->deadline_ns = clock_mono_ns() + SHARE_MS * MS;
    s->asking = true;
    if (!start_sender(run, SEND_CREATE, 0))
        run_report(run, WIRE_NOTE, 0, "--share-run: the process that queries the server could not be started; the program runs without it");
}

static bool is_run_placed(const struct run_server *s)
{
    return s->place.kind || s->trouble[0];
}

static void set_program_env(struct run *run, const char *name, const char *value)
{
    char text[sizeof((struct wire_msg *)0)->text];
    if (snprintf(text, sizeof text, "%s=%s", name, value) < (int)sizeof text)
        run_report(run, WIRE_ENV, 0, text);
}

/* Sets the variables by which MLflow's client finds server, run and experiment. */
static void set_run_env(struct run *run, const char *uri, const char *id, const char *experiment)
{
    set_program_env(run, "MLFLOW_TRACKING_URI", uri);
    set_program_env(run, "MLFLOW_RUN_ID", id);
    set_program_env(run, "MLFLOW_EXPERIMENT_ID", experiment);
    if (getenv("MLFLOW_EXPERIMENT_NAME") &&
        run->plan.experiment) /* MLflow's client prefers the name, and refuses a run of another experiment */
        set_program_env(run, "MLFLOW_EXPERIMENT_NAME", run->plan.experiment);
    set_program_env(run, "BENCHWRAP_SHARED_RUN", id);
}

/* Creates a private store in the spool, to which the client logs without a server or with a silent
 * one. A failure is reported; the program then starts without. */
static void share_store(struct run *run)
{
    struct shared_store store;
    struct err err = {0};
    const char *id = getenv("MLFLOW_RUN_ID"), *shared = getenv("BENCHWRAP_SHARED_RUN");
    struct journal_head head = {
        .experiment = run->plan.experiment, .run_name = run->record.id, .user = "", .start_ms = run->record.start_ms};
    memcpy(head.id, run->record.id, sizeof head.id);
    if (id && *id && !(shared && strcmp(shared, id) == 0)) {
        run_report(run, WIRE_NOTE, 0, "--share-run: the program has a run already, that of MLFLOW_RUN_ID");
        return;
    }
    if (shared_make_store(&run->spool, &head, &run->plan.arena, &store, &err)) {
        char text[1400];
        snprintf(text, sizeof text, "--share-run: %s; the program starts without", err.text);
        run_report(run, WIRE_NOTE, 0, text);
        return;
    }
    set_run_env(run, store.uri, run->record.id, store.experiment);
    set_program_env(run, "MLFLOW_ALLOW_FILE_STORE", "true"); /* MLflow 3.13 and newer refuse a folder without it */
    set_program_env(run, "BENCHWRAP_TREE", run->plan.tree); /* for runs inside, which would use the address as their tree otherwise */
}

void run_server_share(struct run *run)
{
    struct run_server *s = &run->server;
    if (s->line < 0) {
        if (shares_run(run) && !run->plan.server)
            share_store(run);
        return;
    }
    enum wait_end end = wait_for_sender(run, s->deadline_ns, is_run_placed);
    s->asking = false;
    if (!s->place.kind) {
        char text[SEND_TEXT_MAX + 200];
        const char *why = s->trouble[0]        ? s->trouble
                          : end == WAIT_SILENT ? "the server did not answer within 0.3 s"
                          : end == WAIT_OVER   ? "the server did not make the run within 2 s"
                                               : "the process that queries the server ended early";
        snprintf(text, sizeof text, "--share-run: %s; the program's MLflow client logs to a private store, which becomes part of the run",
                 why);
        run_report(run, WIRE_NOTE, 0, text);
        s->told = true;
        stop_sender(run);
        share_store(run);
        return;
    }
    s->shared = true;
    record_tag(&run->record, SHARED_TAG_RUN, str_of(s->place.id));
    set_run_env(run, run->plan.server_uri, s->place.id, s->place.experiment);
}

void run_server_started(struct run *run)
{
    if (run->plan.server && run->server.pid == 0)
        run->server.start_ns = clock_mono_ns() + START_MS * MS;
}

int64_t run_server_next(const struct run *run)
{
    return run->server.start_ns;
}

void run_server_on_time(struct run *run, int64_t now_ns)
{
    struct run_server *s = &run->server;
    if (now_ns < s->start_ns)
        return;
    s->start_ns = INT64_MAX;
    if (!start_sender(run, SEND_LIVE, 0) && !s->told) {
        s->told = true;
        run_report(run, WIRE_NOTE, 0, "the process that sends the run to the server could not be started; it is sent at the end");
    }
}

void run_server_receive(struct run *run)
{
    struct run_server *s = &run->server;
    int rc;
    while ((rc = receive_sender_message(run)) > 0)
        ;
    if (rc == 0)
        return;
    stop_sender(run);
    s->live = false;
    if (s->starts < STARTS_MAX)
        s->start_ns = clock_mono_ns() + AGAIN_MS * MS;
}

void run_server_ended(struct run *run)
{
    run->server.start_ns = INT64_MAX;
    while (run->server.line >= 0 && receive_sender_message(run) > 0)
        ;
    stop_sender(run);
}

static bool has_sender_ended(const struct run_server *s)
{
    return s->done || s->trouble[0];
}

void run_server_close(struct run *run)
{
    struct timespec nap = {.tv_nsec = 5 * MS};
    stop_sender(run);
    for (int i = 0; run->server.dying > 0 && i < 100 && waitpid(run->server.dying, NULL, WNOHANG) == 0; i++)
        nanosleep(&nap, NULL);
    run->server.dying = 0;
}

void run_server_discard(struct run *run)
{
    struct run_server *s = &run->server;
    if (!s->shared)
        return;
    s->trouble[0] = 0;
    s->told = true;
    if (start_sender(run, SEND_DISCARD, 0))
        wait_for_sender(run, clock_mono_ns() + SHARE_MS * MS, has_sender_ended);
    if (!s->done)
        run_report(run, WIRE_NOTE, 0, "the run that was made on the server for --share-run could not be deleted again");
    stop_sender(run);
}

/* Returns the reason at the end of a chain of errors: the text behind the request's URL, else all
 * of it. */
static const char *last_reason(const char *why)
{
    const char *url = strstr(why, "://"), *after = url ? strstr(url + 3, ": ") : NULL;
    return after && after[2] ? after + 2 : why;
}

/* Appends where the run is on the server, or why it is not there and how to send it later. `end`:
 * how the waiting for the sender ended. */
static void print_sender_end(struct run *run, enum wait_end end, const struct screen *screen, struct buf *to)
{
    struct run_server *s = &run->server;
    CLEANUP_BUF struct buf line;
    const char *why = s->trouble[0]        ? s->trouble
                      : end == WAIT_SILENT ? "no answer within 0.3 s; a background process keeps trying for 30 s"
                      : end == WAIT_OVER   ? "--finish-wait is over before all of it was sent"
                                           : "the process that sends the run ended early";
    buf_init(&line, 4096);
    if (s->done) {
        buf_printf(&line, "sent to %s", s->place.url[0] ? s->place.url : run->plan.server);
        summary_line(screen, STYLE_DIM, "", 0, buf_text(&line), to);
        return;
    }
    bool open = !s->trouble[0] && end == WAIT_SILENT, unknown = strstr(why, HTTP_NO_ANSWER) != NULL;
    buf_printf(&line, "%s %.400s: %.400s",
               open      ? "not sent yet to"
               : unknown ? "not confirmed by"
                         : "not sent to",
               run->plan.server, last_reason(why));
    summary_line(screen, STYLE_WARN, "!", 2, buf_text(&line), to);
    buf_clear(&line);
    buf_puts(&line, "the run is complete in ");
    summary_tree(run->plan.tree, &line);
    buf_puts(&line, open || unknown ? "; what has not arrived is sent by: " : "; send it later: ");
    const struct opt_value *to_server = opt_find(&run->plan.opts, OPTION_TO);
    if (to_server && to_server->text && to_server->origin == OPT_COMMAND_LINE) /* sync knows neither this command line nor its server */
        buf_printf(&line, "benchwrap sync --to %.400s", run->plan.server);
    else
        buf_puts(&line, "benchwrap sync");
    summary_line(screen, STYLE_DIM, "", 2, buf_text(&line), to);
    if (open || unknown)
        summary_line(screen, STYLE_DIM, "", 2, STR("once it has arrived, benchwrap show prints its link"), to);
}

void run_server_fetch(struct run *run, int64_t until_ns)
{
    struct run_server *s = &run->server;
    if (!s->shared)
        return;
    s->trouble[0] = 0;
    s->told = true;
    s->done = false;
    if (start_sender(run, SEND_FETCH, 0))
        wait_for_sender(run, until_ns, has_sender_ended);
    s->done = false;
    stop_sender(run);
}

/* Lets the sender continue; it ends by itself. */
static void release_sender(struct run_server *s)
{
    fd_close(&s->line);
    s->pid = 0;
}

bool run_server_finish(struct run *run, int64_t until_ns, const struct screen *screen, struct buf *to)
{
    struct run_server *s = &run->server;
    if (!run->plan.server)
        return true;
    /* A server that answered before gets several requests within a moment; one that never answered gets one. */
    double patience_s = s->live ? 3 : 0;
    s->trouble[0] = 0;
    s->told = true;
    bool started = start_sender(run, SEND_FINISH, patience_s);
    if (run->wire->in_series && started) { /* the next repetition does not wait; the sender stops by itself */
        release_sender(s);
        return true;
    }
    enum wait_end end = started ? wait_for_sender(run, until_ns, has_sender_ended) : WAIT_ENDED;
    print_sender_end(run, end, screen, to);
    if (end == WAIT_SILENT) {
        struct sched_param none = {0};
        setpriority(PRIO_PROCESS, (id_t)s->pid, 19); /* the next measurement may run concurrently */
        sched_setscheduler(s->pid, SCHED_IDLE, &none);
        release_sender(s);
    }
    stop_sender(run);
    return s->done;
}
