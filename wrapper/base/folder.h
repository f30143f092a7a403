/* folder.h: read access to folders, on disk or in a commit of a git repository, through one
 * interface.
 *
 * The content is foreign: every read states its bound, links are never followed, a name is any
 * bytes. Functions that return int return 0, or -1 with errno: ENOENT, ENOTDIR, EISDIR, ELOOP (a
 * link, or no regular file), EFBIG (over the bound), EIO (the object is damaged or missing, as in
 * a partial clone), ENOMEM. */
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
    bool borrowed; /* another owner closes the descriptor */
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
    bool shared; /* several threads may read through it at once */
};

/* Returns the folder of an open directory. The descriptor stays the caller's. */
struct folder folder_disk(int fd);
/* Opens the file f/path of a folder on disk for reading, never through a link. Returns the descriptor, or -1 with errno. */
int folder_disk_open(const struct folder *f, const char *path);
/* Reads from an open file as folder_read does, with cut as folder_read_head. */
int folder_disk_read(int fd, size_t max, bool cut, struct buf *to);
/* Opens the folder f/path. On success the caller must leave *ret before f. On failure nothing is
 * held. */
int folder_enter(const struct folder *f, const char *path, struct folder *ret);
/* Returns whether several threads may read through it at once, each with folders of its own. True
 * on disk; libgit2 allows one reader at a time. */
bool folder_shared(const struct folder *f);
void folder_leave(struct folder *f); /* may be called twice */
#define CLEANUP_FOLDER __attribute__((cleanup(folder_leave)))
/* Calls `each` for every entry (not . and ..), in no order, until it returns non-zero, which is returned. -1: errno. */
int folder_list(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context);
/* Does what folder_list does, but programs may be reported as FOLDER_FILE: on disk this needs no
 * stat of each entry. */
int folder_names(const struct folder *f, int (*each)(void *context, const struct folder_entry *entry), void *context);
/* Describes f/path. Does not set ret->name and ret->id. *ret_size (may be NULL): bytes of a file,
 * else 0. */
int folder_look(const struct folder *f, const char *path, struct folder_entry *ret, uint64_t *ret_size);
/* Appends the bytes of the file f/path to `to`, which may grow to max and 64 KiB more. EFBIG: it
 * has more than max bytes. */
int folder_read(const struct folder *f, const char *path, size_t max, struct buf *to);
/* Appends the first max bytes. 0; 1: the file has more; -1: errno. */
int folder_read_head(const struct folder *f, const char *path, size_t max, struct buf *to);
/* Reads as folder_read does, but passes the bytes to `piece` in pieces. */
int folder_feed(const struct folder *f, const char *path, uint64_t max, void (*piece)(void *context, const void *p, size_t n),
                void *context);
#endif
