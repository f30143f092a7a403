/* schema.h: the artifacts of a run against the schemas of the format: benchwrap.schema.json and manifest.schema.json, which are built in.
 *
 * Of JSON Schema (draft 2020-12) the words that ours use: const, enum, type, pattern, minLength, maxLength, minimum, maximum, required, properties,
 * additionalProperties, propertyNames, items, minItems, anyOf, $ref into $defs. A key that stands twice in an object is told too: readers differ in which counts. */
#ifndef MLRUNS_FORMAT_SCHEMA_H
#define MLRUNS_FORMAT_SCHEMA_H
#include "base/json.h"

enum schema { SCHEMA_RECORD, SCHEMA_MANIFEST };
/* Tells each complaint: where ("/metrics/x/unit") and what. Stops after `most`. Returns how many. One thread: the schemas are kept for the next call. -1: the schema itself cannot be used (no memory). */
int schema_check(enum schema schema, const struct json *document, size_t most, void (*tell)(void *context, const char *where, const char *what), void *context);
#endif
