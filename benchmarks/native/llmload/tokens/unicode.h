/* unicode.h: Unicode's normal forms (over utf8proc, loaded when a tokenizer has one and the text is
 * not plain ASCII). */
#ifndef LLMLOAD_UNICODE_H
#define LLMLOAD_UNICODE_H
#include "base/buf.h"
#include "base/err.h"

enum unicode_form { UNICODE_NFC, UNICODE_NFD, UNICODE_NFKC, UNICODE_NFKD };

/* By its name, "NFC". ERR_INPUT: no such form. */
int unicode_form_of(const char *name, enum unicode_form *ret, struct err *err);
/* Appends text, valid UTF-8, in that form. ERR_SYSTEM: libutf8proc is not on this machine (the text
 * names the package). */
int unicode_normalize(enum unicode_form form, struct str text, struct buf *to, struct err *err);
/* Returns whether the JSON text has a NUL, as \u0000 or as a byte: base/json.h ends a string there. */
bool unicode_has_nul(struct str json);
#endif
