/* missing.h: the reasons of a record for values that it does not have. */
#ifndef MLRUNS_FORMAT_MISSING_H
#define MLRUNS_FORMAT_MISSING_H
#include "base/json.h"

/* Returns why the run has no value of this key, of its record (benchwrap.json, NULL is allowed);
 * NULL: the record names no such key as missing. Borrowed. */
const char *missing_reason(const struct json *detail, const char *key);
/* Returns a recorded reason as readers get it: the JSON word of a program for no value is replaced by
 * a sentence. NULL: NULL. Borrowed. */
const char *missing_words(const char *reason);
#endif
