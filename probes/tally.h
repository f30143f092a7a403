/* tally.h: values of several equal devices: recorded once if all are equal, else with their counts
 * ("performance*380 powersave*4"). */
#ifndef PROBES_TALLY_H
#define PROBES_TALLY_H
#include "probes/look.h"

struct tally {
    struct {
        char text[96];
        unsigned count;
    } values[8]; /* distinct ones */
    size_t n;
    unsigned others; /* how often a further one, or one too long, was counted */
};

/* Counts a value, without blanks around. Leaves out empty values. More than eight distinct ones, and
 * those of 96 bytes or more, count as others. */
void tally_add(struct tally *t, struct str value);
/* Counts a number, rounded to so many decimals; 0: as short as it reads back equal. */
void tally_add_number(struct tally *t, double value, int decimals);
/* Records the values as a param ("a*2 b*1, others*3"); nothing where there are none. */
void tally_emit(const struct tally *t, struct host *h, struct record *r, const char *key);
/* The same; values that are numbers are multiplied by scale. */
void tally_emit_scaled(const struct tally *t, struct host *h, struct record *r, const char *key,
                       double scale);
#endif
