/* guess_lines.c: lines with numbers that have a name: "total time: 3.06s", "bw=18.4MiB/s, iops=4705", "Requests/sec: 2733 [#/sec]". */
#include "benchmarks/guess_parts.h"
#include "benchmarks/number.h"

#include <math.h>

enum { NUMBERS_MAX = 16, TEXT_MAX = 4000 };

struct found {
    size_t from, n; /* the number */
    size_t unit_from; /* its unit as it stands, brackets left out; unit.n 0: none */
    struct str unit;
    struct str label; /* the words that name it */
    bool suffix; /* k, M or G behind it, part of the number */
    bool strong; /* "label:" or "label=" */
    size_t end; /* behind number and unit */
};
struct section {
    struct str title;
    size_t indent;
    bool open;
};
struct seen_line { /* lines of the same pattern are one reader */
    const char *pattern, *section, *until;
    struct guess_reader *reader;
    struct seen_line *next;
};

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* The unit behind a number: joined to it, or the next word. false: what is joined is none, so this is no number ("10:12", "3.33-1"). */
static bool unit_behind(struct str line, struct found *f)
{
    size_t at = f->from + f->n, to = at;
    while (to < line.n && !one_of(line.p[to], " \t,;()[]|"))
        to++;
    struct str joined = str_sub(line, at, to - at);
    f->end = at;
    if (joined.n && !(at + 1 == line.n && one_of(joined.p[0], ".:"))) {
        const struct unit *u = guess_unit(joined);
        if (str_is(joined, "s") && str_starts(str_sub(line, to, line.n), " of ")) /* "in 1000s of bytes" */
            return false;
        if (joined.n == 1 && one_of(joined.p[0], "kKMG")) {
            f->suffix = true;
            f->n++;
            f->end = to;
            return true;
        }
        f->unit = joined;
        f->unit_from = at;
        f->end = to;
        return u != NULL;
    }
    size_t blanks = 0;
    while (at + blanks < line.n && one_of(line.p[at + blanks], " \t"))
        blanks++;
    at += blanks;
    bool open = at < line.n && one_of(line.p[at], "([");
    at += open;
    for (to = at; to < line.n && !one_of(line.p[to], " \t,;()[]|=:"); to++)
        ;
    struct str word = str_sub(line, at, to - at);
    const struct unit *u = blanks && blanks <= 3 && !(to < line.n && one_of(line.p[to], "=:")) ? guess_unit(word) : NULL;
    if (u && guess_contract(u)) {
        f->unit = word;
        f->unit_from = at;
        f->end = to + (open && to < line.n);
    }
    return true;
}

static size_t find_numbers(struct str line, struct found *found)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n && n < NUMBERS_MAX; i++) {
        bool apart = i == 0 || one_of(line.p[i - 1], " \t=:([,;|<>~@");
        if (i > 1 && one_of(line.p[i - 1], ":,") && line.p[i - 2] >= '0' &&
            line.p[i - 2] <= '9') /* 10:11:12 is no number, nor is 1,2,3 three */
            apart = false;
        size_t length = apart ? guess_number(str_sub(line, i, line.n)) : 0;
        if (!length)
            continue;
        struct found f = {.from = i, .n = length};
        if (unit_behind(line, &f)) {
            found[n++] = f;
            i = f.end - 1;
        } else
            i += length - 1;
    }
    return n;
}

bool guess_has_numbers(struct str line)
{
    struct found found[NUMBERS_MAX];
    return find_numbers(line, found) > 0;
}

/* "[READ], AverageLatency(us), 65.9": the name of what the line is about; its length with both brackets, 0: none. */
static size_t bracket_head(struct str line)
{
    const char *close = line.n > 3 && line.p[0] == '[' && guess_letters(str_sub(line, 1, 2)) ? memchr(line.p, ']', line.n) : NULL;
    size_t n = close ? (size_t)(close + 1 - line.p) : 0;
    return n && n < 40 && n < line.n && line.p[n] == ',' && !memchr(line.p, ' ', n) ? n : 0;
}

