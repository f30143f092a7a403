/* folder.h: folders to be read, wherever they lie: on disk, or in a commit of a git repository. Who reads does not see the difference.
 *
 * What lies there is foreign: every read states its bound, links are never followed, a name is any bytes. Functions that
 * return int give 0, or -1 with errno: ENOENT, ENOTDIR, EISDIR, ELOOP (a link, or no regular file), EFBIG (over the bound), EIO (the object is damaged or
 * not there, as in a partial clone), ENOMEM. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H
#include "base/buf.h"

#include <stdint.h>

enum folder_kind {
    FOLDER_FILE,
    FOLDER_PROGRAM /* a file that may be executed */,
    FOLDER_FOLDER,
    FOLDER_LINK,
    FOLDER_MODULE /* git's submodule */,
    FOLDER_OTHER
};

struct folder_entry {
    struct str name; /* ends in a NUL that is not counted; of a hostile commit it may be empty, "..", or hold a '/' */
    enum folder_kind kind;
    const unsigned char *id; /* git's id of the object, id_size bytes; NULL on disk */
    size_t id_size;
};

struct folder {
    const struct folder_ops *ops; /* NULL: left, or never entered */
    int fd; /* on disk: the descriptor */
    bool borrowed; /* the descriptor is somebody else's */
    void *own; /* the implementation's */
};

struct folder_ops {
    int (*enter)(const struct folder *f, const char *path, struct folder *ret);
    void (*leave)(struct folder *f);
    int (*list)(const struct folder *f, bool modes, int (*each)(void *context, const struct folder_entry *entry), void *context);
    int (*look)(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size);
    int (*feed)(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                void *context);
    int (*read)(const struct folder *f, const char *path, size_t max, bool cut, struct buf *to);
};

/* The folder of an open directory, which stays the caller's. */
struct folder folder_disk(int fd);
/* The folder f/path. On success *ret is to be left, before f is; on failure nothing is held. */
int folder_enter(const struct folder *f, const char *path, struct folder *ret);
/* May several threads read through it at once, each entering folders of its own? On disk; libgit2 lets only one read at a time. */
bool folder_shared(const struct folder *f);
void folder_leave(struct folder *f); /* once more does no harm */
#define CLEANUP_FOLDER __attribute__((cleanup(folder_leave)))
/* Calls `each` for every entry (not . and ..), in no order, until it returns non-zero, which is returned. -1: errno. */
int folder_list(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context);
/* The same where programs are taken for files (and may be told as FOLDER_FILE): on disk no entry is looked at for its mode. */
int folder_names(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context);
/* What f/path is. ret->name and ret->id are not set. *ret_size (may be NULL): bytes of a file, else 0. */
int folder_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size);
/* The bytes of the file f/path behind those in `to`, which may grow to max and 64 KiB more. EFBIG: more than max. */
int folder_read(const struct folder *f, const char *path, size_t max, struct buf *to);
/* The first max bytes of it. 1: there are more. */
int folder_read_head(const struct folder *f, const char *path, size_t max, struct buf *to);
/* As folder_read, piece by piece. */
int folder_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                void *context);
#endif
