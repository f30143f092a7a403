/* secrets.h: finds secrets in a text: tokens of known services, JSON Web Tokens, private keys, long random strings, user info of URLs, values that
 * are assigned to names of secrets ("password=…", "Authorization: …", "--api-key …").
 *
 * Numbers are results: what is plainly a number is a secret only behind a name like "password". Hexadecimal digests are no secrets here: build ids, commits. */
#ifndef PROBES_SECRETS_H
#define PROBES_SECRETS_H
#include "base/str.h"
#include "probes/secret_manifest.h"

enum secret_kind { SECRET_TOKEN, SECRET_RANDOM, SECRET_ASSIGNED, SECRET_URL, SECRET_KEY };

/* How the place is filled: "[redacted]***"; a quoted text, where JSON has a number; null and blanks, where JSON in a string has one. */
enum secret_fill { SECRET_FILL_MARK, SECRET_FILL_QUOTED, SECRET_FILL_NULL };

struct secret {
    size_t at, n;
    enum secret_kind kind;
    bool number; /* it is a plain number: a result may be lost */
    enum secret_fill fill;
};

enum secrets_fold { SECRETS_FOLD_NONE, SECRETS_FOLD_BLOCK, SECRETS_FOLD_LINE, SECRETS_FOLD_TAG, SECRETS_FOLD_VALUE };

/* What the lines before announce for the text: it is inside a private key, or it is the value of a
 * secret's name above. Zeroed at the start of a stream, and passed on between its pieces. */
struct secrets_state {
    bool in_key;
    unsigned char fold; /* enum secrets_fold */
    unsigned char fold_weight; /* enum secret_weight */
    unsigned short fold_indent, fold_lines;
    struct manifest manifest;
};

/* Calls each for every secret, in order; they can overlap. The text should be complete lines.
 * Returns how many there are. */
size_t secrets_find(struct str text, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context);
/* Returns the offset from which the rest of the line may be a secret ("Authorization: Basic"); the
 * line's length: nowhere. */
size_t secrets_rest_of_line(struct str line);
/* Returns whether the last of these words announces a secret ("--password", "token ="). */
bool secrets_are_announced(struct str words);
/* Returns the kind in words, static. */
const char *secrets_reason(enum secret_kind kind);
#endif
