/* number.h: numbers as programs print them, and the words that stand for "there is none". */
#ifndef BENCHMARKS_NUMBER_H
#define BENCHMARKS_NUMBER_H
#include "base/str.h"

enum number_kind { NUMBER_NOT, NUMBER_MISSING, NUMBER_GOOD };
enum { NUMBER_SI = 1 /* 15.8k, 3M: decimal */, NUMBER_BINARY = 2 /* 15.8k: 1024 */, NUMBER_PERCENT = 4 /* a trailing % is removed */ };

/* Reads the complete text, blanks around allowed. *ret is set for NUMBER_GOOD alone, and is finite, and
 * never -0. NUMBER_MISSING for NA, N/A, -, --, nan, -nan,
 * inf, null, "" and similar words (any case), and for numbers too large or too small for a (normal)
 * double. Thousands separators are understood where they are unambiguous: 1,234,567 and 4,096.5;
 * 4,096 alone may have a decimal comma and is NUMBER_NOT. */
enum number_kind number_parse(struct str text, unsigned flags, double *ret);

/* Divides a word that ends in a whole number, as labels of rows and columns do: 0, 17, GPU3. head: the
 * part before the number; good: there is a number that fits, and no point is before it. */
struct numbered {
    struct str head;
    uint64_t number;
    bool good;
};
struct numbered numbered_of(struct str word);
#endif
