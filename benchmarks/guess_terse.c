/* guess_terse.c: lines of values without a header: "3;fio-3.33;job;0;0;1024;…", "+F:6:sha256:929.3", pairs of numbers. */
#include "benchmarks/guess_parts.h"

enum { FIELDS_MAX = 200, ROWS_MAX = 2000, TEXT_MAX = 8000, NUMBERS_MIN = 3, BARE_ROWS_MIN = 3 };

struct field {
    struct str first, last;
    bool numeric, words, varied, distinct, zero, stamp;
};
struct terse {
    struct field field[FIELDS_MAX];
    struct str split[FIELDS_MAX];
    size_t fields, rows;
    char separator; /* ' ': any blanks */
};

/* 0: too many, or there are quotes. */
static size_t split_terse_fields(struct str line, char separator, struct str *to)
{
    size_t n = 0;
    struct str word;
    if (memchr(line.p, '"', line.n))
        return 0;
    if (separator == ' ')
        for (; (word = str_word(&line)).n; to[n++] = word)
            if (n == FIELDS_MAX)
                return 0;
    while (separator != ' ' && line.p) {
        if (n == FIELDS_MAX)
            return 0;
        to[n++] = str_trim(str_cut(&line, separator));
    }
    return n;
}

/* Returns whether the number is probably a time stamp: seconds or milliseconds since 1970, or
 * 20261122101500. */
static bool is_stamp(struct str s)
{
    const char *dot = memchr(s.p, '.', s.n);
    size_t n = dot ? (size_t)(dot - s.p) : s.n;
    bool exact = n == s.n || s.n - n > 3; /* a rate of ten digits has two places */
    return ((n == 10 || n == 13) && s.p[0] == '1' && exact) || (n == 14 && s.p[0] == '2' && s.p[1] == '0');
}

static bool is_zero(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= '1' && s.p[i] <= '9')
            return false;
    return true;
}

/* Mostly numbers, and so many that it is no sentence. */
static bool is_terse_useful(const struct str *f, size_t n, char separator)
{
    size_t numbers = 0, filled = 0, fractions = 0;
    for (size_t i = 0; i < n; i++) {
        bool number = guess_is_number(f[i]);
        numbers += number;
        filled += f[i].n > 0;
        fractions += number && memchr(f[i].p, '.', f[i].n);
        if (f[i].n && memchr(f[i].p, '=', f[i].n) && guess_letters(f[i])) /* named */
            return false;
    }
    if (separator == ' ')
        return n >= 2 && numbers == n && fractions;
    return n > NUMBERS_MIN && numbers >= NUMBERS_MIN && (numbers * 2 >= filled || numbers >= 8) && (separator != ':' || fractions);
}

static bool is_row(const struct guess *g, size_t i, struct terse *t)
{
    const struct guess_line *l = &g->line[i];
    return l->clean && !l->used && split_terse_fields(l->text, t->separator, t->split) == t->fields &&
           is_terse_useful(t->split, t->fields, t->separator);
}

/* Updates what is known of each field by the row in t->split. */
static void take_row(struct terse *t)
{
    for (size_t k = 0; k < t->fields; k++) {
        struct field *c = &t->field[k];
        struct str s = t->split[k];
        if (!t->rows)
            *c = (struct field){.first = s, .numeric = true, .words = true, .distinct = true, .zero = true};
        c->numeric = c->numeric && guess_is_number(s);
        c->words = c->words && guess_letters(s) && !str_is_digit(s.p[0]) && s.n <= 60 && !memchr(s.p, '{', s.n);
        c->varied = c->varied || !str_eq(s, c->first);
        c->distinct = c->distinct && !(t->rows && str_eq(s, c->last));
        c->zero = c->zero && is_zero(s);
        c->stamp = c->stamp || is_stamp(s);
        c->last = s;
    }
    t->rows++;
}

/* The field of words that distinguishes rows; t->fields: none. */
static size_t label_of(const struct terse *t)
{
    for (int distinct = 1; distinct >= 0; distinct--)
        for (size_t k = 0; k < t->fields; k++)
            if (t->field[k].words && t->field[k].varied && (t->field[k].distinct || !distinct))
                return k;
    return t->fields;
}

/* Returns the reader's specification of lines with separated fields, of which those in `wanted`
 * become metrics. In the arena; NULL: too long, or out of memory. */
