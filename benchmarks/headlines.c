/* headlines.c: the few metrics that say what a benchmark is about, for listings and summaries (tag benchwrap.headline). */
#include "benchmarks/headlines.h"

#include "base/buf.h"

#include <stdio.h>

enum {
    TAG_MAX = 4000,
    /* bytes, as readers of the tag expect */ GUESSED = 3
}; /* of rules that guess, the first figures stand for the program */

static bool headline_means(struct str wanted, const struct series *s, const char *stat)
{
    const char *own = s->rule->many == MANY_SERIES && s->rule->headline ? s->rule->headline : "";
    if (str_eq(wanted, s->name))
        return strcmp(stat, own) == 0 ||
               (s->rule->stat && s->rule->better != DIR_NONE) /* the program's own statistics: the first that the rules name */ ||
               (s->rule->many != MANY_SERIES && s->rule->headline && strcmp(stat, s->rule->headline) == 0);
    return wanted.n > s->name.n + 1 && memcmp(wanted.p, s->name.p, s->name.n) == 0 && wanted.p[s->name.n] == '.' &&
           str_is(str_sub(wanted, s->name.n + 1, wanted.n), stat);
}

static const struct headline_key *headline_seen(const struct headlines *h, size_t rank, int block)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->key[i].rank == rank && h->key[i].block == block)
            return &h->key[i];
    return NULL;
}

static void headline_add(struct headlines *h, size_t rank, struct str name, int block, const char *key)
{
    if (rank >= HEADLINES_MAX || h->n == HEADLINE_KEYS_MAX || headline_seen(h, rank, block))
        return;
    struct headline_key *to = &h->key[h->n++];
    *to = (struct headline_key){.rank = rank, .name = name, .block = block};
    snprintf(to->key, sizeof to->key, "%s", key);
}

/* The rank that a series of this name has in other tests of the output, else the next. */
static size_t rank_of(const struct headlines *h, struct str name)
{
    size_t next = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (str_eq(h->key[i].name, name))
            return h->key[i].rank;
        next = h->key[i].rank >= next ? h->key[i].rank + 1 : next;
    }
    return next;
}

void headlines_note(struct headlines *h, const struct rules *rules, const struct series *s, int block, const char *stat, const char *key)
{
    h->guessed |= rules->guess;
    for (size_t i = 0; rules->guess && i < GUESSED; i++)
        if (!headline_seen(h, i, block)) {
            headline_add(h, i, s->name, block, key);
            return;
        }
    for (size_t i = 0; i < rules->headlines; i++)
        if (headline_means(rules->headline[i], s, stat))
            headline_add(h, i, s->name, block, key);
    if (!rules->guess && !rules->headlines && s->rule->is_headline && headline_means(s->name, s, stat))
        headline_add(h, rank_of(h, s->name), s->name, block, key);
}

void headlines_record(const struct headlines *h, struct record *record)
{
    struct buf text;
    buf_init(&text, TAG_MAX + sizeof " run.wall_s");
    for (size_t rank = 0; rank < HEADLINES_MAX; rank++) {
        const struct headline_key *whole = headline_seen(h, rank, -1);
        for (size_t i = 0; i < h->n; i++)
            if ((whole ? &h->key[i] == whole : h->key[i].rank == rank) && text.n < TAG_MAX - sizeof h->key[i].key)
                buf_printf(&text, "%s%s", text.n ? " " : "", h->key[i].key);
    }
    if (text.n && h->guessed) /* a guess alone says little */
        buf_puts(&text, " run.wall_s");
    if (text.n)
        record_tag(record, "benchwrap.headline", buf_text(&text));
    buf_deinit(&text);
}
