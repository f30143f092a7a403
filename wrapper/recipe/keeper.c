/* keeper.c: starts one program of a campaign and ends all its descendants, except the core's
 * processes of a launcher. */
#include "recipe/keeper.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "launch/proc.h"
#include "logs/logs_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEEPER_WAKE_MS = 20,
    KEEPER_EXIT_MS = 1000, /* between its last line and its end */
    KEEPER_REPORT_MAX = 4096,
    NO_PROGRAM = 127,
    LAUNCHER_MORE_S = 10
};

struct keeping {
    const struct keeper_plan *plan;
    int control, signals, report;
    int pipes[2]; /* what the program prints; -1: it writes the files itself */
    struct logs_stream *streams[2];
    pid_t program;
    bool stopping, has_killed;
    int64_t kill_ns; /* when SIGKILL follows */
};

static int open_keeper_log(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* pipes: their ends to write; -1: the files. */
_Noreturn static void become_program(const struct keeper_plan *plan, const int pipes[2], int report)
{
    int in = open("/dev/null", O_RDONLY), out = pipes[0] >= 0 ? pipes[0] : open_keeper_log(plan->out),
        err = pipes[1] >= 0 ? pipes[1] : open_keeper_log(plan->err);
    sigset_t none;
    char text[40];
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (in >= 0 && out >= 0 && err >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0 &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) {
        fcntl(report, F_SETFD, FD_CLOEXEC);
        environ = (char **)plan->env;
        execvp(plan->words[0], plan->words);
    }
    int n = snprintf(text, sizeof text, "N %d\n", errno);
    fs_write_all(report, text, (size_t)n);
    _exit(NO_PROGRAM);
}

/* Returns true if the process runs the same program file as this one, benchwrap's core. */
static bool is_core_process(pid_t pid)
{
    char path[40];
    struct stat mine, its;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    return stat("/proc/self/exe", &mine) == 0 && stat(path, &its) == 0 && mine.st_ino == its.st_ino && mine.st_dev == its.st_dev;
}

/* Sends a signal to the descendants but `except` and, of a launcher, the core's processes; number 0: only
 * counts them. Returns whether there is one. */
static bool signal_descendants(const struct keeping *k, int number, pid_t except)
{
    static const pid_t no_roots[] = {0};
    struct proc_id *list = NULL;
    ptrdiff_t n = proc_descendants(no_roots, &list);
    bool any = false;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (list[i].state == 'Z' || list[i].pid == except || (k->plan->is_launcher && is_core_process(list[i].pid)))
            continue;
        any = true;
        if (number)
            proc_kill(&list[i], number);
    }
    free(list);
    return any;
}

static void stop_descendants(struct keeping *k)
{
    if (k->stopping)
        return;
    k->stopping = true;
    k->kill_ns = clock_mono_ns() + (int64_t)(k->plan->grace_s * 1e9);
    if (k->plan->is_launcher && k->program > 0) {
        kill(k->program, SIGTERM);
        kill(k->program, SIGCONT);
        return;
    }
    signal_descendants(k, SIGTERM, 0);
    signal_descendants(k, SIGCONT, 0); /* stopped ones handle the signal */
}

/* The grace is over. A launcher has some more time to finish its record. */
static void kill_descendants(struct keeping *k)
{
    bool record = k->plan->is_launcher && clock_mono_ns() < k->kill_ns + LAUNCHER_MORE_S * INT64_C(1000000000);
    bool any = signal_descendants(k, SIGKILL, record ? k->program : 0);
    if (any && !k->has_killed)
        fs_write_all(k->report, "K 9\n", 4);
    k->has_killed |= any;
}

/* Collects the descendants that have ended; false: nothing is left to wait for. */
static bool reap_descendants(struct keeping *k)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == k->program) {
            char text[40];
            int n = snprintf(text, sizeof text, "E %d\n", status);
            fs_write_all(k->report, text, (size_t)n); /* the maker may be gone */
            k->program = 0;
            stop_descendants(k); /* nothing of it survives */
        }
    if (pid < 0 && errno == ECHILD)
        return false;
    return !k->plan->is_launcher || k->program || signal_descendants(k, 0, 0);
}

/* Waits for a signal, for the end of the control pipe or for output, and acts on it: copies output
 * to the streams, ends descendants with SIGTERM, and kills them when the grace is over. */
