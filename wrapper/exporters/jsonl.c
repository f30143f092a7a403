/* jsonl.c: exporter of runs as JSON lines to a file, a pipe or a socket. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "exporters/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 256 << 20,
    TAIL_MAX = 4 << 20, /* a line without an end that is longer is not searched for its beginning */
    RECORDS_BYTES = 1 << 20, /* of one append */
    STEP_MS = 20,
    PARTING_MS = 1000, /* the time for a reader to close its end of a socket */
    CONNECT_MS = 5000
};

enum jsonl_kind { JSONL_FILE, JSONL_PIPE, JSONL_SOCKET };
static const char *const jsonl_keys[] = {
    [JSONL_FILE] = EXPORTER_KEY_FILE, [JSONL_PIPE] = EXPORTER_KEY_PIPE, [JSONL_SOCKET] = EXPORTER_KEY_SOCKET};

struct jsonl {
    enum jsonl_kind kind;
    const char *place;
    int fd; /* of a pipe or socket; -1: not open */
};

static const struct opt_row jsonl_rows[] = {
    {.name = EXPORTER_KEY_FILE,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .help = "Append to this file (absolute path); its folder must exist",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_PIPE,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .help = "Write to this named pipe (absolute path), of yours or of root",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_SOCKET,
     .kind = OPT_TEXT,
     .arg = "PATH|HOST:PORT",
     .help = "Write to this Unix socket (absolute path), or to this TCP port, without encryption",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_SAMPLES,
     .kind = OPT_FLAG,
     .help = "Send all samples of each metric, not only the last value",
     .flags = OPT_FROM_FILE},
};

/* Checks the configuration: one of file, pipe and socket, with an absolute path or an address. -1
 * with err. */
static int jsonl_configure(const struct exporter_config *c, struct err *err)
{
    const char *place = NULL;
    size_t given = 0, kind = 0;
    for (size_t i = 0; i < sizeof jsonl_keys / sizeof *jsonl_keys; i++)
        if (exporter_text(c, jsonl_keys[i])) {
            place = exporter_text(c, jsonl_keys[i]);
            kind = i;
            given++;
        }
    if (given != 1)
        return err_set(err, ERR_INPUT, "jsonl: expected one of the keys file, pipe and socket");
    if (place[0] != '/' && (kind != JSONL_SOCKET || !strrchr(place, ':') || strlen(place) > 300))
        return err_set(err, ERR_INPUT, "%s: expected an absolute path%s", jsonl_keys[kind], kind == JSONL_SOCKET ? " or HOST:PORT" : "");
    return 0;
}

/* ---- waiting ---- */

/* False: the time is over, or the process was requested to end. */
static bool jsonl_wait(const struct exporter_link *l, int fd, short events, int64_t until_ns)
{
    struct pollfd p[2] = {{.fd = fd, .events = events}, {.fd = l->cancel_fd, .events = POLLIN}};
    int64_t ms = ((until_ns < l->until_ns ? until_ns : l->until_ns) - clock_mono_ns()) / 1000000;
    if (ms <= 0)
        return false;
    int n = poll(p, 2, ms > 60000 ? 60000 : (int)ms);
    return n >= 0 ? !(p[1].revents & POLLIN) && (n > 0 || clock_mono_ns() < until_ns) : errno == EINTR;
}

/* A pause of a poll for what no event reports. */
static bool jsonl_pause(const struct exporter_link *l)
{
    int64_t now = clock_mono_ns();
    struct pollfd p = {.fd = l->cancel_fd, .events = POLLIN};
    return now < l->until_ns && poll(&p, p.fd >= 0 ? 1 : 0, STEP_MS) == 0;
}

/* ---- file ---- */

static int jsonl_lock_file(const struct exporter_link *l, int fd, bool *ret_locks, struct err *err)
{
    const struct jsonl *x = l->state;
    *ret_locks = true;
    while (fs_lock(fd)) {
        if (errno != EAGAIN && errno != EACCES) {
            *ret_locks = false; /* a file system without locks: lines are appended in one piece all the same */
            return 0;
        }
        if (!jsonl_pause(l))
            return err_set(err, ERR_SYSTEM, "cannot write %s: another process has locked it", x->place);
    }
    return 0;
}

