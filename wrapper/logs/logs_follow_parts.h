/* logs_follow_parts.h: what the files of the log follower share. */
#ifndef LOGS_LOGS_FOLLOW_PARTS_H
#define LOGS_LOGS_FOLLOW_PARTS_H
#include "base/buf.h"
#include "logs/logs_follow.h"
#include "logs/logs_generation.h"
#include "logs/logs_siblings.h"

enum { FOLLOW_BUCKETS = 4096, FOLLOW_FDS = 400, FOLLOW_LOGS_MAX = 200000 };

/* A path that is followed, with its generations, the oldest first. */
struct follow_log {
    struct follow_log *next_of_hash;
    char *path;
    size_t tag;
    struct logs_generation *first, *last; /* last: what has the path now, or had it last */
    bool is_noted; /* it cannot be read, and this was reported */
    bool is_restored; /* by the cursor, and not found on disk yet */
};
struct follow_pattern {
    char *text;
    size_t tag;
    bool has_wildcards;
};
struct logs_follow {
    struct logs_follow_config config;
    struct follow_pattern *patterns;
    size_t n_patterns, patterns_room;
    struct follow_log **logs;
    size_t count, room, at; /* at: the next one to read */
    struct follow_log *by_path[FOLLOW_BUCKETS];
    struct logs_generation *by_inode[FOLLOW_BUCKETS];
    size_t n_fds;
    int lock, events; /* of the state folder; inotify */
    bool is_first; /* there was no cursor: the first scan has not ended */
    bool is_changed; /* names in the folders changed */
    bool is_unsure; /* files moved while they were inspected: the next scan inspects them again */
    bool is_dirty; /* the cursor */
    int64_t scanned_ns, scan_cost_ns; /* the last scan of all */
    int64_t saved_ns, synced_ns, save_cost_ns;
    int64_t since_ns, seen_ns; /* wall time: the last scan of the call before, or the start; the last scan */
    uint64_t dropped;
};

/* Reports to the user: format and arguments as printf. */
void follow_note(const struct logs_follow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- logs and generations (logs_known.c) ---- */

/* Returns the log of this path; NULL: none is followed. */
struct follow_log *follow_find_log(const struct logs_follow *f, const char *path);
/* Makes a log of this path, without generations. NULL: out of memory, or too many. */
struct follow_log *follow_make_log(struct logs_follow *f, const char *path, size_t tag);
/* Returns the generation that is this file; NULL: none. */
struct logs_generation *follow_find_generation(const struct logs_follow *f, const struct logs_identity *id);
/* Adds a generation of the log before `before`; NULL: as the last. *g is copied. NULL: out of memory. */
struct logs_generation *follow_add_generation(struct logs_follow *f, struct follow_log *log, const struct logs_generation *g,
                                              const char *path, struct logs_generation *before);
/* Removes a generation from its log, closes its file and frees it. */
void follow_remove_generation(struct logs_follow *f, struct logs_generation *g);
/* Closes the generation's file, if it is open. */
void follow_close_fd(struct logs_follow *f, struct logs_generation *g);
/* Requests events of the folder that has this path. */
void follow_watch_folder(const struct logs_follow *f, const char *path);
/* The monotonic time of a file's time; of one in the future: now. */
int64_t follow_mono_of(int64_t wall_ns);
/* Opens the file at g->path, if it is still this file. False: it is another one, or cannot be opened (errno). */
bool follow_open_generation(struct logs_follow *f, struct logs_generation *g);
/* Replaces the generation's path by a copy of this one. False: out of memory, and the old one stays. */
bool follow_set_path(struct logs_generation *g, const char *path);

/* The generation's file has other lines now. It stays until the caller has delivered what it has of it. */
void follow_replace_generation(struct logs_follow *f, struct logs_generation *g);
/* The generation's file is another one, which has its lines, too. */
void follow_set_identity(struct logs_follow *f, struct logs_generation *g, const struct logs_identity *id);

/* ---- rotation (logs_rotation.c) ---- */

/* These return false where files move all the time: nothing is decided, and the next scan tries again. live: the file that has the
 * path, as it was when the older ones were found; none with !live->st.is_regular. */

/* Finds on disk the generations that are unread, and those that appeared and were rotated since. */
bool follow_find_rotated(struct logs_follow *f, struct follow_log *log, struct live_file *live);
/* A log that is new: files that appeared under its name and were renamed since the last scan are its generations, too. */
bool follow_find_earlier(struct logs_follow *f, struct follow_log *log, struct live_file *live);
/* The file of the last generation had no line, and has some now: it may have been copied and truncated more than once since. Sets
 * its mark, without which it is not read; is_settled: also where it has a part of a line only. */
bool follow_find_copies(struct logs_follow *f, struct follow_log *log, bool is_settled);
/* The file of the last generation was truncated: finds a copy of what is unread, and begins at its start. */
bool follow_restart_truncated(struct logs_follow *f, struct follow_log *log);
/* Finds on disk the file of a generation that is unread. 0: it is gone; -1: files move all the time. */
int follow_find_file(struct logs_follow *f, struct logs_generation *g);

/* An unnamed file with the bytes of a compressed one, in the state folder. -1: it is damaged, or too large; ESTALE, ENOENT: the path is another
 * file, or none. */
int follow_unpack(const struct logs_follow *f, const char *path, const struct logs_identity *id, uint64_t *ret_size);

/* ---- the cursor (logs_cursor.c) ---- */

/* ---- the cursor (logs_cursor.c) ---- */
/* Locks the state folder and loads the cursor, the position up to which each log was read. Does
 * nothing without a state folder. -1 with err: another process has the lock, or the cursor
 * cannot be read. */
int follow_load_cursor(struct logs_follow *f, struct err *err);
#endif
