/* result_files.h: stored outputs that are compared as runs are: results of taskrate, llmload and vLLM's benchmark, and all others that rules know. */
#ifndef COMPARE_RESULT_FILES_H
#define COMPARE_RESULT_FILES_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

/* Runs made of files, in a tree of their own that goes with them. */
struct result_files {
    char folder[64];  /* of the tree, in TMPDIR or /tmp; "": none */
    const char *tree; /* its mlruns */
    char **operands;  /* runs of that tree in place of the files, as many as there were operands */
};

/* Returns whether the operands name files: 1: all do; 0: none does; -1: some do, and err names one
 * that does not. An operand is a file or several with commas between them; "vs" is for reading. */
int result_files_named(char *const *operands, int count, struct err *err);
/* Reads the files by the catalogue's rules into a new tree. A file with several outputs becomes
 * several runs. `env`: NULL-terminated, of the caller. Texts are kept in the arena. 0; -1: a file
 * cannot be read or no rules know it. Call result_files_close in both cases. */
int result_files_open(struct result_files *ret, char *const *operands, int count, char **env, struct arena *a, struct err *err);
/* Removes the tree. */
void result_files_close(struct result_files *files);
#endif
