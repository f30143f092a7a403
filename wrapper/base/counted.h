/* counted.h: what programs count per second, and the multiples before it: "Melem", "kreq", "million rows".
 *
 * "Messages" and "Mmessages" differ by the words that are known, not by their letters. Where the words do not
 * decide, a reader must refuse the number: a lost multiple is an error of three to nine digits. */
#ifndef BASE_COUNTED_H
#define BASE_COUNTED_H
#include "base/str.h"

bool counted_is_noun(struct str word); /* "rows", "Elem": known, in any case */
/* Reads a multiple as a separate word: "k", "M", "Ki", "million", "bn". Returns its factor, 0:
 * none. */
double counted_multiple(struct str word);
/* Divides a noun after a multiple: "Melem", "Kirows", "megabytes". Returns the factor and sets
 * *ret_noun; 0: there is no known one. */
double counted_split(struct str word, struct str *ret_noun);
/* Returns whether the word may begin with a multiple although counted_split knows none: "mrows",
 * "Mfoos", "kfoos", "mbit". */
bool counted_may_hide(struct str word);
#endif
