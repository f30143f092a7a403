/* compare.h: two results side by side: what changed, by how much, and whether that is more than
 * chance. */
#ifndef LLMLOAD_COMPARE_H
#define LLMLOAD_COMPARE_H
#include "base/buf.h"
#include "base/err.h"

enum { COMPARE_RUNS_MAX = 100 };

/* One side: the files of one or more runs ("a.json", "a1.json,a2.json,a3.json"), results of llmload
 * or of vLLM's benchmark. */
struct compare_side {
    const char *label;
    struct json *run[COMPARE_RUNS_MAX];
    size_t n;
};
int compare_read(struct compare_side *ret, const char *files, struct err *err);
void compare_deinit(struct compare_side *s);
/* A table, or with json one object. threshold: percent from which on a worse figure counts as a
 * regression. Returns their number. */
unsigned compare_print(const struct compare_side *a, const struct compare_side *b, double threshold, bool json, struct buf *to);
#endif
