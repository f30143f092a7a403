/* serve.c: listens, hands connections to the threads in turn, runs their loops. */
#include "base/json_out.h"
#include "benchmarks/native/llmfake/serve.h"

#include "base/clock.h"
#include "base/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_SIZE = 256 << 10, EVENTS = 256, BACKLOG = 65535, THREADS_MAX = 256, LOOK_NS = 50000000 };

static atomic_int stopped; /* number of the signal */

static void serve_on_signal(int signal)
{
    stopped = signal;
}

/* Listens on f->host and f->port. Returns the socket; *ret_port is the port that it got. -1 with
 * err. */
static int listen_tcp(const struct fake *f, uint16_t *ret_port, struct err *err)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(f->port)};
    socklen_t n = sizeof a;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (inet_pton(AF_INET, f->host, &a.sin_addr) != 1)
        return err_set(err, ERR_USAGE, "--listen: expected an IPv4 address, got \"%.60s\"", f->host);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&a, &n) < 0) {
        err_sys(err, "listening on %s:%u", f->host, f->port);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_port = ntohs(a.sin_port);
    return fd;
}

/* Listens on the Unix socket f->socket. Returns its descriptor, or -1 with *err. */
static int listen_unix(const struct fake *f, struct err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(f->socket) >= sizeof a.sun_path)
        return err_set(err, ERR_USAGE, "--unix: the path is longer than %zu characters", sizeof a.sun_path - 1);
    memcpy(a.sun_path, f->socket, strlen(f->socket) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, BACKLOG) < 0) {
        err_sys(err, "listening on %s", f->socket);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Adds a new connection to a thread, which need not be the caller. Out of memory: the connection is
 * closed. */
static void serve_add_client(struct thread *t, int fd)
{
    struct fake_client *c = calloc(1, sizeof *c);
    int on = 1;
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (c) {
        *c = (struct fake_client){.thread = t, .fd = fd};
        buf_init(&c->in, 1 << 27);
        buf_init(&c->out, (size_t)1 << 31);
    }
    if (!c || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
        free(c);
        close(fd);
    }
}

/* Frees the clients that were closed in this turn of the loop, of which an event may have been
 * left. */
static void serve_free_dead(struct thread *t)
{
    while (t->dead) {
        struct fake_client *c = t->dead;
        t->dead = c->next_dead;
        buf_deinit(&c->in);
        buf_deinit(&c->out);
        free(c);
    }
}

/* Waits for events until the next timer is due, LOOK_NS at most. Returns their number; -1:
 * interrupted. */
static int serve_wait_events(struct thread *t, struct epoll_event *events)
{
    int64_t next = timers_next(&t->timers), now = clock_mono_ns(), ns = next < now + LOOK_NS ? next - now : LOOK_NS;
    struct timespec left = {ns / 1000000000, ns % 1000000000};
    if (ns <= 0)
        return epoll_wait(t->epoll, events, EVENTS, 0);
#if defined SYS_epoll_pwait2 && !defined __SANITIZE_THREAD__ /* which would not see that clients come from another thread */
    long n = syscall(SYS_epoll_pwait2, t->epoll, events, EVENTS, &left, NULL, 0);
    if (n >= 0 || errno != ENOSYS)
        return (int)n;
#endif
    struct pollfd p = {.fd = t->epoll, .events = POLLIN};
    return ppoll(&p, 1, &left, NULL) <= 0 ? 0 : epoll_wait(t->epoll, events, EVENTS, 0);
}

static void run_timers(struct thread *t)
{
    struct timer *due;
    t->now_ns = clock_mono_ns();
    while ((due = timers_due(&t->timers, t->now_ns)))
        answer_due(t, (struct fake_client *)((char *)due - offsetof(struct fake_client, timer)));
}

/* The thread of some clients: answers by the schedule until the server is stopped. Returns NULL. */
static void *serve_thread_loop(void *thread)
{
    struct thread *t = thread;
    struct epoll_event events[EVENTS];
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (!stopped) {
        int n = serve_wait_events(t, events);
        run_timers(t);
        for (int i = 0; i < n; i++) {
            struct fake_client *c = events[i].data.ptr;
            if (c->broken)
                continue;
            if (events[i].events & EPOLLOUT)
                client_flush(t, c);
            if (!c->broken && (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
                client_input(t, c);
            if (i % 16 == 15)
                run_timers(t);
        }
        serve_free_dead(t);
    }
    log_flush(t);
    return NULL;
}

static int serve_set_up_thread(struct thread *t, const struct fake *f, unsigned number, int log_fd, struct err *err)
{
    *t = (struct thread){.fake = f, .number = number, .log_fd = log_fd, .epoll = epoll_create1(EPOLL_CLOEXEC), .bytes = malloc(READ_SIZE)};
    buf_init(&t->scratch, 1 << 27);
    if (log_fd >= 0)
        t->log = malloc(LOG_RECORDS * sizeof *t->log);
    return t->epoll < 0 || !t->bytes || (log_fd >= 0 && !t->log) ? err_sys(err, "setting up a thread") : 0;
}

/* Accepts connections until a signal comes, and adds them to the threads in turn. Until --starting
 * has passed, each is answered with 503 and closed. */
static void accept_all(int fd, struct thread *threads, unsigned n, double starting_s)
{
    unsigned next = 0;
    int64_t begin = clock_mono_ns();
    static const char loading[] =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 86\r\n\r\n"
        "{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":503}}         ";
    while (!stopped) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, LOOK_NS / 1000000) <= 0)
            continue;
        /* cppcheck-suppress nullPointer ; whose address it is does not matter */
        for (int client; (client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
            if (starting_s > 0 && (double)(clock_mono_ns() - begin) < starting_s * 1e9) {
                char drain[4096];
                struct pollfd r = {.fd = client, .events = POLLIN};
                if (poll(&r, 1, 100) > 0 && recv(client, drain, sizeof drain, 0) > 0)
                    (void)!send(client, loading, sizeof loading - 1, MSG_NOSIGNAL);
                close(client);
            } else {
                serve_add_client(&threads[next++ % n], client);
            }
        }
        if (errno == EMFILE || errno == ENFILE)
            usleep(10000);
    }
}

