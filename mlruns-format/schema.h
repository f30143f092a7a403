/* schema.h: the artifacts of a run against the schemas of the format: benchwrap.schema.json and manifest.schema.json, which are built in.
 *
 * Of JSON Schema (draft 2020-12) the words that benchwrap's schemas use: const, enum, type,
 * pattern, minLength, maxLength, minimum, maximum, required, properties,
 * additionalProperties, propertyNames, items, minItems, anyOf, $ref into $defs. A duplicate key of an object is reported too: readers differ in which one counts. */
#ifndef MLRUNS_FORMAT_SCHEMA_H
#define MLRUNS_FORMAT_SCHEMA_H
#include "base/json.h"

enum schema { SCHEMA_RECORD, SCHEMA_MANIFEST };
/* Reports each violation: where ("/metrics/x/unit") and what. Stops after `most`. Returns how
 * many; -1: the schema itself cannot be used (out of memory). For one thread: the schemas are kept
 * for the next call. */
int schema_check(enum schema schema, const struct json *document, size_t most, void (*tell)(void *context, const char *where, const char *what), void *context);
#endif
