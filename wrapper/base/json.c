/* json.c: JSON trees (over cJSON): typed getters that name the path, tolerant of missing keys. */
#include "base/json.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

static const cJSON *json_node(const struct json *j)
{
    return (const cJSON *)(const void *)j;
}

static const struct json *json_of(const cJSON *c)
{
    return (const struct json *)(const void *)c;
}

/* Sets the error with line and column, from 1 and in bytes, of the offset. Returns -1. */
static int json_err_at(struct str text, size_t at, struct err *err, const char *what)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < text.n; i++)
        if (text.p[i] == '\n') {
            line++;
            column = 1;
        } else
            column++;
    return err_set(err, ERR_INPUT, "line %zu, column %zu: %s", line, column, what);
}

int json_parse(struct json **ret, struct str text, size_t *ret_end, struct err *err)
{
    const char *end = NULL;
    cJSON *c = text.n ? cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0) : NULL;
    if (!c)
        return json_err_at(text, end && end >= text.p ? (size_t)(end - text.p) : 0, err,
                           text.n ? "not valid JSON (or more than 1000 levels, or out of memory)" : "not valid JSON: the text is empty");
    size_t at = (size_t)(end - text.p);
    /* cJSON before 1.7.19 cuts numbers of more than 63 characters: the rest must not pass for something else. */
    bool cut_number = cJSON_IsNumber(c) && at < text.n && text.p[at] && strchr("0123456789.eE+-", text.p[at]);
    struct str rest = str_trim(str_sub(text, at, text.n));
    if (cut_number || (!ret_end && rest.n)) {
        cJSON_Delete(c);
        if (!cut_number)
            at += (size_t)(rest.p - (text.p + at));
        return json_err_at(text, at, err, cut_number ? "a number of more than 63 characters" : "unexpected text after the JSON value");
    }
    if (ret_end)
        *ret_end = at;
    *ret = (struct json *)(void *)c;
    return 0;
}

void json_free(struct json *j)
{
    cJSON_Delete((cJSON *)(void *)j);
}

const struct json *json_get(const struct json *j, const char *key)
{
    if (!json_is_object(j))
        return NULL;
    for (const cJSON *c = json_node(j)->child; c; c = c->next)
        if (c->string && strcmp(c->string, key) == 0)
            return json_of(c);
    return NULL;
}

const struct json *json_at(const struct json *j, size_t index)
{
    if (!json_is_array(j) && !json_is_object(j))
        return NULL;
    const cJSON *c = json_node(j)->child;
    while (c && index--)
        c = c->next;
    return json_of(c);
}

/* Returns whether the token of a JSON pointer, with ~1 for "/" and ~0 for "~", names the key. */
static bool token_is(struct str token, const char *key)
{
    size_t k = 0;
    for (size_t i = 0; i < token.n; i++, k++) {
        char c = token.p[i];
        if (c == '~') {
            if (++i == token.n || (token.p[i] != '0' && token.p[i] != '1'))
                return false;
            c = token.p[i] == '0' ? '~' : '/';
        }
        if (key[k] != c || key[k] == 0)
            return false;
    }
    return key[k] == 0;
}

const struct json *json_pointer(const struct json *j, const char *pointer)
{
    if (pointer[0] == 0)
        return j;
    if (pointer[0] != '/')
        return NULL;
    struct str rest = str_of(pointer + 1);
    while (j && rest.p) {
        struct str token = str_cut(&rest, '/');
        const cJSON *c = NULL;
        if (json_is_array(j)) {
            uint64_t index;
            if (token.n && (token.p[0] != '0' || token.n == 1) && token.p[0] != '+' && str_uint(token, &index))
                c = json_node(json_at(j, index));
        } else if (json_is_object(j))
            for (c = json_node(j)->child; c && !(c->string && token_is(token, c->string)); c = c->next)
                ;
        j = json_of(c);
    }
    return j;
}

const struct json *json_first(const struct json *j)
{
    return json_is_object(j) || json_is_array(j) ? json_of(json_node(j)->child) : NULL;
}

const struct json *json_next(const struct json *j)
{
    return j ? json_of(json_node(j)->next) : NULL;
}

const char *json_key(const struct json *j)
{
    return j && json_node(j)->string ? json_node(j)->string : "";
}

size_t json_count(const struct json *j)
{
    size_t n = 0;
    for (const struct json *c = json_first(j); c; c = json_next(c))
        n++;
    return n;
}

bool json_is_object(const struct json *j)
{
    return j && cJSON_IsObject(json_node(j));
}

bool json_is_array(const struct json *j)
{
    return j && cJSON_IsArray(json_node(j));
}

bool json_is_string(const struct json *j)
{
    return j && cJSON_IsString(json_node(j)) && json_node(j)->valuestring;
}

bool json_is_number(const struct json *j)
{
    return j && cJSON_IsNumber(json_node(j));
}

bool json_is_null(const struct json *j)
{
    return j && cJSON_IsNull(json_node(j));
}

bool json_is_bool(const struct json *j)
{
    return j && cJSON_IsBool(json_node(j));
}

const char *json_string(const struct json *j, const char *otherwise)
{
    return json_is_string(j) ? json_node(j)->valuestring : otherwise;
}

double json_number(const struct json *j, double otherwise)
{
    return json_is_number(j) ? json_node(j)->valuedouble : otherwise;
}

int64_t json_integer(const struct json *j, int64_t otherwise)
{
    double v = json_number(j, NAN);
    if (!(v >= -9223372036854775808.0 && v < 9223372036854775808.0) || v != floor(v))
        return otherwise;
    return (int64_t)v;
}

bool json_bool(const struct json *j, bool otherwise)
{
    return json_is_bool(j) ? cJSON_IsTrue(json_node(j)) : otherwise;
}

void json_tree(struct json_out *out, const char *key, const struct json *tree)
{
    double v = json_number(tree, 0);
    if (json_is_object(tree) || json_is_array(tree)) {
        bool object = json_is_object(tree);
        json_open(out, key, object ? '{' : '[');
        for (const struct json *c = json_first(tree); c; c = json_next(c))
            json_tree(out, object ? json_key(c) : NULL, c);
        json_close(out, object ? '}' : ']');
    } else if (json_is_string(tree))
        json_text(out, key, json_string(tree, ""));
    else if (json_is_bool(tree))
        json_flag(out, key, json_bool(tree, false));
    else if (!json_is_number(tree))
        json_null(out, key);
    else if (v == floor(v) && fabs(v) < 9007199254740992.0)
        json_printf(out, key, "%.0f", v);
    else
        json_known(out, key, v); /* it may have overflowed while it was read */
}

void json_print(const struct json *j, struct buf *to)
{
    struct json_out out = {.to = to, .layout = JSON_TIGHT};
    json_tree(&out, NULL, j);
}
