/* grouped.h: numbers in the notation of a locale: digits in groups of three, and decimal commas.
 * Readers accept no such number. */
#ifndef BENCHMARKS_GROUPED_H
#define BENCHMARKS_GROUPED_H
#include "base/str.h"

/* What a comma is: between groups of digits, before a fraction, or no part of a number. */
enum grouped_comma { COMMA_GROUPS, COMMA_DECIMAL, COMMA_FIELDS, COMMA_READINGS };

/* Writes the text with its numbers in plain notation ("3 632,29": "3632.29") into to, which has as much capacity as the text has bytes. Returns the length;
 * 0: the text has no number in another notation. */
size_t grouped_plain(struct str text, enum grouped_comma comma, char *to);
/* Returns true if all of the text is one number in another notation. */
bool grouped_is_number(struct str text);
#endif
