/* journal.h: the facts of a run on disk while it runs: append-only, one checked record per line, torn tails cut.
 *
 * Line: 8 hex digits of CRC-32C of what follows the blank, a blank, one JSON object, LF. First line: format version,
 * run id, boot id, start, argv … (struct journal_head). The writer holds an open-file-description lock on the file. */
#ifndef MLRUNS_FORMAT_JOURNAL_H
#define MLRUNS_FORMAT_JOURNAL_H
#include "mlruns-format/record.h"

struct journal_head {
    char id[33];
    char boot_id[40];         /* journal_create reads the kernel's where this is empty */
    const char *host;         /* node name; "" in public records: then the boot id alone identifies it */
    const char *experiment;   /* requested name */
    const char *run_name;
    const char *tree;         /* path of the mlruns folder: absolute, or written from the journal's folder on ("../../../mlruns"); read it is absolute */
    const char *user;
    const char *job;          /* scheduler job id or "" */
    const char *options;      /* JSON object text: what the finish step needs again (log_max, rules, profile …); "" for none */
    char **argv;              /* program and arguments, NULL-terminated */
    int64_t start_ms;
    int64_t start_ns;         /* the same by CLOCK_MONOTONIC, which counts from the boot; 0: not known */
};

/* Makes a path of a journal absolute, into the arena: "../…" is relative to the journal's folder
 * (so that a public record holds no home folder). Other paths stay as they are. */
const char *journal_path(int dir, const char *path, struct arena *a);
/* Reads the kernel's boot id (random/boot_id), which changes with each start of the machine; ""
 * where the kernel has none. */
void journal_boot_id(char ret[40]);
/* Returns whether the journal was begun on this machine, since its last start. Then its process ids
 * and CLOCK_MONOTONIC are those of the caller. */
bool journal_is_of_boot(const struct journal_head *head);

struct journal;
/* Creates dir/journal (fails if it exists), which others first see locked and with its first line. */
int journal_create(struct journal **ret, int dir, const struct journal_head *head, struct err *err);
/* Appends the fact, as listener of struct record (buffered; see journal_flush). Errors stick;
 * journal_flush reports them. */
void journal_fact(void *journal, const struct fact *fact);
/* Appends that the writer lives, and how long it has since the start by CLOCK_MONOTONIC. */
void journal_beat(struct journal *j, int64_t now_ms);
/* Appends that the program has started, at time_ms and mono_ns (CLOCK_MONOTONIC; 0: not known). */
void journal_started(struct journal *j, int64_t time_ms, int64_t mono_ns);
/* Appends that the program has ended, with status and reason. */
void journal_ended(struct journal *j, int64_t end_ms, enum run_status status, const char *reason);
/* Writes the buffered lines; with sync also fdatasync. 0; -1 with an error that was not reported
 * before; 1: the reported error persists. Unwritten lines stay in memory (up to 8 MiB; then
 * complete facts are lost, and the journal counts them) and are tried again at the next flush. */
int journal_flush(struct journal *j, bool sync, struct err *err);
void journal_close(struct journal *j); /* flushes, without sync; NULL is allowed */

/* Reading. Facts are replayed into *record (initialised by this call) up to the last complete line.
 * *ret_head points into the record's arena. 0, or -1 if not even the first line is complete. */
struct journal_state {
    bool started, ended;
    int64_t last_ms, started_ms;    /* last_ms: the latest time in any line, at least the start */
    int64_t lasted_ms;              /* from the start to the last beat, by CLOCK_MONOTONIC; -1: not known */
    size_t lines, good_bytes, all_bytes;
    size_t lost;                    /* facts that the writer could not store (disk full) */
    const char *reason;             /* of the end; "" */
};
int journal_read(int dir, struct record *record, struct journal_head *ret_head, struct journal_state *ret_state, struct err *err);
/* Reopens for appending after a crash (cuts the truncated tail, acquires the lock). 0; 1: another
 * process holds the lock (its writer is alive); -1. */
int journal_reopen(struct journal **ret, int dir, struct err *err);
/* Returns whether journal_reopen got the lock. False for NULL, and where the file system has no
 * locks: then a writer of this host may be alive. */
bool journal_is_locked(const struct journal *j);
/* Follows a journal that another process writes: reports each fact once, in order, as its line
 * becomes complete. *ret_head lives as long as the tail. 0; -1: the first line is not complete
 * (yet). */
struct journal_tail;
int journal_follow(struct journal_tail **ret, int dir, struct journal_head *ret_head, struct err *err);
/* Passes at most `most` facts of those that came since to `each`; returns how many. A fact's texts
 * live until each returns. */
size_t journal_tail_read(struct journal_tail *t, size_t most, void (*each)(void *context, const struct fact *fact), void *context);
/* journal_tail_mark: the facts reported so far are processed. journal_tail_back: reports those
 * since the mark again. */
void journal_tail_mark(struct journal_tail *t);
void journal_tail_back(struct journal_tail *t);
void journal_tail_close(struct journal_tail *t); /* NULL is allowed */
/* Returns whether the writer is alive: 1 yes, 0 no, -1 unknown. */
int journal_alive(int dir);
#endif
