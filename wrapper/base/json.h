/* json.h: JSON trees (over cJSON): typed getters that name the path, tolerant of missing keys; writing is base/json_out.h's. */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include "base/buf.h"
#include "base/err.h"
#include "base/json_out.h"

#include <stdbool.h>
#include <stdint.h>

struct json; /* opaque: a cJSON node */

/* Parses text, which need not end in NUL. ret_end not NULL: receives the offset after the value,
 * and other text may follow; NULL: only blanks may follow. cJSON limits the depth (1000 levels).
 * Non-finite numbers are not JSON; the tolerant reader of benchmarks/readers accepts them. Returns 0
 * with *ret, which the caller frees with json_free; -1: ERR_INPUT with line and column, also where
 * memory runs out. */
int json_parse(struct json **ret, struct str text, size_t *ret_end, struct err *err);
/* Frees the tree that json_parse made; NULL is allowed. */
void json_free(struct json *j);
/* Return a child by key (the first of duplicates, exact case) or index, valid as long as the tree.
 * NULL: absent, j is NULL or has no such children. */
const struct json *json_get(const struct json *j, const char *key);
const struct json *json_at(const struct json *j, size_t index);
/* Returns the value at an RFC 6901 pointer ("/jobs/0/read/bw_bytes"); NULL if it leads nowhere. */
const struct json *json_pointer(const struct json *j, const char *pointer);
/* Returns the first child of an object or array; NULL: none. */
const struct json *json_first(const struct json *j);
/* Returns the child behind this one; NULL: none, or j is NULL. */
const struct json *json_next(const struct json *j);
/* Returns the key in its object, never NULL; "": it is in no object. Files of others may have an
 * array where an object is expected. */
const char *json_key(const struct json *j);
/* Returns how many children an object or array has; 0 for other values. */
size_t json_count(const struct json *j);
bool json_is_object(const struct json *j);
bool json_is_array(const struct json *j);
bool json_is_string(const struct json *j);
bool json_is_number(const struct json *j);
bool json_is_null(const struct json *j);
bool json_is_bool(const struct json *j);
/* Return the value; `otherwise` where j is NULL or of another type. json_integer also returns it for a
 * number with a fraction or beyond int64_t; json_number may return an infinity (1e999). */
const char *json_string(const struct json *j, const char *otherwise);
double json_number(const struct json *j, double otherwise);
int64_t json_integer(const struct json *j, int64_t otherwise);
bool json_bool(const struct json *j, bool otherwise);
/* Appends the tree as a value. */
void json_tree(struct json_out *out, const char *key, const struct json *tree);
/* Appends the text of j, without blanks. */
void json_print(const struct json *j, struct buf *to);
#endif
