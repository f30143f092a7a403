/* secret_options.h: which part of a command line is a secret because of the option before it. */
#ifndef PROBES_SECRET_OPTIONS_H
#define PROBES_SECRET_OPTIONS_H
#include "base/str.h"

/* before: the command line so far; word: its next complete word, which begins with '-'; value: the
 * word behind it, empty if there is none. Returns true with *ret, the secret within word or value. */
bool secret_option_find(struct str before, struct str word, struct str value, struct str *ret);
/* Returns the offset of the name of a program of which an option may hold a secret; text.n: none. */
size_t secret_option_find_program(struct str text);
#endif
