/* headlines.h: the headline metrics of a benchmark, for listings and summaries (tag
 * `benchwrap.headline`). */
#ifndef BENCHMARKS_HEADLINES_H
#define BENCHMARKS_HEADLINES_H
#include "benchmarks/engine.h"

enum { HEADLINE_KEYS_MAX = 64 };

struct headlines {
    struct headline_key {
        size_t rank; /* in the rule file's `headlines`; without that list in the order of the output */
        struct str name; /* of the series */
        int block; /* -1: of all of the output */
        char key[NAME_MAX_BYTES];
    } key[HEADLINE_KEYS_MAX];
    size_t n;
    bool guessed;
};

/* Notes a recorded metric if the rule file's `headlines` mean it; without that list, every metric
 * that has a `headline` is one. "write.bw" means the statistic that the metric's own `headline`
 * names (else the plain value), "read.clat.p99" that statistic. block: the test that the metric is
 * of; -1: all of the output. Of rules that guess, the first three metrics are meant, and
 * run.wall_s. */
void headlines_note(struct headlines *h, const struct rules *rules, const struct series *s, int block, const char *stat, const char *key);
/* Writes the tag, if any was noted: in the order of the rule file, that of all of the output, else
 * that of each test. Metrics that the program logged come before those of rules that guess, and in
 * place of none. */
void headlines_record(const struct headlines *h, struct record *record);
#endif
