/* fact_words.h: names of recorded facts in standard terms, for readers who do not know the keys. */
#ifndef RUNS_FACT_WORDS_H
#define RUNS_FACT_WORDS_H
#include "base/arena.h"

/* Returns "processor (cpu.model)", in the arena; the key itself where there are no words for it. */
const char *fact_words_and_key(const char *key, struct arena *a);
/* Returns what llmload counts about itself, by the key of a metric or its stem: "reads more than 10
 * ms after their bytes came"; NULL: it is another metric. */
const char *fact_words_of_metric(const char *key);
#endif
