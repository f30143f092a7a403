/* recipe_keys.c: check maps of a recipe against recipe_keys.def, and print the JSON schema. */
#include "recipe/recipe_keys.h"

#include "base/json_out.h"
#include "base/array.h"

const struct recipe_key recipe_keys[] = {
#define KEY(of, name, kind, detail, fallback, help) {of, name, kind, detail, fallback, help},
#include "recipe/recipe_keys.def"
#undef KEY
    {NULL, NULL, KEY_TEXT, NULL, NULL, NULL},
};

/* The first row of the map's keys; they are adjacent. */
static const struct recipe_key *keys_of(const char *of)
{
    const struct recipe_key *k = recipe_keys;
    while (k->name && strcmp(k->of, of) != 0)
        k++;
    return k;
}

static bool is_key_of(const struct recipe_key *k, const char *of)
{
    return k->name && strcmp(k->of, of) == 0;
}

static const struct recipe_key *find_key(const char *of, struct str name)
{
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++)
        if (str_is(name, k->name))
            return k;
    return NULL;
}

/* Sets the error for a key that the map `of` does not have, with the nearest key or all of them.
 * Returns -1. */
static int complain_unknown_key(const struct yaml *y, const char *of, const char *file, struct err *err)
{
    const char *nearest = NULL;
    unsigned least = 4;
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++) {
        unsigned far = str_distance(y->key, str_of(k->name));
        if (far < least)
            least = far, nearest = k->name;
    }
    CLEANUP_BUF struct buf name;
    buf_init(&name, 400);
    buf_plain(&name, y->key, 60);
    const char *shown = name.p ? name.p : "";
    struct yaml at = *y;
    at.line = y->key_line, at.column = y->key_column;
    if (nearest)
        return yaml_complain(&at, file, err, "unknown key \"%s\"; did you mean \"%s\"?", shown, nearest);
    CLEANUP_BUF struct buf all;
    buf_init(&all, 800);
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++)
        buf_printf(&all, "%s%s", all.n ? ", " : "", k->name);
    return yaml_complain(&at, file, err, "unknown key \"%s\"; the keys here are %s", shown, all.p ? all.p : "");
}

static int expect_kind(const struct yaml *y, enum yaml_kind kind, const char *what, const char *file, struct err *err)
{
    static const char *const names[] = {"a scalar", "a list", "a map"};
    return y->kind == kind ? 0 : yaml_complain(y, file, err, "expected %s, got %s", what, names[y->kind]);
}

static int expect_scalars(const struct yaml *list, const char *file, struct err *err)
{
    for (const struct yaml *y = list->child; y; y = y->next)
        if (expect_kind(y, YAML_SCALAR, "a scalar", file, err))
            return -1;
    return 0;
}

/* Checks a scalar against the kind of its key, such as an integer, a duration or one of k->detail.
 * 0; -1 with err. */
static int check_scalar(const struct yaml *y, const struct recipe_key *k, const char *file, struct err *err)
{
    double number;
    uint64_t size;
    int64_t integer;
    bool flag;
    CLEANUP_BUF struct buf shown;
    buf_init(&shown, 400);
    if (expect_kind(y, YAML_SCALAR, "a scalar", file, err))
        return -1;
    buf_plain(&shown, y->text, 60);
    const char *got = shown.p ? shown.p : "";
    if (k->kind == KEY_INT && (!str_int(y->text, &integer) || integer < 0))
        return yaml_complain(y, file, err, "expected an integer >= 0, got \"%s\"", got);
    if (k->kind == KEY_BOOL && yaml_bool(y, &flag))
        return yaml_complain(y, file, err, "expected true or false, got \"%s\"", got);
    if (k->kind == KEY_DURATION && !(str_duration(y->text, &number) && number >= 0))
        return yaml_complain(y, file, err, "expected a duration such as 30s or 5m, got \"%s\"", got);
    if (k->kind == KEY_SIZE && !str_size(y->text, &size))
        return yaml_complain(y, file, err, "expected a size such as 64M, got \"%s\"", got);
    if (k->kind == KEY_CHOICE) {
        for (struct str rest = str_of(k->detail), word; rest.p && (word = str_cut(&rest, '|')).n;)
            if (str_eq(word, y->text))
                return 0;
        return yaml_complain(y, file, err, "expected one of %s, got \"%s\"", k->detail, got);
    }
    return 0;
}

static int check_rows(const struct yaml *list, const char *file, struct err *err)
{
    for (const struct yaml *row = list->child; row; row = row->next)
        if (expect_kind(row, YAML_MAP, "a map with the values of a point", file, err) || expect_scalars(row, file, err))
            return -1;
    return 0;
}

/* Checks that each axis of a sweep is a list of scalars, or a scalar: one value, or a range such as
 * 1..64*2, whose syntax is checked later. -1 with err, which names file, line and column. */
static int check_axes(const struct yaml *map, const char *file, struct err *err)
{
    for (const struct yaml *axis = map->child; axis; axis = axis->next)
        if (axis->kind == YAML_LIST ? expect_scalars(axis, file, err)
                                    : expect_kind(axis, YAML_SCALAR, "a list or a range such as 1..64*2", file, err))
            return -1;
    return 0;
}

