/* logs_format.h: a merged line of a campaign as text and as JSON, and the names of the merged files. */
#ifndef LOGS_LOGS_FORMAT_H
#define LOGS_LOGS_FORMAT_H
#include "base/buf.h"
#include "logs/logs.h"

#define LOGS_OUT "stdout.log"
#define LOGS_ERR "stderr.log"
#define LOGS_LINES "aggregated.jsonl"
#define LOGS_READY "loggers_ready"
#define LOGS_SUMMARY "summary.json"
#define LOGS_ALERTS "alerts.log"
#define LOGS_MORE " [line continues]"

/* The paths of the merged files from the folder of the logs, or absolute. NULL: not written. */
struct logs_paths {
    const char *out, *error, *lines;
};
/* outputs: NULL for the usual names. */
struct logs_paths logs_paths_of(const struct logs_outputs *outputs);

enum { LOGS_COMPONENT_SIZE = LOGS_NAME_MAX + 16 };
/* Writes the component, with the number of the instance unless that is 0. Returns ret. */
const char *logs_component_text(const struct logs_line *line, char ret[LOGS_COMPONENT_SIZE]);
/* The id of a request in the line. llmload sends it as X-Request-Id: 12 digits, of which the first is 0.
 * Servers print it, some behind a prefix: vLLM's "chatcmpl-000000000012". n 0: none. */
enum { LOGS_REQUEST_DIGITS = 12 };
struct str logs_request_id(struct str line);
/* "[time] [node] [component] text" and a line end. plain: harmless for a terminal, and valid UTF-8. */
void logs_text_write(struct buf *to, const struct logs_line *line, bool plain);
/* Appends a line of JSON: timestamp, node, component, message and stream; "request_id" and "more"
 * only where the log line has them. */
void logs_json_write(struct buf *to, const struct logs_line *line);

/* What was passed on of each raw stream. */
struct logs_counts {
    struct logs_count *streams; /* by the number of the stream */
    size_t count, room;
};
/* Adds a line to the counts of its stream. 0; -1 with err: out of memory. */
int logs_counts_add(struct logs_counts *c, const struct logs_line *line, struct err *err);
/* Frees the counts. */
void logs_counts_deinit(struct logs_counts *c);
/* Appends {"lines": N, "streams": […]}. */
void logs_counts_json(const struct logs_counts *c, struct buf *to);
#endif
