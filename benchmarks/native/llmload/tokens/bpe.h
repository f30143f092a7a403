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
    struct str *text;         /* [tokens] by id; p NULL: no token has this id */
    uint32_t tokens;          /* highest id + 1 */
    uint32_t *slots;          /* by the hash of the text: id + 1; 0 is free */
    size_t slot_mask, used;
    struct bpe_merge *merges; /* by the hash of the pair */
    size_t merge_mask, merge_count;
    int64_t unknown;          /* id for what is not in the vocabulary; -1: left out */
    int64_t byte_id[256];     /* ids of <0x00> … <0xFF>; -1 */
    bool byte_fallback, fuse_unknown, whole_first; /* whole_first: a word that is a token is not divided (ignore_merges) */
};

void bpe_init(struct bpe *b);
void bpe_deinit(struct bpe *b);
/* Allocates for so many tokens and merges; once, before adding. ERR_SYSTEM. */
int bpe_reserve(struct bpe *b, size_t tokens, size_t merges, struct err *err);
/* ERR_INPUT: the id is out of bounds, or in use. */
int bpe_add_token(struct bpe *b, struct str text, int64_t id, struct err *err);
/* The next merge in order of rank; both parts and their join must be tokens. */
int bpe_add_merge(struct bpe *b, struct str left, struct str right, struct err *err);
/* After the last token: finds <0x00> … for byte_fallback. */
void bpe_find_bytes(struct bpe *b);
/* The id of a token, or -1. */
int64_t bpe_find(const struct bpe *b, struct str text);
/* Appends the tokens of one word, valid UTF-8. */
void bpe_encode(const struct bpe *b, struct bpe_work *w, struct str word, struct ids *to);
#endif
