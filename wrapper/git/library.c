/* library.c: libgit2, loaded at run time; see library.h. */
#include "git/library.h"

#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct git2 loaded;

const struct git2 *git2_load(struct err *err)
{
    struct git2 l = {.handle = loaded.handle};
    int major = 0, minor = 0, patch = 0;
    if (loaded.handle)
        return &loaded;
    if (!(l.handle = library_open(LIBRARY_GIT2))) {
        library_err(LIBRARY_GIT2, err);
        return NULL;
    }
#define CALL(name)                                                                                                                         \
    if (!(l.name = (__typeof__(l.name))dlsym(l.handle, #name))) {                                                                          \
        err_set(err, ERR_SYSTEM, "the libgit2 of this machine is too old: it has no %s; expected 1.5 or newer", #name);                    \
        return NULL;                                                                                                                       \
    }
    GIT2_CALLS(CALL)
#undef CALL
    l.git_libgit2_version(&major, &minor, &patch);
    if (major != 1 || minor < 5) {
        err_set(err, ERR_SYSTEM, "the libgit2 of this machine is %d.%d.%d; 1.5 to 1.9 are known to work", major, minor, patch);
        return NULL;
    }
    if (l.git_libgit2_init() < 0) {
        err_set(err, ERR_SYSTEM, "libgit2 %d.%d.%d cannot be initialised", major, minor, patch);
        return NULL;
    }
    /* Refs are on the disk before they are named. libgit2 reads this setting when it opens a repository. */
    l.git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    loaded = l;
    return &loaded;
}

int git2_err(struct err *err, int code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    const git_error *e = loaded.git_error_last ? loaded.git_error_last() : NULL;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (e && e->message && e->klass != GIT_ERROR_NONE)
        return err_set(err, ERR_SYSTEM, "%s: %s", text, e->message);
    return err_set(err, ERR_SYSTEM, "%s: libgit2 reports only %d", text, code);
}
