/* record_look.c: queries of a record: the fact in force for a key, and the words for states and
 * directions. */
#include "mlruns-format/record.h"
#include "mlruns-format/record_index.h"

#include <math.h>

/* Returns the first reason of a missing value; NULL: there is none. They are few, and one key may
 * have several reasons: no index by key. */
static const struct fact *record_find_missing(const struct record *r, const char *key)
{
    const struct fact *f = r->first;
    while (f && !(f->kind == FACT_MISSING && str_is(f->key, key)))
        f = f->next;
    return f;
}

const struct fact *record_find(const struct record *r, enum fact_kind kind, const char *key)
{
    static const enum space spaces[] = {SPACE_PARAM, SPACE_METRIC, SPACE_TAG, SPACE_ARTIFACT};
    if (kind == FACT_MISSING)
        return record_find_missing(r, key);
    if ((size_t)kind >= sizeof spaces / sizeof *spaces)
        return NULL;
    const struct record_entry *e = record_entry_find(r, spaces[kind], str_of(key));
    return e && !e->folder && str_is(e->key, key) ? e->fact : NULL;
}

struct str record_text(const struct record *r, enum fact_kind kind, const char *key)
{
    const struct fact *f = record_find(r, kind, key);
    return f ? f->text : (struct str){NULL, 0};
}

double record_number(const struct record *r, const char *key, double otherwise)
{
    const struct fact *f = record_find(r, FACT_METRIC, key);
    return f ? f->value : otherwise;
}

size_t record_lost(const struct record *r)
{
    return r->index ? r->index->lost : r->count + 1;
}

const char *record_status_name(enum run_status status)
{
    switch (status) {
    case RUN_RUNNING: return "RUNNING";
    case RUN_FINISHED: return "FINISHED";
    case RUN_FAILED: return "FAILED";
    case RUN_KILLED: return "KILLED";
    }
    return "UNKNOWN";
}

void json_metric(struct json_out *j, const char *key, double value)
{
    if (isnan(value))
        json_text(j, key, "nan");
    else
        json_double(j, key, value);
}

const char *record_direction_name(enum direction dir)
{
    return dir == DIR_HIGHER ? "higher" : dir == DIR_LOWER ? "lower" : "";
}

enum direction record_direction_of(const char *name)
{
    return strcmp(name, "higher") == 0 ? DIR_HIGHER : strcmp(name, "lower") == 0 ? DIR_LOWER : DIR_NONE;
}