static int check_structs(const struct yaml *all, const struct recipe_key *k, const char *file, struct err *err)
{
    for (const struct yaml *y = all->child; y; y = y->next)
        if (recipe_keys_check(y, k->detail, file, err))
            return -1;
    return 0;
}

static int check_command_list(const struct yaml *list, const char *file, struct err *err)
{
    for (const struct yaml *y = list->child; y; y = y->next)
        if (y->kind == YAML_LIST ? expect_scalars(y, file, err) : expect_kind(y, YAML_SCALAR, "a command", file, err))
            return -1;
        else if (y->kind == YAML_LIST ? !y->child : !str_trim(y->text).n)
            return yaml_complain(y, file, err, "expected a command, got nothing");
    return 0;
}

/* Checks a value by the kind of its key. 0; -1 with err and the place. */
static int recipe_check_value(const struct yaml *y, const struct recipe_key *k, const char *file, struct err *err)
{
    switch (k->kind) {
    case KEY_WORDS:
    case KEY_LIST:
    case KEY_AXIS:
        return y->kind == YAML_LIST ? expect_scalars(y, file, err) : expect_kind(y, YAML_SCALAR, "a list or a scalar", file, err);
    case KEY_COMMANDS: return expect_kind(y, YAML_LIST, "a list of commands", file, err) || check_command_list(y, file, err) ? -1 : 0;
    case KEY_MAP: return expect_kind(y, YAML_MAP, "names with values", file, err) || expect_scalars(y, file, err) ? -1 : 0;
    case KEY_AXES: return expect_kind(y, YAML_MAP, "names with their values", file, err) || check_axes(y, file, err) ? -1 : 0;
    case KEY_ROWS: return expect_kind(y, YAML_LIST, "a list of maps", file, err) || check_rows(y, file, err) ? -1 : 0;
    case KEY_STRUCT: return recipe_keys_check(y, k->detail, file, err);
    case KEY_STRUCTS: return expect_kind(y, YAML_MAP, "names with maps", file, err) || check_structs(y, k, file, err) ? -1 : 0;
    case KEY_STRUCT_LIST: return expect_kind(y, YAML_LIST, "a list of maps", file, err) || check_structs(y, k, file, err) ? -1 : 0;
    default: return check_scalar(y, k, file, err);
    }
}

int recipe_keys_check(const struct yaml *map, const char *of, const char *file, struct err *err)
{
    if (expect_kind(map, YAML_MAP, "a map", file, err))
        return -1;
    for (const struct yaml *y = map->child; y; y = y->next) {
        const struct recipe_key *k = find_key(of, y->key);
        if (!k)
            return complain_unknown_key(y, of, file, err);
        if (!yaml_is_null(y) && recipe_check_value(y, k, file, err))
            return -1;
    }
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++)
        if (k->detail && strcmp(k->detail, "required") == 0 && !yaml_get(map, k->name))
            return yaml_complain(map, file, err, "the key \"%s\" is missing: %s", k->name, k->help);
    return 0;
}

/* ---- words ---- */

struct word_list {
    char **words;
    size_t count, room;
    struct arena *a;
};

static bool add_word(struct word_list *l, const char *p, size_t n)
{
    if (!ARRAY_FITS_IN(l->a, l->words, l->room, l->count + 2) || !(l->words[l->count] = arena_dup(l->a, p, n)))
        return false;
    l->words[++l->count] = NULL;
    return true;
}

/* Removes the next word of a line: 1, 0 at its end, -1: a quote is not closed. */
static int next_word(struct str *rest, char *to, size_t *ret_n)
{
    size_t i = 0, n = 0;
    while (i < rest->n && (str_is_blank(rest->p[i]) || rest->p[i] == '\n'))
        i++;
    if (i == rest->n)
        return 0;
    char quote = 0;
    for (; i < rest->n && (quote || !(str_is_blank(rest->p[i]) || rest->p[i] == '\n')); i++) {
        char c = rest->p[i];
        if (c == '\\' && quote != '\'' && i + 1 < rest->n)
            to[n++] = rest->p[++i];
        else if (c == quote)
            quote = 0;
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else
            to[n++] = c;
    }
    *rest = str_sub(*rest, i, rest->n);
    *ret_n = n;
    return quote ? -1 : 1;
}

/* Adds the words of a line to the list, as a shell divides it. 0; -1 with err. */
static int split_line(struct word_list *l, const struct yaml *y, const char *file, struct err *err)
{
    struct str rest = y->text;
    char *word = arena_get(l->a, y->text.n + 1);
    size_t n;
    for (int got; word && (got = next_word(&rest, word, &n)) != 0;) {
        if (got < 0)
            return yaml_complain(y, file, err, "a quote is not closed");
        if (!add_word(l, word, n))
            return err_memory(err, "a command");
    }
    return word ? 0 : err_memory(err, "a command");
}