/* The end of a file: whether it ends with the line that is written already, whether its last line
 * lacks the end, and where that one begins if it is a line of benchwrap's that a kill truncated. */
struct file_end {
    bool there, open_line;
    off_t cut_at; /* -1: leave it */
};

/* Reads the last bytes of the file `path`, which is open as fd and has `size` bytes, and compares
 * them with `line`. `begin`: how each line of benchwrap begins. 0 with *ret; -1 with err, also
 * where another file has the path now. */
static int jsonl_read_end(const char *path, int fd, struct str line, struct str begin, off_t size, struct file_end *ret, struct err *err)
{
    struct stat st, same;
    struct buf text CLEANUP_BUF;
    CLEANUP_FD int in = place_open_named(path);
    size_t want = (size_t)size < line.n + TAIL_MAX ? (size_t)size : line.n + TAIL_MAX;
    buf_init(&text, want + 1);
    *ret = (struct file_end){.cut_at = -1};
    if (in < 0 || fstat(in, &st) || fstat(fd, &same))
        return err_sys(err, "cannot read %s", path);
    if (st.st_dev != same.st_dev || st.st_ino != same.st_ino)
        return err_set(err, ERR_SYSTEM, "another process replaced %s", path);
    char *p = buf_room(&text, want);
    if (want && (!p || pread(in, p, want, size - (off_t)want) != (ssize_t)want))
        return err_sys(err, "cannot read %s", path);
    struct str end = {p ? p : "", want};
    ret->there =
        end.n >= line.n && str_eq(str_sub(end, end.n - line.n, line.n), line) && (end.n == line.n || end.p[end.n - line.n - 1] == '\n');
    ret->open_line = end.n && end.p[end.n - 1] != '\n';
    if (!ret->open_line)
        return 0;
    const char *last = memrchr(end.p, '\n', end.n);
    struct str part = last ? str_sub(end, (size_t)(last + 1 - end.p), end.n) : end;
    bool whole = last || (off_t)end.n == size, ours = str_eq(str_sub(part, 0, begin.n), str_sub(begin, 0, part.n));
    if (whole && ours)
        ret->cut_at = size - (off_t)part.n;
    return 0;
}

/* The line is complete and on the disk, or the file is as it was. */
static enum exporter_answer jsonl_append_line(int fd, const char *path, struct str line, const struct file_end *end, off_t size,
                                              struct err *err)
{
    if (end->cut_at >= 0 && ftruncate(fd, end->cut_at))
        return err_sys(err, "cannot write %s", path), EXPORTER_LATER;
    if (end->cut_at >= 0)
        size = end->cut_at;
    bool break_line = end->open_line && end->cut_at < 0;
    if ((!break_line || fs_write_all(fd, "\n", 1) == 0) && fs_write_all(fd, line.p, line.n) == 0 && fdatasync(fd) == 0)
        return EXPORTER_SENT;
    err_sys(err, "cannot write %s", path);
    if (ftruncate(fd, size) && err)
        err_wrap(err, "a part of a line stays at the end");
    return EXPORTER_LATER;
}

/* is_unique: no other record is equal, so that one that is there already is this one. */
static enum exporter_answer jsonl_write_file(struct exporter_link *l, struct str line, struct str begin, bool is_unique, struct err *err)
{
    const struct jsonl *x = l->state;
    struct stat st;
    struct file_end end;
    bool locks;
    CLEANUP_FD int fd = place_create(x->place, O_APPEND | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, &st))
        return err_sys(err, "cannot open %s", x->place), EXPORTER_LATER;
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "cannot write %s: it is no regular file; for a pipe use the key pipe", x->place), EXPORTER_LATER;
    if (jsonl_lock_file(l, fd, &locks, err) || fstat(fd, &st) || jsonl_read_end(x->place, fd, line, begin, st.st_size, &end, err))
        return EXPORTER_LATER;
    if (is_unique && end.there && !end.open_line)
        return EXPORTER_SENT; /* a kill came between writing and noting it */
    if (!locks)
        end.cut_at = -1;
    return jsonl_append_line(fd, x->place, line, &end, st.st_size, err);
}

/* ---- pipe and socket ---- */

