/* words.h: the words of words.def as data. */
#ifndef LAUNCH_WORDS_H
#define LAUNCH_WORDS_H
#include "base/opt.h"

/* For opt_set.words; ends with typed == NULL. */
extern const struct opt_word words_typed[];
/* Places that are no command. */
#define WORDS_COMMAND ""
#define WORDS_PROGRAM "--"
#endif
