/* logs_generation.h: a file of a followed log, and how it is recognised. */
#ifndef LOGS_LOGS_GENERATION_H
#define LOGS_LOGS_GENERATION_H
#include "base/err.h"
#include "base/str.h"
#include "probes/secrets.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

enum { GENERATION_MARK = 512 /* bytes at the beginning by which a file is recognised */ };

struct logs_identity {
    uint64_t dev, ino;
    int64_t born_ns;       /* 0: the file system does not know */
};
struct logs_generation {
    struct logs_generation *next, *next_of_hash;
    struct follow_log *log;
    char *path;            /* where it was found last */
    struct logs_identity id;
    uint64_t mark;         /* hash of the first mark_n bytes */
    unsigned mark_n;
    int fd;                /* -1: not open */
    uint64_t at, read;     /* delivered or dropped; returned to the caller */
    uint64_t given, acked; /* the last piece that was given out, and acknowledged: between them the caller has it */
    uint64_t size;
    int64_t mtime_ns, before_ns; /* when it was changed last; before that */
    int64_t grown_ns;      /* monotonic: when it grew last */
    bool is_done;          /* read to its end, and another one follows */
    uint64_t shrunk;       /* its size before it shrank; 0 */
    bool is_cut;           /* it was truncated: the next scan handles that */
    bool is_deleted, is_hashed, is_missing;
    bool is_continued;     /* the position is within a line */
    bool is_replaced;      /* the file was truncated: a new generation has its inode */
    bool is_packed;        /* the file at `path` is gzip: its bytes are read from an unnamed copy */
    struct secrets_state secrets;
};

/* What stat reports about a file, with the time of its birth. */
struct logs_file_stat {
    struct logs_identity id;
    uint64_t size;
    int64_t mtime_ns;
    bool is_regular, is_deleted;
};
/* These read it by path or descriptor. 0; -1 with errno. */
int generation_stat_path(const char *path, struct logs_file_stat *ret);
int generation_stat_fd(int fd, struct logs_file_stat *ret);
/* The same file? A time of birth that is not known equals all. */
bool generation_is_same(const struct logs_identity *a, const struct logs_identity *b);
/* Opens the file at path for reading, if it is this one. -1 with errno; ESTALE: it is another one. */
int generation_open(const char *path, const struct logs_identity *id);
/* Sets the mark to the first n bytes of the file. Less than a line, and than GENERATION_MARK bytes, is alike in many files: that is no mark,
 * unless is_settled: no more is expected. */
void generation_set_mark(struct logs_generation *g, const char *p, size_t n, bool is_settled);
/* Does the open file still begin with what it began with? Then the mark is extended to what it has by now. */
bool generation_check_mark(struct logs_generation *g);
/* Does the open file have a line end in its beginning, or as many bytes as a mark has? */
bool generation_has_line(const struct logs_generation *g);
/* Does the file begin with what the generation began with? */
bool generation_has_mark(const struct logs_generation *g, int fd);

/* ---- one line of the cursor ---- */

struct generation_line {
    const char *path, *now;
    struct logs_generation g; /* the numbers */
};
struct buf;
struct json;
/* Appends one line of the cursor: JSON with the identity of the generation's file and the
 * acknowledged position. `path`: of the log. */
void generation_write(const struct logs_generation *g, const char *path, struct buf *to);
/* The texts live as long as j. False: it is no line of a cursor. */
bool generation_read(const struct json *j, struct generation_line *ret);

/* Is this the name of an older generation of the log `base`: base.1, base-20250908, base.old, also with .gz? */
bool generation_is_rotated_name(struct str name, struct str base);
#endif
