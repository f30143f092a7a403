/* installed.c: finds files by the place of the running program; see installed.h. */
#include "base/installed.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

int installed_path(const char *file, struct buf *to)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return -1;
    for (int up = 0; up < 2; up++)
        while (n > 0 && self[--n] != '/')
            ;
    buf_add(to, self, (size_t)n);
    buf_printf(to, "/%s", file);
    return to->failed ? -1 : 0;
}

int installed_exec(const char *program, char *const *argv, struct err *err)
{
    CLEANUP_BUF struct buf path, name;
    buf_init(&path, PATH_MAX + 300);
    buf_init(&name, 300);
    buf_printf(&name, "bin/%s", program);
    if (!name.failed && installed_path(name.p, &path) == 0)
        execv(path.p, argv);
    execvp(program, argv);
    return err_set(err, ERR_SYSTEM, "cannot start %s: %s", program,
                   errno == ENOENT ? "not found next to this program, nor in PATH" : err_words(errno));
}
