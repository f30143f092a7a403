/* keep.c: store files that the user or the rules name as artifacts of the run. */
#include "run/keep.h"

#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { FILES_MAX = 100, NAME_LEN = 200, BLOCK = 64 * 1024 };

struct keep_copying {
    int to, error;
};

static void write_clean(void *context, const void *p, size_t n)
{
    struct keep_copying *c = context;
    if (!c->error && fs_write_all(c->to, p, n))
        c->error = errno;
}

/* Returns whether the file begins as one of gzip, zip, bzip2, xz, zstd, 7z or lz4. */
static bool is_compressed(struct str head)
{
    static const struct str magics[] = {{"\x1f\x8b", 2},
                                        {"PK\3\4", 4},
                                        {"BZh", 3},
                                        {"\xfd"
                                         "7zXZ",
                                         5},
                                        {"\x28\xb5\x2f\xfd", 4},
                                        {"7z\xbc\xaf", 4},
                                        {"\4\x22\x4d\x18", 4}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (head.n >= magics[i].n && memcmp(head.p, magics[i].p, magics[i].n) == 0)
            return true;
    return false;
}

int keep_copy(struct record *r, int from, int to, uint64_t *left, struct redact *redact, const char *path, struct err *err)
{
    char block[BLOCK];
    struct keep_copying c = {to, 0};
    struct redact_stream clean;
    struct pollfd ready = {.fd = from, .events = POLLIN};
    bool text = true;
    int rc = 0;
    off_t at = 0;
    size_t places = redact->secrets + redact->identities;
    redact_stream_init(&clean, redact, write_clean, &c);
    while (rc == 0) {
        if (poll(&ready, 1, 0) == 0) { /* some files of the kernel have the type of a regular file, but block until an event */
            rc = err_set(err, ERR_INPUT, "cannot copy %s: it has no data ready, so reading it would block", path);
            break;
        }
        ssize_t n = pread(from, block, sizeof block, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        if (at == 0 && n > 0)
            text = memchr(block, 0, (size_t)n) == NULL || redact_is_wide((struct str){block, (size_t)n});
        if (at == 0 && n > 0 && r && is_compressed((struct str){block, (size_t)n}))
            record_warning(r, "%s is compressed: benchwrap did not search it for secrets", path);
        if (n < 0)
            rc = err_sys(err, "cannot read %s", path);
        else if ((uint64_t)n > *left)
            rc = err_set(err, ERR_INPUT, "%s is larger than what --artifact-max leaves", path);
        else {
            *left -= (uint64_t)n;
            at += n;
            redact_stream_write(&clean, block, (size_t)n);
        }
    }
    redact_stream_flush(&clean, true);
    redact_stream_deinit(&clean);
    if (rc == 0 && !text && redact->ids && redact->secrets + redact->identities > places)
        return err_set(err, ERR_INPUT, "%s is no text, and what it holds looks like names or secrets: a public record does not keep it",
                       path);
    if (rc == 0 && r && !text && redact->secrets + redact->identities > places)
        record_warning(r, "%s is no text, and benchwrap replaced %zu secrets in it: programs may not read it any more", path,
                       redact->secrets + redact->identities - places);
    errno = c.error;
    return rc == 0 && c.error ? err_sys(err, "cannot keep %s", path) : rc;
}

/* Returns the mode of the copy: nothing that the source denies group and others. With an access
 * control list the group's bits are a mask, and named users may be shut out. */
static mode_t copy_mode(int from, const struct stat *source)
{
    bool listed = fgetxattr(from, "system.posix_acl_access", NULL, 0) > 0;
    mode_t mode = source->st_mode & 0644;
    if (listed || !(mode & 0040)) /* others without the group: the group of the copy may be another one */
        mode &= 0600;
    return mode | 0600;
}

/* Creates a new file files/<name> in the spool, its name made unique; `path` (size bytes) is its
 * name. Returns the descriptor, or -1 with errno. */
static int create_copy(int spool, const char *name, const struct stat *source, mode_t mode, char *path, size_t size)
{
    CLEANUP_FD int to = -1;
    struct stat st;
    for (int i = 0; to < 0 && i < 1000; i++) { /* two files of one name from different folders */
        if (i == 0)
            snprintf(path, size, "files/%.*s", NAME_LEN, name);
        else
            snprintf(path, size, "files/%d-%.*s", i, NAME_LEN, name);
        to = openat(spool, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (to < 0 && errno != EEXIST)
            break;
    }
    if (to >= 0 && !(mode & 0004) &&
        (fstat(to, &st) || (st.st_gid != source->st_gid && fchmod(to, 0600)))) { /* the group's bit was for another group */
        unlinkat(spool, path, 0);
        return -1;
    }
    return fs_take(&to);
}

int keep_open_file(struct record *r, int spool, int from, const char *shown, const char *name, uint64_t *left, struct redact *redact,
                   struct err *err)
{
    struct stat st;
    if (fstat(from, &st))
        return err_sys(err, "cannot read %s", shown);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s is not a regular file", shown);
    uint64_t before = *left;
    if ((uint64_t)st.st_size > before)
        return err_set(err, ERR_INPUT, "%s has %lld bytes, more than the %" PRIu64 " that --artifact-max leaves", shown,
                       (long long)st.st_size, before);
    if (mkdirat(spool, "files", 0700) && errno != EEXIST)
        return err_sys(err, "cannot make files/ in the spool");
    char to_path[NAME_LEN + 32], told[NAME_LEN + 1];
    snprintf(told, sizeof told, "%s", name);
    redact_text(redact, told, strlen(told));
    CLEANUP_FD int to = create_copy(spool, told, &st, copy_mode(from, &st), to_path, sizeof to_path);
    if (to < 0)
        return err_sys(err, "cannot keep %s", shown);
    if (keep_copy(r, from, to, left, redact, shown, err)) {
        *left = before;
        unlinkat(spool, to_path, 0);
        return -1;
    }
    record_artifact(r, to_path, to_path);
    return 0;
}

int keep_file(struct record *r, int spool, const char *path, const char *name, uint64_t *left, struct redact *redact, struct err *err)
{
    CLEANUP_FD int from = place_open_found(path);
    return from < 0 ? err_sys(err, "cannot keep %s", path) : keep_open_file(r, spool, from, path, name, left, redact, err);
}

void keep_matching(struct record *r, int spool, const char *pattern, uint64_t *left, struct redact *redact)
{
    glob_t found = {0};
    struct err err = {0};
    int rc = glob(pattern, 0, NULL, &found);
    if (rc == GLOB_NOMATCH)
        record_warning(r, "artifact: nothing matches %s", pattern);
    else if (rc)
        record_warning(r, "artifact: cannot search for %s: %s", pattern, rc == GLOB_NOSPACE ? "out of memory" : "a folder cannot be read");
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (i == FILES_MAX) {
            record_warning(r, "artifact: %s matches %zu files, the first %d are kept", pattern, (size_t)found.gl_pathc, FILES_MAX);
            break;
        }
        if (keep_file(r, spool, path, str_base_name(path), left, redact, &err))
            record_warning(r, "artifact: %s", err.text);
    }
    globfree(&found);
}
