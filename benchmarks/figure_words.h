/* figure_words.h: which words name results, conditions and units in lines that no rules know (figure_words.c, figure_units.c). */
#ifndef BENCHMARKS_FIGURE_WORDS_H
#define BENCHMARKS_FIGURE_WORDS_H
#include "base/str.h"
#include "base/units.h"

/* Is the word, whatever its case, one of the list's? The list is in lower case, with a blank between words. */
bool figure_is_any(struct str word, const char *list);
bool figure_is_level(struct str word); /* INFO, DEBUG … at the beginning of a line of a log */
bool figure_is_small(struct str word); /* is, of, in, `took` … at the end of a name */
bool figure_is_progress(struct str line); /* reports what is not over yet: "Epoch 3", "ETA", "warmup" */
bool figure_is_loop(struct str word); /* "Epoch", "iteration": what goes round, with a result of each round */
bool figure_is_round(struct str title); /* of a column: numbers the rounds of a loop */
bool figure_is_round_value(struct str title); /* of a column next to it: what each round reports without a unit */
bool figure_is_estimate(struct str line); /* no measurement: "about 5 MB/s", "(estimated)" */
struct str figure_without_estimate(struct str line); /* the line before ", estimated 2 s" */
bool figure_is_condition(struct str label); /* what was requested, or what a machine has: timeout, target rate, link speed, version */
bool figure_is_rate_condition(
    struct str label); /* the same of a rate, which may well be that of a size: "buffer size 1024 bytes: 5 MB/s" */
bool figure_is_spread(struct str label); /* a deviation or an error */
bool figure_is_amount(struct str word); /* "count": how many values a statistic is of */
bool figure_is_statistic(struct str label); /* min, average, 99th percentile */
bool figure_is_time(struct str label); /* names a time that was measured: elapsed, latency, `took` */
/* Returns true if the name ends in a noun for a time ("read latency", "ReadLatency avg").
 * *ret_rest: what is before that noun, "read". NULL: not needed. */
bool figure_ends_in_time(struct str name, struct str *ret_rest);
bool figure_ends_in_rate(struct str name, struct str *ret_rest); /* the same of a rate: "read bandwidth"; all of "runs/s" */
bool figure_is_span(struct str label); /* may also be how long the user lets it run: duration, run time */
bool figure_is_score(struct str label); /* a ratio or score without unit: accuracy, loss */
bool figure_is_score_name(struct str name); /* all of the name is one: "compression ratio" */
bool figure_is_score_word(struct str label); /* the same where also a whole number is believed: score, requests/sec */
bool figure_is_count(struct str label); /* how many there are of something: "number of points", "points per element" */
bool figure_is_step(struct str title); /* of a column: size, number of threads: what the rows of a table differ by */
bool figure_is_energy(struct str label); /* of a molecule or a model: "total energy", "band gap" */
bool figure_is_memory(struct str label); /* memory that was used */
bool figure_is_elapsed(struct str label); /* names a time that a clock measured, and none of the day */
bool figure_is_task_time(struct str label); /* the time of a part of the work, which is no setting: "encode time" */
bool figure_is_measured(
    struct str label); /* names a time that was measured, and no setting, whatever its unit: "CPU time", "mean latency" */
bool figure_is_rate(const struct unit *u);
bool figure_is_time_or_rate(const struct unit *u); /* false for NULL */
bool figure_is_counted(const struct unit *u); /* a rate of something counted: no multiple of it is one of a size */
bool figure_is_loose_bytes(const struct unit *u); /* KB, MB: 1000 to one program and 1024 to another */
const char *figure_rate_name(const struct unit *u); /* "bandwidth", "rate": for a rate without a name */
/* A unit as printed behind a number. Sets *ret, or *ret_raw to a unit that the record does not have ("MIPS"). */
bool figure_unit(struct str word, const struct unit **ret, struct str *ret_raw);
bool figure_is_energy_unit(struct str word); /* of one molecule: "Eh", "kcal/mol" */
/* "requests per second", "MB per sec". */
bool figure_rate(struct str amount, struct str time, const struct unit **ret);
/* "3.4 usec per loop", "12 ns/op": the time of one of them. */
bool figure_per_one(struct str time, struct str one, const struct unit **ret);
/* The unit that a name contains: "Bandwidth (MB/s)", "requests/sec", "elapsed_ms"; NULL. */
const struct unit *figure_unit_of_label(struct str label);
#endif
