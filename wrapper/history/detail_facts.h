/* detail_facts.h: the content of a run's benchwrap.json, fact by fact, as bytes. The index has
 * these instead of the file, so that what they mean is decided again by each command. */
#ifndef HISTORY_DETAIL_FACTS_H
#define HISTORY_DETAIL_FACTS_H
#include "base/buf.h"

enum detail_kind { DETAIL_PARAM, DETAIL_METRIC, DETAIL_TAG, DETAIL_HOST, DETAIL_ARGV };
struct detail_fact {
    enum detail_kind kind;
    struct str key, value, source, unit, direction; /* .p NULL: there is none */
    double number, samples; /* of a metric */
};
#define DETAIL_FACTS "facts 1" /* the name of such values in the index; another form gets another number */

/* Appends the bytes of one fact. */
void detail_fact_put(struct buf *to, const struct detail_fact *f);
/* Reads the first fact, whose texts point into the bytes, and moves *from behind it. False: the bytes are damaged; none of them is trusted. */
bool detail_fact_take(struct str *from, struct detail_fact *ret);
/* A metric ends with its number and its samples, in so many bytes. Reads them as detail_fact_take does. */
enum { DETAIL_NUMBERS = 2 * sizeof(double) };
bool detail_numbers_take(struct str *from, double *ret_number, double *ret_samples);
#endif
