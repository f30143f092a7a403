/* verbs.h: the parts of llmload that are words of its command line. Each reads its own line and returns the exit status; -1: err says why not. */
#ifndef LLMLOAD_VERBS_H
#define LLMLOAD_VERBS_H
#include "base/err.h"

/* argv[0] is the verb. */
#define VERB(function, name, arguments, help) int function(int argc, char **argv, struct err *err);
#include "benchmarks/native/llmload/verbs.def"
#undef VERB
#endif
