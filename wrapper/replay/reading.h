/* reading.h: a stored output read by rules, as `parse` and `rules check` do it; and what it tells, line by line. */
#ifndef REPLAY_READING_H
#define REPLAY_READING_H
#include "base/buf.h"
#include "benchmarks/coverage.h"
#include "benchmarks/rules.h"

struct replay_file {
    const char *pattern; /* as in the rules: {file: PATTERN} */
    const char *path;
    struct replay_file *next;
};
struct replay_input {
    const char *out, *errors; /* paths, "-" is standard input; NULL: none */
    struct replay_file *files;
    char *const *argv; /* the program's arguments; NULL: not known */
    char *const *env; /* its environment, NAME=VALUE; NULL: not known */
    int status; /* -1: not known */
    struct coverage *coverage; /* NULL: nobody counts */
    const char *name; /* of the sample, for what is counted */
};

/* Reads all of it. *record is initialised in any case: record_deinit it. The verdict's reason lies in the record's arena. */
int replay_read(const struct rules *rules, const struct replay_input *what, struct record *record, struct rules_outcome *ret, struct err *err);
/* The facts, one a line, in the order of the record, safe to print: what `expect` beside a sample holds. */
void replay_print_facts(struct buf *to, const struct record *record, const struct rules_outcome *out);
const char *replay_verdict_word(enum verdict v);
#endif
