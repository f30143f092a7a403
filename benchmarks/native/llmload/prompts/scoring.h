/* scoring.h: accuracy over rows with choices, from the log-probabilities in the answers. */
#ifndef LLMLOAD_SCORING_H
#define LLMLOAD_SCORING_H
#include "base/json_out.h"
#include "benchmarks/native/llmload/result.h"

struct scoring;

/* For a source whose data set is scored (--score); *ret NULL where it is not. The sink receives the
 * answers' bodies. The source must live longer. */
int scoring_new(struct scoring **ret, struct prompt_source *source, struct err *err);
void scoring_free(struct scoring *s); /* NULL is allowed */
struct result_sink *scoring_sink(struct scoring *s);
struct score_figures {
    uint64_t rows, scored, right, right_normal; /* right_normal: by the log-probability per character (endings alone) */
    double accuracy, normal, low, high;         /* shares of `scored`; 95 % interval of accuracy (Wilson); NaN: nothing scored */
    const char *why;                            /* first reason of a row that could not be scored; NULL */
};
/* Computes the accuracy of all rows whose answers are known. */
void scoring_figures(const struct scoring *s, struct score_figures *ret);
/* Members of the result: score_… */
void scoring_json(const struct scoring *s, struct json_out *j);
/* Lines for people. */
void scoring_table(const struct scoring *s, struct buf *to);
#endif