/* The words right before a number: the last part, when blanks or commas part them. */
static void label_before(struct str between, struct found *f)
{
    size_t n = between.n, head = bracket_head(between);
    struct str named = str_trim(str_sub(between, head + (head > 0), between.n));
    if (head && str_ends(named, ",") && guess_letters(named)) {
        f->strong = true;
        f->label = str_trim(str_sub(named, 0, named.n - 1));
        return;
    }
    while (n && one_of(between.p[n - 1], " \t([~<>@\""))
        n--;
    f->strong = n && one_of(between.p[n - 1], "=:") && between.p[between.n - 1] != '['; /* "info: [4711]" is a process */
    if (between.n && between.p[between.n - 1] == '[')
        return;
    while (n && one_of(between.p[n - 1], " \t=:"))
        n--;
    size_t from = n;
    while (from && !(one_of(between.p[from - 1], ",;|\t)]") || (from > 1 && between.p[from - 1] == ' ' && between.p[from - 2] == ' ')))
        from--;
    f->label = str_trim(str_sub(between, from, n - from));
    while (f->label.n && one_of(f->label.p[0], "#-*=>/\"' "))
        f->label = str_sub(f->label, 1, f->label.n);
    if (!guess_letters(f->label) && guess_letters(str_sub(between, 0, n)) && !f->strong && !memchr(between.p, ',', n))
        f->label = str_trim(str_sub(between, 0, n));
}

static bool only_small_words(struct str label)
{
    static const char *const small[] = {"is", "of", "in", "at", "was", "to", "and", "with", "for", "on", "by", NULL};
    for (struct str w = str_word(&label); w.n; w = str_word(&label)) {
        const char *const *s = small;
        while (*s && !str_is(w, *s))
            s++;
        if (!*s)
            return false;
    }
    return true;
}

/* "min/avg/max = 1 / 2 / 3": the k-th part of the first label. */
static struct str part_of(struct str label, size_t k)
{
    struct str part = {NULL, 0};
    for (size_t i = 0; i <= k && label.p; i++)
        part = str_cut(&label, '/');
    return part.p ? str_trim(part) : (struct str){"", 0};
}

static void name_numbers(struct str line, struct found *f, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t from = k ? f[k - 1].end : 0;
        struct str between = str_sub(line, from, f[k].from - from),
                   behind = str_sub(line, f[k].end, k + 1 < n ? f[k + 1].from - f[k].end : line.n);
        label_before(between, &f[k]);
        if (k && str_is(str_trim(between), "/") && memchr(f[0].label.p, '/', f[0].label.n))
            f[k].label = part_of(f[0].label, k);
        else if (k && guess_letters(f[k].label) && only_small_words(f[k].label) && f[0].label.n)
            f[k].label = f[0].label;
        if (!guess_letters(f[k].label) && !f[k].strong) { /* "36 KiB read, 44 iops" */
            struct str words = str_cut(&behind, ',');
            f[k].label = words.n < 60 && guess_letters(words) && !memchr(words.p, '=', words.n) ? str_trim(words) : (struct str){"", 0};
            if (str_ends(f[k].label, "(s)")) /* "2 Device(s)" are no seconds */
                f[k].label.n -= 3;
        }
    }
    if (n > 1 && memchr(f[0].label.p, '/', f[0].label.n) && f[1].label.n && str_eq(f[1].label, part_of(f[0].label, 1)))
        f[0].label = part_of(f[0].label, 0);
}

/* Numbers without a name of their own, in columns that a line above names: "Latency   3.69ms  4.38ms" below "Stats   Avg   Stdev". */
static void name_by_columns(struct guess *g, size_t number, struct found *f, size_t n)
{
    struct str label[GUESS_COLUMNS_MAX];
    for (size_t k = 1; k < n; k++)
        if (guess_letters(f[k].label) || f[k].strong)
            return;
    for (size_t i = number; n > 1 && i > 0 && number - i < 8; i--) {
        const struct guess_line *above = &g->line[i - 1];
        struct found none[NUMBERS_MAX];
        size_t columns = above->plain && !find_numbers(above->text, none) ? guess_labels(above->text, true, label) : 0;
        if (columns != n + 1)
            continue;
        for (size_t k = 0; k < n; k++) {
            const char *text = arena_printf(&g->arena, STR_FMT " " STR_FMT, STR_ARG(f[0].label), STR_ARG(label[k + 1]));
            f[n + k].label = str_of(text);
        }
        for (size_t k = 0; k < n; k++)
            f[k].label = f[n + k].label;
        return;
    }
}

static bool whole_number(struct str s)
{
    return !memchr(s.p, '.', s.n) && !memchr(s.p, 'e', s.n) && !memchr(s.p, 'E', s.n);
}

enum what { NOTHING, METRIC, PARAM };

static bool is_rate(const struct unit *u)
{
    return u && (strstr(u->dimension, "/s") || !strcmp(u->dimension, "teps"));
}

