/* redrawn.h: what a terminal shows at last of a line that a program wrote for a terminal: without escape sequences, and without what was written over. */
#ifndef BASE_REDRAWN_H
#define BASE_REDRAWN_H
#include "base/str.h"

/* Returns whether the line has escape sequences or backspaces. */
bool redrawn_has_escapes(struct str line);
/* Writes the line without escape sequences, characters that backspaces removed and parts that were erased; `to` has capacity for line.n bytes and may be line.p. Moves of the
 * cursor to the beginning of the line or to another one become carriage returns, as the program's own stay: see redrawn_last. Returns the length. */
size_t redrawn_plain(struct str line, char *to);
/* Returns the text behind the last carriage return; where that is only a mark over the beginning of
 * the text before (" 1#", "|"), the text before. Refers to the line. */
struct str redrawn_last(struct str line);
#endif
