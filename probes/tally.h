/* tally.h: values of several equal devices, told once if equal, else as "performance*380 powersave*4". */
#ifndef PROBES_TALLY_H
#define PROBES_TALLY_H
#include "probes/look.h"

struct tally {
    struct {
        char text[96];
        unsigned count;
    } values[8]; /* more different ones are not told */
    size_t n;
};

/* Blank values, and ones that are too long, are not counted. */
void tally_add(struct tally *t, struct str value);
/* A number as short as it reads back equal, or rounded to so many decimals (0: not rounded). */
void tally_add_number(struct tally *t, double value, int decimals);
void tally_emit(const struct tally *t, struct host *h, struct record *r, const char *key);
/* The same with numbers multiplied. */
void tally_emit_scaled(const struct tally *t, struct host *h, struct record *r, const char *key, double scale);
#endif
