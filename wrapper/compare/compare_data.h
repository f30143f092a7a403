/* compare_data.h: a comparison for programs: as one JSON document, or a row for each metric and group. */
#ifndef COMPARE_COMPARE_DATA_H
#define COMPARE_COMPARE_DATA_H
#include "base/listing.h"
#include "compare/compare_keys.h"

/* -1: out of memory. */
int compare_print_json(const struct compare_group *groups, size_t count, const struct compared_metric *metrics, const struct compared_keys *keys,
                       FILE *out, struct arena *a);
int compare_print_rows(const struct compare_group *groups, size_t count, const struct compared_metric *metrics, enum listing_form form,
                       FILE *out, struct arena *a);
#endif
