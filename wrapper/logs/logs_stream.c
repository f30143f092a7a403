/* logs_stream.c: writes raw streams of a campaign and their indexes; see logs.h. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "logs/logs.h"
#include "logs/logs_source.h"
#include "probes/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BLOCK = 64 << 10 };

struct logs_stream {
    int data, index;
    uint64_t arrived; /* bytes of the stream so far, also those that redaction holds back */
    uint64_t indexed; /* of them with an entry in the index */
    int64_t time_ns; /* of the last entry */
    struct redact redact;
    struct redact_stream clean;
    int sys; /* errno of the first failed write */
};

bool logs_name_is_legal(struct str name, bool dots)
{
    for (size_t i = 0; i < name.n; i++)
        if (!str_is_letter(name.p[i]) && !str_is_digit(name.p[i]) && name.p[i] != '-' && name.p[i] != '_' && !(dots && name.p[i] == '.'))
            return false;
    return name.n > 0 && name.n < LOGS_NAME_MAX / 2 && name.p[0] != '.' && name.p[0] != '-';
}

static void stream_write_clean(void *context, const void *p, size_t n)
{
    struct logs_stream *s = context;
    if (fs_write_all(s->data, p, n) && !s->sys)
        s->sys = errno;
}

static void stream_put_entry(struct logs_stream *s, uint64_t end, int64_t time_ns)
{
    if (logs_index_add(s->index, end, time_ns) && !s->sys)
        s->sys = errno;
    s->time_ns = time_ns;
    s->indexed = end & ~LOGS_INDEX_END;
}

int logs_stream_open(struct logs_stream **ret, int folder, const struct logs_stream_name *of, struct err *err)
{
    char name[LOGS_NAME_MAX + 40];
    struct stat st, index;
    *ret = NULL;
    if (!logs_name_is_legal(str_of(of->component), false) || !logs_name_is_legal(str_of(of->node), true))
        return err_set(err, ERR_INPUT, "cannot store the output of \"%.80s\" on \"%.80s\": names have letters, digits, - and _",
                       of->component, of->node);
    snprintf(name, sizeof name, "%s.%u.%s.%s", of->component, of->instance, of->node, of->is_error ? "err" : "out");
    struct logs_stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_memory(err, "the output of %s", of->component);
    size_t n = strlen(name);
    snprintf(name + n, sizeof name - n, "%s", LOGS_INDEX_SUFFIX);
    s->data = -1;
    s->index = place_open(folder, name, O_WRONLY | O_CREAT | O_APPEND, 0600); /* first: readers of the stream expect it */
    name[n] = 0;
    if (s->index >= 0)
        s->data = place_open(folder, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (s->data < 0 || s->index < 0 || fstat(s->data, &st) || fstat(s->index, &index)) {
        err_sys(err, "cannot write the log %s", name);
        fs_close(&s->data);
        fs_close(&s->index);
        free(s);
        return -1;
    }
    s->arrived = s->indexed = (uint64_t)st.st_size;
    if (index.st_size % LOGS_ENTRY && ftruncate(s->index, index.st_size / LOGS_ENTRY * LOGS_ENTRY) == 0)
        s->time_ns = 0; /* a kill cut the last entry */
    redact_stream_init(&s->clean, &s->redact, stream_write_clean, s);
    *ret = s;
    return 0;
}

int logs_stream_write(struct logs_stream *s, struct str bytes, int64_t time_ns, struct err *err)
{
    int64_t now = time_ns ? time_ns : logs_now_ns();
    if (bytes.n == 0)
        return 0;
    s->arrived += bytes.n;
    stream_put_entry(s, s->arrived, now > s->time_ns ? now : s->time_ns); /* a clock that was set back changes no order */
    redact_stream_write(&s->clean, bytes.p, bytes.n);
    if (!s->sys)
        return 0;
    errno = s->sys;
    return err_sys(err, "cannot write a log");
}

int logs_stream_close(struct logs_stream *s, struct err *err)
{
    if (!s)
        return 0;
    int64_t now = logs_now_ns();
    redact_stream_flush(&s->clean, true);
    redact_stream_deinit(&s->clean);
    stream_put_entry(s, s->arrived | LOGS_INDEX_END, now > s->time_ns ? now : s->time_ns);
    int sys = s->sys;
    fs_close(&s->data);
    fs_close(&s->index);
    free(s);
    errno = sys;
    return sys ? err_sys(err, "cannot write a log") : 0;
}

bool logs_stream_read(struct logs_stream *s, int from)
{
    char block[STREAM_BLOCK];
    ssize_t n;
    do
        n = read(from, block, sizeof block);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        logs_stream_write(s, (struct str){block, (size_t)n}, 0, NULL);
    return n > 0;
}
