/* secret_names.h: decides which names belong to secrets, and whether a value behind such a name is a
 * secret. */
#ifndef PROBES_SECRET_NAMES_H
#define PROBES_SECRET_NAMES_H
#include "base/str.h"

/* How strongly a name announces a secret. */
enum secret_weight {
    SECRET_NAME_NONE,
    SECRET_NAME_PERHAPS, /* a value of random characters is one */
    SECRET_NAME_PART,    /* a longer name with such a word: any value but a number or a quantity */
    SECRET_NAME_OWNED,   /* the secret of a named service: numbers of ten digits or more as well */
    SECRET_NAME_WHOLE,   /* the complete name is that of a secret: numbers as well */
    SECRET_NAME_LINE     /* the rest of the line ("Authorization") */
};

/* Returns the weight of a name, of which at most the last 64 bytes count. */
enum secret_weight secret_name_weight(struct str name);
/* The same for a variable of the environment: MY_TOKEN weighs more than "token". */
enum secret_weight secret_variable_weight(struct str name);
/* Returns whether the word is the first one of names in two words ("API key", "access token"). */
bool secret_begins_name(struct str word);
/* Returns whether this value behind such a name is a secret; *ret_number: it is a plain number.
 * Placeholders ("$PASSWORD", "none") and redacted values are no secrets. */
bool secret_is_value(enum secret_weight weight, struct str value, bool *ret_number);
/* Returns whether the value is a number, with or without a unit ("33.25ms", "95 %", "1.2e6/s"), or a
 * date, time or version made of digits. */
bool secret_is_quantity(struct str value);
/* Returns whether redaction wrote the value: "[redacted]***", "(redacted)***", stars. */
bool secret_is_redacted(struct str value);
/* Returns whether the word is a scheme of HTTP authorization ("Bearer"); case does not count. */
bool secret_is_scheme(struct str word);
/* Returns whether the name, or its last part behind a dot, is only that of a service, such as
 * "cloudflare". */
bool secret_is_owner(struct str name);
#endif
