/* ending.h: after the program: the record is waited for, the summary printed, and the launcher ends as the program did. */
#ifndef LAUNCH_ENDING_H
#define LAUNCH_ENDING_H
#include <stdint.h>

struct launch;
/* How many processes that descend from the program live still. Helpers of ours, and those of runs inside, are none. */
uint32_t ending_left(const struct launch *l);
/* Returns the exit status, or dies of the program's signal. */
int ending_finish(struct launch *l);
/* Dies as the program did, without a second core file. Returns where that is impossible: process 1 does not die of signals. */
void ending_die_of(int number);
#endif
