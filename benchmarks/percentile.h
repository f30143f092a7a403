/* percentile.h: how many values a percentile needs before it is believed. */
#ifndef BENCHMARKS_PERCENTILE_H
#define BENCHMARKS_PERCENTILE_H

/* Fewest values that allow a statement on "p99" with 99 % confidence, as llmload requires (its hdr_least); 0: not the name of a percentile. */
unsigned percentile_needs(const char *stat);
#endif
