/* command.c: commands of schedulers: one that is waited for, and a pool of such that run at once. */
#include "benchmarks/native/taskrate/command.h"

#include "base/query.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/search_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEED_MS = 50 };

static const int64_t GRACE_NS = INT64_C(2000000000);

const char *command_find(struct arena *a, const char *name, struct err *err)
{
    if (strchr(name, '/')) {
        char *real = realpath(name, NULL);
        const char *kept = real && access(real, X_OK) == 0 ? arena_dup(a, real, strlen(real)) : NULL;
        free(real);
        if (!kept)
            err_sys(err, "%s", name);
        return kept;
    }
    const char *file = search_path_find(getenv("PATH"), name, true, a);
    if (file)
        return file;
    err_set(err, ERR_SYSTEM, "the command %s is not in PATH", name);
    return NULL;
}

const char *command_path(struct bench *b, const char *name, struct err *err)
{
    for (size_t i = 0; i < b->tool_count; i++)
        if (strcmp(b->tools[i].name, name) == 0)
            return b->tools[i].value;
    const char *kept = arena_dup(&b->arena, name, strlen(name)), *path = command_find(&b->arena, name, err);
    if (kept && path && b->tool_count < TOOLS_MAX)
        b->tools[b->tool_count++] = (struct scheduler_fact){kept, path};
    return path;
}

/* Returns a descriptor from which a command reads `input`: an anonymous file, or /dev/null for an empty
 * input. */
static int input_of(struct str input)
{
    if (!input.n)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("taskrate-input", MFD_CLOEXEC);
    if (fd >= 0 && (fs_write_all(fd, input.p, input.n) < 0 || lseek(fd, 0, SEEK_SET) < 0))
        fs_close(&fd);
    return fd;
}

int clients_init(struct clients *c, size_t room, struct err *err)
{
    *c = (struct clients){.room = room, .epoll = epoll_create1(EPOLL_CLOEXEC), .null = open("/dev/null", O_RDONLY | O_CLOEXEC)};
    c->client = calloc(room, sizeof *c->client);
    if (c->epoll < 0 || c->null < 0 || !c->client || spawner_init(&c->spawner) < 0) {
        err_sys(err, "%zu commands at once", room);
        clients_deinit(c);
        return -1;
    }
    c->spawner.own_group = true; /* taskrate handles Ctrl-C: srun would require it twice */
    c->spawner.death = SIGTERM;
    return 0;
}

struct submit_client *clients_start(struct clients *c, const struct argument_words *argv, struct str input, struct err *err)
{
    size_t i = 0;
    int out[2];
    while (i < c->room && c->client[i].pid)
        i++;
    if (i == c->room) {
        err_set(err, ERR_BUG, "no place for another command");
        return NULL;
    }
    int in = input.n ? input_of(input) : c->null;
    if (in < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0) {
        err_sys(err, "starting %s", argv->word[0]);
        if (in >= 0 && in != c->null)
            close(in);
        return NULL;
    }
    struct submit_client *one = &c->client[i];
    int fd[3] = {in, out[1], out[1]};
    *one = (struct submit_client){.out = out[0], .pidfd = -1, .begun = clock_mono_ns()};
    fcntl(out[1], F_SETFL, 0); /* the command's end blocks, taskrate's does not */
    c->spawner.fd = fd;
    one->pid = spawn_task(&c->spawner, (char *const *)(uintptr_t)argv->word, environ, &one->pidfd);
    int sys = errno;
    c->spawner.fd = NULL;
    close(out[1]);
    if (in != c->null)
        close(in);
    if (one->pid < 0) {
        close(out[0]);
        one->pid = 0;
        errno = sys;
        err_sys(err, "starting %s", argv->word[0]);
        return NULL;
    }
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = one};
    if (one->pidfd >= 0)
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, one->pidfd, &e);
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, one->out, &e);
    c->running++;
    return one;
}

/* Keeps the end of what comes; end of file is noted. */
static void read_out(struct clients *c, struct submit_client *one)
{
    char more[4096];
    for (ssize_t n; !one->alone && (n = read(one->out, more, sizeof more)) != -1;) {
        if (n == 0) {
            one->alone = true;
            epoll_ctl(c->epoll, EPOLL_CTL_DEL, one->out, NULL);
            break;
        }
        size_t take = (size_t)n < CLIENT_OUT ? (size_t)n : CLIENT_OUT, keep = CLIENT_OUT - take;
        if (keep > one->text_n)
            keep = one->text_n;
        memmove(one->text, one->text + one->text_n - keep, keep);
        memcpy(one->text + keep, more + n - take, take);
        one->text_n = keep + take;
    }
}