static const char *terse_spec(struct guess *g, const struct terse *t, const bool *wanted)
{
    bool bare = t->separator == ' ';
    char sep[3] = {t->separator == '\t' ? '\\' : t->separator, t->separator == '\t' ? 't' : 0, 0};
    size_t skipped = 0;
    CLEANUP_BUF struct buf b, pattern;
    buf_init(&pattern, TEXT_MAX);
    buf_init(&b, 2 * TEXT_MAX);
    buf_puts(&pattern, bare ? "^\\s*" : "^");
    for (size_t k = 0; k < t->fields; k++) {
        bool last = k + 1 == t->fields;
        if (bare)
            buf_printf(&pattern, "(?<c%zu>[-+\\d.eE]+)%s", k + 1, last ? "\\s*$" : "\\s+");
        else if (wanted[k]) {
            if (skipped)
                buf_printf(&pattern, "(?:[^%s]*%s){%zu}", sep, sep, skipped);
            buf_printf(&pattern, "(?<c%zu>[^%s]*)%s", k + 1, sep, last ? "$" : sep);
            skipped = 0;
        } else
            skipped++;
    }
    if (skipped > 1)
        buf_printf(&pattern, "(?:[^%s]*%s){%zu}", sep, sep, skipped - 1);
    if (skipped)
        buf_printf(&pattern, "[^%s]*$", sep);
    buf_puts(&b, "# Fields have no names here: field_3 is the third. Write their names, units and directions.\n    regex: ");
    guess_quoted(&b, buf_text(&pattern));
    return b.failed || pattern.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

/* Adds a reader for rows of fields without a header, with the fields that can be results as
 * metrics. */
static void guess_terse_propose(struct guess *g, size_t at, const struct terse *t)
{
    bool wanted[FIELDS_MAX] = {false};
    size_t label = label_of(t), metrics = 0;
    const struct field *first = &t->field[0];
    int64_t whole;
    bool steps = t->separator == ' ' && first->distinct && str_int(first->first, &whole) && str_int(first->last, &whole);
    for (size_t k = 0; k < t->fields && metrics < GUESS_METRICS_MAX; k++) {
        const struct field *c = &t->field[k];
        wanted[k] = c->numeric && !c->zero && !c->stamp && !(steps && k == 0);
        metrics += wanted[k];
    }
    struct guess_reader *r = metrics ? guess_reader_add(g, "terse", at) : NULL;
    if (!r)
        return;
    const char *prefix = label < t->fields ? arena_printf(&g->arena, "{c%zu}.", label + 1) : NULL;
    for (size_t k = 0; k < t->fields; k++) {
        const char *name = wanted[k] ? arena_printf(&g->arena, "field %zu", k + 1) : NULL;
        struct guess_metric *m = name ? guess_metric_add(g, r, prefix, str_of(name), arena_printf(&g->arena, "c%zu", k + 1), NULL) : NULL;
        if (m) {
            m->better = DIR_NONE;
            m->series = t->rows > 1 && !prefix;
            m->step = steps ? "c1" : NULL;
        }
    }
    if (label < t->fields)
        wanted[label] = true;
    r->spec = terse_spec(g, t, wanted);
}

/* Numbers alone are trusted where several such lines are adjacent, and no table has rows of the
 * same form. */
static bool is_terse_alone(const struct guess *g, struct terse *t)
{
    for (size_t i = 0; i < g->lines; i++)
        if (g->line[i].used && g->line[i].plain && split_terse_fields(g->line[i].text, ' ', t->split) == t->fields &&
            is_terse_useful(t->split, t->fields, ' '))
            return false;
    return true;
}

/* Adds a reader for the rows without a header from line `at` on. Returns false where they are
 * none. */
static bool take_terse(struct guess *g, size_t at, struct terse *t, char separator)
{
    bool bare = separator == ' ';
    t->separator = separator;
    t->rows = 0;
    t->fields = split_terse_fields(g->line[at].text, separator, t->split);
    if (t->fields < 2 || !is_row(g, at, t) || guess_is_number(str_trim(g->line[at].text)))
        return false;
    size_t end = at;
    for (size_t i = at; i < g->lines && t->rows < ROWS_MAX; i++) {
        if (!is_row(g, i, t)) {
            if (bare)
                break;
            continue;
        }
        take_row(t);
        end = i;
    }
    if (bare && (t->rows < BARE_ROWS_MIN || !is_terse_alone(g, t)))
        return false;
    guess_terse_propose(g, at, t);
    for (size_t i = at; i <= end; i++)
        g->line[i].used = g->line[i].used || is_row(g, i, t);
    return true;
}

void guess_terse(struct guess *g)
{
    struct terse *t = ARENA_NEW(&g->arena, struct terse);
    for (size_t i = 0; t && i < g->lines && g->readers < GUESS_READERS_MAX; i++)
        for (const char *s = ";\t,: "; g->line[i].clean && !g->line[i].used && *s; s++)
            if (memchr(g->line[i].text.p, *s, g->line[i].text.n) && take_terse(g, i, t, *s))
                break;
}
