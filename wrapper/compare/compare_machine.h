/* compare_machine.h: does the machine explain the difference? By the hashes of hardware and configuration, and the facts that differ. */
#ifndef COMPARE_COMPARE_MACHINE_H
#define COMPARE_COMPARE_MACHINE_H
#include "compare/compare.h"

enum machine_part { MACHINE_HARDWARE, MACHINE_CONFIGURATION, MACHINE_PARTS };

struct machine_difference {
    const char *name, *hash; /* "hardware", "node.type" */
    enum { MACHINE_UNKNOWN, MACHINE_SAME, MACHINE_DIFFERS } state;
    const char **keys; /* params that differ and belong to it, NULL-terminated; empty where none is known */
};
void machine_compare(const struct compare_group *groups, size_t count, struct arena *a, struct machine_difference ret[MACHINE_PARTS]);
/* Facts that distinguish programs of one name and differ between the groups, where all runs record
 * it: program.sha256, program.script_sha256 and the tag benchmark.version; NULL-terminated, NULL:
 * out of memory. compare_param has the values. */
const char **program_compare(const struct compare_group *groups, size_t count, struct arena *a);
/* Returns the variables and limits of the program that differ between the groups, with their
 * values: "env.omp_num_threads (1, 4)". It names four and counts the rest. The text is in the
 * arena; NULL: none differs, or out of memory. They are no inputs, and may explain a change. */
const char *environment_compare(const struct compare_group *groups, size_t count, struct arena *a);
#endif
