/* stream.c: one captured stream on disk in the spool: the head complete, the tail in rotating
 * segments, the middle counted. */
#include "run/stream.h"

#include "base/fs.h"
#include "base/place.h"
#include "mlruns-format/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 96, COPY = 64 * 1024 };

static void segment_name(char to[NAME_MAX_LEN], const char *name, uint64_t k)
{
    snprintf(to, NAME_MAX_LEN, "%s.tail.%" PRIu64, name, k);
}

void spool_stream_init(struct spool_stream *s, int dir, const char *name, uint64_t log_max)
{
    *s = (struct spool_stream){.dir = dir, .name = name, .half = log_max / 2, .fd = -1};
}

void spool_stream_deinit(struct spool_stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Opens the file for the byte at s->total, which is the first of its piece. */
static void next_piece(struct spool_stream *s)
{
    char path[NAME_MAX_LEN];
    spool_stream_deinit(s);
    if (s->total == 0) {
        s->fd = openat(s->dir, s->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    } else {
        uint64_t k = s->total / s->half - 1;
        segment_name(path, s->name, k);
        s->fd = openat(s->dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (k >= 2) {
            segment_name(path, s->name, k - 2);
            unlinkat(s->dir, path, 0);
        }
    }
    if (s->fd < 0)
        s->error = errno;
}

void spool_stream_write(struct spool_stream *s, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        uint64_t offset = s->half ? s->total % s->half : 0;
        size_t now = n;
        if (s->half) {
            if (offset == 0 || s->fd < 0)
                next_piece(s);
            if (now > s->half - offset)
                now = (size_t)(s->half - offset);
            ssize_t k = s->fd < 0 ? -1 : pwrite(s->fd, at, now, (off_t)offset);
            if (k < 0 && errno == EINTR)
                continue;
            if (k > 0)
                now = (size_t)k;
            else {
                s->error = s->fd < 0 ? s->error : k < 0 ? errno : ENOSPC;
                s->lost += now;
            }
        }
        s->total += now;
        at += now;
        n -= now;
    }
}

/* Returns the size of a file, or -1 if there is none. */
static int64_t size_of(int dir, const char *path)
{
    struct stat st;
    return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

/* Returns the number of the newest tail segment, or -1. Segments are written in order and at most
 * three exist, so a search in doubling steps would miss them: the directory is small, so its names
 * are listed. */
static int64_t newest_segment(int dir, const char *name)
{
    char want[NAME_MAX_LEN];
    int n = snprintf(want, sizeof want, "%s.tail.", name);
    int64_t newest = -1;
    struct fs_names list;
    if (n < 0 || fs_list(dir, ".", &list, NULL))
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        int64_t k;
        struct str entry = str_of(list.names[i]);
        if (str_starts(entry, want) && str_int(str_sub(entry, (size_t)n, entry.n), &k) && k > newest)
            newest = k;
    }
    fs_names_deinit(&list);
    return newest;
}

void spool_stream_inspect(int dir, const char *name, uint64_t log_max, struct spool_stream_kept *ret)
{
    *ret = (struct spool_stream_kept){0};
    uint64_t half = log_max / 2;
    int64_t head = size_of(dir, name);
    if (head <= 0)
        return;
    ret->head = ret->total = (uint64_t)head;
    int64_t last = newest_segment(dir, name);
    if (last < 0 || half == 0)
        return;
    char path[NAME_MAX_LEN];
    segment_name(path, name, (uint64_t)last);
    int64_t end = size_of(dir, path);
    ret->total = half * ((uint64_t)last + 1) + (uint64_t)(end > 0 ? end : 0);
    ret->tail = ret->total - half;
    if (ret->tail > half)
        ret->tail = half;
    ret->cut = ret->total - ret->head - ret->tail;
}

/* Hands bytes [from, from + n) of a file on. */
static int feed_segment(int dir, const char *path, uint64_t from, uint64_t n, void (*piece)(void *, const void *, size_t), void *context,
                        struct err *err)
{
    CLEANUP_FD int fd = place_open(dir, path, O_RDONLY, 0);
    if (fd < 0)
        return err_sys(err, "stream: cannot open %s", path);
    char block[COPY];
    while (n > 0) {
        ssize_t k = pread(fd, block, n < sizeof block ? (size_t)n : sizeof block, (off_t)from);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(err, "stream: cannot read %s", path);
        if (k == 0)
            return 0;
        piece(context, block, (size_t)k);
        from += (uint64_t)k;
        n -= (uint64_t)k;
    }
    return 0;
}

int spool_stream_feed(int dir, const char *name, uint64_t log_max, void (*piece)(void *, const void *, size_t),
                      void (*cut)(void *, uint64_t), void *context, struct err *err)
{
    struct spool_stream_kept kept;
    uint64_t half = log_max / 2;
    spool_stream_inspect(dir, name, log_max, &kept);
    if (kept.head && feed_segment(dir, name, 0, kept.head, piece, context, err))
        return -1;
    if (kept.cut)
        cut(context, kept.cut);
    for (uint64_t at = kept.total - kept.tail; kept.tail > 0 && at < kept.total;) {
        char path[NAME_MAX_LEN];
        uint64_t k = at / half - 1, offset = at % half;
        uint64_t n = half - offset < kept.total - at ? half - offset : kept.total - at;
        segment_name(path, name, k);
        if (feed_segment(dir, path, offset, n, piece, context, err))
            return -1;
        at += n;
    }
    return 0;
}

struct joining {
    int fd;
    int error;
};

static void join_piece(void *context, const void *p, size_t n)
{
    struct joining *j = context;
    if (!j->error && fs_write_all(j->fd, p, n))
        j->error = errno;
}

static void join_cut(void *context, uint64_t bytes)
{
    char line[STREAM_CUT_BYTES];
    join_piece(context, line, stream_cut_line(line, bytes));
}

struct line_splitter {
    void (*line)(void *context, struct str line);
    void *context;
    char text[STREAM_LINE_MAX];
    size_t n;
};

static void line_splitter_end(struct line_splitter *l)
{
    if (l->n)
        l->line(l->context, (struct str){l->text, l->n});
    l->n = 0;
}

/* Called for each piece of a stream: calls line_splitter_end at each line end. Of a line the first
 * sizeof l->text bytes count. */
static void line_splitter_feed(void *context, const void *p, size_t n)
{
    struct line_splitter *l = context;
    for (const char *from = p, *end = from + n; from < end;) {
        const char *lf = memchr(from, '\n', (size_t)(end - from));
        size_t length = (size_t)((lf ? lf : end) - from), left = sizeof l->text - l->n;
        memcpy(l->text + l->n, from, length < left ? length : left);
        l->n += length < left ? length : left;
        if (lf)
            line_splitter_end(l);
        from += length + (lf != NULL);
    }
}

static void line_splitter_cut(void *context, uint64_t bytes)
{
    (void)bytes;
    ((struct line_splitter *)context)->n = 0;
}

void spool_stream_lines(int dir, const char *name, uint64_t log_max, void (*line)(void *context, struct str line), void *context)
{
    struct line_splitter l = {.line = line, .context = context};
    struct err err = {0};
    spool_stream_feed(dir, name, log_max, line_splitter_feed, line_splitter_cut, &l, &err);
    line_splitter_end(&l);
}

int spool_stream_join(int dir, const char *name, uint64_t log_max, struct buf *path, const char **ret_file, struct err *err)
{
    struct spool_stream_kept kept;
    spool_stream_inspect(dir, name, log_max, &kept);
    *ret_file = kept.total ? name : NULL;
    if (kept.tail == 0)
        return 0;
    buf_clear(path);
    buf_printf(path, "%s.whole", name);
    if (path->failed)
        return err_memory(err, "a stream");
    struct joining j = {openat(dir, path->p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), 0};
    if (j.fd < 0)
        return err_sys(err, "stream: cannot make %s", path->p);
    int rc = spool_stream_feed(dir, name, log_max, join_piece, join_cut, &j, err);
    close(j.fd);
    if (rc == 0 && j.error) {
        errno = j.error;
        rc = err_sys(err, "stream: cannot write %s", path->p);
    }
    if (rc == 0)
        *ret_file = path->p;
    return rc;
}
