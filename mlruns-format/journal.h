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
    const char *host;         /* node name; "" in public records: then the boot id alone tells whether it is this one */
    const char *experiment;   /* wanted name */
    const char *run_name;
    const char *tree;         /* path of the mlruns folder: absolute, or written from the journal's folder on ("../../../mlruns"); read it is absolute */
    const char *user;
    const char *job;          /* scheduler job id or "" */
    const char *options;      /* JSON object text: what the finish step needs again (log_max, rules, profile …); "" for none */
    char **argv;              /* program and arguments, NULL-terminated */
    int64_t start_ms;
};

/* A path of a journal as an absolute one: one that begins with "../" is meant from the journal's folder (a public record names nobody's home). Others as they are. */
const char *journal_path(int dir, const char *path, struct arena *a);
/* What names the time since this machine was started (the kernel's random/boot_id); empty if the kernel does not tell. */
void journal_boot_id(char ret[40]);

struct journal;
/* Creates dir/journal (fails if it exists), which others first see locked and with its first line. */
int journal_create(struct journal **ret, int dir, const struct journal_head *head, struct err *err);
/* Listener for struct record: appends the fact (buffered; see journal_flush). Errors stick and are told by flush. */
void journal_fact(void *journal, const struct fact *fact);
void journal_beat(struct journal *j, int64_t now_ms);
/* The program has been started (pid) / what became of it. */
void journal_started(struct journal *j, int64_t time_ms);
void journal_ended(struct journal *j, int64_t end_ms, enum run_status status, const char *reason);
/* Writes what is buffered; with sync also fdatasync. 0; -1 with an error not told before; 1: still failing as told. What could not be
 * written is kept (up to 8 MiB, then whole facts are lost and counted in the journal) and tried again at the next flush. */
int journal_flush(struct journal *j, bool sync, struct err *err);
void journal_close(struct journal *j); /* flushes, without sync; NULL is allowed */

/* Reading. Facts are replayed into *record (initialised by this call) up to the last whole line.
 * *ret_head points into the record's arena. 0, or -1 if not even the first line is whole. */
struct journal_state {
    bool started, ended;
    int64_t last_ms, started_ms;    /* last_ms: the latest time in any line, at least the start */
    size_t lines, good_bytes, all_bytes;
    size_t lost;                    /* facts that the writer could not store (disk full) */
    const char *reason;             /* of the end; "" */
};
int journal_read(int dir, struct record *record, struct journal_head *ret_head, struct journal_state *ret_state, struct err *err);
/* Reopens for appending after a crash (cuts the torn tail, takes the lock). 1 if somebody holds the lock (alive). */
int journal_reopen(struct journal **ret, int dir, struct err *err);
/* Did journal_reopen get the lock? False for NULL, and where the file system has no locks: then a writer of this host may be alive. */
bool journal_is_locked(const struct journal *j);
/* Following a journal that another process writes: each fact is told once, in order, as its line becomes whole. *ret_head lives as long as the tail.
 * -1 if the first line is not whole (yet). */
struct journal_tail;
int journal_follow(struct journal_tail **ret, int dir, struct journal_head *ret_head, struct err *err);
/* At most `most` facts of those that came since; how many. A fact's texts live until each returns. */
size_t journal_tail_read(struct journal_tail *t, size_t most, void (*each)(void *context, const struct fact *fact), void *context);
/* What was told until now is dealt with; back: what was told since the mark is told again. */
void journal_tail_mark(struct journal_tail *t);
void journal_tail_back(struct journal_tail *t);
void journal_tail_close(struct journal_tail *t); /* NULL is allowed */
/* Is the writer alive? 1 yes, 0 no, -1 cannot tell. */
int journal_alive(int dir);
#endif
