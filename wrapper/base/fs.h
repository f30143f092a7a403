/* fs.h: files: read completely with a bound, write completely or not at all, make and remove
 * folders.
 *
 * `dir` is a directory descriptor or AT_FDCWD, so that probes can be pointed at a captured root. With AT_FDCWD, files are read through links as
 * place_open_named does, and written, created and folders made through links of the caller and root alone (place.h). */
#ifndef BASE_FS_H
#define BASE_FS_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Reads at most max bytes of dir/path into *ret (appended). Below a descriptor links are not followed and the path stays below it (place.h),
 * unless FS_LINKS is given. Longer files are an error unless
 * FS_CUT is given; then 1 is returned for a cut one. Never blocks on FIFOs (O_NONBLOCK); refuses directories. */
enum { FS_CUT = 1, FS_LINKS = 2 };
int fs_read(int dir, const char *path, size_t max, int flags, struct buf *ret, struct err *err);
/* Reads as fs_read does from an open descriptor, which stays open; path is for messages. */
int fs_read_open(int fd, const char *path, size_t max, int flags, struct buf *ret, struct err *err);
/* Writes the file so that it appears complete or not at all: a temporary name in the same folder,
 * write, (sync), rename. mode as for open. With AT_FDCWD, devices, pipes and what /dev/stdout,
 * /dev/stderr and /dev/fd/N name are written to instead of replaced; a pipe without a reader is an
 * error. */
int fs_write(int dir, const char *path, struct str data, mode_t mode, bool sync, struct err *err);
/* A file that replaces the one at a path when it is complete, for writers of more than memory should hold. */
struct fs_new {
    int folder; /* the folder of the path, open */
    int fd;
    const char *name; /* in it; part of the path */
    char temporary[48]; /* its name until then */
};
/* Makes it in the folder of the path, which the caller names, under a name that no other file has. 0; -1 with err: nothing is left to close. */
int fs_new_begin(struct fs_new *ret, const char *path, mode_t mode, struct err *err);
/* Renames the file to its name if it is complete, else removes it. Closes all. path: for messages.
 * 0; -1 with err: it is removed. */
int fs_new_end(struct fs_new *f, const char *path, bool complete, struct err *err);
/* Creates a new file, which must not exist, without a temporary name: for folders that no other
 * process reads yet. */
int fs_create(int dir, const char *path, struct str data, mode_t mode, struct err *err);
/* Calls write(2) until all is written, again after EINTR. 0 or -1 with errno. */
int fs_write_all(int fd, const void *p, size_t n);
/* Writes all bytes behind the end of a file that was opened with O_APPEND and has no other writer, or
 * none of them: after a failure it is cut to the size that it had. 0 or -1 with errno. */
int fs_append(int fd, const void *p, size_t n);
/* Makes the folders of a path, as mkdir -p. 0, also if it exists. */
int fs_mkdirs(int dir, const char *path, mode_t mode, struct err *err);
/* Removes everything, as rm -r, staying on names below path; never follows links. 0, also if
 * absent. */
int fs_remove_tree(int dir, const char *path, struct err *err);
/* Syncs every file and directory below path (and path itself). */
int fs_sync_tree(int dir, const char *path, struct err *err);
/* Calls each for every name in the directory dir/path (without . and ..), in the order of the file
 * system; type: DT_REG …, or DT_UNKNOWN. Stops when `each` returns non-zero, and returns that. -1
 * with errno. path NULL: reads `dir` itself from its beginning and restores its position. */
int fs_each_name(int dir, const char *path, int (*each)(void *context, const char *name, unsigned char type), void *context);
/* The names that fs_list found, sorted by bytes. Free with fs_names_deinit. */
struct fs_names {
    char **names;
    size_t count;
};
/* Lists the names of a folder. 0; -1 with err: *ret is not set. */
int fs_list(int dir, const char *path, struct fs_names *ret, struct err *err);
void fs_names_deinit(struct fs_names *list);
/* Makes a new file `to` with the bytes of the regular file `from` (links are refused), blocks
 * shared where the file system can. Its mode is `mode` without what `from` denies to group and
 * others. On failure no `to` is left. */
int fs_copy(int from_dir, const char *from, int to_dir, const char *to, mode_t mode, struct err *err);
/* Does what fs_copy does by a hard link, where that works; mode counts for a copy only. */
int fs_link(int from_dir, const char *from, int to_dir, const char *to, mode_t mode, struct err *err);
/* Acquires the write lock (open file description) on the whole file; never waits. 0; -1 with errno:
 * EAGAIN or EACCES: another process holds it. */
int fs_lock(int fd);
/* Returns the descriptor and sets the variable to -1, so that it no longer owns it. */
int fs_take(int *fd);
void fs_close(int *fd); /* cleanup: closes and sets -1 */
#define CLEANUP_FD __attribute__((cleanup(fs_close)))
#endif
