/* annotation.c: read and write annotation.json, and merge the changes of several. */
#include "mlruns-format/annotation.h"

#include "base/json.h"
#include "mlruns-format/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool annotation_key_is_free(struct str key)
{
    static const char *const records[] = {"benchwrap.", "mlflow.", "job.", "slurm.", "pbs.", "system/"},
                             *const facts[] = {"site", "cluster", "benchmark", "benchmark.version", "hostname", "hosts", "queue"};
    if (str_is(key, ANNOTATION_NOTE) || str_is(key, ANNOTATION_NAME))
        return true;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (str_starts(key, records[i]))
            return false;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (str_is(key, facts[i]))
            return false;
    return true;
}

static int order_annotation_keys(const void *a, const void *b)
{
    const struct tree_entry *const *x = a, *const *y = b;
    return str_natural((*x)->key, (*y)->key);
}

/* Sorts and links the n entries. Returns the first; NULL: there are none. */
static struct tree_entry *link_annotation(struct tree_entry **list, size_t n)
{
    if (!n)
        return NULL;
    qsort(list, n, sizeof *list, order_annotation_keys);
    for (size_t i = 0; i < n; i++)
        list[i]->next = i + 1 < n ? list[i + 1] : NULL;
    return list[0];
}

struct annotation_reading {
    struct tree_entry *list[ANNOTATION_KEYS_MAX];
    size_t n;
    struct arena *a;
    struct err *err;
};

/* Adds the change of one tag to the list; value NULL: the tag is removed. Texts are copied into the
 * arena. -1 with r->err: it cannot be changed, or the value is not valid. */
static int add_annotation(struct annotation_reading *r, const char *key, const char *value)
{
    if (!key || !key_legal(str_of(key)))
        return err_set(r->err, ERR_INPUT, "\"%.60s\" is no legal key", key ? key : "");
    if (!annotation_key_is_free(str_of(key)))
        return err_set(r->err, ERR_INPUT, "the tag %.100s belongs to the record: an annotation cannot change it", key);
    if (value && (strlen(value) > ANNOTATION_TEXT_MAX || !str_valid_utf8(str_of(value)) || !str_is_plain(str_of(value))))
        return err_set(r->err, ERR_INPUT, "the value of %.100s has over %d bytes, or control characters", key, ANNOTATION_TEXT_MAX);
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->list[i]->key, key) == 0)
            return err_set(r->err, ERR_INPUT, "it names the tag %.100s twice", key);
    if (r->n == ANNOTATION_KEYS_MAX)
        return err_set(r->err, ERR_INPUT, "it changes more than %d tags", ANNOTATION_KEYS_MAX);
    struct tree_entry *e = ARENA_NEW(r->a, struct tree_entry);
    if (!e)
        return err_memory(r->err, "an annotation");
    e->key = arena_dup(r->a, key, strlen(key));
    e->value = (struct str){value ? arena_dup(r->a, value, strlen(value)) : NULL, value ? strlen(value) : 0};
    r->list[r->n++] = e;
    return r->a->failed ? err_memory(r->err, "an annotation") : 0;
}

/* Reads an annotation's document into the list of changes, and the id of the run that it concerns.
 * -1 with r->err: not valid, or it changes nothing. */
static int read_annotation(struct annotation_reading *r, const struct json *doc, char ret_run[33])
{
    const char *run = json_string(json_get(doc, "run"), "");
    const struct json *set = json_get(doc, "set"), *remove = json_get(doc, "remove");
    if (json_integer(json_get(doc, "format"), -1) != ANNOTATION_FORMAT)
        return err_set(r->err, ERR_INPUT, "its format is not %d", ANNOTATION_FORMAT);
    if (!record_is_id(str_of(run)))
        return err_set(r->err, ERR_INPUT, "it names no run");
    if ((set && !json_is_object(set)) || (remove && !json_is_array(remove)))
        return err_set(r->err, ERR_INPUT, "expected an object \"set\" and an array \"remove\"");
    for (const struct json *e = json_first(set); e; e = json_next(e)) {
        if (!json_is_string(e))
            return err_set(r->err, ERR_INPUT, "the value of %.100s is no text", json_key(e));
        if (add_annotation(r, json_key(e), json_string(e, "")) < 0)
            return -1;
    }
    for (const struct json *e = json_first(remove); e; e = json_next(e))
        if (add_annotation(r, json_string(e, NULL), NULL) < 0)
            return -1;
    memcpy(ret_run, run, 33);
    return r->n ? 0 : err_set(r->err, ERR_INPUT, "it changes nothing");
}

int annotation_parse(struct str text, struct arena *a, char ret_run[33], struct tree_entry **ret, struct err *err)
{
    struct annotation_reading r = {.a = a, .err = err};
    struct json *doc = NULL;
    *ret = NULL;
    if (text.n > ANNOTATION_MAX)
        return err_set(err, ERR_INPUT, "it has over %d bytes", ANNOTATION_MAX);
    if (json_parse(&doc, text, NULL, err) < 0)
        return -1;
    int rc = read_annotation(&r, doc, ret_run);
    json_free(doc);
    if (rc == 0)
        *ret = link_annotation(r.list, r.n);
    return rc;
}

void annotation_print(const char *id, const struct tree_entry *list, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_int(&j, "format", ANNOTATION_FORMAT);
    json_text(&j, "run", id);
    json_open(&j, "set", '{');
    for (const struct tree_entry *e = list; e; e = e->next)
        if (e->value.p)
            json_str(&j, e->key, e->value);
    json_close(&j, '}');
    json_open(&j, "remove", '[');
    for (const struct tree_entry *e = list; e; e = e->next)
        if (!e->value.p)
            json_text(&j, NULL, e->key);
    json_close(&j, ']');
    json_close(&j, '}');
}

struct tree_entry *annotation_merge(const struct tree_entry *earlier, const struct tree_entry *later, struct arena *a)
{
    struct tree_entry *first = NULL, **end = &first;
    while (earlier || later) {
        int order = !earlier ? 1 : !later ? -1 : str_natural(earlier->key, later->key);
        const struct tree_entry **from = order < 0 ? &earlier : &later;
        struct tree_entry *e = ARENA_NEW(a, struct tree_entry);
        if (!e)
            return NULL;
        *e = (struct tree_entry){.key = (*from)->key, .value = (*from)->value};
        *end = e;
        end = &e->next;
        if (order == 0)
            earlier = earlier->next;
        *from = (*from)->next;
    }
    return first;
}
