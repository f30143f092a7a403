/* yaml.h: YAML documents as trees that know their line and column (over libyaml).
 *
 * No tags, no merge keys, no types: every scalar is text, and the caller decides what it expects,
 * so "no" and 012 stay what
 * was written. Anchors and aliases are refused in `strict` documents (alias bombs). Duplicate keys are errors. */
#ifndef BASE_YAML_H
#define BASE_YAML_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    struct str text;        /* of a scalar */
    bool plain;             /* scalar without quotes (so `null`, `~` and the empty plain scalar can mean nothing) */
    struct str key;         /* own key, if child of a map */
    struct yaml *child;     /* first of a list or map */
    struct yaml *next;      /* next sibling */
    const struct yaml *up;
    int line, column;       /* from 1 */
    int key_line, key_column; /* of the key, if child of a map */
};

/* Parses one document into the arena, which owns all texts of it. Bounds: 8 MiB of text, 100 levels.
 * Returns 0 with *ret; -1 with err, whose text begins with `name:line:column:`. */
int yaml_parse(struct yaml **ret, const char *name, struct str text, struct arena *a, struct err *err);
/* Returns the value of a key; NULL: absent, or `map` is NULL or no map. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);
/* Returns the text of a key's scalar; `otherwise` where the key is absent or its value no scalar. */
struct str yaml_text(const struct yaml *map, const char *key, const char *otherwise);
/* Returns whether the scalar stands for nothing: without quotes and one of "", ~, null, Null, NULL. */
bool yaml_is_null(const struct yaml *y);
/* Reads true/false/yes/no/on/off without quotes into *ret. 0; -1: it is none, and *ret is unchanged. */
int yaml_bool(const struct yaml *y, bool *ret);
/* Sets ERR_INPUT "name:line:column: message". Returns -1. */
int yaml_complain(const struct yaml *y, const char *name, struct err *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#endif
