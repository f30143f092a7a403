/* secret_names.h: which names belong to secrets, and whether a value behind such a name is one. Every finder and every record of name and value uses these. */
#ifndef PROBES_SECRET_NAMES_H
#define PROBES_SECRET_NAMES_H
#include "base/str.h"

/* How well a name says that its value is a secret. */
enum secret_weight {
    SECRET_NAME_NONE,
    SECRET_NAME_PERHAPS, /* a value that looks random is one */
    SECRET_NAME_PART,    /* a longer name with such a word: any value but a number or a quantity */
    SECRET_NAME_OWNED,   /* the secret of a named service: numbers of ten digits or more as well */
    SECRET_NAME_WHOLE,   /* the whole name is that of a secret: numbers as well */
    SECRET_NAME_LINE     /* the rest of the line ("Authorization") */
};

/* name: at most its last 64 bytes count. */
enum secret_weight secret_name_weight(struct str name);
/* The same for a variable of the environment: MY_TOKEN says more than "token". */
enum secret_weight secret_variable_weight(struct str name);
/* Is this value behind such a name a secret? *ret_number: it is a plain number. Placeholders ("$PASSWORD", "none") and what is redacted already are none. */
bool secret_is_value(enum secret_weight weight, struct str value, bool *ret_number);
/* A number, with or without a unit ("33.25ms", "95 %", "1.2e6/s"), or a date, time, version made of digits. */
bool secret_is_quantity(struct str value);
/* What redaction left: "[redacted]***", "(redacted)***", stars. */
bool secret_is_redacted(struct str value);
/* Is the name, or its last part behind a dot, only that of a service, as "cloudflare" is? */
bool secret_is_owner(struct str name);
#endif
