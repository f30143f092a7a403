/* exports.c: the recorder's side of exporters; see run/exports.h. */
#include "run/exports.h"

#include "base/clock.h"
#include "base/credentials.h"
#include "base/secret.h"
#include "exporters/exporter_pass.h"
#include "launch/fd.h"
#include "run/send.h"
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_AFTER_S = 5 /* behind the deadline: it hangs in a call of the system */, WAIT_STEP_MS = 2 };

/* ---- secrets ---- */

/* Replaces the variable's value by as many asterisks in each entry of `env` that has it, and
 * keeps the first original entry, which is the one that getenv finds, in run->hidden. Leaves it
 * as it is where memory is used up. */
static void hide_variable(struct run *run, char **env, const char *name)
{
    size_t n = strlen(name);
    bool kept = false;
    for (char **entry = env; *entry; entry++) {
        if (strncmp(*entry, name, n) != 0 || (*entry)[n] != '=' || strspn(*entry + n + 1, "*") == strlen(*entry + n + 1))
            continue; /* another one, empty, or masked already: two exporters may name it */
        char *masked = arena_dup(&run->plan.arena, *entry, strlen(*entry));
        if (!masked)
            return;
        memset(masked + n + 1, '*', strlen(masked) - n - 1);
        if (!kept && run->hidden_count < RUN_HIDDEN_MAX)
            run->hidden[run->hidden_count++] = *entry;
        kept = true;
        *entry = masked;
    }
}

void run_exports_hide(struct run *run, char **env)
{
    for (const struct exporter_variable *v = run->plan.exporter_variables; v; v = v->next)
        hide_variable(run, env, v->name);
}

static void reveal_secrets(const struct run *run)
{
    for (size_t i = 0; i < run->hidden_count; i++)
        if (strspn(strchr(run->hidden[i], '=') + 1, "*") != strlen(strchr(run->hidden[i], '=') + 1)) /* else the launcher has masked it */
            putenv(run->hidden[i]);
}

const char *run_exports_names(struct run *run)
{
    if (opt_on(&run->plan.opts, OPTION_NO_EXPORT))
        return NULL;
    return exporter_config_names(run->plan.exporters, &run->plan.arena);
}

/* ---- the spools ---- */

/* Appends the path of the spool that has this run's folder. 0; -1: it is not known. */
static int spool_root_path(const struct spool *s, struct buf *to)
{
    if (spool_path(s, to) || !to->p)
        return -1;
    char *slash = strrchr(to->p, '/');
    if (!slash)
        return -1;
    *slash = 0;
    return 0;
}

/* Adds each run of `places` ("mlruns/<exp>/<run>", blanks between) to the exporter's queue. 0; -1
 * with err, after a part of them may have been added. */
static int queue_for(const char *spool, const char *name, const char *tree, const char *places, int64_t end_ms, struct err *err)
{
    struct exporter_queue q;
    struct str rest = str_of(places), place;
    if (exporter_queue_open(&q, spool, name, true, err))
        return -1;
    int rc = 0;
    while (rc == 0 && (place = str_word(&rest)).n) {
        char id[33];
        snprintf(id, sizeof id, STR_FMT, STR_ARG(str_sub(place, place.n >= 32 ? place.n - 32 : 0, 32)));
        rc = exporter_queue_add(&q, id, end_ms, tree, err);
    }
    exporter_queue_close(&q);
    return rc;
}

int run_exports_queue(const struct spool *s, const char *names, const char *tree, const char *places, int64_t end_ms, struct err *err)
{
    struct buf spool CLEANUP_BUF;
    struct str rest = str_of(names), word;
    int rc = 0;
    buf_init(&spool, 8192);
    if (spool_root_path(s, &spool))
        return err_set(err, ERR_SYSTEM, "exporters: the spool has no path");
    while ((word = str_word(&rest)).n) {
        char name[EXPORTER_NAME_MAX + 1];
        struct err why = {0};
        snprintf(name, sizeof name, STR_FMT, STR_ARG(word));
        if (!exporter_name_legal(word) || queue_for(spool.p, name, tree, places, end_ms, &why) == 0)
            continue;
        rc = err_set(err, ERR_SYSTEM,
                     "the run is not delivered to the exporter %s: %.300s; deliver it by \"benchwrap exporter send %s RUN\"", name,
                     why.text, name);
    }
    return rc;
}

