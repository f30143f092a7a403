/* sweep.h: the same load at several levels: all that are named, or those that lead to the highest
 * rate that meets the objectives. */
#ifndef LLMLOAD_SWEEP_H
#define LLMLOAD_SWEEP_H
#include "base/json_out.h"
#include "base/screen.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/output/plots.h"

#include "benchmarks/native/llmload/search.h"

enum { SWEEP_MAX = 64, SWEEP_POINTS = 256 };

struct load_sweep {
    bool search; /* else: the levels */
    double levels[SWEEP_MAX];
    size_t level_count; /* 0 and no search: no sweep */
    struct rate_search answer; /* of a search */
    /* results */
    struct saturation_point points[SWEEP_POINTS];
    bool met[SWEEP_POINTS];
    struct search_trial trials[SWEEP_POINTS];
    uint64_t seeds[SWEEP_POINTS];
    double low[SWEEP_POINTS], high[SWEEP_POINTS]; /* 95 % interval of the metric that decides; NaN: not known */
    bool late[SWEEP_POINTS], failed[SWEEP_POINTS]; /* the client was the bottleneck; requests failed */
    size_t point_count, best; /* best: index of the point whose outcome is returned, that of the highest rate */
    struct buf json; /* the points as JSON objects with commas between */
};

/* From --sweep, --search, --search-share. ERR_USAGE. */
int sweep_read(struct load_sweep *ret, const struct opt_set *set, const struct load *load, struct err *err);
bool sweep_wanted(const struct load_sweep *s);
/* Is the answer of a search known? */
bool sweep_is_found(const struct load_sweep *s);
/* Appends the answer of a search as a sentence without a full stop, or why there is none. */
void sweep_answer(const struct load_sweep *s, struct buf *to);
/* One run per level, each drained before the next, with seeds and prompts of its own; load's level,
 * seed and prompts change with it. *ret: the best one's outcome: of a search the highest rate that
 * met the objectives, of a sweep the most goodput, without objectives the most tokens (requests, if
 * none are known) per second. */
int sweep_run(struct load_sweep *s, struct outcome *ret, struct load *load, const struct prompt_source *prompts, struct result_sink *sinks,
              const struct engine_hooks *hooks, struct err *err);
void sweep_json(const struct load_sweep *s, const struct load *load, struct json_out *j); /* the member "sweep" */
/* The answer of a search, then a row for each level, for a screen of that width. */
void sweep_table(const struct load_sweep *s, const struct load *load, const struct screen *screen, struct buf *to);
void sweep_deinit(struct load_sweep *s);
#endif
