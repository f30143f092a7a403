/* emit.c: sends facts to the recorder over its socket; see emit.h. */
#include "base/emit.h"

#include "base/clock.h"
#include "base/json_out.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Of the recorder that this process sends to; NULL: not reached. */
static struct emit_shared *emit_page;

/* Maps the page of "@benchwrap/ID/PID.FD" where that memory is the run's, and this user's: the name comes
 * from the environment, and root must not write to a file that another user has open. */
static void open_emit_page(const char *name)
{
    char path[64], id[33];
    int pid, number;
    if (emit_page || sscanf(name, "@benchwrap/%32[0-9a-f]/%d.%d", id, &pid, &number) != 3)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size >= EMIT_SHARED_AT + (off_t)sizeof *emit_page) {
        void *at = mmap(NULL, sizeof *emit_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, EMIT_SHARED_AT);
        if (at != MAP_FAILED && memcmp(((struct emit_shared *)at)->run_id, id, sizeof id) == 0)
            emit_page = at;
        else if (at != MAP_FAILED)
            munmap(at, sizeof *emit_page);
    }
    close(fd);
}

void emit_count_lost(uint32_t n)
{
    if (emit_page)
        atomic_fetch_add(&emit_page->lost, n);
}

/* Waits 10 ms at most until the recorder has read something. False: the run's time for that is used
 * up. *waited_us: what this message has waited. */
static bool wait_for_recorder(int fd, uint32_t *waited_us)
{
    static _Atomic uint32_t own_us;
    const uint32_t most_us = EMIT_WAIT_MS * 1000;
    _Atomic uint32_t *used = emit_page ? &emit_page->waited_us : &own_us;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (atomic_load(used) >= (emit_page ? most_us : most_us / 5))
        return false;
    int64_t from = clock_mono_ns();
    poll(&p, 1, 10);
    uint32_t us = (uint32_t)((clock_mono_ns() - from) / 1000) + 1;
    *waited_us += us;
    atomic_fetch_add(used, us);
    return true;
}

int emit_send(int fd, struct str fact, int file)
{
    uint32_t waited_us = 0;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec text = {(void *)(uintptr_t)fact.p, fact.n};
    struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1};
    ssize_t sent;
    if (file >= 0) {
        memcpy(CMSG_DATA(&control.head), &file, sizeof file);
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
    }
    do
        sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_recorder(fd, &waited_us))));
    if (sent >= 0 && waited_us && emit_page)
        atomic_fetch_sub(&emit_page->waited_us, waited_us - waited_us / 10);
    if (sent >= 0)
        return 0;
    if (errno == EAGAIN)
        emit_count_lost(1);
    return -1;
}

/* ---- the receiver ---- */

/* Requests one attribute of the Unix socket with this inode number from the kernel. 0 with *ret;
 * -1: no answer, or one without it. */
static int diag_ask(int netlink, uint32_t inode, uint32_t show, uint16_t attribute, uint32_t *ret)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } ask = {{sizeof ask, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
             {.sdiag_family = AF_UNIX, .udiag_states = ~0U, .udiag_ino = inode, .udiag_show = show, .udiag_cookie = {~0U, ~0U}}};
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } reply;
    if (send(netlink, &ask, sizeof ask, 0) != (ssize_t)sizeof ask)
        return -1;
    ssize_t n = recv(netlink, &reply, sizeof reply, 0);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct unix_diag_msg)) || reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        reply.head.nlmsg_len > (size_t)n)
        return -1;
    for (size_t at = NLMSG_LENGTH(sizeof(struct unix_diag_msg)); at + sizeof(struct nlattr) <= reply.head.nlmsg_len;) {
        struct nlattr a;
        memcpy(&a, reply.bytes + at, sizeof a);
        if (a.nla_len < sizeof a || at + a.nla_len > reply.head.nlmsg_len)
            return -1;
        if (a.nla_type == attribute && a.nla_len == sizeof a + sizeof *ret) {
            memcpy(ret, reply.bytes + at + sizeof a, sizeof *ret);
            return 0;
        }
        at += NLA_ALIGN(a.nla_len);
    }
    return -1;
}

/* Reads the user id of the socket that fd is connected to, which is its owner even where another
 * socket has the name by now. -1: the kernel does not report it. */
static int diag_peer_owner(int fd, uint32_t *ret)
{
    enum { SHOW_OWNER = 0x40, OWNER = 7 }; /* UDIAG_SHOW_UID and UNIX_DIAG_UID: Linux 5.3, newer than some headers */
    struct stat st;
    uint32_t peer;
    struct timeval wait = {.tv_usec = EMIT_WAIT_MS * 1000 / 5};
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), rc = -1;
    if (netlink < 0)
        return -1;
    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (fstat(fd, &st) == 0 && diag_ask(netlink, (uint32_t)st.st_ino, UDIAG_SHOW_PEER, UNIX_DIAG_PEER, &peer) == 0)
        rc = diag_ask(netlink, peer, SHOW_OWNER, OWNER, ret);
    close(netlink);
    return rc;
}

/* Checks that the receiver may get facts and open files of this process: it belongs to this user or
 * to root. Root also accepts the user who called sudo, and any known user where sudo was not used.
 * 0, also where a kernel without unix_diag cannot answer; -1 with err. */
static int check_receiver(int fd, struct err *err)
{
    enum { UNMAPPED = 65534 };
    uint32_t owner;
    int64_t caller = -1;
    const char *sudo = getenv("SUDO_UID");
    if (diag_peer_owner(fd, &owner) < 0 || owner == geteuid() || owner == 0)
        return 0;
    if (sudo && !str_int(str_of(sudo), &caller))
        caller = -1;
    if (geteuid() == 0 && (caller == (int64_t)owner || (!sudo && owner != UNMAPPED)))
        return 0;
    return err_set(err, ERR_INPUT, "BENCHWRAP_SOCKET belongs to another user (uid %u): nothing is sent there", owner);
}

int emit_open(const char *name, struct err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof to.sun_path)
        return err_set(err, ERR_INPUT, "BENCHWRAP_SOCKET is not the name of a socket");
    memcpy(to.sun_path, name, n);
    if (name[0] == '@')
        to.sun_path[0] = 0; /* abstract: the name is exactly n bytes long */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(err, "making a socket");
    open_emit_page(name);
    if (connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0) {
        err_sys(err, "the recorder of this run does not answer, nothing was logged");
        close(fd);
        return -1;
    }
    if (check_receiver(fd, err) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int emit_metric(int fd, const char *key, double value, int64_t step, int64_t time_ms)
{
    struct buf b CLEANUP_BUF = {0};
    if (!isfinite(value))
        return 0;
    buf_init(&b, EMIT_MAX);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_text(&j, "metric", key);
    json_double(&j, "value", value);
    json_int(&j, "step", step);
    json_int(&j, "time", time_ms);
    json_close(&j, '}');
    return b.failed ? (errno = ENOMEM, -1) : emit_send(fd, buf_text(&b), -1);
}