static void wait_keeping(struct keeping *k)
{
    struct pollfd p[] = {
        {k->signals, POLLIN, 0}, {k->stopping ? -1 : k->control, POLLIN, 0}, {k->pipes[0], POLLIN, 0}, {k->pipes[1], POLLIN, 0}};
    struct signalfd_siginfo info;
    poll(p, 4, k->stopping ? KEEPER_WAKE_MS : -1);
    for (int i = 0; i < 2; i++)
        if (p[2 + i].revents && !logs_stream_read(k->streams[i], k->pipes[i]))
            fs_close(&k->pipes[i]);
    while (read(k->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGHUP)
            stop_descendants(k);
        else if (info.ssi_signo == SIGUSR1) {
            stop_descendants(k);
            k->kill_ns = clock_mono_ns();
        }
    if (!k->stopping && p[1].revents)
        stop_descendants(k);
    if (k->stopping && clock_mono_ns() >= k->kill_ns)
        kill_descendants(k);
}

/* A raw stream of the logs, by the name of the file. NULL: the program writes the file itself. */
static struct logs_stream *open_keeper_stream(const char *path)
{
    struct logs_source_name name;
    struct logs_stream *s = NULL;
    const char *base = str_base_name(path);
    char *folder = logs_source_name_read(str_of(base), &name) ? strndup(path, (size_t)(base - path)) : NULL;
    CLEANUP_FD int dir = folder ? place_open_folder(folder, 0) : -1;
    const struct logs_stream_name of = {name.component, name.instance, name.node, name.is_error};
    free(folder);
    if (dir < 0 || logs_stream_open(&s, dir, &of, NULL))
        return NULL;
    return s;
}

/* The keeper reads what the program prints, and stores when it came. A launcher's processes outlive the keeper: they write the
 * files themselves. */
static void open_keeper_pipes(struct keeping *k, int ret_write[2])
{
    const char *const paths[] = {k->plan->out, k->plan->err};
    int ends[2];
    for (int i = 0; i < 2; i++) {
        k->pipes[i] = ret_write[i] = -1;
        k->streams[i] = k->plan->is_launcher ? NULL : open_keeper_stream(paths[i]);
        if (!k->streams[i] || pipe2(ends, O_CLOEXEC) != 0)
            continue;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        k->pipes[i] = ends[0];
        ret_write[i] = ends[1];
    }
}

static void close_keeper_pipes(struct keeping *k)
{
    for (int i = 0; i < 2; i++) {
        while (k->pipes[i] >= 0 && logs_stream_read(k->streams[i], k->pipes[i]))
            ;
        fs_close(&k->pipes[i]);
        logs_stream_close(k->streams[i], NULL);
    }
}

/* Starts the program and stays until no descendant is left. Runs in the keeper's process and
 * reports on `out`. Returns 0, also when the program cannot be executed; 1: the keeper could not be
 * set up. */
static int keep_program(void *context, int out)
{
    int ends[2];
    struct keeping *k = context;
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    setsid();
    k->report = out;
    fcntl(k->control, F_SETFD, FD_CLOEXEC);
    k->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (k->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return 1;
    open_keeper_pipes(k, ends);
    k->program = fork();
    if (k->program == 0)
        become_program(k->plan, ends, out);
    fs_close(&ends[0]);
    fs_close(&ends[1]);
    if (k->program < 0)
        return 1;
    while (reap_descendants(k))
        wait_keeping(k);
    close_keeper_pipes(k);
    return 0;
}

int keeper_start(struct keeper *ret, const struct keeper_plan *plan, struct err *err)
{
    int ends[2];
    struct keeping k = {.plan = plan, .signals = -1};
    *ret = KEEPER_NONE;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_sys(err, "cannot start %.200s", plan->words[0]);
    k.control = ends[0];
    const struct child_work_plan work = {
        .run = keep_program, .context = &k, .name = "bw-keeper", .keep = {&k.control}, .outlives = true, .max = KEEPER_REPORT_MAX};
    int rc = child_work_start(&ret->work, &work), why = errno;
    close(ends[0]);
    ret->control = ends[1];
    if (rc == 0)
        return 0;
    fs_close(&ret->control);
    child_work_deinit(&ret->work);
    errno = why;
    return err_sys(err, "cannot start %.200s", plan->words[0]);
}

bool keeper_poll(struct keeper *k)
{
    int64_t number;
    bool over = child_work_read(&k->work);
    for (struct str rest = buf_text(&k->work.text), line; rest.p && (line = str_cut(&rest, '\n')).n > 2;) {
        struct str digits = str_sub(line, 2, line.n);
        if (!rest.p || !str_int(digits, &number))
            continue;
        if (line.p[0] == 'E') {
            k->ended = true;
            k->status = (int)number;
        } else if (line.p[0] == 'K')
            k->killed = true;
        else
            k->errnum = (int)number;
    }
    if (over && !k->ended) { /* the keeper itself was killed */
        k->ended = true;
        k->status = SIGKILL;
    }
    return over;
}

void keeper_stop(struct keeper *k)
{
    fs_close(&k->control);
}

void keeper_hurry(struct keeper *k)
{
    keeper_stop(k);
    if (k->work.pid > 0)
        kill(k->work.pid, SIGUSR1);
}

bool keeper_close(struct keeper *k)
{
    keeper_stop(k);
    if (k->work.pid > 0 && !keeper_poll(k))
        return false;
    child_work_reap(&k->work, KEEPER_EXIT_MS);
    child_work_deinit(&k->work);
    return true;
}
