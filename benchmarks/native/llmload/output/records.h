/* records.h: each finished request as a line: JSON in the form of AIPerf's profile_export.jsonl, or
 * CSV. */
#ifndef LLMLOAD_RECORDS_H
#define LLMLOAD_RECORDS_H
#include "benchmarks/native/llmload/result.h"

struct records;

/* chunks: with the gaps between chunks. The path must live longer. Freed by records_free, after the
 * run. */
int records_new(struct records **ret, const char *path, bool csv, bool chunks, uint64_t seed, struct err *err);
void records_free(struct records *r); /* NULL is allowed */
struct result_sink *records_sink(struct records *r);
/* After the run: -1 with err if lines are missing. NULL is allowed. */
int records_end(const struct records *r, struct err *err);
/* For tests: one line. wall_ns + a time of r = nanoseconds since 1970. */
void records_json_line(const struct request_result *r, int64_t wall_ns, uint64_t seed, bool chunks, struct buf *to);
/* Appends a request as a line of CSV. wall_ns: what is added to a monotonic time for that of the
 * clock. A value that is not known is empty. */
void records_csv_line(const struct request_result *r, int64_t wall_ns, struct buf *to);
extern const char records_csv_head[];
#endif
