/* headlines.h: the few metrics that say what a benchmark is about, for listings and summaries (tag benchwrap.headline). */
#ifndef BENCHMARKS_HEADLINES_H
#define BENCHMARKS_HEADLINES_H
#include "benchmarks/engine.h"

struct headlines {
    char key[HEADLINES_MAX][NAME_MAX_BYTES]; /* in the order of the rule file; "" not seen (yet) */
    bool guessed;
};

/* A metric was told: is it the one that the rule file's `headlines` mean? "write.bw" means the statistic that the metric's own
 * `headline` names (else the plain value), "read.clat.p99" that statistic. The first block's counts.
 * Of rules that guess, the first three metrics are meant, and run.wall_s. */
void headlines_note(struct headlines *h, const struct rules *rules, const struct series *s, const char *stat, const char *key);
/* Writes the tag, if any was seen. */
void headlines_record(const struct headlines *h, struct record *record);
#endif
