/* lateness.c: since when the bytes of a read may have been waiting for the client; see
 * lateness.h. */
#include "benchmarks/native/llmload/lateness.h"

#include "base/clock.h"
#include "base/str.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 1000000, SLACK_NS = 1000000 };

static _Atomic uint64_t stops_seen;

/* A blocked SIGCONT is pending before the threads that it continues can run. The lock is held until
 * it is counted: another thread must not miss it in between. */
uint64_t lateness_stops(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const struct timespec at_once = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    pthread_mutex_lock(&lock);
    uint64_t n = atomic_load_explicit(&stops_seen, memory_order_relaxed);
    if (sigtimedwait(&set, NULL, &at_once) == SIGCONT)
        atomic_store_explicit(&stops_seen, ++n, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return n;
}

/* Reads the second number of schedstat. */
int64_t lateness_queued_ns(const struct lateness *l)
{
    char text[100];
    ssize_t n = l->fd < 0 ? -1 : pread(l->fd, text, sizeof text, 0);
    struct str rest = {text, n > 0 ? (size_t)n : 0};
    uint64_t ns;
    str_word(&rest);
    return str_uint(str_word(&rest), &ns) ? (int64_t)ns : 0;
}

void lateness_init(struct lateness *l, int64_t now_ns)
{
    *l = (struct lateness){.fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC), .empty = {now_ns, now_ns, 0}};
}

void lateness_deinit(struct lateness *l)
{
    if (l->fd >= 0)
        close(l->fd);
}

void lateness_wait_begin(struct lateness *l, int64_t now_ns, int64_t until_ns)
{
    l->called_ns = now_ns;
    l->stops = atomic_load_explicit(&stops_seen, memory_order_relaxed);
    l->until_ns = until_ns > now_ns ? until_ns : now_ns;
    if (now_ns - l->looked_ns > LOOK_NS) {
        l->delay_ns = lateness_queued_ns(l);
        l->looked_ns = now_ns;
    }
}

void lateness_wait_end(struct lateness *l, int64_t now_ns, bool all)
{
    l->from = l->empty;
    l->returned_ns = now_ns;
    l->since_ns = 0;
    if (all) /* as the kernel checked: a thread that comes back later than it may was stopped or waited since */
        l->empty = (struct lateness_bound){now_ns > l->until_ns + SLACK_NS ? l->called_ns : now_ns, l->called_ns, l->stops};
}

void lateness_left(struct lateness *l)
{
    l->empty.at_ns = l->empty.called_ns = 0;
}

/* Returns when the thread was woken for the bytes: the return of the wait, less the delays since
 * the socket was known to be empty, and not before that moment. Read once after each wait. 0: not
 * known. */
static int64_t since_woken(struct lateness *l)
{
    int64_t from = l->from.at_ns;
    if (l->since_ns || !from)
        return l->since_ns;
    int64_t delay = lateness_queued_ns(l), busy = l->called_ns - from, woken = l->returned_ns - busy - (delay - l->delay_ns);
    bool was_stopped = l->returned_ns - (delay - l->delay_ns) > l->until_ns + SLACK_NS; /* a stopped process waits in no queue */
    bool counts = l->fd >= 0 && !was_stopped;
    l->since_ns = counts && woken > from ? woken : from;
    return l->since_ns;
}

int64_t lateness_after(struct lateness *l, int64_t sent_ns, int64_t latest_ns)
{
    uint64_t stops = lateness_stops();
    int64_t from = stops == l->from.stops ? l->from.at_ns : l->from.called_ns;
    int64_t low = from > sent_ns && from <= latest_ns ? from : sent_ns;
    if (latest_ns - low <= LATENESS_NEAR_NS || stops != l->stops)
        return low;
    int64_t since = since_woken(l);
    return since > low && since <= latest_ns ? since : low;
}

int64_t lateness_last_data(int fd, int64_t now_ns)
{
    enum { TICK_MS = 10 }; /* the slowest clock that kernels count by */
    struct tcp_info info;
    socklen_t n = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0 || n < offsetof(struct tcp_info, tcpi_last_ack_recv) ||
        info.tcpi_last_data_recv <= TICK_MS)
        return now_ns;
    return now_ns - (int64_t)(info.tcpi_last_data_recv - TICK_MS) * 1000000;
}

int64_t lateness_segments(int fd, uint64_t read_bytes, bool *ret_unread)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0 ||
        n < offsetof(struct tcp_info, tcpi_data_segs_in) + sizeof info.tcpi_data_segs_in)
        return -1;
    *ret_unread = info.tcpi_bytes_received != read_bytes;
    return info.tcpi_data_segs_in;
}
