/* redact.h: what must not be written: secrets by the name of a variable and by the look of a value, and identities. */
#ifndef PROBES_REDACT_H
#define PROBES_REDACT_H
#include "base/buf.h"

#include <stdbool.h>

/* Does a variable of this name hold a secret? (KEY, TOKEN, SECRET, PASS, CRED, COOKIE, AUTH in it, in any case) */
bool redact_name(struct str name);
/* Appends value without secrets: user info of URLs, tokens of known services, JSON Web Tokens, private keys and long random-looking
 * strings become "[redacted]". Returns the number of places. */
size_t redact_value(struct buf *to, struct str value);

/* What looks like a secret in a text, and where. */
enum redact_kind {
    REDACT_KEY,       /* a private key in PEM */
    REDACT_URL,       /* user and password in a URL */
    REDACT_ASSIGNED,  /* what stands behind "password=", "token:" */
    REDACT_TOKEN,     /* of a known service, by its first letters */
    REDACT_WEB_TOKEN, /* a JSON Web Token */
    REDACT_RANDOM     /* long and random-looking; check sums are too */
};
struct redact_place {
    enum redact_kind kind;
    size_t from, n;
};
/* The next place at or behind `at`; false: there is none. */
bool redact_next(struct str value, size_t at, struct redact_place *ret);

/* Names to be replaced in a public record by tokens of equal length, so that columns and offsets stay. */
struct identities {
    struct {
        char name[256];
        char token[256];
    } list[64];
    size_t count;
};
/* Adds user, home, hosts of env (USER, LOGNAME, HOME, HOSTNAME, SLURM_JOB_NODELIST …) and the host's own name. Names shorter than three
 * bytes and common words ("root", "user", "localhost") are left alone. */
void identities_collect(struct identities *ids, char *const *env, const char *hostname);
void identities_add(struct identities *ids, struct str name, char kind);
/* Appends text with each identity (as a whole word) replaced. */
void identities_replace(const struct identities *ids, struct buf *to, struct str text);
#endif
