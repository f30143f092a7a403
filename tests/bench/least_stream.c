/* least_stream.c: the least that a client of streams can do, beside llmload: epoll_wait and recv, nothing is stamped, parsed or kept but for the end of
 * an answer. least_stream PORT STREAMS ROUNDS TOKENS: prints microseconds of CPU for a read, and reads. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char request[600];

static int ask(int fd)
{
    return send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) ? 0 : -1;
}

static int begin(int epoll, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        return -1;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -1 : ask(fd);
}

int main(int argc, char **argv)
{
    static char bytes[1 << 16];
    struct epoll_event events[256];
    struct timespec cpu;
    int epoll = epoll_create1(EPOLL_CLOEXEC), port = argc == 5 ? atoi(argv[1]) : 0, streams = argc == 5 ? atoi(argv[2]) : 0;
    if (epoll < 0 || port <= 0 || streams <= 0) {
        fputs("usage: least_stream PORT STREAMS ROUNDS TOKENS\n", stderr);
        return 2;
    }
    long answers = 0, asked = streams, all = (long)streams * atol(argv[3]), reads = 0;
    char body[160];
    int length = snprintf(body, sizeof body,
                          "{\"messages\":[{\"role\":\"user\",\"content\":\"Count.\"}],\"stream\":true,\"max_tokens\":%d}", atoi(argv[4]));
    snprintf(request, sizeof request,
             "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length,
             body);
    for (int i = 0; i < streams; i++)
        if (begin(epoll, port) < 0) {
            perror("least_stream");
            return 1;
        }
    while (answers < all) {
        int n = epoll_wait(epoll, events, 256, 60000);
        for (int i = 0; i < n; i++) {
            ssize_t got = recv(events[i].data.fd, bytes, sizeof bytes, MSG_DONTWAIT);
            reads++;
            if (got == 0)
                return 1;
            if (got > 0 && memmem(bytes, (size_t)got, "[DONE]", 6)) {
                answers++;
                if (asked < all && ask(events[i].data.fd) < 0)
                    return 1;
                asked++;
            }
        }
        if (n <= 0)
            return 1;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%.3f %ld\n", ((double)cpu.tv_sec * 1e6 + (double)cpu.tv_nsec / 1e3) / (double)reads, reads);
    return 0;
}