struct submit_client *clients_ended(struct clients *c)
{
    struct epoll_event events[64];
    int n = epoll_wait(c->epoll, events, 64, 0), status;
    for (int i = 0; i < n; i++)
        if (((struct submit_client *)events[i].data.ptr)->pid)
            read_out(c, events[i].data.ptr);
    for (size_t i = 0; i < c->room; i++) {
        struct submit_client *one = &c->client[i];
        if (!one->pid || (n == 0 && one->pidfd >= 0) || waitpid(one->pid, &status, WNOHANG) != one->pid)
            continue;
        read_out(c, one);
        one->status = spawn_status(status);
        return one;
    }
    return NULL;
}

void clients_free(struct clients *c, struct submit_client *one)
{
    close(one->out); /* which removes both from the epoll set */
    if (one->pidfd >= 0)
        close(one->pidfd);
    one->pid = 0;
    c->running--;
}

void clients_overdue(struct clients *c, double seconds)
{
    int64_t now = clock_mono_ns();
    for (size_t i = 0; i < c->room; i++) {
        struct submit_client *one = &c->client[i];
        if (!one->pid)
            continue;
        if (one->overdue && now - one->overdue > GRACE_NS)
            kill(-one->pid, SIGKILL);
        else if (!one->overdue && (double)(now - one->begun) / 1e9 >= seconds) {
            kill(-one->pid, SIGTERM);
            one->overdue = now;
        }
    }
}

void clients_deinit(struct clients *c)
{
    for (int round = 0; c->client && c->running && round < 250; round++) {
        for (size_t i = 0; i < c->room; i++)
            if (c->client[i].pid && (round == 0 || round >= 200))
                kill(-c->client[i].pid, round ? SIGKILL : SIGTERM);
        for (struct submit_client *one; (one = clients_ended(c));)
            clients_free(c, one);
        if (c->running)
            usleep(10000);
    }
    spawner_deinit(&c->spawner);
    free(c->client);
    if (c->epoll >= 0)
        close(c->epoll);
    if (c->null >= 0)
        close(c->null);
    *c = (struct clients){.epoll = -1, .null = -1};
}

/* The last line of what is printed, harmless to print. */
static void last_line(struct str text, struct buf *to)
{
    text = str_trim(text);
    const char *line = text.n ? memrchr(text.p, '\n', text.n) : NULL;
    if (line)
        text = str_sub(text, (size_t)(line - text.p) + 1, text.n);
    buf_plain(to, text, 300);
}

void client_says(const struct submit_client *one, struct buf *to)
{
    last_line((struct str){one->text, one->text_n}, to);
}

/* Why a question has no answer, in words. */
static int command_no_answer(const struct query *a, const char *name, double seconds, struct err *err)
{
    CLEANUP_BUF struct buf says;
    buf_init(&says, 2048);
    if (a->end == QUERY_RUNS)
        return err_set(err, ERR_REMOTE, "stopped before %s answered", name);
    if (a->end == QUERY_LATE)
        return err_set(err, ERR_REMOTE, "%s did not answer within %g s", name, seconds);
    if (a->end == QUERY_LONG)
        return err_set(err, ERR_REMOTE, "%s printed more than can be an answer", name);
    last_line(buf_text(&a->why), &says);
    if (!says.n && WIFEXITED(a->status) && WEXITSTATUS(a->status) == 127)
        return err_set(err, ERR_REMOTE, "the command %s is not in PATH", name);
    return err_set(err, ERR_REMOTE, "%s: %s", name, says.n ? says.p : "it failed and printed no message");
}

int command_run(struct bench *b, const struct argument_words *argv, double seconds, struct buf *out, struct err *err)
{
    struct query ask;
    int rc = 0;
    if (query_start(&ask, (char *const *)(uintptr_t)argv->word, environ, out->max, (int64_t)(seconds * 1e3), 0, err) < 0)
        return -1;
    while (query_wait(&ask, HEED_MS) == QUERY_RUNS && !(b && bench_stop(b)))
        ;
    buf_str(out, buf_text(&ask.text)); /* of one that failed, too: some print their error on standard output */
    if (ask.end != QUERY_DONE || ask.status != 0)
        rc = command_no_answer(&ask, str_base_name(argv->word[0]), seconds, err);
    query_close(&ask);
    return rc;
}
