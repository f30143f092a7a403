/* httpjson_template.h: JSON texts with {{KEY}} in them, filled from a run. */
#ifndef EXPORTERS_HTTPJSON_TEMPLATE_H
#define EXPORTERS_HTTPJSON_TEMPLATE_H
#include "exporters/exporter.h"

struct template_values {
    const struct exporter_config *config;
    const struct exporter_run *run; /* NULL: every value is missing, for a check of the template */
    const struct tree_entry *metric; /* of a record of one metric; NULL */
    const char *stream; /* of records that are no run; NULL */
    const char *message; /* without a run: its summary; NULL */
    bool is_foreign; /* the message quotes lines of programs: the preset slack escapes mentions and links in it */
    bool is_link; /* the text is the key link, so it must not name {{link}} or {{summary}} */
};
/* Appends the template with its values: within a JSON text as characters of it, elsewhere as a JSON
 * value. A missing value is empty, elsewhere null. -1 with err: a KEY that is not known, or that a
 * link must not have, or out of memory. */
int template_expand(const char *text, const struct template_values *v, struct buf *to, struct err *err);
/* The same for a plain text: every value is appended as it is. */
int template_expand_text(const char *text, const struct template_values *v, struct buf *to, struct err *err);
/* The same for an address: every value is escaped. */
int template_expand_url(const char *text, const struct template_values *v, struct buf *to, struct err *err);
/* Appends {BENCHMARK: {METRIC: {"value": …}}} of the headline metrics, or of all results: the form in which
 * Bencher expects results. Returns how many there are. */
size_t template_put_measures(const struct exporter_run *r, bool all, struct buf *to);
/* "2026-11-20T17:03:05.123Z" in the arena; NULL: the time is not known. */
const char *template_utc_text(int64_t ms, struct arena *a);
/* Does it have a {{KEY}}? */
bool template_has_keys(const char *text);
/* Returns the element of "references" in benchwrap.json that judged this metric, which belongs to
 * the run; NULL: none did. */
const struct json *template_reference(const struct exporter_run *r, const char *metric);
#endif
