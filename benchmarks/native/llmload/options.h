/* options.h: the rows of options.def as data. */
#ifndef LLMLOAD_OPTIONS_H
#define LLMLOAD_OPTIONS_H
#include "base/opt.h"

enum {
    LOAD_ROWS = 0
#define OPTION(name, letter, kind, arg, env, value, group, help) +1
#include "benchmarks/native/llmload/options.def"
#undef OPTION
};
extern const struct opt_row load_rows[LOAD_ROWS];
#endif