static enum exporter_answer jsonl_open_pipe(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    struct stat st;
    if (stat(x->place, &st)) /* it is not made here */
        return err_sys(err, "cannot open %s", x->place), EXPORTER_LATER;
    if (!S_ISFIFO(st.st_mode))
        return err_set(err, ERR_INPUT, "cannot write %s: it is no named pipe", x->place), EXPORTER_LATER;
    x->fd = place_create(x->place, O_NONBLOCK | O_NOCTTY, 0600);
    if (x->fd < 0 && errno == ENXIO)
        return err_set(err, ERR_SYSTEM, "cannot write %s: no process reads it", x->place), EXPORTER_LATER;
    if (x->fd < 0 || fstat(x->fd, &st) || !S_ISFIFO(st.st_mode))
        return err_sys(err, "cannot open %s", x->place), EXPORTER_LATER;
    return EXPORTER_SENT;
}

/* A socket of another user in a folder that all users may write could belong to any of them. */
static int check_socket_owner(const struct jsonl *x, struct err *err)
{
    char folder[sizeof((struct sockaddr_un *)0)->sun_path], owner[64];
    struct ucred peer;
    socklen_t n = sizeof peer;
    struct stat st;
    const char *slash = strrchr(x->place, '/');
    snprintf(folder, sizeof folder, "%.*s/", (int)(slash - x->place), x->place);
    if (getsockopt(x->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) || stat(folder, &st))
        return err_sys(err, "cannot inspect %s", x->place);
    if (place_is_trusted(peer.uid) || (place_is_trusted(st.st_uid) && !(st.st_mode & S_IWOTH)))
        return 0;
    return err_set(err, ERR_INPUT, "cannot use %s: it is a socket of %s in a folder that all users may write", x->place,
                   place_owner(peer.uid, owner, sizeof owner));
}

static enum exporter_answer connect_unix(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (snprintf(to.sun_path, sizeof to.sun_path, "%s", x->place) >= (int)sizeof to.sun_path)
        return err_set(err, ERR_INPUT, "cannot connect to %s: the path of a socket has at most %zu bytes", x->place,
                       sizeof to.sun_path - 1),
               EXPORTER_LATER;
    x->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (x->fd < 0 || connect(x->fd, (struct sockaddr *)&to, sizeof to)) /* EAGAIN: its queue is full */
        return err_sys(err, "cannot connect to %s", x->place), EXPORTER_LATER;
    return check_socket_owner(x, err) ? EXPORTER_LATER : EXPORTER_SENT;
}

/* Opens x->fd as a socket and connects it, within CONNECT_MS and the link's time. 0; -1 with err:
 * x->fd may stay open, and the next call closes it. */
static int connect_address(struct exporter_link *l, const struct addrinfo *a, struct err *err)
{
    struct jsonl *x = l->state;
    int error = 0;
    socklen_t n = sizeof error;
    fs_close(&x->fd);
    x->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (x->fd >= 0 && connect(x->fd, a->ai_addr, a->ai_addrlen) == 0)
        return 0;
    if (x->fd < 0 || errno != EINPROGRESS)
        return err_sys(err, "cannot connect to %s", x->place);
    if (!jsonl_wait(l, x->fd, POLLOUT, clock_mono_ns() + CONNECT_MS * INT64_C(1000000)))
        return err_set(err, ERR_REMOTE, "cannot connect to %s: no answer", x->place);
    if (getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && !error)
        return 0;
    errno = error;
    return err_sys(err, "cannot connect to %s", x->place);
}

/* Connects x->fd to HOST:PORT by the first of its addresses that accepts. EXPORTER_LATER with err,
 * which has the reason of the last address. */
static enum exporter_answer connect_tcp(struct exporter_link *l, struct err *err)
{
    const struct jsonl *x = l->state;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    struct addrinfo *list = NULL;
    const char *colon = strrchr(x->place, ':');
    bool brackets = x->place[0] == '[' && colon > x->place + 1 && colon[-1] == ']'; /* [::1]:9 */
    const char *host = arena_dup(l->arena, x->place + brackets, (size_t)(colon - x->place) - 2 * brackets);
    if (!host)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    int rc = getaddrinfo(host, colon + 1, &hints, &list);
    if (rc)
        return err_set(err, ERR_REMOTE, "cannot connect to %s: %s", x->place, gai_strerror(rc)), EXPORTER_LATER;
    rc = -1;
    for (const struct addrinfo *a = list; a && rc; a = a->ai_next)
        rc = connect_address(l, a, err);
    freeaddrinfo(list);
    return rc ? EXPORTER_LATER : EXPORTER_SENT;
}

