/* schema.c: a JSON document against a schema of the format. */
#include "mlruns-format/schema.h"
#include "base/utf8.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The schemas' files as they are. The path is relative to where the compiler is started: the source's root. */
#define EMBED(symbol, path)                                                                                                                \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" path "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");                         \
    extern const char symbol[] __attribute__((visibility("hidden"))), symbol##_end[] __attribute__((visibility("hidden")))
EMBED(schema_record, "mlruns-format/benchwrap.schema.json");
EMBED(schema_manifest, "mlruns-format/manifest.schema.json");

enum { WHERE_MAX = 400, PATTERNS_MAX = 32, DEPTH_MAX = 40 };

/* A schema as it is used: parsed once in a process, its patterns compiled when they are met. */
struct compiled {
    struct json *schema;
    struct {
        const char *text;
        regex_t compiled;
    } patterns[PATTERNS_MAX];
    size_t count;
};

struct schema_checking {
    struct compiled *own;
    const struct json *schema;
    size_t left, found;
    void (*tell)(void *context, const char *where, const char *what);
    void *context;
    bool quiet; /* of anyOf only whether one fits matters */
    bool broken;
    char where[WHERE_MAX];
};

static bool check_value(struct schema_checking *c, const struct json *schema, const struct json *v, int depth);

/* Counts a complaint at c->where, and passes it to the caller while any are left to print. Returns
 * false. */
static bool schema_complain(struct schema_checking *c, const char *what, const char *more)
{
    char text[300];
    if (!c->quiet && c->left) {
        snprintf(text, sizeof text, "%s%s%.120s", what, more ? " " : "", more ? more : "");
        c->tell(c->context, *c->where ? c->where : "/", text);
        c->left--;
    }
    c->found += !c->quiet;
    return false;
}

/* Goes one step down: returns the length of the way so far, for ascend. */
static size_t schema_descend(struct schema_checking *c, const char *step)
{
    size_t n = strlen(c->where);
    snprintf(c->where + n, sizeof c->where - n, "/%.100s", step);
    return n;
}

/* Returns the compiled expression, kept by the address of `text` for later calls. NULL: the schema
 * has more than PATTERNS_MAX, or an invalid one; c->broken is then set. */
static const regex_t *pattern_of(struct schema_checking *c, const char *text)
{
    struct compiled *own = c->own;
    for (size_t i = 0; i < own->count; i++)
        if (own->patterns[i].text == text)
            return &own->patterns[i].compiled;
    if (own->count == PATTERNS_MAX || regcomp(&own->patterns[own->count].compiled, text, REG_EXTENDED | REG_NOSUB)) {
        c->broken = true;
        return NULL;
    }
    own->patterns[own->count].text = text;
    return &own->patterns[own->count++].compiled;
}

static bool is_integer(const struct json *v)
{
    double d = json_number(v, NAN);
    return json_is_number(v) && floor(d) == d && fabs(d) <= 9007199254740992.0;
}

/* Returns whether the value is of the type that the schema names; false for a name that JSON Schema
 * does not have. */
static bool is_type(const struct json *v, const char *type)
{
    static const struct {
        const char *name;
        bool (*is)(const struct json *j);
    } types[] = {{"object", json_is_object}, {"array", json_is_array},  {"string", json_is_string}, {"number", json_is_number},
                 {"integer", is_integer},    {"boolean", json_is_bool}, {"null", json_is_null}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].is(v);
    return false;
}

static bool check_type(struct schema_checking *c, const struct json *type, const struct json *v)
{
    const char *one = json_string(type, NULL);
    bool good = !type || (one && is_type(v, one));
    for (const struct json *t = one ? NULL : json_first(type); t && !good; t = json_next(t))
        good = is_type(v, json_string(t, ""));
    return good || schema_complain(c, "is not of type", one ? one : "wanted");
}

/* Returns whether two strings or two numbers are equal; values of other types never are. */
static bool schema_values_equal(const struct json *a, const struct json *b)
{
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string(a, ""), json_string(b, "")) == 0;
    return json_is_number(a) && json_is_number(b) && json_number(a, 0) == json_number(b, 1);
}

