/* repeat_state.h: what the driver of a series knows, shared by the chapters of its story: series.c (what is run next) and series_record.c. */
#ifndef REPEAT_REPEAT_STATE_H
#define REPEAT_REPEAT_STATE_H
#include "repeat/repeat_child.h"
#include "repeat/repeat_plan.h"
#include "run/state.h"

struct repeat_state {
    struct plan plan; /* for the runs' lines */
    struct repeat_plan what;
    struct series_notes notes;
    struct repeat_child child;
    struct run run; /* the series' own run */
    bool recorded; /* there is one */
    int file; /* repetitions.jsonl */
    const char *scratch; /* tree of the runs of a series with steps, else NULL */
    uint64_t kept; /* bytes of logs kept of such runs */
    char **env;
    int64_t start_ns;
    int status; /* wait status of the first run that did not end well; 0: none */
    bool unfit; /* a verdict was not pass */
    bool stop; /* no more runs */
    const char *why; /* in words */
};

/* The series' own run begins: journal, facts, notes. -1: what the caller named is wrong, or it cannot be recorded (err->kind tells). */
int repeat_begin(struct repeat_state *s, int argc, char **argv, struct err *err);
/* What a run that has ended has put into the tree; then it is noted. False: the program was never started. */
bool repeat_note_run(struct repeat_state *s, struct series_repetition *run);
/* The series' own run becomes one in the tree; the summary is printed. */
void repeat_end(struct repeat_state *s, int exit_status, int signal);
/* Nothing was started: no run stays behind. */
void repeat_discard(struct repeat_state *s);
/* One line on standard error. */
void repeat_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
