/* bpe.h: byte-pair encoding of one word: a vocabulary, ranked merges, and the merging itself.
 *
 * As the model "BPE" of Hugging Face's tokenizers does it (docs of that library, version 0.23):
 * characters become their tokens, then the pair of lowest rank is merged, the leftmost first, until
 * none is left. The time is n log n in the length of a word. */
#ifndef LLMLOAD_BPE_H
#define LLMLOAD_BPE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "benchmarks/native/llmload/tokens/ids.h"

enum { BPE_TOKENS_MAX = 1 << 23 }; /* ids are below it; the largest vocabularies have some 260 thousand */

/* Memory for one word after the other, of one thread. Begin with zeros. */
struct bpe_work {
    struct bpe_part *parts;
    struct bpe_candidate *heap;
    size_t n, size, heap_n;
};
void bpe_work_deinit(struct bpe_work *w);

struct bpe {
    struct arena arena;
    struct str *text; /* [tokens] by id; p NULL: no token has this id */
    uint32_t tokens; /* entries of text; ids are below it, and the last ones may be of no token */
    uint32_t *slots; /* by the hash of the text: id + 1; 0 is free */
    size_t slot_mask, used;
    struct bpe_merge *merges; /* by the hash of the pair */
    size_t merge_mask, merge_count;
    int64_t unknown; /* id for what is not in the vocabulary; -1: left out */
    int64_t byte_id[256]; /* ids of <0x00> … <0xFF>; -1 */
    bool byte_fallback, fuse_unknown, whole_first; /* whole_first: a word that is a token is not divided (ignore_merges) */
};

/* Begins, with nothing allocated; the caller ends it with bpe_deinit. */
void bpe_init(struct bpe *b);
void bpe_deinit(struct bpe *b);
/* Allocates for so many tokens and merges; called once, before adding. Returns 0, or -1 with *err:
 * ERR_INPUT above BPE_TOKENS_MAX, ERR_SYSTEM when out of memory. */
int bpe_reserve(struct bpe *b, size_t tokens, size_t merges, struct err *err);
/* Adds a token, whose text is copied; the same one again changes nothing. Returns 0, or -1 with
 * *err: ERR_INPUT where the id is out of bounds or in use, or the text has another id; ERR_SYSTEM when out of memory. */
int bpe_add_token(struct bpe *b, struct str text, int64_t id, struct err *err);
/* Adds the next merge in order of rank. Returns 0, or -1 with *err where a part or their join is no
 * token. */
int bpe_add_merge(struct bpe *b, struct str left, struct str right, struct err *err);
/* Finds the ids of <0x00> … <0xFF> for byte_fallback; called after the last token. */
void bpe_find_bytes(struct bpe *b);
/* Returns the id of a token, or -1. */
int64_t bpe_find(const struct bpe *b, struct str text);
/* Appends the tokens of one word, valid UTF-8. Out of memory, or a word of 256 MiB: to->failed. */
void bpe_encode(const struct bpe *b, struct bpe_work *w, struct str word, struct ids *to);
#endif
