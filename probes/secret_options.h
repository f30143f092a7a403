/* secret_options.h: which part of a command line is a secret because of the option before it. */
#ifndef PROBES_SECRET_OPTIONS_H
#define PROBES_SECRET_OPTIONS_H
#include "base/str.h"

/* before: the command line so far; word: its next word, which begins with '-', as long as it goes; value: the word behind it, empty if there is none.
 * True: *ret is the secret, a part of `word` or of `value`. */
bool secret_option_find(struct str before, struct str word, struct str value, struct str *ret);
/* Does the text name a program of which an option may hold a secret? The offset of its name; text.n: none. */
size_t secret_option_find_program(struct str text);
#endif
