/* httpjson_keys.h: the keys of the exporter httpjson, and its records. */
#ifndef EXPORTERS_HTTPJSON_KEYS_H
#define EXPORTERS_HTTPJSON_KEYS_H
#include "exporters/exporter.h"

#define HTTPJSON_KEY_PRESET "preset"
#define HTTPJSON_KEY_RECORD "record"
#define HTTPJSON_KEY_TEMPLATE "template"
#define HTTPJSON_KEY_METRICS "metrics"
#define HTTPJSON_KEY_ARRAY "array"
#define HTTPJSON_KEY_MAX_BODY "max-body"
#define HTTPJSON_KEY_ON "on"
#define HTTPJSON_KEY_LINK "link"
#define HTTPJSON_KEY_TOPIC "topic"
#define HTTPJSON_KEY_PREFIX "prefix"
#define HTTPJSON_KEY_EXTRA "extra"
#define HTTPJSON_KEY_IGNORE "ignore"

/* JSON objects, one after the other in a buffer. */
struct httpjson_records {
    struct buf text;
    size_t *ends; /* of each, in text */
    size_t count, room;
};
/* The record that was appended to r->text is complete. */
int httpjson_records_add(struct httpjson_records *r, struct err *err);

/* Records in ReFrame's form (httpjson_reframe.c): one with all metrics, or one for each. */
int httpjson_reframe(const struct exporter_config *c, const struct exporter_run *run, bool each, struct httpjson_records *to, struct err *err);
#endif
