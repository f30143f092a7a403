/* bpe.c: the vocabulary as a hash, the merges as a hash, a heap of pairs to merge; see bpe.h. */
#include "benchmarks/native/llmload/tokens/bpe.h"

#include <stdio.h>

struct bpe_merge {
    uint64_t pair; /* left << 32 | right */
    uint32_t rank, whole;
    bool used;
};

/* One part of the word; dead once it was merged into the one before it. */
struct bpe_part {
    uint32_t id;
    int32_t before, after; /* -1: none */
    bool dead;
};

struct bpe_candidate {
    uint32_t rank, whole;
    int32_t at;
};

void bpe_init(struct bpe *b)
{
    *b = (struct bpe){.unknown = -1};
    arena_init(&b->arena, (size_t)2 << 30);
    for (int i = 0; i < 256; i++)
        b->byte_id[i] = -1;
}

void bpe_deinit(struct bpe *b)
{
    arena_deinit(&b->arena);
    free(b->text);
    free(b->slots);
    free(b->merges);
    *b = (struct bpe){0};
}

void bpe_work_deinit(struct bpe_work *w)
{
    free(w->parts);
    free(w->heap);
    *w = (struct bpe_work){0};
}

static size_t table_size(size_t entries)
{
    size_t n = 64;
    while (n < entries * 2)
        n *= 2;
    return n;
}

int bpe_reserve(struct bpe *b, size_t tokens, size_t merges, struct err *err)
{
    if (tokens > BPE_TOKENS_MAX || merges > BPE_TOKENS_MAX)
        return err_set(err, ERR_INPUT, "%zu tokens and %zu merges: expected at most %d", tokens, merges, BPE_TOKENS_MAX);
    size_t slots = table_size(tokens), pairs = table_size(merges);
    b->slots = calloc(slots, sizeof *b->slots);
    b->merges = calloc(pairs, sizeof *b->merges);
    b->slot_mask = slots - 1;
    b->merge_mask = pairs - 1;
    return b->slots && b->merges ? 0 : err_memory(err, "a vocabulary of %zu tokens", tokens);
}

static size_t text_hash(struct str s)
{
    uint64_t h = 14695981039346656037ull; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211ull;
    return (size_t)(h ^ h >> 32);
}

/* Returns the slot of the text in the hash table: 0 where the vocabulary lacks it, else the index
 * of its token + 1. */
static uint32_t *slot_of(const struct bpe *b, struct str text)
{
    size_t i = text_hash(text) & b->slot_mask;
    while (b->slots[i] && !str_eq(b->text[b->slots[i] - 1], text))
        i = (i + 1) & b->slot_mask;
    return &b->slots[i];
}

int64_t bpe_find(const struct bpe *b, struct str text)
{
    return b->slots ? (int64_t)*slot_of(b, text) - 1 : -1;
}

/* Makes b->text hold the id and a quarter more; the new ones have no text. Returns 0, or -1 with
 * *err when out of memory: b is unchanged. */
static int bpe_grow_tokens(struct bpe *b, uint32_t id, struct err *err)
{
    uint32_t want = id + 1 + id / 4;
    struct str *more = realloc(b->text, want * sizeof *more);
    if (!more)
        return err_memory(err, "a vocabulary of %u tokens", want);
    memset(more + b->tokens, 0, (want - b->tokens) * sizeof *more);
    b->text = more;
    b->tokens = want;
    return 0;
}

int bpe_add_token(struct bpe *b, struct str text, int64_t id, struct err *err)
{
    if (id < 0 || id >= BPE_TOKENS_MAX)
        return err_set(err, ERR_INPUT, "the token id %lld is not between 0 and %d", (long long)id, BPE_TOKENS_MAX - 1);
    if (id >= b->tokens && bpe_grow_tokens(b, (uint32_t)id, err) < 0)
        return -1;
    uint32_t *slot = slot_of(b, text);
    if (*slot == (uint32_t)id + 1)
        return 0; /* the same again: added tokens are in the vocabulary, too */
    if (*slot || b->text[id].p)
        return err_set(err, ERR_INPUT, "two tokens have the id %lld, or one has two ids", (long long)id);
    if (++b->used * 2 > b->slot_mask + 1)
        return err_set(err, ERR_BUG, "the vocabulary has more tokens than its table has room for");
    char *copy = arena_dup(&b->arena, text.p, text.n);
    if (!copy)
        return err_memory(err, "a vocabulary");
    b->text[id] = (struct str){copy, text.n};
    *slot = (uint32_t)id + 1;
    return 0;
}

/* Returns the slot of the pair in the hash table; `used` is false where the pair has no merge. */
static struct bpe_merge *merge_of(const struct bpe *b, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << 32 | right, h = pair * 0x9e3779b97f4a7c15ull;
    size_t i = (size_t)(h >> 29) & b->merge_mask;
    while (b->merges[i].used && b->merges[i].pair != pair)
        i = (i + 1) & b->merge_mask;
    return &b->merges[i];
}

