/* httpjson_bulk.h: the bulk form of Elasticsearch and OpenSearch: lines of an action and its document, and an outcome for each. */
#ifndef EXPORTERS_HTTPJSON_BULK_H
#define EXPORTERS_HTTPJSON_BULK_H
#include "exporters/exporter.h"

#define HTTPJSON_BULK_TYPE "application/x-ndjson"

/* Appends a document and the action that creates it under this id: one that is there already, from an attempt whose reply was lost, stays as it is. */
void httpjson_bulk_put(struct buf *to, const char *id, struct str record);
/* What the reply to b->records[0 … `*taken` - 1] means. SENT: `*taken` has how many are handled;
 * those that the destination refuses were given to b->refused. Else, with err, the first one waits
 * (LATER), or is refused and there is no b->refused (REFUSED; `*taken` is 1). */
enum exporter_answer httpjson_bulk_answer(const struct exporter_batch *b, struct str reply, size_t *taken, struct err *err);
#endif
