/* look.c: reading of short files below a root, and recording of facts with the public profile's
 * filter. */
#include "probes/look.h"

#include "base/env.h"
#include "base/fs.h"
#include "probes/state.h"
#include "probes/variables.h"
#include "probes/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Notes in h->state that facts are unsure where a read failed as it may not fail the next time: no
 * descriptor, no memory, a device's error, a sandbox that denies it. Returns false; errno stays. */
static bool look_note_failure(const struct host *h, const char *path)
{
    static const int lasting[] = {ENOENT, ENOTDIR, ENODEV, ENXIO, EINVAL, EOPNOTSUPP, ENODATA, ELOOP};
    int why = errno;
    bool lasts = !h->state;
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
        lasts |= why == lasting[i];
    if (!lasts) {
        h->state->unsure = true;
        view_note_failure(h, path, why);
    }
    errno = why;
    return false;
}

static bool look_is_kernels(const struct statfs *s)
{
    return s->f_type == PROC_SUPER_MAGIC || s->f_type == SYSFS_MAGIC;
}

/* Returns whether the kernel has file systems of other kinds below this place. */
static bool look_may_be_other(const char *path)
{
    static const char *const places[] = {"sys/fs/", "sys/kernel/debug/", "sys/kernel/tracing/", "proc/fs/", "proc/sys/fs/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

/* Returns whether the file is of another kind than its proc or sys, so that another file system
 * covers it. False where these are of no known kind: then nothing is known. */
static bool look_is_covered(const struct host *h, const char *path, int fd)
{
    bool is_proc = strncmp(path, "proc/", 5) == 0;
    struct statfs file, above;
    if (!h->real || (!is_proc && strncmp(path, "sys/", 4) != 0) || look_may_be_other(path))
        return false;
    if (fstatfs(fd, &file) != 0 || look_is_kernels(&file))
        return false;
    int folder = openat(h->root, is_proc ? "proc" : "sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool covered = folder >= 0 && fstatfs(folder, &above) == 0 && look_is_kernels(&above);
    if (folder >= 0)
        close(folder);
    return covered;
}

/* O_NONBLOCK so that a stray FIFO in a captured root does not block the reader. */
int look_open(const struct host *h, const char *path)
{
    int fd = openat(h->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || !look_is_covered(h, path, fd))
        return fd;
    close(fd);
    errno = LOOK_COVERED;
    return -1;
}

/* Reads as look_read does. */
static bool look_read_short(const struct host *h, struct look_text *ret, const char *path)
{
    int fd = look_open(h, path);
    if (fd < 0)
        return look_note_failure(h, path);
    size_t n = 0;
    ssize_t got = 0;
    while (n < sizeof ret->p - 1) {
        got = read(fd, ret->p + n, sizeof ret->p - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    int why = errno;
    close(fd);
    if (got < 0) {
        errno = why;
        return look_note_failure(h, path);
    }
    for (size_t i = 0; i < n; i++)
        if (ret->p[i] == 0)
            ret->p[i] = ' ';
    struct str text = str_trim((struct str){ret->p, n});
    memmove(ret->p, text.p, text.n);
    ret->p[text.n] = 0;
    ret->n = text.n;
    return true;
}

bool look_read(const struct host *h, struct look_text *ret, const char *fmt, ...)
{
    char path[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    ret->n = 0;
    ret->p[0] = 0;
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    return look_read_short(h, ret, path);
}

bool look_read_int(const struct host *h, int64_t *ret, const char *fmt, ...)
{
    char path[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    struct look_text text;
    if (n < 0 || (size_t)n >= sizeof path || !look_read_short(h, &text, path))
        return false;
    struct str rest = {text.p, text.n};
    return str_int(str_word(&rest), ret);
}

int look_read_file(const struct host *h, const char *path, size_t max, struct buf *to)
{
    int fd = look_open(h, path);
    if (fd < 0)
        return look_note_failure(h, path) - 1;
    size_t n = 0;
    int result = 0;
    while (n < max) {
        size_t ask = max - n < 65536 ? max - n : 65536;
        char *room = buf_room(to, ask);
        ssize_t got = room ? read(fd, room, ask) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            result = -1;
        if (got <= 0)
            break;
        n += (size_t)got;
        to->n += (size_t)got;
        to->p[to->n] = 0;
    }
    int why = errno;
    close(fd);
    errno = why;
    if (result)
        look_note_failure(h, path);
    return result;
}

int look_read_own_status(const struct host *h, struct buf *to)
{
    return look_read_file(h, "proc/self/status", LOOK_STATUS_MAX, to);
}

struct str look_read_mounts(const struct host *h, struct buf *own)
{
    struct buf *to = h->state ? &h->state->mounts : own;
    if (to->n == 0 && look_read_file(h, "proc/self/mountinfo", LOOK_MOUNTS_MAX, to) != 0) {
        buf_clear(to);
        return (struct str){NULL, 0};
    }
    return buf_text(to);
}

bool look_exists(const struct host *h, const char *path)
{
    return faccessat(h->root, path, F_OK, 0) == 0;
}

const char *look_env(const struct host *h, const char *name)
{
    return env_get(h->env, name);
}

const char *look_variable(const struct host *h, const char *name, const char **ret_why)
{
    const struct variables plain = {.env = h->env};
    struct str value;
    variables_at_start(h->variables ? h->variables : &plain, str_of(name), &value, ret_why);
    return value.p;
}

struct str look_value(struct str text, const char *key, char sep)
{
    size_t n = strlen(key);
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        if (line.n <= n || memcmp(line.p, key, n) != 0)
            continue;
        struct str rest = str_sub(line, n, line.n);
        while (rest.n > 0 && (*rest.p == ' ' || *rest.p == '\t'))
            rest = str_sub(rest, 1, rest.n);
        if (rest.n > 0 && *rest.p == sep)
            return str_trim(str_sub(rest, 1, rest.n));
    }
    return (struct str){"", 0};
}

bool look_each_number(struct str list, size_t max, void (*each)(void *context, int64_t number), void *context)
{
    list = str_trim(list);
    while (list.p && list.n > 0) {
        struct str range = str_cut(&list, ','), from = str_cut(&range, '-');
        int64_t first, last;
        if (!str_int(from, &first) || first < 0)
            return false;
        last = first;
        if (range.p && (!str_int(range, &last) || last < first))
            return false;
        for (int64_t i = first; i <= last; i++) {
            if (max-- == 0)
                return false;
            each(context, i);
        }
    }
    return true;
}

static void look_count_one(void *context, int64_t number)
{
    (void)number;
    ++*(int64_t *)context;
}

int64_t look_count_numbers(struct str list)
{
    int64_t n = 0;
    return look_each_number(list, 1 << 16, look_count_one, &n) ? n : -1; /* no machine has more processors or nodes */
}

/* Records a param, which is one line: tabs and line ends of a value up to 4096 bytes become
 * blanks. */
void emit_param(const struct host *h, struct record *r, const char *key, struct str value)
{
    char line[4096];
    value = str_trim(value);
    if (value.n == 0 || (h->public_profile && !probes_is_public(key)))
        return;
    if (value.n <= sizeof line) {
        for (size_t i = 0; i < value.n; i++)
            line[i] = value.p[i] == '\t' || value.p[i] == '\n' || value.p[i] == '\r' ? ' ' : value.p[i];
        value.p = line;
    }
    record_param(r, key, value);
}

void emit_buf(const struct host *h, struct record *r, const char *key, const struct buf *value)
{
    if (value->failed)
        emit_missing(h, r, key, "the text is too long, or out of memory");
    else
        emit_param(h, r, key, buf_text(value));
}

void emit_text(const struct host *h, struct record *r, const char *key, const char *value)
{
    emit_param(h, r, key, str_of(value));
}

void emit_int(const struct host *h, struct record *r, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    emit_text(h, r, key, text);
}

void emit_tag(const struct host *h, struct record *r, const char *key, struct str value)
{
    value = str_trim(value);
    if (value.n > 0 && (!h->public_profile || probes_is_public(key)))
        record_tag(r, key, value);
}

void emit_GiB(const struct host *h, struct record *r, const char *key, double bytes)
{
    double size = bytes / 1073741824.0;
    char text[32];
    if (size > 0 && size < 0.1) /* two decimals of a small limit would be another one, or none */
        snprintf(text, sizeof text, "%.3g", size);
    else
        snprintf(text, sizeof text, "%.*f", size < 10 ? 2 : 1, size);
    emit_text(h, r, key, text);
}

void emit_missing(const struct host *h, struct record *r, const char *key, const char *fmt, ...)
{
    if (h->public_profile && !probes_is_public(key))
        return;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    record_missing(r, key, "%s", text);
}

bool look_hides_parts(const struct host *h, char reason[256])
{
    if (view_is_partial(h, reason))
        return true;
    snprintf(reason, 256, "%s", h->state ? h->state->failure : "");
    return *reason;
}

void emit_absent(const struct host *h, struct record *r, const char *key, const char *why)
{
    char reason[256];
    if (look_hides_parts(h, reason))
        emit_missing(h, r, key, "a part of the machine is hidden: %s", reason);
    else
        emit_missing(h, r, key, "%s", why);
}

void emit_unreadable(const struct host *h, struct record *r, const char *key, const char *path)
{
    emit_missing(h, r, key, "not readable: /%s: %s", path,
                 errno == LOOK_COVERED ? "another file system covers it, as in a container" : strerror(errno));
}

bool emit_file(const struct host *h, struct record *r, const char *key, const char *path)
{
    struct look_text text;
    if (look_read(h, &text, "%s", path)) {
        emit_param(h, r, key, (struct str){text.p, text.n});
        return true;
    }
    if (errno != ENOENT)
        emit_unreadable(h, r, key, path);
    return false;
}

bool look_has_own_proc(const struct host *h)
{
    char text[24];
    int64_t pid;
    if (!h->real)
        return true;
    ssize_t n = readlinkat(h->root, "proc/self", text, sizeof text);
    return n > 0 && (size_t)n < sizeof text && str_int((struct str){text, (size_t)n}, &pid) && pid == getpid();
}

int look_each_name(const struct host *h, const char *path, void (*each)(void *context, const char *name), void *context)
{
    struct fs_names list;
    int n = 0;
    if (fs_list(h->root, path, &list, NULL))
        return look_note_failure(h, path) - 1;
    for (size_t i = 0; i < list.count; i++)
        if (list.names[i][0] != '.') {
            each(context, list.names[i]);
            n++;
        }
    fs_names_deinit(&list);
    return n;
}
