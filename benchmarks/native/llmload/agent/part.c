/* part.c: see part.h. A thread reads the lines that the process writes. */
#include "benchmarks/native/llmload/agent/part.h"

#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "base/join.h"
#include "base/json.h"
#include "benchmarks/native/llmload/agent/share.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 420, RESULT_MAX = 512 << 20, KILL_AFTER_S = 5 };
const char *const part_state_names[PART_STATES] = {"preparing", "ready", "running", "done", "failed"};

struct agent_part {
    pid_t pid;
    int lines, orders; /* from it (its descriptor 3), to it (its standard input) */
    pthread_t thread;
    pthread_mutex_t lock;
    struct part_view view; /* under the lock, as all below */
    struct buf result;
    bool release, released, ended;
    int64_t release_at_ns;
};

static void send_release(struct agent_part *c, int64_t at_ns)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld\n", (long long)at_ns);
    if (fs_write_all(c->orders, text, (size_t)n) == 0)
        c->view.state = PART_RUNNING;
    c->released = true;
}

/* Updates the part by a line of JSON that its process wrote. Ignores other lines. */
static void part_take_line(struct agent_part *c, struct str line)
{
    struct json *j;
    if (json_parse(&j, line, NULL, NULL) < 0)
        return;
    const char *error = json_string(json_get(j, "error"), NULL);
    pthread_mutex_lock(&c->lock);
    if (json_get(j, "live"))
        share_read_live(json_get(j, "live"), &c->view.live);
    if (json_bool(json_get(j, "ready"), false)) {
        c->view.state = PART_READY;
        if (c->release)
            send_release(c, c->release_at_ns);
    }
    if (json_get(j, "final"))
        json_print(json_get(j, "final"), &c->result);
    if (error)
        snprintf(c->view.error, sizeof c->view.error, "%.590s", error);
    pthread_mutex_unlock(&c->lock);
    json_free(j);
}

/* Reaps the ended process under the lock: so part_stop never signals a process that has its number
 * later. */
static void part_reap(struct agent_part *c)
{
    char words[EXIT_WORDS_SIZE];
    int status = 0;
    siginfo_t info;
    while (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&c->lock);
    waitpid(c->pid, &status, 0);
    exit_words(words, WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    bool good = c->result.n && !c->result.failed;
    c->view.state = good ? PART_DONE : PART_FAILED;
    c->view.live.in_flight = 0;
    if (!good && !c->view.error[0])
        snprintf(c->view.error, sizeof c->view.error, "the load's process ended without a result%s%s", words[0] ? ": " : "", words);
    c->ended = true;
    pthread_mutex_unlock(&c->lock);
}

/* The thread that reads an agent's output, line by line, and waits for the agent's end. Returns
 * NULL. */
static void *read_lines(void *context)
{
    struct agent_part *c = context;
    struct buf text;
    buf_init(&text, RESULT_MAX);
    for (;;) {
        char *room = buf_room(&text, 1 << 16), *end;
        ssize_t n = room ? read(c->lines, room, 1 << 16) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        text.n += (size_t)n;
        while ((end = memchr(text.p, '\n', text.n))) {
            size_t line = (size_t)(end - text.p);
            part_take_line(c, (struct str){text.p, line});
            memmove(text.p, end + 1, text.n - line - 1);
            text.n -= line + 1;
        }
    }
    part_reap(c);
    buf_deinit(&text);
    return NULL;
}

/* Starts `llmload share`, which reads `orders` and writes `lines`. Returns 0, or another value with
 * *err. The caller closes the descriptors. */
static int part_spawn(struct agent_part *c, const char *const *args, int lines, int orders, struct err *err)
{
    char *argv[ARGS_MAX + 3] = {(char *)"llmload", (char *)"share"}; /* posix_spawn changes neither */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    size_t n = 2;
    for (size_t i = 0; args[i] && n < ARGS_MAX + 2; i++)
        argv[n++] = (char *)args[i];
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_adddup2(&files, orders, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, lines, SHARE_FD);
    errno = posix_spawn(&c->pid, "/proc/self/exe", &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return errno ? err_sys(err, "starting the load's process") : 0;
}

/* The descriptors of the other side, moved out of the way of 0 … 3, which dup2 fills one after the
 * other. */
static int pipe_above(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        int high = fcntl(fds[i], F_DUPFD_CLOEXEC, 10);
        if (high < 0)
            return -1;
        close(fds[i]);
        fds[i] = high;
    }
    return 0;
}

int part_start(struct agent_part **ret, const char *const *args, unsigned share, unsigned shares, struct err *err)
{
    struct agent_part *c = calloc(1, sizeof *c);
    int lines[2] = {-1, -1}, orders[2] = {-1, -1}, rc = 0;
    if (!c)
        return err_memory(err, "the agent's part of the load");
    c->lines = c->orders = -1;
    pthread_mutex_init(&c->lock, NULL);
    buf_init(&c->result, RESULT_MAX);
    snprintf(c->view.share, sizeof c->view.share, "%u/%u", share, shares);
    setenv("LLMLOAD_SHARE", c->view.share, 1);
    if (pipe_above(lines) < 0 || pipe_above(orders) < 0)
        rc = err_sys(err, "pipes for the load's process");
    if (rc == 0)
        rc = part_spawn(c, args, lines[1], orders[0], err);
    fs_close(&lines[1]);
    fs_close(&orders[0]);
    c->lines = fs_take(&lines[0]);
    c->orders = fs_take(&orders[1]);
    if (rc == 0 && (errno = pthread_create(&c->thread, NULL, read_lines, c)) != 0) {
        rc = err_sys(err, "starting a thread");
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    if (rc < 0) {
        c->pid = 0;
        part_free(c);
        return -1;
    }
    *ret = c;
    return 0;
}

int part_release(struct agent_part *c, int64_t at_ns, struct err *err)
{
    int rc = 0;
    pthread_mutex_lock(&c->lock);
    if (c->view.state != PART_READY || c->released)
        rc = err_set(err, ERR_INPUT, "the load is %s, not ready", part_state_names[c->view.state]);
    else
        send_release(c, at_ns);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

void part_release_when_ready(struct agent_part *c, int64_t at_ns)
{
    pthread_mutex_lock(&c->lock);
    c->release = true;
    c->release_at_ns = at_ns;
    if (c->view.state == PART_READY && !c->released)
        send_release(c, at_ns);
    pthread_mutex_unlock(&c->lock);
}

void part_stop(struct agent_part *c)
{
    pthread_mutex_lock(&c->lock);
    if (!c->ended)
        kill(c->pid, SIGTERM);
    pthread_mutex_unlock(&c->lock);
}

void part_look(struct agent_part *c, struct part_view *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = c->view;
    pthread_mutex_unlock(&c->lock);
}

bool part_result(struct agent_part *c, struct buf *to)
{
    pthread_mutex_lock(&c->lock);
    bool has = c->ended && c->view.state == PART_DONE;
    if (has)
        buf_str(to, buf_text(&c->result));
    pthread_mutex_unlock(&c->lock);
    return has;
}

void part_free(struct agent_part *c)
{
    if (!c)
        return;
    fs_close(&c->orders);
    if (c->pid) {
        part_stop(c);
        if (!join_until(c->thread, clock_mono_ns() + KILL_AFTER_S * INT64_C(1000000000))) {
            kill(c->pid, SIGKILL);
            pthread_join(c->thread, NULL);
        }
    }
    fs_close(&c->lines);
    buf_deinit(&c->result);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
