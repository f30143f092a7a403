/* code_profile.h: the sampled profile of a program (--profile-code): how many samples hit which
 * function. The artifact code_profile.folded has a line "COMMAND;MODULE;FUNCTION SAMPLES" for each,
 * most samples first, as tools read that draw flame graphs. */
#ifndef MLRUNS_FORMAT_CODE_PROFILE_H
#define MLRUNS_FORMAT_CODE_PROFILE_H
#include "base/arena.h"
#include "base/buf.h"

#include <stdint.h>

#define CODE_PROFILE_FILE "code_profile.folded"
enum {
    CODE_PROFILE_FUNCTIONS = 10000, /* lines of the file: what is beyond is added up in its last one */
    CODE_PROFILE_BYTES = 8 << 20 /* maximum of the file */
};

struct profiled_function {
    const char *command, *module, *function; /* valid UTF-8 without control characters and semicolons */
    uint64_t samples;
};
struct code_profile {
    struct profiled_function *list;
    size_t count, capacity;
    uint64_t samples; /* of all */
};

/* Adds a function; its texts may hold any bytes, and are copied into the arena in the form above, an
 * empty one as "[unknown]". Returns false, and adds nothing, for no samples, for a sum above 2^53, and
 * when the arena has no memory. */
bool code_profile_add(struct code_profile *p, struct arena *a, struct str command, struct str module, struct str function,
                      uint64_t samples);
/* Adds up the entries of one function: of equal command, module and function, or (all_commands) of equal
 * module and function, with an empty command. Sorts by samples, most first, then by name. */
void code_profile_merge(struct code_profile *p, bool all_commands);
/* Appends the text of the artifact, of a merged profile. */
void code_profile_print(const struct code_profile *p, struct buf *to);
/* Reads such a text into an empty profile. Lines of another form are skipped. */
void code_profile_parse(struct str text, struct arena *a, struct code_profile *ret);
#endif
