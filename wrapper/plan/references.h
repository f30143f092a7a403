/* references.h: a run is judged by the reference files that its plan found; the verdict of the rules and theirs become one. */
#ifndef WRAPPER_PLAN_REFERENCES_H
#define WRAPPER_PLAN_REFERENCES_H
#include "benchmarks/reference.h"

#include <stdbool.h>

enum { REFERENCE_FILES_MAX = 4 };
struct reference_files {
    const char *path[REFERENCE_FILES_MAX]; /* strongest first */
    size_t count;
    bool named; /* the user named the file: a run that no entry of it fits has no verdict */
};

/* Judges r, whose verdict so far is `verdict` ("pass", "fail", "none") with `reason`; both are
 * replaced by the combined ones (constants, or in r's arena). failed: the program itself ended
 * badly. Files that cannot be read become warnings (ones that do not exist are ignored unless
 * named). public_profile: results call files by their base name. */
void run_judge_references(const struct reference_files *files, struct record *r, bool failed, bool public_profile, const char **verdict, const char **reason);
/* Appends a line, which begins with prefix, for each metric that is better than its band (the reason
 * names what failed), for the summary. At most `lines`; the last line counts those above. */
struct buf;
void run_references_print(const struct record *r, const char *prefix, size_t lines, struct buf *to);
/* Returns the result of the references for one metric, as text: "pass, reference 190 … 210",
 * numbers multiplied by scale; NULL: nothing. *ret_fails: it is outside on the bad side. In `a`. */
const char *run_reference_of(const struct record *r, const char *key, double scale, struct arena *a, bool *ret_fails);
/* Appends what a reference allows: "190 … 210", or of one bound alone "200, at least 190", numbers
 * multiplied by scale. m: its object in benchwrap.json. */
struct json;
void run_reference_range(const struct json *m, double scale, struct buf *to);
#endif
