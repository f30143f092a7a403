/* prefilter.c: Aho and Corasick's automaton as a dense table over the classes of bytes that occur in the literals. */
#include "benchmarks/prefilter.h"

#include <stdlib.h>

struct prefilter {
    uint8_t class_of[256];
    unsigned classes;
    unsigned states;
    uint32_t *next; /* [states][classes]: row offset of the next state, lowest bit: something ends there */
    struct prefilter_mask *found; /* [states] */
};

/* Assigns to each byte that occurs in a literal a class of its own; beyond 253 of them, bytes share
 * the last one. */
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

static bool mask_any(const struct prefilter_mask *m)
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
        f->next[i] = s * f->classes * 2 + (mask_any(&f->found[s]) ? 1 : 0);
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
    if (!f || room - 1 > PREFILTER_BYTES_MAX) {
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

static void prefilter_add_row(const struct prefilter *f, uint32_t row, struct prefilter_mask *ret)
{
    const struct prefilter_mask *m = &f->found[row / f->classes];
    for (size_t i = 0; i < PREFILTER_BITS / 64; i++)
        ret->word[i] |= m->word[i];
}

/* Continues from a row of the table. */
static bool scan_from(const struct prefilter *f, uint32_t row, const uint8_t *p, const uint8_t *end, struct prefilter_mask *ret)
{
    const uint32_t *next = f->next;
    const uint8_t *class_of = f->class_of;
    bool hit = false;
    while (p < end) {
        uint32_t to = next[row + class_of[*p++]];
        row = to >> 1;
        if (to & 1) {
            prefilter_add_row(f, row, ret);
            hit = true;
        }
    }
    return hit;
}

bool prefilter_scan(const struct prefilter *f, struct str line, struct prefilter_mask *ret)
{
    return scan_from(f, 0, (const uint8_t *)line.p, (const uint8_t *)line.p + line.n, ret);
}

/* Each step waits for the load before it, so four lines are walked side by side; a lane that has
 * finished gets the next line. */
enum { LANES = 4 };
struct lane {
    const uint8_t *p, *end;
    uint32_t row;
    struct prefilter_mask *mask;
};

/* Moves four lanes of text through the table for `steps` bytes at once, and marks in each lane the
 * patterns that may match. */
static void prefilter_walk(const struct prefilter *f, struct lane *l, size_t steps)
{
    const uint32_t *next = f->next;
    const uint8_t *class_of = f->class_of, *p0 = l[0].p, *p1 = l[1].p, *p2 = l[2].p, *p3 = l[3].p;
    uint32_t r0 = l[0].row, r1 = l[1].row, r2 = l[2].row, r3 = l[3].row;
    for (size_t i = 0; i < steps; i++) {
        r0 = next[r0 + class_of[p0[i]]];
        r1 = next[r1 + class_of[p1[i]]];
        r2 = next[r2 + class_of[p2[i]]];
        r3 = next[r3 + class_of[p3[i]]];
        uint32_t hits = r0 | r1 | r2 | r3, ends[LANES] = {r0 & 1, r1 & 1, r2 & 1, r3 & 1};
        r0 >>= 1;
        r1 >>= 1;
        r2 >>= 1;
        r3 >>= 1;
        if (hits & 1) {
            const uint32_t rows[LANES] = {r0, r1, r2, r3};
            for (size_t k = 0; k < LANES; k++)
                if (ends[k])
                    prefilter_add_row(f, rows[k], l[k].mask);
        }
    }
    const uint32_t rows[LANES] = {r0, r1, r2, r3};
    for (size_t k = 0; k < LANES; k++) {
        l[k].p += steps;
        l[k].row = rows[k];
    }
}

void prefilter_scan_all(const struct prefilter *f, const struct str *lines, size_t n, struct prefilter_mask *ret)
{
    struct lane lane[LANES] = {{NULL, NULL, 0, NULL}};
    size_t taken = 0;
    memset(ret, 0, n * sizeof(*ret));
    for (;;) {
        size_t steps = SIZE_MAX;
        for (size_t k = 0; k < LANES; k++) {
            while (lane[k].p == lane[k].end && taken < n) { /* empty lines are through at once */
                const uint8_t *p = (const uint8_t *)lines[taken].p;
                lane[k] = (struct lane){p, p + lines[taken].n, 0, &ret[taken]};
                taken++;
            }
            size_t left = (size_t)(lane[k].end - lane[k].p);
            steps = left < steps ? left : steps;
        }
        if (!steps)
            break;
        prefilter_walk(f, lane, steps);
    }
    for (size_t k = 0; k < LANES; k++)
        if (lane[k].p < lane[k].end)
            scan_from(f, lane[k].row, lane[k].p, lane[k].end, lane[k].mask);
}
