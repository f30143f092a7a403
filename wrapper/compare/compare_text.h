/* compare_text.h: a comparison as text: the answer in a sentence, what explains it, and a row for each metric. */
#ifndef COMPARE_COMPARE_TEXT_H
#define COMPARE_COMPARE_TEXT_H
#include "compare/compare_keys.h"

/* by: the param or tag that made the groups; NULL: the user named the runs. arguments_known: the
 * params have the arguments of all command lines. `all`: also metrics besides headline metrics, and
 * every param. -1: out of memory. */
int compare_print_text(const struct compare_group *groups, size_t count, const struct compared_metric *metrics, const struct compared_keys *keys,
                       const char *by, bool arguments_known, bool all, FILE *out, struct arena *a);
#endif
