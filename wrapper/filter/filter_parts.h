/* filter_parts.h: what the files of this module share; private to it. */
#ifndef FILTER_FILTER_PARTS_H
#define FILTER_FILTER_PARTS_H
#include "filter/filter.h"

/* ---- characters ---- */

/* Reads the character at p (n >= 1 bytes): its code point, for an invalid byte 0x110000 + the byte. Returns the bytes that it has. */
size_t filter_char(const char *p, size_t n, uint32_t *ret);
/* Returns whether two code points are equal without regard to case, as in Python's IGNORECASE. */
bool filter_char_same(uint32_t x, uint32_t y);
/* Returns whether the code point is \w of Python. */
bool filter_char_is_word(uint32_t c);
bool filter_char_is_letter(uint32_t c); /* [A-ZÀ-Ü] in either case, which begins a name of SQL */

/* ---- scanning ---- */

/* A text on its way through the parser. */
struct filter_scan {
    struct str text;
    size_t at; /* bytes that are consumed */
    struct arena *a;
    const char *option; /* "--filter", for messages */
    struct err *err;
};
/* Sets ERR_USAGE with a sentence and the text, a caret below the byte `at`. Returns -1. */
int filter_scan_refuse(const struct filter_scan *s, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void filter_scan_blanks(struct filter_scan *s);
/* Returns the character that follows; 0 at the end. */
uint32_t filter_scan_peek(const struct filter_scan *s);
/* Consumes a word of letters, in either case, if no other character of a name follows it. */
bool filter_scan_word(struct filter_scan *s, const char *word);
/* Returns the index behind the closing quote of the text that begins with a quote (', " or `) at
 * `at`. A doubled quote, and outside ` one behind a backslash, is part of the text, unless no other
 * closes it. 0: it is not closed. */
size_t filter_scan_quoted(const struct filter_scan *s, size_t at);
/* Consumes a key with its kind, such as metrics.write.bw, metrics.`a b` or status. ret_raw: the unchanged
 * text. 0; -1 with err. */
int filter_scan_key(struct filter_scan *s, struct filter_key *ret, struct str *ret_raw);
/* Reads a key of a text without direction that is consumed in any case; order: attributes as order_by has them. */
int filter_key_of(const struct filter_scan *s, struct str raw, size_t at, bool order, struct filter_key *ret);
/* Consumes a number as MLflow has them: 5, -5, 5., .5, 1e5, 1.5e-3. 0; 1: there is none. *ret_integer: it has neither point nor exponent. */
int filter_scan_number(struct filter_scan *s, struct str *ret, bool *ret_integer);

/* ---- datasets ---- */

/* Calls `each` with name, digest or context (key) of each dataset that is an input of the run, until it returns true, which is returned. */
bool filter_dataset_any(const char *key, const struct folder *tree, const struct tree_run *run, struct arena *a,
                        bool (*each)(const void *context, struct str text), const void *context, const char **ret_problem);
#endif
