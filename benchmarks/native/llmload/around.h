/* around.h: what happens around a run: readiness before it, files of records, the progress line,
 * the recorder of benchwrap, the service's metrics, plots after it. */
#ifndef LLMLOAD_AROUND_H
#define LLMLOAD_AROUND_H
#include "base/json_out.h"
#include "base/progress.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/output/records.h"
#include "benchmarks/native/llmload/prompts/scoring.h"
#include "benchmarks/native/llmload/server/scrape.h"
#include "benchmarks/native/llmload/server/server.h"

struct around {
    const struct opt_set *set;
    struct load *load;
    struct engine_hooks hooks; /* for engine_run */
    struct result_sink *sinks; /* the same */
    struct llm_server server;
    bool server_open, server_used, server_ready; /* used: for more than the name of its first model */
    struct readiness ready;
    struct facts facts;
    struct scrape *scrape;
    struct records *records, *csv;
    struct scoring *scoring;
    struct progress progress;
    bool quiet, warned; /* warned: of too few requests, before the start */
    int recorder; /* the recorder's socket; -1: not recorded */
    int64_t looks;
    struct live_counts last;
};

/* Waits for readiness, queries facts, opens files and starts to read the service's metrics. May set
 * the load's model. records: open the files of single requests too (agents write their own).
 * ERR_USAGE; ERR_REMOTE: not ready. Call around_deinit in any case. */
int around_begin(struct around *a, const struct opt_set *set, struct load *load, struct prompt_source *prompts, bool records,
                 struct err *err);
/* After engine_run: stops what around_begin started, writes the plots. ERR_SYSTEM: records or plots
 * could not be written. */
int around_end(struct around *a, const struct outcome *o, struct err *err);
/* Appends what was measured around the load: energy, and of the service readiness, facts, its own
 * metrics and scores. */
void around_json(struct around *a, const struct outcome *o, struct json_out *j);
/* Lines for people below the table. */
void around_table(struct around *a, struct buf *to);
/* Hands the complete result, as --json prints it, to the recorder of this run, if there is one: the table
 * does not have all of it. The rules read it under this name. */
#define LLMLOAD_RESULT "llmload-result.json"
void around_log(const struct around *a, struct str result);
void around_deinit(struct around *a);
/* INT, TERM, HUP, QUIT, USR1, USR2, XCPU end the run with what it has. */
void around_catch_signals(void);
#endif
