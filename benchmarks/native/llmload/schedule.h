/* schedule.h: when which request is to be sent: made and hashed before the first request, and
 * written to a file on request. */
#ifndef LLMLOAD_SCHEDULE_H
#define LLMLOAD_SCHEDULE_H
#include "benchmarks/native/llmload/load.h"

struct arrival {
    int64_t at_ns; /* since the run's begin */
    uint64_t index, session;
    uint32_t input_tokens, output_tokens; /* 0: the prompt source decides */
    uint32_t text, blocks; /* of a trace: offsets into texts and blocks, +1; 0: none */
    uint32_t text_bytes, block_count;
    uint8_t phase; /* enum phase */
};

struct schedule {
    struct arrival *list; /* by time */
    size_t n; /* 0: closed loop */
    uint64_t whole_n; /* of the complete schedule, before it is divided among agents */
    char *texts;
    uint64_t *blocks;
    size_t texts_n, texts_size, blocks_n, blocks_size, size;
    char hash[65]; /* SHA-256 */
    const char *trace_kind; /* "azure", "burstgpt", "mooncake", "jsonl"; NULL: no trace */
    uint64_t measured; /* arrivals of the measured part, of the complete schedule */
    double offered_rate; /* requests per second of the measured part */
    double arrivals, expected; /* of the measured part, as scheduled, and as expected from the rate; both 0 where there is no rate */
    double expected_sd; /* standard deviation of arrivals over all seeds */
};

/* Makes the schedule, and writes it if the load names a file. ERR_USAGE: it would be empty or too
 * long; ERR_INPUT names file and line of a trace's error; ERR_SYSTEM. Free with schedule_deinit. */
int schedule_make(struct schedule *ret, const struct load *load, struct err *err);
void schedule_deinit(struct schedule *s);
/* How many measured requests the load can have, before a schedule exists; 0: not known (a trace, or
 * a closed loop by time). */
double schedule_expected(const struct load *l);
/* schedule_trace.c: appends the rows of a trace, in order of time, from 0 on. ERR_INPUT names file
 * and line. */
int schedule_read_trace(struct schedule *s, const struct load *load, struct err *err);
/* Capacity for one more arrival at list[n], which the caller fills and counts; NULL: out of
 * memory. */
struct arrival *schedule_room(struct schedule *s);
#endif