/* Returns whether c is in the bracket expression "a-z0-9._" (its inner part, of n bytes). */
static bool is_in(char c, const char *set, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool range = i + 2 < n && set[i + 1] == '-';
        if (range ? c >= set[i] && c <= set[i + 2] : c == set[i])
            return true;
        i += range ? 2 : 0;
    }
    return false;
}

/* Matches patterns of the form "^[A-Za-z0-9_. /-]{1,250}$", of which a record has hundreds, without
 * the slow regular expressions of libc. Returns 1 or 0; -1: the pattern has another form. */
static int match_simple(const char *pattern, const char *text)
{
    const char *set = pattern + 2, *close = strncmp(pattern, "^[", 2) == 0 && pattern[2] != '^' ? strstr(set, "]{") : NULL;
    struct str counts = str_of(close ? close + 2 : ""), first, head;
    uint64_t least, most;
    size_t n = 0;
    if (!close || memchr(set, '[', (size_t)(close - set)) || memchr(set, '\\', (size_t)(close - set)) || !str_ends(counts, "}$"))
        return -1;
    head = str_sub(counts, 0, counts.n - 2);
    first = str_cut(&head, ',');
    if (!str_uint(first, &least) || !str_uint(head.p ? head : first, &most))
        return -1;
    while (text[n] && is_in(text[n], set, (size_t)(close - set)))
        n++;
    return !text[n] && n >= least && n <= most;
}

/* Checks a text against length and pattern of the schema. False: it does not fit, and a finding was
 * added. */
static bool check_string(struct schema_checking *c, const struct json *schema, const char *text)
{
    const char *pattern = json_string(json_get(schema, "pattern"), NULL);
    int simple = pattern ? match_simple(pattern, text) : 1;
    const regex_t *compiled = simple < 0 ? pattern_of(c, pattern) : NULL;
    double n = (double)utf8_count(str_of(text));
    if (n < json_number(json_get(schema, "minLength"), 0) || n > json_number(json_get(schema, "maxLength"), INFINITY))
        return schema_complain(c, "is too short or too long", NULL);
    return (simple > 0 || (compiled && regexec(compiled, text, 0, NULL, 0) == 0)) || c->broken ||
           schema_complain(c, "is not of the form", pattern);
}

static int compare_member_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns false, with a complaint, where an object has a key twice. Out of memory sets c->broken
 * and returns true. */