static enum exporter_answer jsonl_connect(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    if (x->fd >= 0 || x->kind == JSONL_FILE)
        return EXPORTER_SENT;
    enum exporter_answer answer = x->kind == JSONL_PIPE ? jsonl_open_pipe(l, err)
                                  : x->place[0] == '/'  ? connect_unix(l, err)
                                                        : connect_tcp(l, err);
    if (answer != EXPORTER_SENT)
        fs_close(&x->fd);
    return answer;
}

static ssize_t jsonl_write_some(const struct jsonl *x, const char *p, size_t n)
{
    return x->kind == JSONL_PIPE ? write(x->fd, p, n) : send(x->fd, p, n, MSG_NOSIGNAL);
}

/* *cut: a reader of the pipe has got the beginning of a line, so that the next one needs a line end first. */
static enum exporter_answer jsonl_write_stream(struct exporter_link *l, struct str line, uint64_t *cut, struct err *err)
{
    struct jsonl *x = l->state;
    size_t at = 0;
    if (*cut && x->kind == JSONL_PIPE && jsonl_write_some(x, "\n", 1) == 1)
        *cut = 0;
    while (at < line.n) {
        ssize_t n = jsonl_write_some(x, line.p + at, line.n - at);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && errno != EAGAIN) {
            err_sys(err, "cannot write %s", x->place);
            fs_close(&x->fd); /* the reader is gone: its successor begins with a new line */
            return EXPORTER_LATER;
        } else if (!jsonl_wait(l, x->fd, POLLOUT, INT64_MAX)) {
            *cut = at > 0;
            return err_set(err, ERR_SYSTEM, "cannot write %s: its reader accepts nothing", x->place), EXPORTER_LATER;
        }
    }
    return EXPORTER_SENT;
}

/* Everything written has left the kernel's buffer: a reader has it. */
static int wait_until_read(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    for (;;) {
        int left = 0;
        struct pollfd p = {.fd = x->fd, .events = POLLOUT};
        if (ioctl(x->fd, x->kind == JSONL_PIPE ? FIONREAD : SIOCOUTQ, &left))
            return err_sys(err, "cannot inspect %s", x->place);
        if (left == 0)
            return 0;
        if (poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP))
            return err_set(err, ERR_SYSTEM, "the reader of %s ended before it had read everything", x->place);
        if (!jsonl_pause(l))
            return err_set(err, ERR_SYSTEM, "cannot write %s: its reader does not read", x->place);
    }
}

/* A socket's reader closes its end when it has all. One that fails resets the connection. */
static int wait_until_closed(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    int64_t until = clock_mono_ns() + PARTING_MS * INT64_C(1000000);
    char unread[4096];
    shutdown(x->fd, SHUT_WR);
    for (;;) {
        ssize_t n = recv(x->fd, unread, sizeof unread, 0);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_sys(err, "the reader of %s ended early", x->place);
        if (clock_mono_ns() >= until || !jsonl_wait(l, x->fd, POLLIN, until))
            return 0; /* it stays open: the kernel of the other side has everything */
    }
}

static enum exporter_answer jsonl_flush(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = l->state;
    if (x->kind == JSONL_FILE)
        return EXPORTER_SENT;
    int rc = x->fd < 0 ? err_set(err, ERR_SYSTEM, "%s was closed", x->place) : wait_until_read(l, err);
    if (rc == 0 && x->kind == JSONL_SOCKET)
        rc = wait_until_closed(l, err);
    if (x->kind == JSONL_SOCKET)
        fs_close(&x->fd);
    return rc ? EXPORTER_LATER : EXPORTER_SENT;
}

/* ---- the exporter ---- */

