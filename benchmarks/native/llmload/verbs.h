/* verbs.h: the parts of llmload that are words of its command line. Each reads its own line and
 * returns the exit status; -1: err states why not. */
#ifndef LLMLOAD_VERBS_H
#define LLMLOAD_VERBS_H
#include "base/err.h"
#include "base/opt.h"

/* What a verb's line may hold. */
struct verb {
    const char *usage, *about; /* the line and a sentence or two for --help */
    const struct opt_row *rows; /* "help" among them; at most 32 */
    size_t count;
    int operands; /* exactly so many are expected; 0: options alone; -1: any number */
    const char *expected; /* which operands, for the message where there are more or fewer */
    int (*run)(const struct opt_set *set, char **operands, struct err *err); /* returns the exit status; -1: err */
};
/* Reads argv (argv[0] is the verb) by the rows of v, then prints the help or runs it. Returns what
 * v->run returned, 0 after the help; -1: err states why not. */
int verb_run(const struct verb *v, int argc, char **argv, struct err *err);

/* argv[0] is the verb. */
#define VERB(function, name, arguments, help) int function(int argc, char **argv, struct err *err);
#include "benchmarks/native/llmload/verbs.def"
#undef VERB
#endif
