/* recipe_keys.h: the keys that recipes and service files may have: checks with line and column, and the
 * JSON schema, both from recipe_keys.def. */
#ifndef RECIPE_RECIPE_KEYS_H
#define RECIPE_RECIPE_KEYS_H
#include "base/buf.h"
#include "base/yaml.h"

enum recipe_key_kind {
    KEY_TEXT,        /* a scalar */
    KEY_SCALAR,      /* a scalar that may contain {NAME} */
    KEY_INT,         /* an integer >= 0 */
    KEY_BOOL,
    KEY_DURATION,    /* "5s" */
    KEY_SIZE,        /* "64M" */
    KEY_CHOICE,      /* one of the words of `detail`, separated by | */
    KEY_WORDS,       /* a list of scalars, or one line */
    KEY_LIST,        /* a list of scalars, or one scalar */
    KEY_COMMANDS,    /* a list of KEY_WORDS */
    KEY_MAP,         /* names with scalars */
    KEY_AXES,        /* names with lists or scalars */
    KEY_AXIS,        /* a scalar or a list of scalars */
    KEY_ROWS,        /* a list of maps with scalars */
    KEY_STRUCT,      /* a map with the keys of `detail` */
    KEY_STRUCTS,     /* names with such maps */
    KEY_STRUCT_LIST, /* a list of such maps */
};

struct recipe_key {
    const char *of, *name;
    enum recipe_key_kind kind;
    const char *detail, *fallback, *help;
};
extern const struct recipe_key recipe_keys[]; /* ends with name NULL */

/* Checks a map and everything below it against the keys of `of`. Messages begin with
 * "file:line:column:" and name the nearest known key. 0; -1 with ERR_INPUT. */
int recipe_keys_check(const struct yaml *map, const char *of, const char *file, struct err *err);
/* Appends the JSON schema (draft 2020-12) of the maps of kind `of`. */
void recipe_keys_schema(const char *of, struct buf *to);
/* The words of a KEY_WORDS value: elements of a list, or the words of a line, in which quotes group and
 * a backslash protects one character. The array ends with NULL. NULL with err. */
char **recipe_words(const struct yaml *y, const char *file, struct arena *a, struct err *err);
#endif
