/* rows.h: the rows of a prompt file: JSON Lines, one JSON array of them, or lines of text. */
#ifndef LLMLOAD_ROWS_H
#define LLMLOAD_ROWS_H
#include "base/err.h"
#include "base/json.h"

/* What `take` returns: continue, enough, or the row cannot be sent, and err has the reason; -1:
 * err, without file and line, ends the reading. */
enum { ROWS_MORE, ROWS_ENOUGH, ROWS_SKIP };
/* line counts from 1 (of an array: where the row begins). j NULL: a line of text. */
typedef int rows_take(void *to, const struct json *j, struct str text, size_t line, struct err *err);

struct input_hashes;

/* Rows that were left out. */
struct rows_skipped {
    size_t count, line; /* line: of the first one */
    char why[200]; /* of that */
};

/* Reads all rows but blank lines. Skips rows that hold a NUL or half of a surrogate pair: many
 * servers end a text there, or refuse it. ERR_INPUT names file and line: no valid JSON, no valid
 * UTF-8, a row of more than 64 MiB; or an error of `take`. Notes the file's hash (inputs.h). */
int rows_read(const char *path, bool as_text, rows_take *take, void *to, struct input_hashes *inputs, struct rows_skipped *ret_skipped,
              struct err *err);
/* The same over text in memory, with its name for errors. */
int rows_parse(const char *name, struct str text, bool as_text, rows_take *take, void *to, struct rows_skipped *ret_skipped,
               struct err *err);
#endif
