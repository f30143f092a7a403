/* redact.h: what must not be written: secrets in every record; in public ones identities, too. */
#ifndef PROBES_REDACT_H
#define PROBES_REDACT_H
#include "base/buf.h"
#include "probes/identities.h"
#include "probes/secrets.h"

#include <stdbool.h>

/* Appends the value of a variable of the environment without secrets: each becomes "[redacted]",
 * also long hexadecimal strings. Returns the number of places. */
size_t redact_variable(struct buf *to, struct str name, struct str value);

/* Redaction of the texts and streams of one run: replaces secrets, and with `ids` also identities, in
 * place by texts of equal length. */
struct redact {
    struct identities *ids; /* NULL: secrets only */
    size_t secrets, identities; /* places so far */
    size_t numbers; /* of them plain numbers, which may have been results */
};
/* Replaces in a complete text, in place. Returns the number of places. */
size_t redact_text(struct redact *r, char *text, size_t n);
/* Replaces in the value of a param, a tag or another named text; the name counts, too. Returns the
 * number of places. */
size_t redact_named(struct redact *r, struct str name, char *value, size_t n);
/* Replaces only secrets in place; each (may be NULL) is called for every one. Returns the number of
 * places. */
size_t redact_secrets(char *text, size_t n, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context);

/* A text in UTF-16, which its byte order mark announces: redaction reads one letter for each unit
 * of two bytes. */
struct redact_wide {
    bool is_wide, is_big; /* big-endian */
    unsigned char first[2], first_n; /* the beginning of the text, until it is known */
    bool is_known, has_half;
    char half; /* the first byte of a unit */
    char *units; /* those whose letters have not been written yet: from n_out to n */
    size_t n_out, n, cap;
};

/* Returns whether the text begins with the byte order mark of UTF-16. */
bool redact_is_wide(struct str head);

/* A stream: accepts pieces of any size and writes complete lines. It holds an incomplete last line. */
struct redact_stream {
    struct redact *redact;
    struct secrets_state state;
    struct redact_wide wide;
    char *held;
    size_t n, room;
    void (*write)(void *context, const void *p, size_t n);
    void *context;
};
void redact_stream_init(struct redact_stream *s, struct redact *redact, void (*write)(void *context, const void *p, size_t n), void *context);
void redact_stream_write(struct redact_stream *s, const void *p, size_t n);
/* Writes the held bytes that cannot be the beginning of a secret; `end`: all of them. */
void redact_stream_flush(struct redact_stream *s, bool end);
void redact_stream_deinit(struct redact_stream *s);
#endif
