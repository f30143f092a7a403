/* bench.h: what is measured, with what, and what came out: the types that all parts of taskrate share. */
#ifndef TASKRATE_BENCH_H
#define TASKRATE_BENCH_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/opt.h"
#include "benchmarks/native/taskrate/clocks.h"
#include "benchmarks/native/taskrate/tasks.h"

#include <signal.h>
#include <sys/types.h>

enum { SWEEP_MAX = 16, NOTES_MAX = 64, FACTS_MAX = 96, TOOLS_MAX = 16, QUANTILES = 5, TAG_SIZE = 32, WORDS_MAX = 256 };

/* Words of a command, ended by NULL. */
struct argument_words {
    const char *word[WORDS_MAX + 1];
    size_t n;
};

/* A named text: of the scheduler's configuration, or of its limits. */
struct scheduler_fact {
    const char *name, *value;
};

enum task_payload { PAYLOAD_STUB, PAYLOAD_TRUE, PAYLOAD_SH, PAYLOAD_COMMAND, PAYLOAD_CALL };

/* What was requested. */
struct bench_settings {
    const char *provider;
    size_t sizes[SWEEP_MAX], size_count;
    double durations[SWEEP_MAX];
    size_t duration_count;
    unsigned repeat, warmup;
    size_t chain; /* tasks of the dependent chain; 0: none */
    enum task_payload payload;
    struct argument_words command; /* of the payload, absolute path first; empty: the stub alone */
    size_t argsize;
    bool busy, wrap;
    unsigned slots; /* 0: what the provider has */
    unsigned clients; /* commands that may run at once; 0: the provider's own default */
    unsigned width; /* tasks of one step */
    double rate; /* submit calls a second; 0: not limited */
    bool evenly; /* … and none of them at once: others count them too */
    size_t max_tasks;
    double task_timeout, stall, client_timeout;
    const char *stub; /* absolute path */
    const char *report_dir, *address;
    const char *submit; /* exec: the template */
    const char *with; /* parallel: the tool */
    struct argument_words extra; /* for the scheduler's command */
    const char *image; /* kubernetes */
    bool array, detached, bulk;
    const char *out; /* folder for further files, or NULL */
    bool json, quiet, floor, node_names;
};

struct latency_quantiles { /* of one latency, seconds; n == 0: none, and why */
    size_t n;
    double at[QUANTILES]; /* p50 p90 p95 p99 max */
    double mean;
    const char *why;
};

/* What a scheduler counts itself, before or after a batch. -1: unknown */
struct scheduler_counters {
    int64_t submitted, started, completed, failed, cancelled;
    int64_t submit_calls, submit_us, step_calls, step_us, cycles, cycle_us;
};

struct task_batch {
    size_t tasks;
    double duration; /* seconds */
    unsigned repetition; /* 0, 1 … among equal ones */
    bool warmup, chain, floor;
    unsigned slots; /* declared */
    int64_t begin_wall_ms;
    int64_t begin, end; /* CLOCK_MONOTONIC, ns: first submission; the provider has stopped or finished */
    size_t calls; /* submit calls */
    double waited; /* seconds that taskrate's own limit of rate held submission back */
    double stalled; /* seconds that submit commands slept because the controller refused */
    struct scheduler_counters before, after;
    bool counted; /* both are there */
    bool complete; /* everything was submitted and accounted for */
    char reason[512]; /* of what is not complete; "" otherwise */
    bool given_up; /* the next batch would meet the same: refusals, silence, a signal */
    const char *completion; /* how ends were learned of */
    /* what follows is made by figures.c */
    size_t submitted, refused, ended, stamped, failed, retried, duplicates, strangers;
    size_t lost; /* submitted, and no end is known */
    size_t cancelled; /* submitted, and ended because the batch was stopped */
    double throughput, client_throughput, steady, submit_rate, ended_rate; /* a second; 0: none */
    double makespan; /* first submission to last end, s */
    const char *no_throughput; /* why */
    bool too_brief; /* too few tasks in too short a time for a rate: it has none */
    double concurrency_max, concurrency_mean, idle;
    size_t nodes;
    bool elsewhere; /* tasks ran on other machines, or it is not known where */
    struct latency_quantiles submit, start, run, completed, turnaround;
    bool throttled;
    char throttled_why[200];
    double clock_width; /* widest interval of a node's clock offset, s; 0: same machine */
    double clock_low, clock_high;
    double shift; /* largest correction, s */
    double stepped;
    bool too_short; /* start latencies are below the resolution of the clocks */
};

struct bench {
    struct bench_settings set;
    struct arena arena; /* lives as long as the program */
    const struct task_provider *provider;
    struct tasks tasks;
    struct clocks_table clocks;
    char tag[TAG_SIZE]; /* "taskrate-" and 16 hexadecimal digits: the name of all jobs of this run */
    uint64_t token; /* those digits */
    struct scheduler_fact facts[FACTS_MAX];
    size_t fact_count;
    struct scheduler_fact tools[TOOLS_MAX]; /* paths of commands that were searched */
    size_t tool_count;
    const char *notes[NOTES_MAX];
    size_t note_count;
    struct task_batch *batches;
    size_t batch_count, batch_room;
    unsigned slots; /* that the provider declares */
    const char *slots_from;
    const char *scheduler_version;
    volatile sig_atomic_t stop; /* a signal that requested the end */
    int signal_fd;
    bool interrupted;
    bool submitted; /* something may be in a queue */
    char jobs[64]; /* the allocation of slurm-step */
};

/* A word of the scheduler's configuration, by the name it has there. Texts are copied. Beyond FACTS_MAX they are dropped. */
void bench_fact(struct bench *b, const char *name, struct str value);
/* Returns the value of a fact, which the bench owns; NULL: not known. */
const char *bench_fact_of(const struct bench *b, const char *name);
/* Adds a sentence for the reader of the result, unless it is there already. The text is copied,
 * made harmless and cut after 1000 characters; more than NOTES_MAX are dropped. */
void bench_note(struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reads pending signals. True: the end was requested. Never blocks. */
bool bench_stop(struct bench *b);
#endif
