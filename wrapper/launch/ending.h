/* ending.h: the end of a run: waits for the record, prints the summary, and ends the launcher as
 * the program ended. */
#ifndef LAUNCH_ENDING_H
#define LAUNCH_ENDING_H
#include <stdint.h>

struct launch;
/* Returns how many descendants of the program still live, without the launcher's helpers and those
 * of nested runs. WIRE_LEFT_UNKNOWN where /proc cannot be read. */
uint32_t ending_left(const struct launch *l);
/* Ends the run, once the program has ended or could not be started: kills what is left where the time
 * limit was reached, waits for the record at most --finish-wait, prints the summary and ends the
 * signal observer. Returns the exit status for the caller (launcher_run), or dies of the program's
 * signal. */
int ending_finish(struct launch *l);
/* Dies as the program did, without a second core file. Returns where that is impossible: process 1 does not die of signals. */
void ending_die_of(int number);
#endif
