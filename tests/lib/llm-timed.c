/* llm-timed.c: a service of exactly known timing for the tests of llmload, written without any of its code: llm-timed TTFT_MS ITL_MS TOKENS LOG
 * prints its port, serves streamed chat completions until SIGTERM, then writes "request token ns" for each token truly sent (CLOCK_MONOTONIC before
 * the send) and a last line "# requests tokens". All streams have the same delays, so two queues in order of time are its whole schedule. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct stream {
    int fd, sent, have;
    long request;
    long long due;
    struct stream *next; /* in a queue */
    char in[8192];
};
struct queue { struct stream *first, **last; };
struct note { long request; int token; long long at; };

static volatile sig_atomic_t over;
static struct note *notes;
static size_t note_count, note_room;
static struct queue first_tokens, next_tokens;
static int tokens;
static long long itl, ttft;
static long served;

static void stop(int signal)
{
    over = signal;
}

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void put(struct queue *q, struct stream *s)
{
    s->next = NULL;
    *q->last = s;
    q->last = &s->next;
}

static struct stream *due(struct queue *q, long long at)
{
    struct stream *s = q->first;
    if (!s || s->due > at)
        return NULL;
    q->first = s->next;
    if (!q->first)
        q->last = &q->first;
    return s;
}

static void say(struct stream *s, const char *text, int n)
{
    if (s->fd >= 0 && send(s->fd, text, (size_t)n, MSG_NOSIGNAL) != n) {
        close(s->fd);
        s->fd = -1;
    }
}

static void event(struct stream *s, const char *json, const char *before, const char *after)
{
    char body[700], all[1000];
    int n = snprintf(body, sizeof body, "data: %s\n\n", json);
    n = snprintf(all, sizeof all, "%s%x\r\n%s\r\n%s", before, (unsigned)n, body, after);
    say(s, all, n);
}

static void finish(struct stream *s)
{
    char usage[200];
    event(s, "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}", "", "");
    snprintf(usage, sizeof usage, "{\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":%d,\"total_tokens\":%d}}", tokens, 11 + tokens);
    event(s, usage, "", "");
    event(s, "[DONE]", "", "0\r\n\r\n");
    s->request = -1;
    served++;
    if (s->fd < 0)
        free(s);
}

static void token(struct stream *s)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (s->sent == tokens) {
        finish(s);
        return;
    }
    if (note_count == note_room) {
        note_room = note_room ? 2 * note_room : 4096;
        notes = realloc(notes, note_room * sizeof *notes);
    }
    notes[note_count++] = (struct note){s->request, s->sent, now()};
    event(s, "{\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"timed\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}",
          s->sent ? "" : head, "");
    s->sent++;
    s->due += itl;
    put(&next_tokens, s);
}

static void request(struct stream *s)
{
    const char *id = strcasestr(s->in, "x-request-id:"), *length = strcasestr(s->in, "content-length:"), *end = strstr(s->in, "\r\n\r\n");
    if (!end || !length || (int)(end + 4 - s->in) + atoi(length + 15) > s->have)
        return;
    s->request = id ? atol(id + 13) : 0;
    s->have = s->sent = 0;
    s->due = now() + ttft;
    put(&first_tokens, s);
}

static void input(struct stream *s)
{
    ssize_t n = recv(s->fd, s->in + s->have, sizeof s->in - 1 - (size_t)s->have, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        close(s->fd);
        s->fd = -1;
        if (s->request < 0)
            free(s);
        return;
    }
    s->have += (int)n;
    s->in[s->have] = '\0';
    request(s);
}

static int listen_any(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 65535) < 0 || getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        exit(1);
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

static void take_all(int epoll, int listener)
{
    for (int fd, on = 1; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        struct stream *s = calloc(1, sizeof *s);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
        s->fd = fd, s->request = -1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
    }
}

static void serve(int epoll, int listener)
{
    struct epoll_event events[128];
    while (!over) {
        struct stream *s;
        long long t = now(), next = t + 50000000;
        while ((s = due(&first_tokens, t)) || (s = due(&next_tokens, t)))
            token(s);
        if (first_tokens.first && first_tokens.first->due < next)
            next = first_tokens.first->due;
        if (next_tokens.first && next_tokens.first->due < next)
            next = next_tokens.first->due;
        t = next - now();
        struct timespec wait = {0, t > 0 ? (long)t : 0};
        struct pollfd p = {.fd = epoll, .events = POLLIN};
        int n = ppoll(&p, 1, &wait, NULL) > 0 ? epoll_wait(epoll, events, 128, 0) : 0;
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                input(events[i].data.ptr);
            else
                take_all(epoll, listener);
        }
    }
}

int main(int argc, char **argv)
{
    struct rlimit r;
    if (argc != 5)
        return 2;
    ttft = (long long)(atof(argv[1]) * 1e6), itl = (long long)(atof(argv[2]) * 1e6), tokens = atoi(argv[3]);
    first_tokens.last = &first_tokens.first, next_tokens.last = &next_tokens.first;
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    signal(SIGTERM, stop);
    int listener = listen_any(), epoll = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
    serve(epoll, listener);
    FILE *f = fopen(argv[4], "w");
    if (!f)
        return 1;
    for (size_t i = 0; i < note_count; i++)
        fprintf(f, "%ld %d %lld\n", notes[i].request, notes[i].token, notes[i].at);
    fprintf(f, "# %ld %ld\n", served, served * tokens);
    return fclose(f) != 0;
}
