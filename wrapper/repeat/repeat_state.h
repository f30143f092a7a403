/* repeat_state.h: the state of repetitions, shared by repeat.c (what runs next) and repeat_record.c. */
#ifndef REPEAT_REPEAT_STATE_H
#define REPEAT_REPEAT_STATE_H
#include "repeat/repeat_child.h"
#include "repeat/repeat_plan.h"
#include "run/state.h"

struct repeat_state {
    struct plan plan; /* for the runs' command lines */
    struct repeat_plan what;
    struct series_notes notes;
    struct repeat_child child;
    struct run run; /* the parent run */
    bool recorded; /* there is a parent run */
    int file; /* repetitions.jsonl; -1: none */
    const char *scratch; /* tree of the runs with --as steps, else NULL */
    uint64_t kept; /* bytes of logs stored of such runs */
    char **env;
    int64_t start_ns, progress_ns; /* of the series; of the last line of progress, 0: none */
    int status; /* wait status of the first run that failed; 0: none */
    size_t unfit; /* the first repetition whose verdict is not pass; 0: none */
    const char *unfit_verdict;
    bool stop; /* no more runs */
    const char *why; /* in words */
    char id[33]; /* of the parent run, with its start: a campaign that is resumed; "": a new one */
    int64_t begun_ms;
    bool held; /* the parent run's spool stays, though its process ends (SPOOL_HELD) */
    bool (*judge)(void *context, struct series_repetition *run); /* may change the status of a run; false: it is not noted; NULL */
    void *judge_context;
    bool (*is_ending)(void *context); /* has a signal ended the series? NULL: `child` knows it */
    void *ending_context;
};

/* Begins the parent run: journal, facts, notes. 0; -1 with err: ERR_USAGE or ERR_INPUT if the user's
 * input is wrong, else it cannot be recorded. */
int repeat_begin(struct repeat_state *s, int argc, char **argv, struct err *err);
/* Reads what an ended run has stored in the tree, and notes it. False: the program never started. */
bool repeat_note_run(struct repeat_state *s, struct series_repetition *run);
/* Returns whether the point needs no further repetition after `done` of them. */
bool repeat_point_done(struct repeat_state *s, size_t point, size_t done);
/* Writes a sign of life into the parent run's journal: once a minute. context: the state. */
void repeat_write_heartbeat(void *context);
/* Publishes the parent run and prints the summary. signal: that ended the repetitions; 0: none. */
void repeat_end(struct repeat_state *s, int exit_status, int signal);
/* Removes the parent run where no program started. */
void repeat_discard(struct repeat_state *s);
/* Prints one line on standard error. */
void repeat_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
