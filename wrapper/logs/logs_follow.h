/* logs_follow.h: follows log files: each line once, in order, through rotation, truncation and restarts.
 *
 * A log is a path. Its generations are the files that had this path: a log file that was renamed stays a
 * generation until it is read to its end. A generation is known by device, inode, time of birth and the
 * hash of its first bytes. `cursor` in the state folder holds how far each was acknowledged.
 *
 * The caller reads lines, delivers them, acknowledges them, and reads on. Nothing is read ahead: what is
 * not delivered stays in the files. Files that are deleted before stay open, within a bound. */
#ifndef LOGS_LOGS_FOLLOW_H
#define LOGS_LOGS_FOLLOW_H
#include "base/err.h"
#include "base/str.h"
#include "probes/secrets.h"

#include <stdint.h>

enum { LOGS_LINE_LEAST = 4096 /* the smallest buffer for lines */, LOGS_LINE_MAX = 16 << 20 };
#define LOGS_CURSOR "cursor"

struct logs_follow_config {
    int state;          /* the state folder, open; -1: the cursor is not stored */
    bool only_reads;    /* another process may follow; nothing is stored */
    bool from_end;      /* of files that exist at the first start, only new lines */
    double settle_s;    /* a last line without an end counts as complete after this time; 0: 5 s */
    double scan_s;      /* files are inspected at least this often, where no event arrives; 0: 1 s */
    uint64_t held_max;  /* bytes of deleted files that may wait; 0: 1 GiB. The oldest are dropped first */
    /* Gets what the user should know: lines that are lost, files that cannot be read. */
    void (*note)(void *context, const char *text);
    void *context;
};

struct logs_follow;
struct logs_generation;

/* Reads the cursor. -1 with err: another process uses it, or it cannot be read. A damaged cursor is noted,
 * and all files are read from their beginning. */
int logs_follow_open(struct logs_follow **ret, const struct logs_follow_config *config, struct err *err);
void logs_follow_close(struct logs_follow *f); /* NULL is allowed. Does not store the cursor */
/* Follows a path, or all files that a pattern with * ? [ matches now and later. tag comes with each piece. The first
 * pattern that matches a file has it. */
int logs_follow_add(struct logs_follow *f, const char *pattern, size_t tag, struct err *err);
/* Detects new files, rotation and truncation. Call it before reads. Cheap where nothing happened. */
int logs_follow_scan(struct logs_follow *f, struct err *err);

/* Did files move since the last scan, so that the next one may find more? */
bool logs_follow_is_unsure(const struct logs_follow *f);

/* Lines of one file. */
struct logs_piece {
    struct logs_generation *generation;
    const char *path;       /* of the log */
    size_t tag;
    char *text;             /* in the caller's buffer */
    size_t n;               /* it ends with a line end, unless... */
    bool has_more;          /* ...the line continues in the next piece of this file: it is longer than the buffer */
    bool is_continued;      /* the first line continues that of the piece before */
    uint64_t end;           /* what logs_follow_ack gets when all of it is delivered */
    struct secrets_state *secrets; /* what earlier lines of this file announce: for the redaction of its next piece */
};
/* Reads lines of the next file that has some, at most `size` bytes (LOGS_LINE_LEAST or more). tag: only of these
 * logs; SIZE_MAX: of all. 1: *ret is filled; 0: no file has more. */
int logs_follow_read(struct logs_follow *f, size_t tag, char *buffer, size_t size, struct logs_piece *ret);
/* All lines of this generation up to `end` are delivered. */
void logs_follow_ack(struct logs_follow *f, struct logs_generation *g, uint64_t end);
/* Stores the cursor, complete or not at all. force: also when it was stored a moment ago. */
int logs_follow_save(struct logs_follow *f, bool force, struct err *err);
/* Waits until files may have changed, cancel_fd (-1: none) is readable, or wait_ms is over. True: cancel_fd is readable. */
bool logs_follow_wait(struct logs_follow *f, int cancel_fd, int wait_ms);

struct logs_follow_status {
    const char *path, *now; /* of the log; where the file is now */
    size_t tag;
    uint64_t at, size;      /* delivered; bytes of the file */
    bool is_deleted;
};
/* Calls each for every generation that is not finished. */
void logs_follow_list(const struct logs_follow *f, void (*each)(void *context, const struct logs_follow_status *s), void *context);
/* Bytes of deleted files that were dropped. */
uint64_t logs_follow_dropped(const struct logs_follow *f);
#endif
