/* guess_lines.c: lines with results that have a name ("total time: 3.06s", "bw=18.4MiB/s, iops=4705"): what the grammar of figure.h finds, as patterns.
 * Also lines with what was requested ("threads: 16", "block size: 4 KiB"): params. */
#include "benchmarks/figure.h"
#include "benchmarks/guess_parts.h"
#include "benchmarks/number.h"

enum { SPOTS_MAX = FIGURES_MAX + 8, TEXT_MAX = 4000, PARAM_MAX = 80 };

struct spot { /* a number of the line that is used */
    size_t from, to; /* its digits, of a param with a unit of bytes that too */
    struct str unit; /* as printed behind it, where the rules can read it; empty: none */
    const struct figure *figure; /* NULL: a param */
    struct str label; /* of a param */
    bool size; /* a param in bytes */
};
struct section {
    struct str title;
    size_t indent;
    bool open;
};
struct rising { /* a whole number of a line that no result uses: does it grow from each line to the next? */
    int64_t last;
    bool rises, is_size;
};
struct seen_line { /* lines of the same pattern are one reader */
    const char *pattern, *section, *until;
    struct guess_reader *reader;
    struct rising rising[GUESS_LOOSE_MAX];
    size_t lines;
    struct seen_line *next;
};

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* ---- what is used of a line ---- */

/* The words before the ":" or "=" that ends `before`, behind the last comma or pair of blanks. */
static struct str param_label(struct str before)
{
    size_t n = before.n;
    while (n && one_of(before.p[n - 1], " \t=:"))
        n--;
    size_t from = n;
    while (from &&
           !(one_of(before.p[from - 1], ",;|\t)]=:") || (from > 1 && before.p[from - 1] == ' ' && one_of(before.p[from - 2], " \t"))))
        from--;
    return str_trim(str_sub(before, from, n - from));
}

/* "4 KiB" behind "block size: ": where the unit ends; `to` if there is none. */
static size_t size_end(struct str line, size_t to)
{
    size_t from = to;
    while (from < line.n && line.p[from] == ' ')
        from++;
    size_t end = from;
    while (end < line.n && !one_of(line.p[end], " \t,;()[]|"))
        end++;
    const struct unit *u = end > from ? guess_unit(str_sub(line, from, end - from)) : NULL;
    return u && !strcmp(u->dimension, "byte") ? end : to;
}

/* A whole number, or a size in bytes, behind "name:" or "name=", at the place. */
static bool param_at(struct str line, size_t at, struct spot *ret)
{
    int64_t whole;
    size_t i = at, n = at && one_of(line.p[at - 1], " \t=:") ? guess_number(str_sub(line, at, line.n)) : 0, to = at + n;
    while (i && one_of(line.p[i - 1], " \t"))
        i--;
    if (!n || !i || !one_of(line.p[i - 1], "=:"))
        return false;
    size_t end = size_end(line, to);
    bool size = end > to, ends = size || to == line.n || one_of(line.p[to], " \t,;)");
    *ret = (struct spot){.from = at, .to = end, .size = size, .label = param_label(str_sub(line, 0, i))};
    struct str behind = str_trim(str_sub(line, end, line.n)), word = str_word(&behind);
    bool other = !size && guess_unit(word) && end < line.n && line.p[end] != ','; /* "timeout: 5 s" */
    bool plain = guess_letters(ret->label) && ret->label.n <= PARAM_MAX && !guess_is_noise(ret->label) &&
                 str_find(ret->label, STR(" -")) < 0 && str_find(ret->label, STR(",-")) < 0;
    return ends && plain && !other && guess_is_param(ret->label) && (size || str_int(str_sub(line, at, n), &whole));
}

/* Fills `to` with the places of the line's metrics, or of its params if it has no metric, from left to
 * right. Returns how many there are, at most SPOTS_MAX. */
static size_t find_spots(struct str line, const struct figure *f, size_t figures, struct spot *to)
{
    size_t n = 0;
    for (size_t at = 0; at < line.n && n < SPOTS_MAX; at++) {
        size_t k = 0;
        while (k < figures && f[k].digits.p != line.p + at)
            k++;
        if (k < figures) {
            bool word = f[k].printed.n && !memchr(f[k].printed.p, ' ', f[k].printed.n), /* not "requests per second" */
                unit = word && f[k].unit && units_find(f[k].printed) == f[k].unit && guess_contract(f[k].unit);
            to[n] = (struct spot){.from = at, .to = at + f[k].digits.n, .figure = &f[k], .unit = unit ? f[k].printed : (struct str){"", 0}};
            at = to[n++].to - 1;
        } else if (!figures && str_is_digit(line.p[at]) && param_at(line, at, &to[n]))
            at = to[n++].to - 1;
    }
    return n;
}

