/* secrets.h: where secrets stand in a text: tokens of known services, JSON Web Tokens, private keys, long random strings, user info of URLs, values that
 * are assigned to names of secrets ("password=…", "Authorization: …", "--api-key …").
 *
 * Numbers are results: what is plainly a number is a secret only behind a name like "password". Hexadecimal digests are no secrets here: build ids, commits. */
#ifndef PROBES_SECRETS_H
#define PROBES_SECRETS_H
#include "base/str.h"

enum secret_kind { SECRET_TOKEN, SECRET_RANDOM, SECRET_ASSIGNED, SECRET_URL, SECRET_KEY };

struct secret {
    size_t at, n;
    enum secret_kind kind;
};

/* Is the text inside of a private key that began before it? Zeroed at the start of a stream; kept between its pieces. */
struct secrets_state {
    bool in_key;
};

/* Calls each for every secret, in order; they can overlap. The text should be whole lines. Returns how many there are. */
size_t secrets_find(struct str text, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context);
/* How well a name tells that its value is a secret: 0 not, 1 where the value looks random, 2 always, 3 the rest of the line. */
int secrets_name(struct str name);
/* Where all that follows in the line may be a secret ("Authorization: Basic"); the line's length: nowhere. */
size_t secrets_rest_of_line(struct str line);
/* Could what follows be a secret because of the last of these words? ("--password", "token =") */
bool secrets_announced(struct str words);
const char *secrets_reason(enum secret_kind kind);
#endif
