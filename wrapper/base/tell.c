/* tell.c: facts for the recorder over its socket; see tell.h. */
#include "base/tell.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int tell_open(const char *name, struct err *err)
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
    struct timeval wait = {.tv_sec = TELL_WAIT_S};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0) {
        err_sys(err, "the recorder of this run does not answer, nothing was logged");
        close(fd);
        return -1;
    }
    return fd;
}

int tell_send(int fd, struct str fact)
{
    ssize_t sent;
    while ((sent = send(fd, fact.p, fact.n, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent < 0 ? -1 : 0;
}

int tell_metric(int fd, const char *key, double value, int64_t step, int64_t time_ms)
{
    struct buf b CLEANUP_BUF = {0};
    if (!isfinite(value))
        return 0;
    buf_init(&b, TELL_MAX);
    buf_puts(&b, "{\"metric\":");
    buf_json(&b, str_of(key));
    buf_puts(&b, ",\"value\":");
    buf_double(&b, value);
    buf_printf(&b, ",\"step\":%lld,\"time\":%lld}", (long long)step, (long long)time_ms);
    return b.failed ? (errno = ENOMEM, -1) : tell_send(fd, buf_text(&b));
}