/* ---- patterns ---- */

/* Has the name a number ("phase 3 time")? Then the line of the next phase is another one. */
static bool has_digit(const char *name)
{
    return strpbrk(name, "0123456789") != NULL;
}

/* Returns a pattern of the line in the arena: each of the n numbers is a group v<k>, its unit a
 * group u<k>. loose: other numbers that may vary. NULL: too long, or out of memory. */
static const char *line_pattern(struct guess *g, struct str line, const struct spot *s, size_t n, struct loose_numbers *loose)
{
    CLEANUP_BUF struct buf b;
    size_t at = 0;
    buf_init(&b, TEXT_MAX);
    while (at < line.n && one_of(line.p[at], " \t"))
        at++;
    buf_puts(&b, at ? "^\\s+" : "^");
    for (size_t k = 0; k < n; k++) {
        struct str digits = str_sub(line, s[k].from, s[k].to - s[k].from);
        guess_pattern_numbers(&b, str_sub(line, at, s[k].from - at), s[k].figure && has_digit(s[k].figure->name), loose);
        buf_printf(&b, "(?<v%zu>[-+\\d.%seE]+%s)", k, memchr(digits.p, ',', digits.n) ? "," : "", s[k].size ? "\\s*[A-Za-z]+" : "");
        at = s[k].to;
        if (!s[k].unit.n)
            continue;
        size_t from = (size_t)(s[k].unit.p - line.p);
        guess_pattern_numbers(&b, str_sub(line, at, from - at), false, loose);
        buf_printf(&b, "(?<u%zu>[^\\s\\d,;()\\[\\]]+)", k);
        at = from + s[k].unit.n;
    }
    struct str tail = str_trim(str_sub(line, at, line.n)); /* "[ms] (mean)" is not "[ms] (mean, across all)" */
    if (tail.n && tail.n < 60 && guess_letters(tail)) {
        guess_pattern_numbers(&b, str_sub(line, at, line.n), false, loose);
        buf_puts(&b, "\\s*$");
    }
    return b.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

/* Returns the pattern of the line that begins the section, in g's arena. NULL: too long, or out of
 * memory. */
static const char *section_pattern(const struct section *s, struct guess *g)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_puts(&b, "^\\s*");
    guess_pattern(&b, s->title, false);
    buf_puts(&b, ":\\s*$");
    return b.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

/* ---- sizes that lines begin with ---- */

/* Updates, for each number that no result uses, whether it grows from line to line. */
static void rising_see(struct seen_line *l, struct str line, const struct loose_numbers *loose)
{
    for (size_t i = 0; i < loose->n; i++) {
        struct rising *r = &l->rising[i];
        struct str number = loose->number[i], rest = str_sub(line, (size_t)(number.p + number.n - line.p), line.n), word = str_word(&rest);
        const struct unit *u = guess_unit(word);
        int64_t value;
        bool whole = str_int(number, &value);
        r->rises = whole && (!l->lines || (r->rises && value > r->last));
        r->is_size = !l->lines ? u && !strcmp(u->dimension, "byte") : r->is_size;
        r->last = whole ? value : 0;
    }
    l->lines++;
}

/* Makes the number that grows in all lines the step of the reader: of " 7: 64 bytes 812 times
 * --> 9.8 Mbps" the size, which comes before other numbers. Out of memory: the reader stays as
 * it is. */
static void rising_to_step(struct guess *g, struct seen_line *l)
{
    enum { LINES_MIN = 3 };
    size_t best = GUESS_LOOSE_MAX;
    for (size_t i = 0; i < GUESS_LOOSE_MAX && l->lines >= LINES_MIN; i++)
        if (l->rising[i].rises && (best == GUESS_LOOSE_MAX || (l->rising[i].is_size && !l->rising[best].is_size)))
            best = i;
    const char *at = l->pattern;
    for (size_t i = 0; at && i <= best; i++)
        at = strstr(i ? at + 1 : at, GUESS_LOOSE_NUMBER);
    if (best == GUESS_LOOSE_MAX || !at)
        return;
    CLEANUP_BUF struct buf pattern, spec;
    buf_init(&pattern, 2 * TEXT_MAX);
    buf_init(&spec, 4 * TEXT_MAX);
    buf_add(&pattern, l->pattern, (size_t)(at - l->pattern));
    buf_printf(&pattern, "(?<step>\\d+)%s", at + strlen(GUESS_LOOSE_NUMBER));
    buf_puts(&spec, "regex: ");
    guess_quoted(&spec, buf_text(&pattern));
    const char *text = pattern.failed || spec.failed ? NULL : arena_dup(&g->arena, spec.p, spec.n);
    if (!text)
        return;
    l->reader->spec = text;
    for (size_t i = 0; i < l->reader->metrics; i++)
        if (l->reader->metric[i].series)
            l->reader->metric[i].step = "step";
}

/* ---- readers ---- */

/* Makes each metric a series whose value in this line differs from the first one. */
static void same_pattern_again(struct guess_reader *r, struct str line, const struct spot *s)
{
    for (size_t i = 0; i < r->metrics; i++) {
        int64_t k;
        double v;
        if (!str_int(str_sub(str_of(r->metric[i].cell), 1, 9), &k))
            continue;
        struct str number = str_sub(line, s[k].from, s[k].to - s[k].from);
        if (number_parse(number, NUMBER_SI, &v) == NUMBER_GOOD && v != r->metric[i].first)
            r->metric[i].series = true;
    }
}

/* Adds a metric for each spot with a result, and a param for each other one. */
static void take_spots(struct guess *g, struct guess_reader *r, const struct spot *s, size_t n, const char *key)
{
    for (size_t k = 0; k < n; k++) {
        const struct figure *f = s[k].figure;
        const char *cell = arena_printf(&g->arena, "v%zu", k);
        if (!f) {
            guess_param_add(g, r, s[k].label, cell, s[k].size ? "size" : "integer");
            continue;
        }
        struct str name = str_of(f->name), section = str_sub(name, 0, f->section);
        const char *prefix = f->section ? arena_printf(&g->arena, "%s.", guess_segment(section, &g->arena)) : "";
        if (key)
            prefix = arena_printf(&g->arena, "{%s}.%s", key, prefix);
        struct guess_metric *m = guess_metric_add(g, r, prefix, str_trim(str_sub(name, f->section, name.n)), cell, f->unit);
        if (!m)
            return;
        if (s[k].unit.n && m->unit)
            m->unit_cell = arena_printf(&g->arena, "u%zu", k);
        else if (f->unit && m->unit)
            m->from = f->unit->name;
        number_parse(f->digits, NUMBER_SI, &m->first);
    }
}

/* "Method: MEMCPY … Copy: 2458 MiB/s" among lines of other methods: a word that distinguishes
 * tests. */
struct key_word {
    struct str label, word;
};

/* Behind the value "CPU" of "Verification: CPU time used = 3" its text continues. */
static bool value_ends(struct str line, size_t at)
{
    struct str rest = str_sub(line, at, line.n), next = str_word(&rest);
    return at + 1 < line.n &&
           (one_of(line.p[at], "\t,;") || one_of(line.p[at + 1], " \t") || memchr(next.p, ':', next.n) || memchr(next.p, '=', next.n));
}

/* Returns whether the words around the colon are a label and its value, which are then in *ret. */
static bool key_word_at(struct str line, size_t colon, struct key_word *ret)
{
    size_t from = colon, at = colon + 1;
    while (from && (guess_letters(str_sub(line, from - 1, 1)) || line.p[from - 1] == '_'))
        from--;
    while (at < line.n && one_of(line.p[at], " \t"))
        at++;
    size_t to = at;
    while (to < line.n && !one_of(line.p[to], " \t,;=:()[]|"))
        to++;
    *ret = (struct key_word){str_sub(line, from, colon - from), str_sub(line, at, to - at)};
    return colon > from && colon - from < 24 && to > at && to - at < 32 && guess_letters(str_sub(line, at, 1)) && value_ends(line, to);
}

/* The first such pair whose word is another one in another line that has the same label there. */
static bool find_key_word(const struct guess *g, size_t number, struct key_word *ret)
{
    enum { NEAR = 50, PAIRS = 4 }; /* bounds of the work on a hostile output */
    struct str line = g->line[number].text;
    size_t pairs = 0;
    for (size_t colon = 1; colon < line.n && pairs < PAIRS; colon++) {
        if (line.p[colon] != ':' || !key_word_at(line, colon, ret))
            continue;
        pairs++;
        for (size_t i = number > NEAR ? number - NEAR : 0; i < g->lines && i < number + NEAR; i++) {
            struct key_word other;
            struct str text = g->line[i].text;
            ptrdiff_t at = g->line[i].plain ? str_find(text, str_sub(line, colon - ret->label.n, ret->label.n + 1)) : -1;
            if (at >= 0 && key_word_at(text, (size_t)at + ret->label.n, &other) && str_eq(other.label, ret->label) &&
                !str_eq(other.word, ret->word))
                return true;
        }
    }
    return false;
}

/* The pattern with a group in the word's place; the pattern itself if the word is not there. */
static const char *with_key_word(struct guess *g, const char *pattern, const struct key_word *k, const char *segment)
{
    CLEANUP_BUF struct buf was, b;
    buf_init(&was, TEXT_MAX);
    buf_init(&b, TEXT_MAX);
    guess_pattern(&was, (struct str){k->label.p, (size_t)(k->word.p + k->word.n - k->label.p)}, false);
    const char *at = was.n ? strstr(pattern, was.p) : NULL;
    if (!at)
        return pattern;
    buf_add(&b, pattern, (size_t)(at - pattern));
    guess_pattern(&b, (struct str){k->label.p, (size_t)(k->word.p - k->label.p)}, false);
    buf_printf(&b, "(?<%s>[^\\s,;]+)%s", segment, at + was.n);
    return b.failed ? pattern : arena_dup(&g->arena, b.p, b.n);
}

/* "1m23.4s", "4.97 k iops" and "1,234" are no numbers to the rules. */
static size_t keep_readable(struct figure *f, size_t n)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++)
        if (f[k].digits.n)
            f[kept++] = f[k];
    return kept;
}

