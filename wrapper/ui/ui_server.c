/* ui_server.c: finding, installing, starting and ending a local MLflow.
 *
 * `mlflow server` is a chain of processes (mlflow, uvicorn or gunicorn, workers), of which some
 * forget the others. So a guard process of benchwrap is between them:
 * it adopts orphans, and ends them all when the parent has ended in any way. */
#include "ui/ui_server.h"

#include "base/child_work.h"
#include "base/clock.h"
#include "base/credentials.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/search_path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 5000, STEP_MS = 50 };

/* ---- finding ---- */

const char *ui_environment(char *const *env, struct arena *a)
{
    const char *data = env_text(env, "XDG_DATA_HOME"), *home = env_text(env, "HOME");
    if (data && data[0] == '/')
        return arena_printf(a, "%s/benchwrap/mlflow", data);
    return home && home[0] == '/' ? arena_printf(a, "%s/.local/share/benchwrap/mlflow", home) : NULL;
}

const char *ui_find_mlflow(char *const *env, struct arena *a)
{
    const char *active = env_text(env, "VIRTUAL_ENV"), *own = ui_environment(env, a), *found = NULL;
    if (active)
        found = search_path_find(arena_printf(a, "%s/bin", active), "mlflow", true, a);
    if (!found)
        found = search_path_find(env_text(env, "PATH"), "mlflow", true, a);
    return found || !own ? found : search_path_find(arena_printf(a, "%s/bin", own), "mlflow", true, a);
}

/* ---- installing ---- */

static int ui_become(void *context, int out)
{
    char *const *argv = context;
    char **clean = credentials_mask(environ);
    (void)out;
    dup2(2, 1);
    if (clean)
        execvpe(argv[0], argv, clean);
    return 127;
}

/* Runs a program with the terminal of benchwrap, and waits for it. -1 with err: it cannot be
 * started, or it failed. */
