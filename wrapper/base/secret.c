/* secret.c: see secret.h. */
#include "base/secret.h"

#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int secret_generate(char ret[SECRET_DIGITS + 1], struct err *err)
{
    unsigned char random[SECRET_DIGITS / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(err, "cannot generate a secret");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(ret + 2 * i, 3, "%02x", random[i]);
    return 0;
}

int secret_read(const char *path, bool must_exist, size_t max, struct buf *ret, struct err *err)
{
    struct stat st;
    CLEANUP_FD int fd = place_open_named(path);
    if (fd < 0 && errno == ENOENT && !must_exist)
        return 1;
    if (fd < 0 || fstat(fd, &st))
        return err_sys(err, "cannot read %.300s", path);
    if (S_ISREG(st.st_mode) && st.st_mode & 077)
        return err_set(err, ERR_INPUT, "%.300s can be read by others: it holds no secret\nhint: chmod 600 FILE, and replace the secret",
                       path);
    if (S_ISREG(st.st_mode) && !place_is_trusted(st.st_uid)) {
        char owner[64];
        return err_set(err, ERR_INPUT, "%.300s belongs to %s: expected a file of your own", path,
                       place_owner(st.st_uid, owner, sizeof owner));
    }
    return fs_read_open(fd, path, max, 0, ret, err);
}

int secret_create(const char *path, struct err *err)
{
    char secret[SECRET_DIGITS + 2], folder[PATH_MAX], aside[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    if (secret_generate(secret, err) || (slash > path && fs_mkdirs(AT_FDCWD, folder, 0700, err)))
        return -1;
    /* Written under another name and then linked: another process finds no file, or a complete one. */
    if ((size_t)snprintf(aside, sizeof aside, "%s.%.12s", path, secret + SECRET_DIGITS - 12) >= sizeof aside)
        return err_set(err, ERR_INPUT, "%.300s: the path is too long", path);
    if (secret_generate(secret, err))
        return -1;
    secret[SECRET_DIGITS] = '\n';
    int rc = fs_create(AT_FDCWD, aside, (struct str){secret, SECRET_DIGITS + 1}, 0600, err);
    explicit_bzero(secret, sizeof secret);
    if (rc == 0 && link(aside, path))
        rc = errno == EEXIST ? 1 : err_sys(err, "cannot create %.300s", path);
    unlink(aside);
    return rc;
}

bool secret_equal(struct str a, struct str b)
{
    unsigned char differs = a.n != b.n;
    for (size_t i = 0; i < a.n && a.n == b.n; i++)
        differs |= (unsigned char)(a.p[i] ^ b.p[i]);
    return !differs;
}

void secret_guard_process(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}
