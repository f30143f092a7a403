/* row_words.h: the words in a table of runs for a run that has others below it. */
#ifndef RUNS_ROW_WORDS_H
#define RUNS_ROW_WORDS_H
#include "runs/runs_table.h"

/* Fills r->sweep and r->children of a run whose other members are set. Reads the statistics of a
 * series; the texts are in the arena. */
void row_words(struct table_run *r, struct arena *a);
/* Returns whether the name is made of benchmark (NULL: none) and time, as "fio 2026-11-22
 * 22:43:31". Both are printed elsewhere. */
bool row_words_made_name(const char *name, const char *benchmark);
#endif
