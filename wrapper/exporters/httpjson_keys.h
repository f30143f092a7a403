/* httpjson_keys.h: the keys of the exporter httpjson, and its records. */
#ifndef EXPORTERS_HTTPJSON_KEYS_H
#define EXPORTERS_HTTPJSON_KEYS_H
#include "exporters/exporter.h"

#define HTTPJSON_KEY_PRESET "preset"
#define HTTPJSON_KEY_RECORD "record"
#define HTTPJSON_KEY_TEMPLATE "template"
#define HTTPJSON_KEY_METRICS "metrics"
#define HTTPJSON_KEY_ARRAY "array"
#define HTTPJSON_KEY_BULK "bulk"
#define HTTPJSON_KEY_MAX_BODY "max-body"
#define HTTPJSON_KEY_ON "on"
#define HTTPJSON_KEY_LINK "link"
#define HTTPJSON_KEY_TOPIC "topic"
#define HTTPJSON_KEY_BRANCH "branch"
#define HTTPJSON_KEY_PREFIX "prefix"
#define HTTPJSON_KEY_EXTRA "extra"
#define HTTPJSON_KEY_IGNORE "ignore"

/* The rows of keys of records in ReFrame's form. */
#define HTTPJSON_REFRAME_ROWS                                                                                                                       \
    {.name = HTTPJSON_KEY_PREFIX, .kind = OPT_TEXT, .arg = "TEXT", .value = "check_", .help = "In ReFrame's form, begin names of fields with this; \"\" for none", .flags = OPT_FROM_FILE}, \
    {.name = HTTPJSON_KEY_EXTRA, .kind = OPT_PAIR, .arg = "{NAME: TEXT}", .help = "In ReFrame's form, add these fields, with {{KEY}}, or replace those of this name", .flags = OPT_FROM_FILE}, \
    {.name = HTTPJSON_KEY_IGNORE, .kind = OPT_LIST, .arg = "[NAME…]", .help = "In ReFrame's form, leave out these fields", .flags = OPT_FROM_FILE}

/* JSON objects, one after the other in a buffer. */
struct httpjson_records {
    struct buf text;
    size_t *ends; /* of each, in text */
    size_t count, room;
};
/* Makes an empty list, which holds nothing to free yet. */
void httpjson_records_init(struct httpjson_records *r);
/* Frees the records. */
void httpjson_records_deinit(struct httpjson_records *r);
/* Returns record i, valid until the next one is appended. */
struct str httpjson_record(const struct httpjson_records *r, size_t i);
/* The record that was appended to r->text is complete. */
int httpjson_records_add(struct httpjson_records *r, struct err *err);

/* Is the run to be sent, by the key `on`? */
bool httpjson_is_wanted(const struct exporter_config *c, const struct exporter_run *run);
/* Records in ReFrame's form (httpjson_reframe.c): one with all metrics, or one for each. */
int httpjson_reframe(const struct exporter_config *c, const struct exporter_run *run, bool each, struct httpjson_records *to, struct err *err);
#endif