static enum what judge(struct str line, const struct found *f, const struct unit *u, struct str section)
{
    const struct unit *c = guess_contract(u);
    bool result = guess_is_result(f->label) || is_rate(u), whole = whole_number(str_sub(line, f->from, f->n));
    bool byte = u && !strcmp(u->dimension, "byte");
    if ((!f->label.n && !is_rate(u)) || f->label.n > 80 || guess_is_noise(f->label) || str_find(f->label, STR(" -")) >= 0 ||
        str_find(f->label, STR(",-")) >= 0) /* a compiler's options */
        return NOTHING;
    if (guess_is_param(f->label) && !is_rate(u) && (whole || byte) && !(c && !byte) && !guess_direction(f->label, NULL))
        return f->strong && !f->suffix ? PARAM : NOTHING;
    if (byte ? result : c != NULL || result)
        return f->strong || c || !whole || section.n ? METRIC : NOTHING;
    if (section.n && f->strong && !whole)
        return METRIC;
    return f->strong && !f->suffix ? whole ? PARAM : METRIC : NOTHING;
}

static const char *label_for(struct str label, const struct unit *u, struct arena *a)
{
    if (guess_letters(label) && strcmp(guess_segment(label, a), "value"))
        return arena_dup(a, label.p, label.n);
    const char *d = u ? u->dimension : "";
    return !strcmp(d, "second") ? "time" : strstr(d, "byte/s") || strstr(d, "bit/s") ? "bandwidth" : strstr(d, "/s") ? "rate" : "value";
}

/* The pattern of the line up to the last number that is taken; every taken one is a group v<k>, its unit u<k>. */
static const char *line_pattern(struct guess *g, struct str line, const struct found *f, size_t n, const enum what *what)
{
    CLEANUP_BUF struct buf b;
    size_t at = 0, last = 0;
    buf_init(&b, TEXT_MAX);
    for (size_t k = 0; k < n; k++)
        last = what[k] ? k : last;
    while (at < line.n && one_of(line.p[at], " \t"))
        at++;
    buf_puts(&b, at ? "^\\s+" : "^");
    for (size_t k = 0; k <= last; k++) {
        const char *comma = memchr(line.p + f[k].from, ',', f[k].n) ? "," : "";
        guess_pattern(&b, str_sub(line, at, f[k].from - at), false);
        at = f[k].from + f[k].n;
        if (!what[k]) {
            buf_puts(&b, f[k].suffix ? "[-+\\d.,eE]+[kKMG]?" : "[-+\\d.,eE]+");
            continue;
        }
        if (what[k] == PARAM) {
            buf_printf(&b, "(?<v%zu>[-+\\d.%seE]+", k, comma);
            if (f[k].unit.n)
                buf_puts(&b, "\\s*[A-Za-z]+");
            buf_putc(&b, ')');
            at = f[k].unit.n ? f[k].unit_from + f[k].unit.n : at;
            continue;
        }
        buf_printf(&b, "(?<v%zu>[-+\\d.%seE]+%s)", k, comma, f[k].suffix ? "[kKMG]?" : "");
        if (f[k].unit.n && units_find(f[k].unit)) {
            guess_pattern(&b, str_sub(line, at, f[k].unit_from - at), false);
            buf_printf(&b, "(?<u%zu>[^\\s\\d,;()\\[\\]]+)", k);
            at = f[k].unit_from + f[k].unit.n;
        }
    }
    struct str tail = str_trim(str_sub(line, at, line.n)); /* "[ms] (mean)" is not "[ms] (mean, across all)" */
    if (tail.n && tail.n < 60 && last + 1 == n && guess_letters(tail) && at > f[last].from) {
        guess_pattern(&b, str_sub(line, at, line.n), false);
        buf_puts(&b, "\\s*$");
    }
    return b.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

static const char *section_pattern(const struct section *s, struct guess *g)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_puts(&b, "^\\s*");
    guess_pattern(&b, s->title, false);
    buf_puts(&b, ":\\s*$");
    return b.failed ? NULL : arena_dup(&g->arena, b.p, b.n);
}

static void same_pattern_again(struct guess_reader *r, struct str line, const struct found *f)
{
    for (size_t i = 0; i < r->metrics; i++) {
        int64_t k;
        double v;
        struct str number;
        if (!str_int(str_sub(str_of(r->metric[i].cell), 1, 9), &k))
            continue;
        number = str_sub(line, f[k].from, f[k].n);
        if (number_parse(number, NUMBER_SI, &v) == NUMBER_GOOD && v != r->metric[i].first)
            r->metric[i].series = true;
    }
}

