/* messages.h: handles what the recorder reports, and waits for the messages on which the program's
 * start depends. */
#ifndef LAUNCH_MESSAGES_H
#define LAUNCH_MESSAGES_H
#include <stdbool.h>

struct launch;
/* Handles all messages of the recorder that have arrived. A refusal before the program's start becomes
 * the summary. */
void messages_receive(struct launch *l);
/* Handles the end of a recorder that has not reported to be done. Its socket closes a moment before it
 * can be reaped: another observer replaces it at once, the warning waits for the exit status in
 * l->recorder.exit, and is printed once. */
void messages_note_end(struct launch *l);
/* Waits at most --probe-wait until the recorder has inspected the machine, and RECORDER_ACCEPT_WAIT_MS
 * longer until it has checked the options of the command line: a wrong one must not start the program
 * on a machine that is busy. --strict waits as long for a recorder that records. Signals wait, too.
 * False: it is gone. */
bool messages_wait_ready(struct launch *l);
/* Waits until the recorder has attached a profiler to the program's process, which is held until then,
 * where --profile-code requests one. */
void messages_wait_profiler(struct launch *l);
#endif