/* ---- the processes ---- */

void run_exports_leave(const struct run *run)
{
    int null = open("/dev/null", O_RDWR);
    setsid(); /* what is meant for the program's group does not reach it */
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    if (run->wire->has_credentials)
        credentials_restore(WIRE_CREDENTIALS_FD);
    reveal_secrets(run);
}

void run_exports_settle(const char *name, int close_from)
{
    sigset_t alarms;
    fd_close_from(close_from);
    secret_guard_process();
    prctl(PR_SET_NAME, name);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
}

/* Runs in a child process that never returns: delivers the queue of one exporter until its
 * deadline. stands_back: the process lowers its priority. */
_Noreturn static void become_exporter(struct run *run, const char *spool, const struct exporter_config *c, bool stands_back)
{
    double deadline_s = opt_seconds(&c->opts, EXPORTER_KEY_DEADLINE);
    struct exporter_outcome outcome;
    run_exports_leave(run);
    run_exports_settle("benchwrap-exp", 3);
    deadline_s = deadline_s > 1e6 ? 1e6 : deadline_s;
    alarm((unsigned)deadline_s + KILL_AFTER_S);
    if (stands_back)
        send_stand_back(0);
    exporter_deliver(&(struct exporter_pass){.config = c,
                                             .spool = spool,
                                             .env = environ,
                                             .until_ns = clock_mono_ns() + (int64_t)(deadline_s * 1e9),
                                             .cancel_fd = -1,
                                             .background = true},
                     &outcome);
    _exit(0);
}

static pid_t start_exporter(struct run *run, const char *spool, const struct exporter_config *c, bool stands_back)
{
    pid_t pid = fork();
    if (pid == 0)
        become_exporter(run, spool, c, stands_back);
    return pid;
}

/* Returns whether this process delivers. A run inside a run, or in a series, leaves that to the
 * outer one. */
static bool does_run_deliver(const struct run *run)
{
    return run->plan.exporters && !run->nested && !run->wire->in_series && !opt_on(&run->plan.opts, OPTION_NO_EXPORT);
}

/* Prints since when and why the exporter has not delivered, if its last attempt failed. */
static void exporter_report_trouble(struct run *run, const char *spool, const struct exporter_config *c)
{
    struct exporter_queue q;
    struct exporter_state state;
    char text[1400], since[40] = "";
    struct tm t;
    if (exporter_queue_open(&q, spool, c->name, false, NULL))
        return;
    exporter_state_read(&q, &state);
    exporter_queue_close(&q);
    time_t at = (time_t)(state.since_ms / 1000);
    if (state.failures == 0 || !localtime_r(&at, &t))
        return;
    strftime(since, sizeof since, "%F %H:%M", &t);
    snprintf(text, sizeof text, "exporter %s has not delivered since %s: %s; the runs are kept, \"benchwrap exporter list\" counts them",
             c->name, since, state.why);
    run_report(run, WIRE_NOTE, 0, text);
}

void run_exports_wait(struct run *run)
{
    struct buf spool CLEANUP_BUF;
    const struct timespec step = {0, WAIT_STEP_MS * 1000000L};
    buf_init(&spool, 8192);
    if (!does_run_deliver(run) || spool_root_path(&run->spool, &spool))
        return;
    for (const struct exporter_config *c = run->plan.exporters; c; c = c->next) {
        if (!exporter_is_enabled(c))
            continue;
        exporter_report_trouble(run, spool.p, c);
        double wait_s = opt_seconds(&c->opts, EXPORTER_KEY_WAIT);
        int64_t until = clock_mono_ns() + (int64_t)((wait_s > 1e6 ? 1e6 : wait_s) * 1e9);
        pid_t pid = wait_s > 0 ? start_exporter(run, spool.p, c, false) : -1;
        while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0 && clock_mono_ns() < until)
            nanosleep(&step, NULL);
    }
}

void run_exports_start(struct run *run)
{
    struct buf spool CLEANUP_BUF;
    buf_init(&spool, 8192);
    if (!does_run_deliver(run) || spool_root_path(&run->spool, &spool))
        return;
    for (const struct exporter_config *c = run->plan.exporters; c; c = c->next)
        if (exporter_is_enabled(c) && opt_seconds(&c->opts, EXPORTER_KEY_WAIT) <= 0)
            start_exporter(run, spool.p, c, true);
}
