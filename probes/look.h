/* look.h: reads files of the machine for probes, and records what they found as facts.
 *
 * Paths are relative to host->root ("proc/cpuinfo"), so that a captured machine is read like the
 * real one. Probes record facts with emit_*, which apply the public profile's allow-list. */
#ifndef PROBES_LOOK_H
#define PROBES_LOOK_H
#include "base/buf.h"
#include "probes/probe.h"

#include <errno.h>

/* A short text of proc or sys, trimmed. sysfs returns at most one page. */
struct look_text {
    size_t n;
    char p[4096]; /* NUL-terminated; NULs inside became blanks */
};

/* Reads at most the first 4095 bytes of a file. Returns false with errno when it cannot be read
 * (*ret is then empty). An empty file reads as "". */
bool look_read(const struct host *h, struct look_text *ret, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads a file that begins with an integer. Returns false, and leaves *ret, when it cannot be read
 * or begins with something else; errno is set only in the first case. */
bool look_read_int(const struct host *h, int64_t *ret, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends at most the first `max` bytes of a file. Returns 0, or -1 with errno. Where `to` has no
 * capacity left, it returns 0 and to->failed is set. */
int look_read_file(const struct host *h, const char *path, size_t max, struct buf *to);
/* Appends proc/self/status, complete: of a user in thousands of groups it is longer than look_read
 * reads. Returns 0, or -1 with errno. */
int look_read_own_status(const struct host *h, struct buf *to);
enum { LOOK_STATUS_MAX = 1 << 20 /* 65536 groups, the kernel's maximum, have 720 kB */ };
/* Returns the lines of proc/self/mountinfo, or a text with .p NULL and errno. A host with state
 * reads them once for all probes and owns the text: later mounts are not in it. `own` is an
 * initialized buffer, which holds the text for a host without state. */
struct str look_read_mounts(const struct host *h, struct buf *own);
/* Bytes of mountinfo that are read: nodes with thousands of container mounts exist. A longer list
 * is cut. The buffer has a capacity of 128 KiB more. */
enum { LOOK_MOUNTS_MAX = 1 << 20 };
/* Opens a file for reading. Returns a descriptor, or -1 with errno: LOOK_COVERED where another file
 * system covers a file of proc or sys of this machine, as lxcfs does in containers: what it shows
 * is not the machine's. */
int look_open(const struct host *h, const char *path);
enum { LOOK_COVERED = EXDEV };
bool look_exists(const struct host *h, const char *path);
/* Returns whether proc shows the PID namespace of this process. In a new namespace without a /proc
 * of its own the numbers there belong to other processes. True for a captured machine. */
bool look_has_own_proc(const struct host *h);
/* Calls each for the names in a folder, in order, except those that begin with a dot. Returns the
 * number of calls, or -1 with errno when the folder cannot be read. */
int look_each_name(const struct host *h, const char *path,
                   void (*each)(void *context, const char *name), void *context);
/* Returns a variable of host->env, NULL if unset. The environment owns the text. */
const char *look_env(const struct host *h, const char *name);
/* Returns the variable as the program gets it, NULL if unset. *ret_why: why it is not known, else NULL. */
const char *look_variable(const struct host *h, const char *name, const char **ret_why);
/* Returns the trimmed value of the first line "<key><blanks><sep><value>"; n == 0 if there is none.
 * The value points into `text`. */
struct str look_value(struct str text, const char *key, char sep);
/* Counts the numbers of a list: "0-3,8" yields 5. Returns -1 where it is no list, or has more than
 * 65536 numbers. */
int64_t look_count_numbers(struct str list);
/* Calls each(context, number) for every number of the list. Returns false where it is no list or
 * has more than `max` numbers; each has then been called for those before. */
bool look_each_number(struct str list, size_t max, void (*each)(void *context, int64_t number),
                      void *context);

/* Record facts. Blank values are left out. In the public profile so are keys that
 * probes_is_public refuses. Line ends and tabs in params become blanks. */
void emit_param(const struct host *h, struct record *r, const char *key, struct str value);
/* Records the text of a buffer; one that failed is recorded as missing, never cut. */
void emit_buf(const struct host *h, struct record *r, const char *key, const struct buf *value);
void emit_text(const struct host *h, struct record *r, const char *key, const char *value);
void emit_int(const struct host *h, struct record *r, const char *key, int64_t value);
void emit_tag(const struct host *h, struct record *r, const char *key, struct str value);
/* Records bytes as GiB, with two decimals below 10 and one above: equal machines read equal. Below
 * 0.1 it has three digits. */
void emit_GiB(const struct host *h, struct record *r, const char *key, double bytes);
/* Records the text of a file, at most 4095 bytes, as a param. Returns whether it was read. Records
 * nothing for a file that does not exist, and a missing fact for one that cannot be read. */
bool emit_file(const struct host *h, struct record *r, const char *key, const char *path);
/* Records that the fact is missing, with the reason, which is cut after 511 bytes. */
void emit_missing(const struct host *h, struct record *r, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Returns true, and why in `reason`, if a part of the machine is hidden from this process, or a file of it was refused: what it does
 * not find may exist. */
bool look_hides_parts(const struct host *h, char reason[256]);
/* Records that the fact is missing since the machine has no such thing, with `why`; or since a part of the machine is hidden. */
void emit_absent(const struct host *h, struct record *r, const char *key, const char *why);
/* Records that the fact is missing: "not readable: /proc/x: Permission denied", from errno. */
void emit_unreadable(const struct host *h, struct record *r, const char *key, const char *path);
#endif
