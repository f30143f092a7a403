/* place.h: files below a directory that other users may write: opened without links, and only where no other user planted them (SECURITY.md). */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens a relative path as openat(2) does, but only below the descriptor dir and through no link,
 * in any of its components. O_CLOEXEC is added, and for reading O_NONBLOCK and O_NOCTTY. Uses
 * openat2(2), or opens component by component where the kernel or a seccomp filter refuses that
 * call. Returns the descriptor, or -1 with errno. ELOOP: a link, or for reading no regular file and
 * no directory. EXDEV: the path leaves dir. EPERM: a hard link to a file of the caller in another
 * user's directory (place_is_planted). */
int place_open(int dir, const char *path, int flags, mode_t mode);
/* Opens the directory at path, which the caller relies on. Any component may be a link, but only one that the caller or root made. make: the mode
 * of directories that do not exist yet; 0: none is made. Returns the descriptor, or -1 with errno (ELOOP: another user's link). */
int place_open_folder(const char *path, mode_t make);
/* Opens the directory as place_open_folder does, for a path of which only the last `levels`
 * components are below a folder that other users may write: in those before them any link is
 * followed. ".." in the last ones is refused (EXDEV). */
int place_open_below(const char *path, unsigned levels, mode_t make);
/* Makes the directory dir/name where it is not there, one component, and opens it; never through a link. -1 with errno. */
int place_make_folder(int dir, const char *name, mode_t mode);
/* Makes a directory of the caller's alone in the open directory and opens it. name ends in "XXXXXX", which random letters replace. -1 with errno. */
int place_make_temporary(int dir, char *name);
/* Opens for reading the file at path, which the caller found (a pattern, a name from rules): any component may be a link, but only one that
 * the caller or root made. -1 with errno: ELOOP: another user's link, or no regular file; EPERM: a hard link that
 * another user can have planted (place_is_planted). */
int place_open_found(const char *path);
/* Opens for reading the file at path, which the caller names, or which the environment does: FIFOs too, without waiting for a writer. Any
 * component may be a link, but no other user's in a folder that a group or everybody may write. -1 with errno: ELOOP: such a link, or another
 * user's FIFO or device; EISDIR; EPERM: place_is_planted. What is in /dev and /proc is opened as it is. */
int place_open_named(const char *path);
/* Opens a directory as place_open_named opens a file. */
int place_open_named_folder(const char *path);
/* Opens for writing the file at path, which the caller names for output, and makes it where it is not there. flags: O_TRUNC, O_APPEND or 0. Any
 * component may be a link, but only one that the caller or root made. -1 with errno: ELOOP: another user's link, FIFO or device; EPERM:
 * place_is_planted. flags may hold O_NONBLOCK and O_NOCTTY too. What is in /dev and /proc is opened as it is. */
int place_create(const char *path, int flags, mode_t mode);
/* Returns whether the open directory is the caller's own and no other user may write it. */
bool place_is_own(int fd);
/* Returns whether the caller may rely on what this user made: the user is the caller, root, or for
 * root the one who called sudo. */
bool place_is_trusted(uid_t uid);
/* Returns whether dir/path, whose data is st, is a further name of a file of the caller, in a
 * directory that an untrusted user owns, or that is not the caller's and everybody may write. Every
 * user can make such a name where fs.protected_hardlinks is off, also of a file that they cannot
 * read. */
bool place_is_planted(int dir, const char *path, const struct stat *st);
/* Writes the user's name into ret, by /etc/passwd alone (a name service can hang), else the number. Returns ret. */
const char *place_owner(uid_t uid, char *ret, size_t size);
#endif
