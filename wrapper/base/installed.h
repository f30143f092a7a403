/* installed.h: files of the installation that this program belongs to, which may have been moved
 * together. */
#ifndef BASE_INSTALLED_H
#define BASE_INSTALLED_H
#include "base/buf.h"
#include "base/err.h"

/* Appends the path of `file` ("bin/benchwrap", "libexec/benchwrap/…") in the prefix of this program,
 * which is PREFIX/bin/NAME. -1: the program's own path is not known, or out of memory. */
int installed_path(const char *file, struct buf *to);
/* Replaces this process by `program` of the same bin folder, else of the PATH. Returns -1 with err
 * when that fails. argv: its arguments, argv[0] first, NULL-terminated. */
int installed_exec(const char *program, char *const *argv, struct err *err);
#endif
