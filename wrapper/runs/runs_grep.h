/* runs_grep.h: search the stored text of runs: output, job script, environment. */
#ifndef RUNS_RUNS_GREP_H
#define RUNS_RUNS_GREP_H
#include "benchmarks/pattern.h"
#include "runs/runs.h"

enum { GREP_LINE_MAX = 1 << 20 }; /* bytes of a line that are searched */

/* One line that matches. */
struct grep_hit {
    const struct tree_run *run;
    const char *job; /* the tag job.id; NULL: none */
    const char *file; /* below artifacts/: "stdout.log", "job/script.sh" */
    uint64_t line; /* from 1 */
    struct str text; /* without its end; foreign bytes */
    size_t from, to; /* of the match in it */
};
struct grep_search {
    const struct runs *runs;
    struct pattern *pattern;
    const char *files; /* a pattern (fnmatch) of names below artifacts/; NULL: output, scripts, environments and other logs */
    size_t most; /* lines of a file; 0: all */
    int (*each)(void *context, const struct grep_hit *hit); /* not 0: the rest of the file is left out */
    void *context;
    struct arena *arena; /* for ->problem of runs */
    size_t hits, files_found,
        unsearched; /* results: lines that match; files; lines that are too long for the pattern, or cost it too much */
};
/* Searches one run: its files in the order of their names. A copy below job/ of a file above it is
 * left out. A file that cannot be read makes run->problem. 1: the run was deleted since the
 * listing. -1: out of memory. */
int grep_run(struct grep_search *s, struct tree_run *run);
/* Compiles the pattern that grep_run needs. is_fixed: the text is searched as it is; false: it
 * is a regular expression. any_case: upper and lower case are equal. The caller frees *ret with
 * pattern_free. -1 with err: not valid, or too long; *ret is unchanged. */
int grep_pattern(struct pattern **ret, const char *text, bool is_fixed, bool any_case, struct err *err);
#endif
