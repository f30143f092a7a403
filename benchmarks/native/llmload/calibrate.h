/* calibrate.h: how wrong the client's times are on this very machine: it measures llmfake, which
 * logs when it sent each event. */
#ifndef LLMLOAD_CALIBRATE_H
#define LLMLOAD_CALIBRATE_H
#include "base/json_out.h"
#include "base/screen.h"
#include "benchmarks/native/llmload/hdr.h"
#include "benchmarks/native/llmload/report_parts.h"

struct calibration_plan {
    unsigned streams, tokens, rounds; /* tokens of an answer; answers of each stream */
    double ttft_s, itl_s;
    bool user_clock;
    unsigned threads; /* of the client; 0: its choice */
};

struct calibration {
    struct calibration_plan plan;
    uint64_t completed, failed, events, compared, shared; /* gaps compared; left out for a shared stamp */
    struct hdr itl_error; /* |gap as measured - gap as sent|, ns */
    struct hdr arrival; /* client's arrival - server's send of first tokens, ns */
    struct hdr ttft, true_ttft; /* as measured; server's send of the first token - the request's arrival there, ns */
    struct hdr itl, true_itl;
    uint64_t first_unknown; /* first tokens that late reads brought: in none of arrival, ttft, true_ttft */
    struct client_lateness client; /* whether the client was late in total */
    double events_per_s, cpu_us_per_event, steal_percent;
    bool kernel_stamps;
};

/* Starts llmfake (next to this program, or from the PATH), loads it, compares, ends it. */
int calibration_run(struct calibration *ret, const struct calibration_plan *plan, struct err *err);
void calibration_deinit(struct calibration *c);
/* As a JSON object. */
void calibration_json(const struct calibration *c, const char *key, struct json_out *j);
/* Several (n >= 1) as a table for people, for a screen of that width. */
void calibration_table(const struct calibration *c, size_t n, const struct screen *screen, struct buf *to);
/* The plan that suits a load of so many streams: at most 50,000 events per second. */
struct calibration_plan calibration_plan_for(unsigned streams);
/* How many streams that is for a load: its concurrency, at most 2000; open loop: 100. */
struct load;
unsigned calibration_streams(const struct load *load);
#endif
