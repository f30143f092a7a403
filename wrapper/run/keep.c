/* keep.c: files the user or the rules name, kept with the run as artifacts. */
#include "run/keep.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 100, NAME_LEN = 200, BLOCK = 64 * 1024 };

struct copying {
    int to, error;
};

static void write_clean(void *context, const void *p, size_t n)
{
    struct copying *c = context;
    if (!c->error && fs_write_all(c->to, p, n))
        c->error = errno;
}

/* Takes what it copies from *left; a file that grows while it is copied is no exception. */
static int copy_file(int from, int to, uint64_t *left, struct redact *redact, const char *path, struct err *err)
{
    char block[BLOCK];
    struct copying c = {to, 0};
    struct redact_stream clean;
    bool first = true, text = true;
    int rc = 0;
    size_t places = redact->secrets + redact->identities;
    redact_stream_init(&clean, redact, write_clean, &c);
    for (ssize_t n; rc == 0 && (n = read(from, block, sizeof block)) != 0; first = false) {
        if (n < 0 && errno == EINTR)
            continue;
        if (first && n > 0)
            text = memchr(block, 0, (size_t)n) == NULL;
        if (n < 0)
            rc = err_sys(err, "cannot read %s", path);
        else if ((uint64_t)n > *left)
            rc = err_set(err, ERR_INPUT, "%s is larger than what --artifact-max leaves", path);
        else {
            *left -= (uint64_t)n;
            if (text || redact->ids)
                redact_stream_write(&clean, block, (size_t)n);
            else
                write_clean(&c, block, (size_t)n);
        }
    }
    redact_stream_flush(&clean, true);
    redact_stream_deinit(&clean);
    if (rc == 0 && !text && redact->ids && redact->secrets + redact->identities > places)
        return err_set(err, ERR_INPUT, "%s is no text, and what it holds looks like names or secrets: a public record does not keep it",
                       path);
    errno = c.error;
    return rc == 0 && c.error ? err_sys(err, "cannot keep %s", path) : rc;
}

int keep_file(struct record *r, int spool, const char *path, const char *name, uint64_t *left, struct redact *redact, struct err *err)
{
    CLEANUP_FD int from = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (from < 0 || fstat(from, &st))
        return err_sys(err, "cannot open %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s is not a regular file", path);
    uint64_t before = *left;
    if ((uint64_t)st.st_size > before)
        return err_set(err, ERR_INPUT, "%s has %lld bytes, more than the %" PRIu64 " that --artifact-max leaves", path,
                       (long long)st.st_size, before);
    if (mkdirat(spool, "files", 0700) && errno != EEXIST)
        return err_sys(err, "cannot make files/ in the spool");
    char to_path[NAME_LEN + 32], told[NAME_LEN + 1];
    CLEANUP_FD int to = -1;
    snprintf(told, sizeof told, "%s", name);
    redact_text(redact, told, strlen(told));
    for (int i = 0; to < 0 && i < 1000; i++) { /* two files of one name from different folders */
        if (i == 0)
            snprintf(to_path, sizeof to_path, "files/%.*s", NAME_LEN, told);
        else
            snprintf(to_path, sizeof to_path, "files/%d-%.*s", i, NAME_LEN, told);
        to = openat(spool, to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (to < 0 && errno != EEXIST)
            break;
    }
    if (to < 0)
        return err_sys(err, "cannot keep %s", path);
    if (copy_file(from, to, left, redact, path, err)) {
        *left = before;
        unlinkat(spool, to_path, 0);
        return -1;
    }
    record_artifact(r, to_path, to_path);
    return 0;
}

void keep_matching(struct record *r, int spool, const char *pattern, uint64_t *left, struct redact *redact)
{
    glob_t found = {0};
    struct err err = {0};
    int rc = glob(pattern, 0, NULL, &found);
    if (rc == GLOB_NOMATCH)
        record_warning(r, "artifact: nothing matches %s", pattern);
    else if (rc)
        record_warning(r, "artifact: cannot look for %s", pattern);
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (i == FILES_MAX) {
            record_warning(r, "artifact: %s matches %zu files, the first %d are kept", pattern, (size_t)found.gl_pathc, FILES_MAX);
            break;
        }
        if (keep_file(r, spool, path, str_base_name(path), left, redact, &err))
            record_warning(r, "artifact: %s", err.text);
    }
    if (rc == 0)
        globfree(&found);
}
