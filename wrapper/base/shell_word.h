/* shell_word.h: quote words for a shell. */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H
#include "base/arena.h"
#include "base/buf.h"

/* Appends the word as a shell reads it back: in single quotes where a character needs them. Not harmless for a terminal: buf_plain. */
void shell_word_put(struct buf *to, const char *word);
/* Returns the word in this form, in the arena, for a command in a message. NULL: out of memory. */
const char *shell_word_text(const char *word, struct arena *a);
#endif