static int run_and_wait(char **argv, struct err *err)
{
    struct child_work child;
    if (child_work_start(&child, &(struct child_work_plan){.run = ui_become, .context = argv, .keep_all = true}) < 0)
        return err_sys(err, "starting %s", argv[0]);
    int status = child_work_reap(&child, -1);
    child_work_deinit(&child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, ERR_SYSTEM, "%s cannot be started; it may not be installed (Debian: python3-venv)", argv[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(err, ERR_SYSTEM, "\"%s %s %s\" failed, see above", argv[0], argv[1], argv[2]);
    return 0;
}

int ui_install(char *const *env, struct arena *a, struct err *err)
{
    const char *folder = ui_environment(env, a);
    if (!folder)
        return err_set(err, ERR_INPUT, "there is no home to install into: set HOME or XDG_DATA_HOME");
    char *python = arena_printf(a, "%s/bin/python3", folder), *to = arena_dup(a, folder, strlen(folder));
    char py[] = "python3", m[] = "-m", venv[] = "venv", pip[] = "pip", install[] = "install", quiet[] = "--disable-pip-version-check",
         mlflow[] = "mlflow";
    char *make[] = {py, m, venv, to, NULL}, *fill[] = {python, m, pip, install, quiet, mlflow, NULL};
    if (!python || !to || fs_mkdirs(AT_FDCWD, folder, 0755, err))
        return python && to ? -1 : err_memory(err, "the server's environment");
    if (run_and_wait(make, err) || run_and_wait(fill, err))
        return err_wrap(err, "installing MLflow in %s", folder);
    return 0;
}

/* ---- starting ---- */

bool ui_port_free(const char *host, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    if (fd < 0 || inet_pton(AF_INET, host, &at.sin_addr) != 1)
        return true; /* a name, or no IPv4: the server will report it */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
}

/* Returns whether the variable is one of another server, of other addresses to listen at, or has
 * credentials that this server has no use for. */
static bool is_foreign_variable(const char *variable)
{
    static const char *const starts[] = {"MLFLOW_", "PYTHONUNBUFFERED=", "UVICORN_", "GUNICORN_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    return credentials_has(variable);
}

/* In the server's process. */
static void become_server(int folder, const char *name, char *const *argv, char *const *env)
{
    static const char *const own[] = {"MLFLOW_DISABLE_TELEMETRY=true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false", "DO_NOT_TRACK=true",
                                      "PYTHONUNBUFFERED=1"};
    size_t n = 0, k = 0;
    while (env[n])
        n++;
    char **list = calloc(n + sizeof own / sizeof *own + 2, sizeof *list);
    if (!list || asprintf(&list[k++], "UVICORN_UDS=%s", name) < 0)
        _exit(126);
    for (size_t i = 0; i < n; i++)
        if (!is_foreign_variable(env[i]))
            list[k++] = env[i];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        list[k++] = strdup(own[i]);
    int null = open("/dev/null", O_RDONLY), log = openat(folder, "server.log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    umask(077);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || fchdir(folder))
        _exit(126);
    execve(argv[0], argv, list);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Sends the signal to all children, also those that the guard has adopted. */
static void kill_children(int signal)
{
    char text[16384], path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    struct str rest = {text, n > 0 ? (size_t)n : 0};
    for (struct str word; (word = str_word(&rest)).n;) {
        int64_t pid;
        if (str_int(word, &pid) && pid > 1)
            kill((pid_t)pid, signal);
    }
}

static bool all_gone(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid < 0 && errno == ECHILD;
}

/* Waits until the server ends or the other end of `hold` is closed, then ends the server's process
 * group and all children: by SIGTERM, after GRACE_MS by SIGKILL. Never returns. */
static void ui_guard_server(int hold, pid_t server)
{
    struct pollfd p = {.fd = hold, .events = POLLIN};
    int status = 0;
    while (waitpid(server, &status, WNOHANG) == 0 && poll(&p, 1, 4 * STEP_MS) <= 0)
        ;
    for (int ms = 0; kill(-server, SIGTERM), kill_children(SIGTERM), !all_gone() && ms < GRACE_MS; ms += STEP_MS)
        poll(NULL, 0, STEP_MS);
    for (int ms = 0; kill(-server, SIGKILL), kill_children(SIGKILL), !all_gone() && ms < GRACE_MS; ms += STEP_MS)
        poll(NULL, 0, STEP_MS);
    _exit(0);
}

/* Makes this process the guard of a server that it starts in its own process group. Never returns;
 * exits with status 1 where no server can be started. */
static void become_guard(int hold, int folder, const char *name, char *const *argv, char *const *env)
{
    sigset_t none;
    setsid(); /* this process handles Ctrl-C */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    pid_t server = fork();
    if (server == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        become_server(folder, name, argv, env);
    }
    if (server > 0) {
        int null = open("/dev/null", O_RDWR); /* a reader of the output does not wait for the guard */
        for (int fd = 0; null >= 0 && fd < 3; fd++)
            dup2(null, fd);
        setpgid(server, server);
        ui_guard_server(hold, server);
    }
    _exit(1);
}

int ui_server_start(struct ui_server *ret, const char *folder, const char *name, char *const *argv, char *const *env, struct err *err)
{
    int ends[2];
    CLEANUP_FD int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret = (struct ui_server){.hold = -1};
    if (dir < 0)
        return err_sys(err, "opening %s", folder);
    if (pipe2(ends, O_CLOEXEC))
        return err_sys(err, "making a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        become_guard(ends[0], dir, name, argv, env);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return err_sys(err, "starting %s", argv[0]);
    }
    *ret = (struct ui_server){.guard = pid, .hold = ends[1]};
    return 0;
}

bool ui_server_ended(struct ui_server *s)
{
    if (s->guard > 0 && waitpid(s->guard, NULL, WNOHANG) == s->guard)
        s->guard = 0;
    return s->guard <= 0;
}

void ui_server_stop(struct ui_server *s)
{
    fs_close(&s->hold);
    while (s->guard > 0 && waitpid(s->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    s->guard = 0;
}

void ui_open(const char *program, const char *argument)
{
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {strdup(program), strdup(argument), NULL};
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; null >= 0 && fd < 3; fd++)
            dup2(null, fd);
        setsid();
        char **clean = credentials_mask(environ);
        if (clean && fork() == 0)
            execvpe(program, argv, clean);
        _exit(0);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
}