char **recipe_words(const struct yaml *y, const char *file, struct arena *a, struct err *err)
{
    struct word_list l = {.a = a};
    if (y->kind == YAML_SCALAR && split_line(&l, y, file, err))
        return NULL;
    for (const struct yaml *word = y->kind == YAML_LIST ? y->child : NULL; word; word = word->next)
        if (memchr(word->text.p, 0, word->text.n)) {
            yaml_complain(word, file, err, "a word of a command cannot contain a NUL character");
            return NULL;
        } else if (!add_word(&l, word->text.p, word->text.n)) {
            err_memory(err, "a command");
            return NULL;
        }
    if (!l.count)
        yaml_complain(y, file, err, "expected a command, got nothing");
    return l.words;
}

/* ---- the schema ---- */

static void schema_type(struct json_out *j, const char *const *types, size_t n)
{
    json_texts(j, "type", types, n);
}

static void schema_scalar(struct json_out *j, const char *key)
{
    static const char *const types[] = {"string", "number", "boolean"};
    json_open(j, key, '{');
    schema_type(j, types, 3);
    json_close(j, '}');
}

static void schema_choice(struct json_out *j, const char *words)
{
    json_open(j, "enum", '[');
    for (struct str rest = str_of(words), word; rest.p && (word = str_cut(&rest, '|')).n;)
        json_str(j, NULL, word);
    json_close(j, ']');
}

/* A scalar or a list of scalars; with `map`, names with them. */
static void schema_lists(struct json_out *j, const char *key, bool is_map)
{
    if (is_map) {
        json_text(j, "type", "object");
        json_open(j, "additionalProperties", '{');
    }
    json_open(j, key, '[');
    schema_scalar(j, NULL);
    json_open(j, NULL, '{');
    json_text(j, "type", "array");
    schema_scalar(j, "items");
    json_close(j, '}');
    json_close(j, ']');
    if (is_map)
        json_close(j, '}');
}

static void schema_reference(struct json_out *j, const char *key, const char *of)
{
    if (key)
        json_open(j, key, '{');
    json_printf(j, "$ref", "\"#/$defs/%s\"", of);
    if (key)
        json_close(j, '}');
}

/* Appends the schema of a key's value. */
static void schema_value(struct json_out *j, const struct recipe_key *k)
{
    static const char *const scalar[] = {"string", "number", "boolean"}, *const integer[] = {"integer"}, *const flag[] = {"boolean"},
                             *const amount[] = {"string", "number"};
    switch (k->kind) {
    case KEY_TEXT:
    case KEY_SCALAR: schema_type(j, scalar, 3); break;
    case KEY_INT:
        schema_type(j, integer, 1);
        json_int(j, "minimum", 0);
        break;
    case KEY_BOOL: schema_type(j, flag, 1); break;
    case KEY_DURATION:
    case KEY_SIZE: schema_type(j, amount, 2); break;
    case KEY_CHOICE: schema_choice(j, k->detail); break;
    case KEY_WORDS:
    case KEY_LIST:
    case KEY_AXIS: schema_lists(j, "anyOf", false); break;
    case KEY_COMMANDS:
        json_text(j, "type", "array");
        json_open(j, "items", '{');
        schema_lists(j, "anyOf", false);
        json_close(j, '}');
        break;
    case KEY_AXES: schema_lists(j, "anyOf", true); break;
    case KEY_MAP:
        json_text(j, "type", "object");
        schema_scalar(j, "additionalProperties");
        break;
    case KEY_ROWS:
        json_text(j, "type", "array");
        json_open(j, "items", '{');
        json_text(j, "type", "object");
        schema_scalar(j, "additionalProperties");
        json_close(j, '}');
        break;
    case KEY_STRUCT: schema_reference(j, NULL, k->detail); break;
    case KEY_STRUCTS:
        json_text(j, "type", "object");
        schema_reference(j, "additionalProperties", k->detail);
        break;
    case KEY_STRUCT_LIST:
        json_text(j, "type", "array");
        schema_reference(j, "items", k->detail);
        break;
    }
}

/* Appends the schema of a map of this kind: its keys, and which of them are required. */
static void schema_map(struct json_out *j, const char *of)
{
    json_text(j, "type", "object");
    json_flag(j, "additionalProperties", false);
    json_open(j, "properties", '{');
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++) {
        json_open(j, k->name, '{');
        json_text(j, "description", k->help);
        schema_value(j, k);
        json_close(j, '}');
    }
    json_close(j, '}');
    json_open(j, "required", '[');
    for (const struct recipe_key *k = keys_of(of); is_key_of(k, of); k++)
        if (k->detail && strcmp(k->detail, "required") == 0)
            json_text(j, NULL, k->name);
    json_close(j, ']');
}

void recipe_keys_schema(const char *of, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_printf(&j, "title", "\"benchwrap %s, version 1\"", of);
    schema_map(&j, of);
    json_open(&j, "$defs", '{');
    for (const struct recipe_key *k = recipe_keys; k->name; k++)
        if (k == recipe_keys || strcmp(k->of, k[-1].of) != 0) {
            json_open(&j, k->of, '{');
            schema_map(&j, k->of);
            json_close(&j, '}');
        }
    json_close(&j, '}');
    json_close(&j, '}');
}
