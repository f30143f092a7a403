/* headlines.c: the few metrics that say what a benchmark is about, for listings and summaries (tag benchwrap.headline). */
#include "benchmarks/headlines.h"

#include "base/buf.h"

#include <stdio.h>

enum { GUESSED = 3 }; /* of rules that guess, the first figures stand for the program */

static bool means(struct str wanted, const struct series *s, const char *stat)
{
    const char *own = s->rule->many == MANY_SERIES && s->rule->headline ? s->rule->headline : "";
    if (str_eq(wanted, s->name))
        return strcmp(stat, own) == 0 ||
               (s->rule->stat && s->rule->better != DIR_NONE) /* the program's own statistics: the first that the rules name */ ||
               (s->rule->many != MANY_SERIES && s->rule->headline && strcmp(stat, s->rule->headline) == 0);
    return wanted.n > s->name.n + 1 && memcmp(wanted.p, s->name.p, s->name.n) == 0 && wanted.p[s->name.n] == '.' &&
           str_is(str_sub(wanted, s->name.n + 1, wanted.n), stat);
}

void headlines_note(struct headlines *h, const struct rules *rules, const struct series *s, const char *stat, const char *key)
{
    h->guessed |= rules->guess;
    for (size_t i = 0; rules->guess && i < GUESSED; i++)
        if (!h->key[i][0]) {
            snprintf(h->key[i], sizeof h->key[i], "%s", key);
            return;
        }
    for (size_t i = 0; i < rules->headlines; i++)
        if (!h->key[i][0] && means(rules->headline[i], s, stat))
            snprintf(h->key[i], sizeof h->key[i], "%s", key);
}

void headlines_record(const struct headlines *h, struct record *record)
{
    struct buf text;
    buf_init(&text, HEADLINES_MAX * (NAME_MAX_BYTES + 1) + sizeof " run.wall_s");
    for (size_t i = 0; i < HEADLINES_MAX; i++)
        if (h->key[i][0])
            buf_printf(&text, "%s%s", text.n ? " " : "", h->key[i]);
    if (text.n && h->guessed) /* a guess alone says little */
        buf_puts(&text, " run.wall_s");
    if (text.n)
        record_tag(record, "benchwrap.headline", buf_text(&text));
    buf_deinit(&text);
}
