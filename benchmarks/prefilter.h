/* prefilter.h: which of many literal texts occur in a line, in one pass (Aho and Corasick's automaton as a table). */
#ifndef BENCHMARKS_PREFILTER_H
#define BENCHMARKS_PREFILTER_H
#include "base/str.h"

enum { PREFILTER_BITS = 256, PREFILTER_BYTES_MAX = 59999 /* of all literals together */ };
struct prefilter_mask {
    uint64_t word[PREFILTER_BITS / 64];
};
static inline void prefilter_set(struct prefilter_mask *m, unsigned bit)
{
    m->word[bit / 64] |= (uint64_t)1 << (bit % 64);
}
static inline bool prefilter_has(const struct prefilter_mask *m, unsigned bit)
{
    return m->word[bit / 64] >> (bit % 64) & 1;
}

struct prefilter_literal {
    struct str text;
    unsigned bit; /* what it stands for; several literals may share one */
};
struct prefilter;
/* Builds the search. The literals' bits are below PREFILTER_BITS; the search stores nothing of their
 * texts. The caller frees it with prefilter_free. NULL: out of memory, or the texts have more than
 * PREFILTER_BYTES_MAX bytes together. */
struct prefilter *prefilter_new(const struct prefilter_literal *literals, size_t n);
void prefilter_free(struct prefilter *f);
/* Sets the bits of all literals that occur in line; true if there is any. */
bool prefilter_scan(const struct prefilter *f, struct str line, struct prefilter_mask *ret);
/* Scans n lines, each with a mask of its own, which is set again. Faster than one by one:
 * the processor walks several at once. */
void prefilter_scan_all(const struct prefilter *f, const struct str *lines, size_t n, struct prefilter_mask *ret);
#endif
