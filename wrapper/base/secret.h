/* secret.h: secrets between processes of one user: generated ones, the files that hold them, comparison, and protection of the process that holds one. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

enum { SECRET_DIGITS = 32 }; /* of a generated secret: 128 random bits as hexadecimal digits */

/* Writes a random secret and a NUL into ret. 0; -1 with err: the kernel returns no random bytes. */
int secret_generate(char ret[SECRET_DIGITS + 1], struct err *err);
/* Appends the file's text, at most max bytes, to ret. A regular file must belong to the caller or root, and be closed to group and others.
 * 0; -1 with err. Where the file does not exist and must_exist is false: 1, and err stays as it is. */
int secret_read(const char *path, bool must_exist, size_t max, struct buf *ret, struct err *err);
/* Makes the file (mode 0600, never through a link) with a generated secret and a newline, complete from its first moment on. Folders are made with
 * mode 0700. 0; 1: a file of this name exists; -1 with err. */
int secret_create(const char *path, struct err *err);
/* Returns whether the texts are equal. For texts of one length, the time depends on that length
 * alone. */
bool secret_equal(struct str a, struct str b);
/* Guards a process that holds a secret: no core dump, and no other process of the user reads
 * the memory or /proc/PID/environ. It holds until exec. A program executed afterwards has no
 * core dump either, so only processes that start no program of the user call it. /proc/self is
 * root's then. */
void secret_guard_process(void);
#endif