static bool check_unique_keys(struct schema_checking *c, const struct json *v)
{
    size_t count = json_count(v), n = 0;
    const char **keys = count > 1 ? malloc(count * sizeof *keys) : NULL;
    bool good = true;
    if (!keys)
        return count < 2 || (c->broken = true);
    for (const struct json *e = json_first(v); e && n < count; e = json_next(e))
        keys[n++] = json_key(e);
    qsort(keys, n, sizeof *keys, compare_member_keys);
    for (size_t i = 1; i < n && good; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            good = schema_complain(c, "has the key twice:", keys[i]);
    free(keys);
    return good;
}

/* Checks an object's members, each complaint with its path in c->where. Returns false after any
 * complaint. */
static bool check_object(struct schema_checking *c, const struct json *schema, const struct json *v, int depth)
{
    const struct json *properties = json_get(schema, "properties"), *more = json_get(schema, "additionalProperties"),
                      *names = json_get(schema, "propertyNames");
    bool good = check_unique_keys(c, v);
    for (const struct json *r = json_first(json_get(schema, "required")); r; r = json_next(r))
        if (!json_get(v, json_string(r, "")))
            good = schema_complain(c, "has no member", json_string(r, ""));
    for (const struct json *e = json_first(v); e; e = json_next(e)) {
        const struct json *own = json_get(properties, json_key(e));
        size_t n = schema_descend(c, json_key(e));
        const struct json *form =
            names ? json_get(names, "$ref") ? json_pointer(c->schema, json_string(json_get(names, "$ref"), "#") + 1) : names : NULL;
        if (form && !check_string(c, form, json_key(e)))
            good = false;
        if (own || json_is_object(more))
            good = check_value(c, own ? own : more, e, depth + 1) && good;
        else if (more && !json_bool(more, true))
            good = schema_complain(c, "is a member that the format does not know", NULL);
        c->where[n] = 0;
    }
    return good;
}

/* Checks an array's length and elements, each complaint with its path in c->where. Returns false
 * after any complaint. */
static bool check_array(struct schema_checking *c, const struct json *schema, const struct json *v, int depth)
{
    const struct json *items = json_get(schema, "items");
    bool good = (double)json_count(v) >= json_number(json_get(schema, "minItems"), 0) || schema_complain(c, "has too few elements", NULL);
    size_t i = 0;
    for (const struct json *e = items ? json_first(v) : NULL; e; e = json_next(e)) {
        char step[24];
        snprintf(step, sizeof step, "%zu", i++);
        size_t n = schema_descend(c, step);
        good = check_value(c, items, e, depth + 1) && good;
        c->where[n] = 0;
    }
    return good;
}

static bool check_any(struct schema_checking *c, const struct json *any, const struct json *v, int depth)
{
    bool quiet = c->quiet, good = false;
    c->quiet = true;
    for (const struct json *s = json_first(any); s && !good; s = json_next(s))
        good = check_value(c, s, v, depth + 1);
    c->quiet = quiet;
    return good || schema_complain(c, "is none of the kinds that are allowed here", NULL);
}

static bool check_choice(struct schema_checking *c, const struct json *schema, const struct json *v)
{
    const struct json *only = json_get(schema, "const"), *list = json_get(schema, "enum");
    bool good = !list;
    for (const struct json *e = json_first(list); e && !good; e = json_next(e))
        good = schema_values_equal(e, v);
    if (!good)
        return schema_complain(c, "is no word of the list", json_string(v, NULL));
    return !only || schema_values_equal(only, v) || schema_complain(c, "is not the value wanted", NULL);
}

/* Checks a value against a schema, or against what its $ref names. Returns false after a complaint.
 * A reference to nothing, and more than DEPTH_MAX levels, set c->broken and return true. */
static bool check_value(struct schema_checking *c, const struct json *schema, const struct json *v, int depth)
{
    const char *ref = json_string(json_get(schema, "$ref"), NULL);
    if (ref)
        schema = json_pointer(c->schema, ref + 1);
    if (!schema || depth > DEPTH_MAX) {
        c->broken = true;
        return true;
    }
    if (!check_type(c, json_get(schema, "type"), v) || !check_choice(c, schema, v))
        return false;
    const struct json *any = json_get(schema, "anyOf"), *low = json_get(schema, "minimum"), *high = json_get(schema, "maximum");
    if (any && !check_any(c, any, v, depth))
        return false;
    if (json_is_string(v))
        return check_string(c, schema, json_string(v, ""));
    if (json_is_number(v) && ((low && json_number(v, 0) < json_number(low, 0)) || (high && json_number(v, 0) > json_number(high, 0))))
        return schema_complain(c, "is out of its range", NULL);
    if (json_is_object(v))
        return check_object(c, schema, v, depth);
    return !json_is_array(v) || check_array(c, schema, v, depth);
}

/* Returns the bytes between two labels. The assembler sets them around one text, but for C they are
 * two objects. */
static size_t embedded_size(const char *from, const char *to)
{
    return (size_t)((uintptr_t)to - (uintptr_t)from);
}

/* Returns the parsed schema, which is kept for the process. NULL: out of memory. */
static struct compiled *compiled_of(enum schema schema)
{
    static struct compiled all[2];
    struct str text = schema == SCHEMA_RECORD ? (struct str){schema_record, embedded_size(schema_record, schema_record_end)}
                                              : (struct str){schema_manifest, embedded_size(schema_manifest, schema_manifest_end)};
    struct compiled *own = &all[schema];
    if (!own->schema && json_parse(&own->schema, text, NULL, NULL))
        return NULL;
    return own;
}

int schema_check(enum schema schema, const struct json *document, size_t most,
                 void (*tell)(void *context, const char *where, const char *what), void *context)
{
    struct schema_checking c = {.own = compiled_of(schema), .left = most, .tell = tell, .context = context};
    if (!c.own)
        return -1;
    c.schema = c.own->schema;
    check_value(&c, c.schema, document, 0);
    return c.broken ? -1 : (int)(c.found < 1000000 ? c.found : 1000000);
}
