/* headlines.c: the headline metrics of a benchmark, for listings and summaries (tag
 * `benchwrap.headline`). */
#include "benchmarks/headlines.h"

#include "base/buf.h"
#include "mlruns-format/key.h"

#include <stdio.h>

enum {
    TAG_MAX = 4000, /* bytes, as readers of the tag expect */
    GUESSED = 3, /* of rules that guess, the first metrics represent the program */
    LOGGED = 8 /* of what it logged, the first metrics */
};

/* Returns whether the name of a headline metric in the rules means this statistic of the series:
 * the metric's name alone means its own headline statistic. */
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

/* Returns whether the program logged the metric, by `benchwrap log` or by its MLflow client
 * (--share-run). The tag has no place for a name with a blank. */
static bool is_logged_result(const struct fact *f)
{
    bool logged = f->kind == FACT_METRIC && f->source && (strcmp(f->source, "log") == 0 || strcmp(f->source, "mlflow") == 0);
    return logged && key_is_result(f->key.p) && !str_starts(f->key, "live.") && !str_starts(f->key, "system/") && !str_has(f->key, " ");
}

/* The first metrics that the program logged: those that its user chose to log are about it. */
static void put_logged(const struct record *record, struct buf *to)
{
    size_t n = 0;
    for (const struct fact *f = record->first; f && n < LOGGED; f = f->next) {
        if (!is_logged_result(f) || (to->n && str_has_word(to->p, f->key)) || f->key.n > TAG_MAX / LOGGED)
            continue;
        buf_printf(to, "%s" STR_FMT, to->n ? " " : "", STR_ARG(f->key));
        n++;
    }
}

/* Those of the rules, unless they are guesses: then what the program logged comes before them. */
static void put_with_logged(const struct headlines *h, const struct buf *text, struct record *record)
{
    CLEANUP_BUF struct buf all;
    const char *source = record->source;
    buf_init(&all, 2 * TAG_MAX + sizeof " run.wall_s");
    if (!text->n || h->guessed)
        put_logged(record, &all);
    if (all.n)
        record->source = "log";
    if (text->n)
        buf_printf(&all, "%s" STR_FMT "%s", all.n ? " " : "", STR_ARG(buf_text(text)), h->guessed ? " run.wall_s" : "");
    if (all.n)
        record_tag(record, "benchwrap.headline", buf_text(&all));
    record->source = source;
}

void headlines_record(const struct headlines *h, struct record *record)
{
    struct buf text;
    buf_init(&text, TAG_MAX);
    for (size_t rank = 0; rank < HEADLINES_MAX; rank++) {
        const struct headline_key *whole = headline_seen(h, rank, -1);
        for (size_t i = 0; i < h->n; i++)
            if ((whole ? &h->key[i] == whole : h->key[i].rank == rank) && text.n < TAG_MAX - sizeof h->key[i].key)
                buf_printf(&text, "%s%s", text.n ? " " : "", h->key[i].key);
    }
    put_with_logged(h, &text, record); /* a guess alone means little: add the wall time */
    buf_deinit(&text);
}

void rules_headline_logged(struct record *record)
{
    headlines_record(&(struct headlines){.n = 0}, record);
}
