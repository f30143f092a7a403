/* prefilter.c: Aho and Corasick's automaton as a dense table over the classes of bytes that occur in the literals. */
#include "benchmarks/prefilter.h"

#include <stdlib.h>

enum { STATES_MAX = 60000 };

struct prefilter {
    uint8_t class_of[256];
    unsigned classes;
    unsigned states;
    uint32_t *next; /* [states][classes]: row offset of the next state, lowest bit: something ends there */
    struct prefilter_mask *found; /* [states] */
};

static void assign_classes(struct prefilter *f, const struct prefilter_literal *l, size_t n)
{
    f->classes = 1; /* class 0: bytes in no literal */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l[i].text.n; k++) {
            uint8_t c = (uint8_t)l[i].text.p[k];
            if (!f->class_of[c])
                f->class_of[c] =
                    (uint8_t)(f->classes < 255 ? f->classes++ : 254); /* 255 classes: rare bytes share one, checked by the reader anyway */
        }
}

/* The trie; children are state numbers, 0 = none. */
static bool build_trie(struct prefilter *f, const struct prefilter_literal *l, size_t n, size_t room)
{
    f->states = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned s = 0;
        for (size_t k = 0; k < l[i].text.n; k++) {
            uint32_t *child = &f->next[(size_t)s * f->classes + f->class_of[(uint8_t)l[i].text.p[k]]];
            if (!*child) {
                if (f->states >= room)
                    return false;
                *child = f->states++;
            }
            s = *child;
        }
        prefilter_set(&f->found[s], l[i].bit);
    }
    return true;
}

static bool any(const struct prefilter_mask *m)
{
    uint64_t all = 0;
    for (size_t i = 0; i < PREFILTER_BITS / 64; i++)
        all |= m->word[i];
    return all != 0;
}

/* Failure links breadth first; missing children become those of the failure state. */
static bool close_automaton(struct prefilter *f)
{
    unsigned *fail = calloc(f->states, sizeof(*fail)), *queue = malloc(f->states * sizeof(*queue));
    size_t head = 0, tail = 0;
    bool good = fail && queue;
    for (unsigned c = 0; good && c < f->classes; c++)
        if (f->next[c])
            queue[tail++] = f->next[c];
    while (good && head < tail) {
        unsigned s = queue[head++];
        for (size_t i = 0; i < PREFILTER_BITS / 64; i++)
            f->found[s].word[i] |= f->found[fail[s]].word[i];
        for (unsigned c = 0; c < f->classes; c++) {
            uint32_t *child = &f->next[(size_t)s * f->classes + c], other = f->next[(size_t)fail[s] * f->classes + c];
            if (*child) {
                fail[*child] = other;
                queue[tail++] = *child;
            } else
                *child = other;
        }
    }
    for (size_t i = 0; good && i < (size_t)f->states * f->classes; i++) {
        unsigned s = f->next[i];
        f->next[i] = s * f->classes * 2 + (any(&f->found[s]) ? 1 : 0);
    }
    free(fail);
    free(queue);
    return good;
}

struct prefilter *prefilter_new(const struct prefilter_literal *literals, size_t n)
{
    struct prefilter *f = calloc(1, sizeof(*f));
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += literals[i].text.n;
    if (!f || room > STATES_MAX) {
        free(f);
        return NULL;
    }
    assign_classes(f, literals, n);
    f->next = calloc(room * f->classes, sizeof(*f->next));
    f->found = calloc(room, sizeof(*f->found));
    if (!f->next || !f->found || !build_trie(f, literals, n, room) || !close_automaton(f)) {
        prefilter_free(f);
        return NULL;
    }
    return f;
}

void prefilter_free(struct prefilter *f)
{
    if (f) {
        free(f->next);
        free(f->found);
        free(f);
    }
}

bool prefilter_scan(const struct prefilter *f, struct str line, struct prefilter_mask *ret)
{
    const uint32_t *next = f->next;
    const uint8_t *class_of = f->class_of, *p = (const uint8_t *)line.p, *end = p + line.n;
    uint32_t row = 0;
    bool hit = false;
    while (p < end) {
        uint32_t to = next[row + class_of[*p++]];
        row = to >> 1;
        if (to & 1) {
            const struct prefilter_mask *m = &f->found[row / f->classes];
            for (size_t i = 0; i < PREFILTER_BITS / 64; i++)
                ret->word[i] |= m->word[i];
            hit = true;
        }
    }
    return hit;
}
