/* readers.c: the list of readers, made of readers.def: once to declare, once to collect. */
#include "benchmarks/engine.h"

#define READER(x) extern const struct reader_kind reader_##x;
#include "benchmarks/readers/readers.def"
#undef READER

const struct reader_kind *const reader_kinds[] = {
#define READER(x) &reader_##x,
#include "benchmarks/readers/readers.def"
#undef READER
    NULL,
};
