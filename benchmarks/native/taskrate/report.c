/* report.c: the reports of tasks: datagrams with acknowledgement, or a file that all nodes append to. */
#include "benchmarks/native/taskrate/report.h"

#include "base/clock.h"
#include "base/fs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDRESSES_MAX = 8, RECEIVE_BYTES = 8 << 20, SLACK_NS = 1000000 };

/* "PORT,HEX+HEX": the addresses of this machine, the loopback one last. */
static void report_print_addresses(struct buf *to, unsigned port)
{
    struct ifaddrs *list = NULL;
    unsigned n = 0;
    buf_printf(to, "%u,", port);
    if (getifaddrs(&list) == 0)
        for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK ||
                n == ADDRESSES_MAX)
                continue;
            struct sockaddr_in in;
            memcpy(&in, i->ifa_addr, sizeof in);
            buf_printf(to, "%08x+", ntohl(in.sin_addr.s_addr));
            n++;
        }
    if (list)
        freeifaddrs(list);
    buf_printf(to, "%08x", INADDR_LOOPBACK);
}

/* Opens r->socket for the tasks' reports, and sets b->set.address to the address that tasks send
 * to. Returns 0, or another value with *err; the socket then stays open. */
static int listen_to(struct report_channel *r, struct bench *b, struct err *err)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t n = sizeof in;
    int room = RECEIVE_BYTES, on = 1;
    CLEANUP_BUF struct buf text = {0};
    r->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->socket < 0 || bind(r->socket, (struct sockaddr *)&in, sizeof in) < 0 || getsockname(r->socket, (struct sockaddr *)&in, &n) < 0)
        return err_sys(err, "a socket for the tasks' reports");
    if (setsockopt(r->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0)
        setsockopt(r->socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(r->socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    buf_init(&text, 512);
    if (b->set.address) {
        struct in_addr own;
        if (inet_pton(AF_INET, b->set.address, &own) != 1)
            return err_set(err, ERR_USAGE, "--address: expected an IPv4 address, got \"%s\"", b->set.address);
        buf_printf(&text, "%u,%08x", ntohs(in.sin_port), ntohl(own.s_addr));
    } else
        report_print_addresses(&text, ntohs(in.sin_port));
    b->set.address = text.failed ? NULL : arena_dup(&b->arena, text.p, text.n);
    return b->set.address ? 0 : err_memory(err, "addresses");
}

int report_init(struct report_channel *r, struct bench *b, struct err *err)
{
    char path[4096];
    *r = (struct report_channel){.socket = -1, .file = -1};
    if (!b->set.report_dir)
        return listen_to(r, b, err);
    if (strpbrk(b->set.report_dir, " \t\n'\""))
        return err_set(err, ERR_USAGE, "--report-dir %s: blanks and quotes in a path are not for every scheduler", b->set.report_dir);
    if (fs_mkdirs(AT_FDCWD, b->set.report_dir, 0700, err) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/%s", b->set.report_dir, b->tag);
    r->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return r->file < 0 ? err_sys(err, "the file for the tasks' reports, %s", path) : 0;
}

void report_deinit(struct report_channel *r, struct bench *b)
{
    char path[4096];
    fs_close(&r->socket);
    if (r->file < 0)
        return;
    fs_close(&r->file);
    snprintf(path, sizeof path, "%s/%s", b->set.report_dir, b->tag);
    unlink(path);
}

/* Returns whether the report is of a further run that was counted already: it comes again where its
 * acknowledgement was late. */
static bool report_is_repeated(const struct tasks *t, size_t task, int64_t start)
{
    for (size_t i = 0; i < t->duplicates && i < TASKS_AGAIN; i++)
        if (t->again[i].task == task && t->again[i].start == start)
            return true;
    return false;
}

/* One report into the book. The same run reported twice (its acknowledgement was lost) is known by its first instruction. true: it ended a task. */
static bool report_take_record(struct bench *b, const struct wire_record *r, int64_t when)
{
    struct tasks *t = &b->tasks;
    struct wire_stamps stamps;
    if (r->magic != WIRE_MAGIC || r->token != b->token || r->task >= t->n || !clocks_sensible(r)) {
        t->strangers++;
        return false;
    }
    uint16_t node = clocks_take(&b->clocks, r, &stamps);
    size_t i = r->task;
    bool here = b->clocks.node[node].same; /* one clock: no task begins before its submission, none ends after its report */
    if (!(t->flags[i] & TASK_SUBMITTED) || (here && (stamps.start < t->submit[i] - SLACK_NS || stamps.end > when + SLACK_NS))) {
        t->strangers++;
        return false;
    }
    if (t->flags[i] & TASK_STAMPED) {
        if ((t->self[i].start != stamps.start || t->node[i] != node) && !report_is_repeated(t, i, stamps.start)) {
            t->flags[i] |= TASK_TWICE;
            t->again[t->duplicates % TASKS_AGAIN].task = i;
            t->again[t->duplicates++ % TASKS_AGAIN].start = stamps.start;
        }
        return false;
    }
    t->self[i] = stamps;
    t->node[i] = node;
    t->known[i] = when;
    t->status[i] = (int16_t)(r->status & 0x1ff);
    t->flags[i] &= (uint8_t)~TASK_REFUSED; /* taskrate stopped the call, which had reached the queue all the same */
    t->flags[i] |= (uint8_t)(TASK_STAMPED | TASK_ENDED | (r->restarts ? TASK_RETRIED : 0));
    return true;
}

/* When the kernel had the datagram, on this host's monotonic clock. */
static int64_t report_arrival_ns(struct msghdr *m)
{
    struct timespec wall;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&wall, CMSG_DATA(c), sizeof wall);
            int64_t when = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - clocks_difference(), now = clock_mono_ns();
            return when > now || now - when > 1000000000 ? now : when; /* the clock may have been set in between */
        }
    return clock_mono_ns();
}

/* Receives all reports that are there, and confirms each. Returns how many tasks ended. */
static size_t take_datagrams(struct report_channel *r, struct bench *b)
{
    size_t ended = 0;
    for (;;) {
        struct wire_record record;
        struct sockaddr_in from;
        char control[128];
        struct iovec iov = {&record, sizeof record};
        struct msghdr m = {.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        ssize_t n = recvmsg(r->socket, &m, MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == ECONNREFUSED))
            continue;
        if (n < 0)
            return ended;
        if (n != sizeof record || record.magic != WIRE_MAGIC || record.token != b->token) { /* not answered: it is no task of this run */
            b->tasks.strangers++;
            continue;
        }
        sendto(r->socket, &record, 16, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from, m.msg_namelen);
        ended += report_take_record(b, &record, report_arrival_ns(&m));
    }
}

static size_t report_take_file(struct report_channel *r, struct bench *b)
{
    struct wire_record records[64];
    size_t ended = 0;
    int64_t when = clock_mono_ns();
    for (ssize_t n; (n = pread(r->file, records, sizeof records, r->read)) >= (ssize_t)sizeof records[0];) {
        size_t whole = (size_t)n / sizeof records[0];
        for (size_t i = 0; i < whole; i++)
            ended += report_take_record(b, &records[i], when);
        r->read += (off_t)(whole * sizeof records[0]);
    }
    return ended;
}

size_t report_take(struct report_channel *r, struct bench *b)
{
    return r->file >= 0 ? report_take_file(r, b) : take_datagrams(r, b);
}

const char *report_describe(const struct report_channel *r)
{
    return r->file >= 0 ? "the task's record was found in the report file, inspected every millisecond"
                        : "the task's report arrived by datagram";
}
