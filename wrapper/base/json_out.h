/* json_out.h: the one writer of JSON: documents, lines and requests, written front to back.
 *
 * Numbers that are not finite: JSON has none. A value that is NaN or infinite is one of the texts
 * "NaN", "Infinity", "-Infinity", as MLflow writes it (json_double). A value that is not known, which
 * the code holds as NaN, is null (json_known). In the run format NaN is "nan", as
 * mlruns-format/README.md defines it (json_metric in mlruns-format/record.h). */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H
#include "base/buf.h"

enum json_layout {
    JSON_BLOCK, /* each member on a line of its own, indented; a line end after the document */
    JSON_ROW,   /* all on one line: {"a": 1, "b": [2, 3]} */
    JSON_TIGHT, /* without blanks: {"a":1,"b":[2,3]} */
};

struct json_out {
    struct buf *to;
    enum json_layout layout;
    unsigned depth, row;  /* row: from this depth on one line; 0: nowhere */
    unsigned line_break;  /* blanks of the line that begins next, and one more */
    bool comma;           /* this object or array has a member already */
    bool named;           /* json_name has written the name of the value that follows */
};

/* Opens the document with this bracket. The caller closes it with json_close; `to` must outlive the
 * writer. */
struct json_out json_begin(struct buf *to, enum json_layout layout, char bracket);
/* key NULL: in an array, after json_name, or the document itself. */
void json_open(struct json_out *j, const char *key, char bracket); /* '{' or '[' */
void json_open_row(struct json_out *j, const char *key, char bracket); /* on one line, as JSON_ROW */
void json_close(struct json_out *j, char bracket);                 /* '}' or ']' */
/* Prints the name of the value that follows. */
void json_name(struct json_out *j, struct str key);
/* Begins a line with the next member or bracket, after so many blanks. */
void json_line(struct json_out *j, unsigned blanks);
void json_text(struct json_out *j, const char *key, const char *value); /* NULL: null */
void json_str(struct json_out *j, const char *key, struct str value);
void json_texts(struct json_out *j, const char *key, const char *const *list, size_t n);
void json_double(struct json_out *j, const char *key, double value); /* not finite: a text */
void json_known(struct json_out *j, const char *key, double value); /* not finite: null */
void json_int(struct json_out *j, const char *key, int64_t value);
void json_uint(struct json_out *j, const char *key, uint64_t value);
void json_flag(struct json_out *j, const char *key, bool value);
void json_null(struct json_out *j, const char *key);
/* Prints a value that is JSON already. */
void json_raw(struct json_out *j, const char *key, struct str text);
void json_printf(struct json_out *j, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Prints members or elements that are JSON already, with the commas between them. Empty: nothing. */
void json_members(struct json_out *j, struct str text);
#endif
