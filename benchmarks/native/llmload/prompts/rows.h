/* rows.h: the rows of a prompt file: JSON Lines, one JSON array of them, or lines of text. */
#ifndef LLMLOAD_ROWS_H
#define LLMLOAD_ROWS_H
#include "base/err.h"
#include "base/json.h"
#include "base/sha256.h"

/* line counts from 1 (of an array: where the row begins). j NULL: a line of text. 0: go on; 1: enough; -1: err, without file and line. */
typedef int rows_take(void *to, const struct json *j, struct str text, size_t line, struct err *err);

/* Reads all; blank lines are passed over. ERR_INPUT names file and line: no valid JSON, no valid UTF-8, a NUL in a string (\u0000, which would cut
 * it), a row of more than 64 MiB; and what `take` complains of. ret_hash: SHA-256 of the file; may be NULL. */
int rows_read(const char *path, bool as_text, rows_take *take, void *to, char *ret_hash, struct err *err);
/* The same over text in memory, which `name` calls by its name in errors. */
int rows_parse(const char *name, struct str text, bool as_text, rows_take *take, void *to, struct err *err);
#endif