static void serve_print_totals(const struct thread *threads, unsigned n)
{
    uint64_t requests = 0, tokens = 0, input = 0, events = 0, late = 0;
    double sum = 0;
    int64_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        requests += threads[i].requests, tokens += threads[i].tokens, input += threads[i].input_tokens, events += threads[i].events;
        late += threads[i].late_over_1ms, sum += threads[i].late_sum_ns;
        most = threads[i].late_max_ns > most ? threads[i].late_max_ns : most;
    }
    struct buf line CLEANUP_BUF;
    buf_init(&line, 4096);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_uint(&j, "requests", requests);
    json_uint(&j, "output_tokens", tokens);
    json_uint(&j, "input_tokens", input);
    json_uint(&j, "events", events);
    json_printf(&j, "late_mean_ms", "%.6f", events ? sum / (double)events / 1e6 : 0);
    json_printf(&j, "late_max_ms", "%.6f", (double)most / 1e6);
    json_uint(&j, "late_over_1ms", late);
    json_close(&j, '}');
    fprintf(stderr, "%s\n", line.p ? line.p : "");
}

/* Raises the limit of descriptors as far as this process may. A failure is ignored. */
static void raise_descriptors(void)
{
    struct rlimit r;
    enum { MANY = 200000 };
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    struct rlimit more = {MANY, MANY};
    r.rlim_cur = r.rlim_max;
    if (r.rlim_max >= MANY || setrlimit(RLIMIT_NOFILE, &more) < 0) /* the administrator may */
        setrlimit(RLIMIT_NOFILE, &r);
}

/* Starts the threads, accepts connections until a signal, joins the threads and prints the totals.
 * Returns 0, or -1 with *err where a thread could not start or the log lacks records. */
static int serve_run_threads(const struct fake *f, int fd, int log_fd, struct err *err)
{
    struct thread *threads = calloc(f->threads, sizeof *threads);
    pthread_t ids[THREADS_MAX];
    unsigned started = 0;
    int status = threads ? 0 : err_memory(err, "threads");
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (; status == 0 && started < f->threads; started++) {
        status = serve_set_up_thread(&threads[started], f, started, log_fd, err);
        if (status == 0 && (errno = pthread_create(&ids[started], NULL, serve_thread_loop, &threads[started])))
            status = err_sys(err, "starting a thread");
        if (status < 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (status == 0)
        accept_all(fd, threads, f->threads, f->starting_s);
    stopped = stopped ? stopped : SIGTERM;
    for (unsigned i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    if (status == 0)
        serve_print_totals(threads, f->threads);
    for (unsigned i = 0; i < started && status == 0; i++)
        if ((errno = threads[i].log_trouble))
            status = err_sys(err, "--log %s: records are missing", f->log_path);
    free(threads);
    return status;
}

int fake_serve(const struct fake *f, struct err *err)
{
    struct sigaction a = {.sa_handler = serve_on_signal};
    uint16_t port = 0;
    int log_fd = -1, stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE; /* accepted sockets inherit them */
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is an error of writing */
    raise_descriptors();
    if (f->log_path) {
        log_fd = place_create(f->log_path, O_TRUNC | O_APPEND, 0666);
        if (log_fd < 0 || write(log_fd, SENDLOG_MAGIC, 8) != 8)
            return err_sys(err, "--log %s", f->log_path);
    }
    int fd = f->socket ? listen_unix(f, err) : listen_tcp(f, &port, err);
    if (fd < 0)
        return -1;
    if (log_fd >= 0 && !f->socket) /* without stamps: when the request was read */
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
    if (f->socket)
        printf("unix:%s\n", f->socket);
    else
        printf("http://%s:%u\n", f->host, port);
    if (fflush(stdout) != 0)
        return err_sys(err, "telling the address");
    int status = serve_run_threads(f, fd, log_fd, err);
    close(fd);
    if (f->socket)
        unlink(f->socket);
    if (log_fd >= 0)
        close(log_fd);
    return status;
}
