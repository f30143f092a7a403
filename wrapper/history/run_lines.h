/* run_lines.h: artifacts whose lines are facts: the program's libraries, and the environment. */
#ifndef HISTORY_RUN_LINES_H
#define HISTORY_RUN_LINES_H
#include "runs/runs.h"

enum run_lines { LINES_LIBRARIES, LINES_ENVIRONMENT, LINES_KINDS };
enum {
    LINE_KEY_MAX = 256, /* bytes of a fact's key and its NUL */
    LINES_READ_MAX = 1 << 20 /* bytes of an artifact that are read */
};

/* Returns the text of the artifact, in the arena; "": the run has none. */
struct str run_lines_read(const struct runs *runs, const struct tree_run *run, enum run_lines of, struct arena *a);
/* The next fact of the text, and moves *rest behind its line: "libm.so.6 … <build id>" has the key
 * "library.libm.so.6", "NAME=value" has "environment.NAME". *value is the build id or the value, and
 * *ret_text all that follows the name; both point into the text. key: its end is behind key[n], n is
 * the result. 0: no further fact. Lines with longer keys are left out. */
size_t run_lines_next(enum run_lines of, struct str *rest, char key[LINE_KEY_MAX], struct str *value, struct str *ret_text);
/* Of which artifact is the fact with this key? LINES_KINDS: of none. */
enum run_lines run_lines_of(const char *key);
#endif
