/* err.c: one error, one line of text, from purpose to cause. */
#include "base/err.h"

#undef err_set
#undef err_sys
#undef err_memory
#undef err_wrap

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(struct err *err, int wanted)
{
    if (wanted >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
}

int err_setv(struct err *err, enum err_kind kind, const char *fmt, va_list ap)
{
    if (!err)
        return -1;
    err->kind = kind;
    err->sys = 0;
    err->hint[0] = 0;
    err->excerpt[0] = 0;
    mark_cut(err, vsnprintf(err->text, sizeof err->text, fmt, ap));
    return -1;
}

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(err, kind, fmt, ap);
    va_end(ap);
    return -1;
}

int err_hint(struct err *err, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return -1;
    va_start(ap, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    return -1;
}

int err_excerpt(struct err *err, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return -1;
    va_start(ap, fmt);
    vsnprintf(err->excerpt, sizeof err->excerpt, fmt, ap);
    va_end(ap);
    return -1;
}

const char *err_words(int sys)
{
    return sys == ELOOP ? "not a regular file or folder, or behind another user's link or a loop of links" : strerror(sys);
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    err_setv(err, ERR_SYSTEM, fmt, ap);
    va_end(ap);
    err->sys = saved;
    size_t n = strlen(err->text);
    mark_cut(err, (int)n + snprintf(err->text + n, sizeof err->text - n, ": %s", err_words(saved)));
    errno = saved;
    return -1;
}

int err_memory(struct err *err, const char *fmt, ...)
{
    static const char begin[] = "out of memory for ";
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    err_set(err, ERR_SYSTEM, "%s", begin);
    mark_cut(err, (int)strlen(begin) + vsnprintf(err->text + strlen(begin), sizeof err->text - strlen(begin), fmt, ap));
    va_end(ap);
    err->sys = ENOMEM;
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char was[sizeof err->text];
    memcpy(was, err->text, sizeof was);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && n < (int)sizeof err->text && was[0])
        n += snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", was);
    mark_cut(err, n);
    return -1;
}

void err_clear(struct err *err)
{
    if (err) {
        err->kind = ERR_NONE;
        err->sys = 0;
        err->text[0] = err->hint[0] = err->excerpt[0] = 0;
    }
}
