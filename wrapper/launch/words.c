/* words.c: what users of other tools type, and the answer, as data. */
#include "launch/words.h"

const struct opt_word words_typed[] = {
#define WORD(place, typed, answer) {place, typed, answer},
#include "launch/words.def"
#undef WORD
    {NULL, NULL, NULL}};
