/* exit_words.h: how a program ended, in the words that every record uses. */
#ifndef BASE_EXIT_WORDS_H
#define BASE_EXIT_WORDS_H
enum { EXIT_WORDS_SIZE = 48 }; /* holds the longest of them */
/* Writes "ended by signal TERM", else "exit status 3", else "" into ret: signal 0 and exit_status
 * <= 0 have no text. ret is always ended by a NUL. */
void exit_words(char ret[EXIT_WORDS_SIZE], int exit_status, int signal);
#endif