int bpe_add_merge(struct bpe *b, struct str left, struct str right, struct err *err)
{
    struct buf whole CLEANUP_BUF;
    buf_init(&whole, 1 << 20);
    buf_str(&whole, left);
    buf_str(&whole, right);
    int64_t l = bpe_find(b, left), r = bpe_find(b, right), w = whole.failed ? -1 : bpe_find(b, buf_text(&whole));
    if (l < 0 || r < 0 || w < 0)
        return err_set(err, ERR_INPUT, "merge %zu: it or a part of it is no token", b->merge_count + 1);
    struct bpe_merge *m = merge_of(b, (uint32_t)l, (uint32_t)r);
    if (++b->merge_count * 2 > b->merge_mask + 1)
        return err_set(err, ERR_BUG, "more merges than were announced");
    *m = (struct bpe_merge){.pair = (uint64_t)l << 32 | (uint64_t)r, .rank = (uint32_t)b->merge_count, .whole = (uint32_t)w, .used = true};
    return 0;
}

void bpe_find_bytes(struct bpe *b)
{
    for (unsigned i = 0; i < 256; i++) {
        char name[8];
        int n = snprintf(name, sizeof name, "<0x%02X>", i);
        b->byte_id[i] = bpe_find(b, (struct str){name, (size_t)n});
    }
}

/* Grows the parts and the heap for n bytes. Returns false when out of memory; the old memory stays
 * valid. */
static bool room_for(struct bpe_work *w, size_t n)
{
    if (n <= w->size)
        return true;
    struct bpe_part *parts = realloc(w->parts, 2 * n * sizeof *parts);
    if (parts)
        w->parts = parts;
    struct bpe_candidate *heap = parts ? realloc(w->heap, 6 * n * sizeof *heap) : NULL; /* each merge brings two new pairs */
    if (!heap)
        return false;
    w->heap = heap;
    w->size = 2 * n;
    return true;
}

static void part_add(struct bpe_work *w, int64_t id)
{
    w->parts[w->n] = (struct bpe_part){.id = (uint32_t)id, .before = (int32_t)w->n - 1, .after = (int32_t)w->n + 1};
    w->n++;
}

static bool bytes_are_tokens(const struct bpe *b, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (b->byte_id[(unsigned char)p[i]] < 0)
            return false;
    return true;
}

/* The characters as parts; one that is no token becomes its bytes, or the unknown token. */
static void bpe_split_characters(const struct bpe *b, struct bpe_work *w, struct str word)
{
    bool unknown_before = false;
    w->n = 0;
    for (size_t i = 0, n; i < word.n; i += n) {
        n = str_utf8(word.p + i, word.n - i);
        n = n ? n : 1;
        int64_t id = bpe_find(b, str_sub(word, i, n));
        bool bytes = id < 0 && b->byte_fallback && bytes_are_tokens(b, word.p + i, n);
        for (size_t k = 0; bytes && k < n; k++)
            part_add(w, b->byte_id[(unsigned char)word.p[i + k]]);
        bool unknown = id < 0 && !bytes;
        if (id >= 0)
            part_add(w, id);
        else if (unknown && b->unknown >= 0 && !(unknown_before && b->fuse_unknown))
            part_add(w, b->unknown);
        unknown_before = unknown;
    }
    if (w->n)
        w->parts[w->n - 1].after = -1;
}

static bool candidate_is_sooner(const struct bpe_candidate *a, const struct bpe_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(struct bpe_work *w, struct bpe_candidate c)
{
    size_t i = w->heap_n++;
    for (; i && candidate_is_sooner(&c, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = c;
}

/* Removes and returns the first candidate of a heap that is not empty. */
static struct bpe_candidate heap_pop(struct bpe_work *w)
{
    struct bpe_candidate top = w->heap[0], last = w->heap[--w->heap_n];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < w->heap_n) {
        if (child + 1 < w->heap_n && candidate_is_sooner(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!candidate_is_sooner(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

static void heap_offer_merge(const struct bpe *b, struct bpe_work *w, int32_t at)
{
    if (at < 0 || w->parts[at].after < 0)
        return;
    const struct bpe_merge *m = merge_of(b, w->parts[at].id, w->parts[w->parts[at].after].id);
    if (m->used)
        heap_push(w, (struct bpe_candidate){m->rank, m->whole, at});
}

/* Merges the parts of a word by rank until no merge applies. */
static void merge_all(const struct bpe *b, struct bpe_work *w)
{
    w->heap_n = 0;
    for (size_t i = 0; i + 1 < w->n; i++)
        heap_offer_merge(b, w, (int32_t)i);
    while (w->heap_n) {
        struct bpe_candidate c = heap_pop(w);
        struct bpe_part *p = &w->parts[c.at];
        if (p->dead || p->after < 0)
            continue;
        struct bpe_part *q = &w->parts[p->after];
        const struct bpe_merge *m = merge_of(b, p->id, q->id);
        if (!m->used || m->whole != c.whole || m->rank != c.rank)
            continue; /* one of the two was merged since */
        p->id = c.whole;
        p->after = q->after;
        q->dead = true;
        if (p->after >= 0)
            w->parts[p->after].before = c.at;
        heap_offer_merge(b, w, p->before);
        heap_offer_merge(b, w, c.at);
    }
}

void bpe_encode(const struct bpe *b, struct bpe_work *w, struct str word, struct ids *to)
{
    int64_t whole = b->whole_first ? bpe_find(b, word) : -1;
    if (whole >= 0) {
        ids_add(to, (uint32_t)whole);
        return;
    }
    if (word.n >= INT32_MAX / 8 || !room_for(w, word.n)) {
        to->failed = true;
        return;
    }
    bpe_split_characters(b, w, word);
    merge_all(b, w);
    for (int32_t i = w->n ? 0 : -1; i >= 0; i = w->parts[i].after)
        ids_add(to, w->parts[i].id);
}
