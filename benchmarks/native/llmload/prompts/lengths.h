/* lengths.h: distributions of lengths in tokens: "128", "64-512", "normal:512,64",
 * "lognormal:512,256", "file:lengths.txt", each with "@LEAST-MOST" behind. */
#ifndef LLMLOAD_LENGTHS_H
#define LLMLOAD_LENGTHS_H
#include "base/buf.h"
#include "base/err.h"

enum lengths_kind { LENGTHS_NONE, LENGTHS_FIXED, LENGTHS_UNIFORM, LENGTHS_NORMAL, LENGTHS_LOGNORMAL, LENGTHS_FILE };
struct lengths {
    enum lengths_kind kind;
    double a, b; /* value; minimum, maximum; mean, standard deviation (of the lengths, not of their logarithm) */
    uint32_t least, most; /* bounds of what is given */
    uint32_t *list; /* FILE */
    size_t n;
};

struct input_hashes;
enum { LENGTHS_MOST = 10000000 };
/* Reads the lengths of --WHAT from its text (NULL: LENGTHS_NONE). -1 with err: ERR_USAGE, or
 * ERR_INPUT with file and line; there is nothing to free then. */
int lengths_read(struct lengths *ret, const char *text, const char *what, struct input_hashes *inputs, struct err *err);
void lengths_deinit(struct lengths *l);
/* The n-th length of a stream; 0 for LENGTHS_NONE. */
uint32_t lengths_at(const struct lengths *l, uint64_t seed, uint64_t stream, uint64_t n);
#endif
