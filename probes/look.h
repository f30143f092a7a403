/* look.h: how probes read the machine and tell what they saw.
 *
 * Paths are relative to host->root ("proc/cpuinfo"), so that a captured machine is read like the real one.
 * Everything told goes through emit_*, where the public profile's allow-list stands. */
#ifndef PROBES_LOOK_H
#define PROBES_LOOK_H
#include "base/buf.h"
#include "probes/probe.h"

/* A short text of proc or sys, trimmed. One page is the most that sysfs gives. */
struct look_text {
    size_t n;
    char p[4096]; /* NUL-terminated; NULs inside became blanks */
};

/* Reads the beginning of a file. False with errno when it cannot be read (empty files read as ""). */
bool look_read(const struct host *h, struct look_text *ret, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A file that holds one integer (and perhaps a unit behind a blank). */
bool look_read_int(const struct host *h, int64_t *ret, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* At most max bytes of a longer file, appended; a longer one is cut. 0 or -1 with errno. */
int look_read_file(const struct host *h, const char *path, size_t max, struct buf *to);
/* The lines of proc/self/mountinfo, read once for all probes of the host; own: an initialized buffer for a host that keeps nothing. Those of a later mount
 * are not in it. The text has .p NULL, with errno, where it cannot be read. */
struct str look_read_mounts(const struct host *h, struct buf *own);
enum { LOOK_MOUNTS_MAX = 1 << 20 }; /* nodes with thousands of container mounts exist; a longer list is cut. The buffer has 128 KiB more */
bool look_exists(const struct host *h, const char *path);
/* Does proc show the PID namespace of this process? In a new namespace without a /proc of its own the numbers there belong to other processes. Captured
 * machines count as their own. */
bool look_has_own_proc(const struct host *h);
/* Calls each for the names in a folder, in order, but for those that begin with a dot. How many it called it for; -1 with errno: no such folder. */
int look_each_name(const struct host *h, const char *path, void (*each)(void *context, const char *name), void *context);
/* A variable of host->env, NULL if unset. */
const char *look_env(const struct host *h, const char *name);
/* The value behind "key" and a separator (blanks, tabs, then sep) at the start of a line; n == 0 if there is none. */
struct str look_value(struct str text, const char *key, char sep);
/* "0-3,8" -> 5. -1: not such a list. */
int64_t look_count_numbers(struct str list);
/* Calls each(context, number) for every number of the list, at most max of them; false if it is no list. */
bool look_each_number(struct str list, size_t max, void (*each)(void *context, int64_t number), void *context);

/* Facts. Blank values are not told. Keys outside of the allow-list are dropped in the public profile. */
void emit_param(const struct host *h, struct record *r, const char *key, struct str value);
/* The text of a buffer; one that met its maximum is missing, not cut. */
void emit_buf(const struct host *h, struct record *r, const char *key, const struct buf *value);
void emit_text(const struct host *h, struct record *r, const char *key, const char *value);
void emit_int(const struct host *h, struct record *r, const char *key, int64_t value);
void emit_tag(const struct host *h, struct record *r, const char *key, struct str value);
/* Bytes as GiB, with two decimals below 10 and one above: equal machines shall read equal. */
void emit_GiB(const struct host *h, struct record *r, const char *key, double bytes);
/* The whole text of a file as a param; a file that is not there is told as nothing, one that cannot be read as missing. */
bool emit_file(const struct host *h, struct record *r, const char *key, const char *path);
void emit_missing(const struct host *h, struct record *r, const char *key, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "not readable: /proc/x: Permission denied", from errno. */
void emit_unreadable(const struct host *h, struct record *r, const char *key, const char *path);
#endif
