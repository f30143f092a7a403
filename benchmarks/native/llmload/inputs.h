/* inputs.h: the files that define the load. The reader of each notes its SHA-256 here, so that
 * the result identifies its content.
 *
 * They are read before the first request, on the main thread. */
#ifndef LLMLOAD_INPUTS_H
#define LLMLOAD_INPUTS_H
#include "base/buf.h"
#include "base/sha256.h"

enum { INPUTS_MAX = 8 }; /* more than there are options that name such a file */
struct input_hashes {
    struct {
        const char *option; /* NULL behind the last one */
        char hash[SHA256_HEX];
    } file[INPUTS_MAX];
};

/* Notes the content of the file that the option names, its name as in the option rows ("dataset").
 * A second content replaces the first. to NULL: nowhere. */
void inputs_note(struct input_hashes *to, const char *option, struct str content);
/* The same of a hash that is known. */
void inputs_note_hash(struct input_hashes *to, const char *option, const char *hash);
/* Calls `each` for each noted file, in the order of their options' first notes. */
void inputs_each(const struct input_hashes *of, void (*each)(void *context, const char *option, const char *hash), void *context);
#endif