static enum exporter_answer jsonl_open(struct exporter_link *l, struct err *err)
{
    struct jsonl *x = ARENA_NEW(l->arena, struct jsonl);
    if (!x)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    x->fd = -1;
    for (size_t i = 0; i < sizeof jsonl_keys / sizeof *jsonl_keys; i++)
        if (exporter_text(l->config, jsonl_keys[i])) {
            x->kind = (enum jsonl_kind)i;
            x->place = exporter_text(l->config, jsonl_keys[i]);
        }
    l->state = x;
    return jsonl_connect(l, err);
}

static enum exporter_answer jsonl_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    struct jsonl *x = l->state;
    struct stat st;
    if (x->kind == JSONL_FILE) {
        CLEANUP_FD int fd = place_create(x->place, O_APPEND | O_NONBLOCK | O_NOCTTY, 0666);
        if (fd < 0 || fstat(fd, &st))
            return err_sys(err, "cannot open %s", x->place), EXPORTER_LATER;
        if (!S_ISREG(st.st_mode))
            return err_set(err, ERR_INPUT, "%s is no regular file", x->place), EXPORTER_LATER;
        buf_printf(found, "%s can be written", x->place);
    } else
        buf_printf(found, "%s has a reader", x->place);
    return EXPORTER_SENT;
}

static int jsonl_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    exporter_run_json(run, opt_on(&l->config->opts, EXPORTER_KEY_SAMPLES), to);
    buf_putc(to, '\n');
    return to->failed ? err_memory(err, "the line of a run") : 0;
}

static enum exporter_answer jsonl_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    const struct jsonl *x = l->state;
    struct buf line CLEANUP_BUF;
    buf_init(&line, LINE_MAX_BYTES);
    if (jsonl_print(l, run, &line, err))
        return EXPORTER_REFUSED;
    if (x->kind == JSONL_FILE)
        return jsonl_write_file(l, buf_text(&line), STR(EXPORTER_RUN_BEGIN), true, err);
    enum exporter_answer answer = jsonl_connect(l, err);
    return answer == EXPORTER_SENT ? jsonl_write_stream(l, buf_text(&line), done, err) : answer;
}

static enum exporter_answer jsonl_send_records(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    const struct jsonl *x = l->state;
    struct buf lines CLEANUP_BUF;
    uint64_t cut = 0;
    buf_init(&lines, LINE_MAX_BYTES);
    for (*taken = 0; *taken < b->count && (*taken == 0 || lines.n + b->records[*taken].n < RECORDS_BYTES); ++*taken) {
        buf_str(&lines, b->records[*taken]);
        buf_putc(&lines, '\n');
    }
    if (lines.failed)
        return err_memory(err, "records"), *taken > 1 ? EXPORTER_LATER : EXPORTER_REFUSED;
    if (x->kind == JSONL_FILE)
        return jsonl_write_file(l, buf_text(&lines), STR("{\""), false, err);
    enum exporter_answer answer = jsonl_connect(l, err);
    if (answer == EXPORTER_SENT)
        answer = jsonl_write_stream(l, buf_text(&lines), &cut, err);
    return answer == EXPORTER_SENT ? jsonl_flush(l, err) : answer;
}

static void jsonl_close(struct exporter_link *l)
{
    struct jsonl *x = l->state;
    if (x)
        fs_close(&x->fd);
}

const struct exporter exporter_jsonl = {
    .type = "jsonl",
    .summary = "JSON lines to a file, a named pipe or a socket",
    .description =
        "One line for each run: a JSON object with id, experiment, status, verdict, times, params, metrics (last value, unit, direction), tags, "
        "references, missing values and warnings. A line is written completely or not at all. A run counts as delivered when the file is on "
        "the disk, when the reader of the pipe has read the line, or when the reader of the socket has received it. A reader that stops in the "
        "middle of a line gets an incomplete line, and later the complete one.",
    .rows = jsonl_rows,
    .count = sizeof jsonl_rows / sizeof *jsonl_rows,
    .batch = 1,
    .configure = jsonl_configure,
    .open = jsonl_open,
    .send = jsonl_send,
    .flush = jsonl_flush,
    .check = jsonl_check,
    .print = jsonl_print,
    .send_records = jsonl_send_records,
    .close = jsonl_close,
};
