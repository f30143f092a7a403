/* exit_words.c: how a program ended, in the words that every record uses. */
#include "base/exit_words.h"

#include <stdio.h>
#include <string.h>

void exit_words(char ret[EXIT_WORDS_SIZE], int exit_status, int signal)
{
    const char *abbrev = signal > 0 ? sigabbrev_np(signal) : NULL; /* none for a real-time signal */
    ret[0] = 0;
    if (abbrev)
        snprintf(ret, EXIT_WORDS_SIZE, "ended by signal %s", abbrev);
    else if (signal > 0)
        snprintf(ret, EXIT_WORDS_SIZE, "ended by signal %d", signal);
    else if (exit_status > 0)
        snprintf(ret, EXIT_WORDS_SIZE, "exit status %d", exit_status);
}
