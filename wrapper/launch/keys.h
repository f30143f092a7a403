/* keys.h: keys for a program that reads them from the terminal on its stdout or stderr (less, more) and not from its stdin. */
#ifndef LAUNCH_KEYS_H
#define LAUNCH_KEYS_H
#include "launch/pty.h"

#include <sys/types.h>

enum { KEYS_LOOK_MS = 50, KEYS_LOOKS = 40, KEYS_SPINS = 8 };

/* Searches, once the program has set its pty to raw mode, for a process that has opened the pty for
 * reading, or sleeps in a read of it, and then opens pty->keys. The keys arrive at the real
 * terminal, while the program's terminal is a pty of the launcher. except: pids of the launcher's
 * helpers, 0-terminated. */
void keys_look(struct pty *pty, const pid_t *except);
/* Carries what was typed (pty->keys is readable) to the program. */
void keys_carry(struct pty *pty, const pid_t *except);
/* Returns whether keys_look must be called again soon. */
bool keys_looking(const struct pty *pty);
#endif
