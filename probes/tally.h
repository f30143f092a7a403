/* tally.h: values of several equal devices: recorded once if all are equal, else with their counts
 * ("performance*380 powersave*4"). */
#ifndef PROBES_TALLY_H
#define PROBES_TALLY_H
#include "probes/look.h"

struct tally {
    struct {
        char text[96];
        unsigned count;
    } values[8]; /* distinct ones; further ones are left out */
    size_t n;
};

/* Counts a value, without blanks around. Leaves out empty values and those of 96 bytes or more. */
void tally_add(struct tally *t, struct str value);
/* Counts a number, rounded to so many decimals; 0: as short as it reads back equal. */
void tally_add_number(struct tally *t, double value, int decimals);
/* Records the values as a param; nothing where there are none. */
void tally_emit(const struct tally *t, struct host *h, struct record *r, const char *key);
/* The same; values that are numbers are multiplied by scale. */
void tally_emit_scaled(const struct tally *t, struct host *h, struct record *r, const char *key,
                       double scale);
#endif