static void take_numbers(struct guess *g, struct guess_reader *r, struct str line, const struct found *f, size_t n, const enum what *what,
                         const struct section *s, const char *key)
{
    struct str title = s->open ? s->title : (struct str){"", 0};
    struct str words = title;
    size_t count = 0;
    for (struct str w = str_word(&words); w.n; w = str_word(&words))
        count++;
    const char *prefix =
        count && count <= 4 && !str_ends(title, "options") ? arena_printf(&g->arena, "%s.", guess_segment(title, &g->arena)) : "";
    if (key)
        prefix = arena_printf(&g->arena, "{%s}.%s", key, prefix);
    for (size_t k = 0; k < n; k++) {
        const struct unit *in_label = guess_unit_in(f[k].label);
        const struct unit *u = f[k].unit.n ? guess_unit(f[k].unit) : in_label ? in_label : guess_unit_in(title);
        const char *cell = arena_printf(&g->arena, "v%zu", k);
        if (what[k] == PARAM)
            guess_param_add(g, r, f[k].label, cell, f[k].unit.n ? "size" : "integer");
        if (what[k] != METRIC)
            continue;
        struct guess_metric *m = guess_metric_add(g, r, prefix, str_of(label_for(f[k].label, u, &g->arena)), cell, u);
        if (!m)
            return;
        m->suffix = f[k].suffix;
        if (f[k].unit.n && units_find(f[k].unit))
            m->unit_cell = m->unit ? arena_printf(&g->arena, "u%zu", k) : NULL;
        else if (u && m->unit)
            m->from = u->name;
        number_parse(str_sub(line, f[k].from, f[k].n), NUMBER_SI, &m->first);
    }
}

/* "Method: MEMCPY … Copy: 2458 MiB/s" among lines of other methods: a word that tells tests apart. */
struct key_word {
    struct str label, word;
};

/* Behind the value "CPU" of "Verification: CPU time used = 3" its text goes on. */
static bool value_ends(struct str line, size_t at)
{
    struct str rest = str_sub(line, at, line.n), next = str_word(&rest);
    return at + 1 < line.n &&
           (one_of(line.p[at], "\t,;") || one_of(line.p[at + 1], " \t") || memchr(next.p, ':', next.n) || memchr(next.p, '=', next.n));
}

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

/* The pattern with a group in the word's place; the pattern itself if it does not stand there. */
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

static void take_line(struct guess *g, size_t number, const struct section *s, struct seen_line **seen)
{
    struct str line = g->line[number].text;
    struct found f[2 * NUMBERS_MAX] = {0};
    enum what what[NUMBERS_MAX];
    size_t n = find_numbers(line, f), taken = 0, head = bracket_head(line);
    name_numbers(line, f, n);
    name_by_columns(g, number, f, n);
    for (size_t k = 1; k < n; k++) /* "Throughput: 1234 files, 55.5 MB/s" */
        if (!f[k].label.n && f[k].unit.n && f[0].strong && guess_contract(guess_unit(f[k].unit)))
            f[k].label = f[0].label;
    for (size_t k = 0; k < n; k++) {
        const struct unit *u = f[k].unit.n ? guess_unit(f[k].unit) : guess_unit_in(f[k].label);
        bool alone = k + 1 == n || guess_letters(f[k + 1].label); /* one of a row of numbers without names says nothing */
        what[k] = alone || f[k].unit.n ? judge(line, &f[k], u, s->open ? s->title : (struct str){"", 0}) : NOTHING;
        if (head && what[k] == PARAM) /* "[READ], Operations, 511": each section has its own */
            what[k] = METRIC;
        taken += what[k] != NOTHING;
    }
    const char *pattern = taken ? line_pattern(g, line, f, n, what) : NULL, *section = s->open ? section_pattern(s, g) : NULL,
               *until = section ? arena_printf(&g->arena, "^\\s{0,%zu}\\S", s->indent) : NULL;
    if (!pattern)
        return;
    struct key_word key = {0};
    const char *segment = NULL;
    if (head) {
        key = (struct key_word){str_sub(line, 0, 1), str_sub(line, 1, head - 2)};
        segment = "section";
    } else if (find_key_word(g, number, &key))
        segment = guess_segment(key.label, &g->arena);
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
            same_pattern_again(l->reader, line, f);
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
    take_numbers(g, r, line, f, n, what, s, segment);
    *l = (struct seen_line){pattern, section, until, r, *seen};
    *seen = l;
}

void guess_named_numbers(struct guess *g)
{
    struct section section = {0};
    struct seen_line *seen = NULL;
    for (size_t i = 0; i < g->lines; i++) {
        struct str line = g->line[i].text, words = str_trim(line);
        size_t indent = 0;
        if (!g->line[i].plain || g->line[i].used || !words.n)
            continue;
        while (indent < line.n && one_of(line.p[indent], " \t"))
            indent++;
        if (section.open && indent <= section.indent)
            section.open = false;
        if (str_ends(words, ":") && words.n < 80 && guess_letters(words)) {
            section = (struct section){str_trim(str_sub(words, 0, words.n - 1)), indent, true};
            continue;
        }
        take_line(g, i, &section, &seen);
    }
}