/* Adds a reader for the results of a line, or updates the reader of an earlier line with the same
 * pattern. */
static void take_line(struct guess *g, struct figure_context *x, size_t number, const struct section *s, struct seen_line **seen)
{
    struct str line = g->line[number].text;
    struct figure figure[FIGURES_MAX];
    struct spot spot[SPOTS_MAX];
    size_t figures = figure_find(x, line, figure), n = 0;
    if (!g->line[number].plain || g->line[number].used)
        return;
    n = find_spots(line, figure, keep_readable(figure, figures), spot);
    struct loose_numbers loose = {.n = 0};
    const char *pattern = n ? line_pattern(g, line, spot, n, &loose) : NULL, *section = s->open ? section_pattern(s, g) : NULL,
               *until = section ? arena_printf(&g->arena, "^\\s{0,%zu}\\S", s->indent) : NULL;
    if (!pattern)
        return;
    struct key_word key = {0};
    const char *segment = find_key_word(g, number, &key) ? guess_segment(key.label, &g->arena) : NULL;
    const char *keyed = segment ? with_key_word(g, pattern, &key, segment) : pattern;
    if (!keyed || !strcmp(keyed, pattern))
        segment = NULL;
    else
        pattern = keyed;
    bool elsewhere = false;
    for (struct seen_line *l = *seen; l; l = l->next) {
        if (strcmp(l->pattern, pattern))
            continue;
        if ((!section && !l->section) || (section && l->section && !strcmp(l->section, section))) {
            same_pattern_again(l->reader, line, spot);
            rising_see(l, line, &loose);
            return;
        }
        if (l->section) {
            l->reader->section = l->section;
            l->reader->until = l->until;
        }
        elsewhere = true;
    }
    struct seen_line *l = ARENA_NEW(&g->arena, struct seen_line);
    struct guess_reader *r = l ? guess_reader_add(g, "line", number) : NULL;
    if (!r)
        return;
    CLEANUP_BUF struct buf spec;
    buf_init(&spec, 2 * TEXT_MAX);
    buf_puts(&spec, "regex: ");
    guess_quoted(&spec, str_of(pattern));
    r->spec = arena_dup(&g->arena, spec.p, spec.n);
    r->section = elsewhere ? section : NULL;
    r->until = elsewhere ? until : NULL;
    take_spots(g, r, spot, n, segment);
    *l = (struct seen_line){.pattern = pattern, .section = section, .until = until, .reader = r, .next = *seen};
    rising_see(l, line, &loose);
    *seen = l;
}

void guess_named_numbers(struct guess *g)
{
    struct section section = {0};
    struct seen_line *seen = NULL;
    struct figure_context context = {0};
    for (size_t i = 0; i < g->lines; i++) {
        struct str line = g->line[i].text, words = str_trim(line);
        size_t indent = 0;
        while (indent < line.n && one_of(line.p[indent], " \t"))
            indent++;
        if (section.open && words.n && indent <= section.indent)
            section.open = false;
        if (g->line[i].plain && str_ends(words, ":") && words.n < 80 && guess_letters(words))
            section = (struct section){str_trim(str_sub(words, 0, words.n - 1)), indent, true};
        take_line(g, &context, i, &section, &seen);
    }
    for (struct seen_line *l = seen; l; l = l->next)
        rising_to_step(g, l);
}
