/* report.h: a run's result for programs (JSON, vLLM bench's key names at the top level) and for
 * people (a table with the definitions). */
#ifndef LLMLOAD_REPORT_H
#define LLMLOAD_REPORT_H
#include "base/json_out.h"
#include "base/screen.h"
#include "benchmarks/native/llmload/engine.h"

struct load_report {
    const struct load *load;
    const struct prompt_source *prompts;
    const struct outcome *outcome;
};

void report_json(const struct load_report *r, struct json_out *j); /* members of the result */
/* What is printed besides the answer. */
struct report_wish {
    bool details, define;
};
/* The answer, the latencies, warnings and one hint; or, when no request succeeded, the reason and a
 * hint. */
void report_table(const struct load_report *r, struct report_wish wish, const struct screen *screen, struct buf *to);
/* 0: good. 1: every request failed, or none was complete: nothing was measured. 128 + n: ended by
 * signal n (partial results). */
int report_status(const struct outcome *o);
#endif
