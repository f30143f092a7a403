/* reading.h: read a stored output by rules, for `parse` and `rules check`, and print its facts. */
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
    struct coverage *coverage; /* counts what the sample covers; NULL: do not count */
    const char *name; /* of the sample, for the coverage */
};

/* Reads the output. 0; -1 with err. The caller calls record_deinit in both cases. The verdict's reason
 * is in the record's arena. */
int replay_read(const struct rules *rules, const struct replay_input *what, struct record *record, struct rules_outcome *ret, struct err *err);
/* Appends verdict and facts, one a line, grouped by kind, safe to print: the format of a sample's
 * `expect`. */
void replay_print_facts(struct buf *to, const struct record *record, const struct rules_outcome *out);
const char *replay_verdict_word(enum verdict v);
#endif
