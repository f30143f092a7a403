/* shell_line.h: the commands in a line of shell, as far as words show them. */
#ifndef WRAPPER_RUN_SHELL_LINE_H
#define WRAPPER_RUN_SHELL_LINE_H
#include "base/arena.h"
#include "base/str.h"

/* Removes the next simple command from *rest and returns its words as an argument vector in the
 * arena, NULL-terminated; NULL: there is none, or out of memory. Words that only open or join
 * commands (`then`, `!`, `{`) and assignments are left out. Quotes are removed; what they hold is
 * split like the rest, since it may be a line of another shell. */
char **shell_line_next(struct str *rest, struct arena *a);

/* Returns the line of shell in the arguments of a program that runs one (`sh -c LINE`,
 * `hyperfine LINE`), and moves *at behind it; p NULL: there is no further one. argv: the program
 * and its arguments; *at: a word of it, at first argv + 1. */
struct str shell_line_of(char *const *argv, char *const **at);
#endif
