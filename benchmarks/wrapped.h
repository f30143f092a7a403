/* wrapped.h: a program's line without what terminals, launchers and log collectors add around it:
 * line ends, a byte order mark, colours, ranks, time stamps.
 *
 * One state for each text, fed with its lines in their order. Lines point into the text or into the state's scratch, until its next line. */
#ifndef BENCHMARKS_WRAPPED_H
#define BENCHMARKS_WRAPPED_H
#include "base/str.h"

enum { WRAPPED_LABEL_MAX = 72 };

struct wrapped { /* all zero at first */
    char *clean; /* scratch for one line */
    size_t clean_cap;
    unsigned n_stamped; /* lines that began with a time stamp */
    bool has_own_stamps; /* a line before them had none: later stamps are the program's */
    char label
        [WRAPPED_LABEL_MAX]; /* what each line begins with: "host: " (pdsh), "name-1  | " (docker compose), "> " (a quoted text); empty: nothing */
};
/* Returns whether this word is one of the program's own, so that "word: " is no host. */
typedef bool wrapped_own(const void *context, struct str word);
/* Finds, before the first line, the label that all lines of the text begin with. is_own may be NULL. */
void wrapped_begin(struct wrapped *w, struct str text, wrapped_own *is_own, const void *context);
void wrapped_deinit(struct wrapped *w);

/* Returns the text behind a byte order mark of UTF-8, if it begins with one. */
struct str wrapped_mark_skip(struct str text);
/* Removes carriage returns at the end, a byte order mark and escape sequences with what they erase, and notes whether the line has a time stamp. Returns true if
 * there were escape sequences or backspaces. */
bool wrapped_bare(struct wrapped *w, struct str *line);
/* Returns the bare line without the rank and without the time stamp that each line of the text begins
 * with; of a line that was written over, the last state. */
struct str wrapped_text(struct wrapped *w, struct str line);
#endif
