/* json_out.h: JSON documents, written front to back. */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H
#include "base/buf.h"

struct json_out {
    struct buf *to;
    unsigned depth;
    bool comma;           /* something stands before in this object or array */
};
/* key NULL: in an array, or the document itself. */
void json_open(struct json_out *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json_out *j, char bracket);                 /* '}' or ']' */
void json_text(struct json_out *j, const char *key, const char *value); /* NULL: null */
void json_str(struct json_out *j, const char *key, struct str value);
void json_double(struct json_out *j, const char *key, double value); /* not finite: the strings "NaN", "Infinity", "-Infinity", as MLflow's */
void json_int(struct json_out *j, const char *key, int64_t value);
void json_flag(struct json_out *j, const char *key, bool value);
void json_null(struct json_out *j, const char *key);
void json_raw(struct json_out *j, const char *key, struct str text); /* is JSON already */
#endif
