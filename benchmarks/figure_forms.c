/* figure_forms.c: lines of a known form: lists of statistics, percentiles, and what needs no name. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* "68.4 to 127.2 kbit/s", "0.5 .. 1.5 s": the ends of a range. */
bool figure_is_range_end(struct str line, const struct number *n, size_t k)
{
    static const char *const words[] = {"to", "..", "...", "-", "\xe2\x80\xa6", "and", "up to"};
    struct str between = k ? str_trim(str_sub(line, n[k - 1].end, n[k].from - n[k - 1].end)) : (struct str){"", 0};
    if (k && n[k - 1].unit && (!n[k].unit || strcmp(n[k].unit->dimension, n[k - 1].unit->dimension))) /* "67723.4 i/s - 52.58x slower" */
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(between, words[i]))
            return true;
    return false;
}

/* ---- "rtt min/avg/max/mdev = 0.021/0.036/0.061/0.014 ms" ---- */

size_t figure_take_parts(const struct figure_context *x, struct str line, struct figure *to)
{
    const char *equal = memchr(line.p, '=', line.n);
    if (!equal)
        equal = memchr(line.p, ':', line.n);
    struct str left = equal ? str_trim(str_sub(line, 0, (size_t)(equal - line.p))) : (struct str){NULL, 0};
    const char *blank = left.n ? memrchr(left.p, ' ', left.n) : NULL;
    struct str names = blank ? str_sub(left, (size_t)(blank + 1 - left.p), left.n) : left,
               head = blank ? str_trim(str_sub(left, 0, (size_t)(blank - left.p))) : (struct str){"", 0},
               values = equal ? str_trim(str_sub(line, (size_t)(equal + 1 - line.p), line.n)) : (struct str){NULL, 0}, value[FIGURES_MAX],
               each = {"", 0};
    size_t n = 0, at = 0, count = 1;
    for (size_t i = 0; i < names.n; i++)
        count += names.p[i] == '/';
    if (count < 2 || count > FIGURES_MAX || figure_has_number(head) || !guess_letters(names))
        return 0;
    for (; n < count; n++) {
        size_t length = guess_number(str_sub(values, at, values.n));
        if (!length)
            return 0;
        value[n] = str_sub(values, at, length);
        at += length;
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
        size_t word = at; /* "175.7 us / 201.4 us" */
        while (n + 1 < count && str_is_letter(char_at(values, at)))
            at++;
        if (n + 1 < count && at > word) {
            if (n ? !str_eq(each, str_sub(values, word, at - word)) : false)
                return 0;
            each = str_sub(values, word, at - word);
        }
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
        if (n + 1 < count && char_at(values, at++) != '/')
            return 0;
        while (n + 1 < count && str_is_blank(char_at(values, at)))
            at++;
    }
    struct str unit_text = str_trim(str_sub(values, at, values.n)), unit_word = str_word(&unit_text), raw;
    const struct unit *unit = NULL;
    while (unit_word.n && is_one_of(unit_word.p[unit_word.n - 1], ",;."))
        unit_word.n--;
    if (!unit_word.n || !figure_unit(unit_word, &unit, &raw) || !unit || (each.n && !str_eq(each, unit_word)))
        return 0;
    for (size_t k = 0; k < count; k++) {
        struct str part = str_cut(&names, '/');
        if (!guess_letters(part) || value[k].n > 30)
            return 0;
        snprintf(to[k].name, sizeof to[k].name, STR_FMT "%s" STR_FMT, (int)(head.n > 60 ? 60 : head.n), head.p, head.n ? " " : "",
                 (int)(part.n > 40 ? 40 : part.n), part.p);
        struct number number = {.from = (size_t)(value[k].p - line.p), .to = (size_t)(value[k].p + value[k].n - line.p), .word = {"", 0}};
        to[k].section = 0;
        if (!figure_value_set(x, line, &number, unit, &to[k]))
            return 0;
    }
    return count;
}

/* ---- "Connection time [ms]: min 0.3 avg 2.8 max 16.0", "speed: (min=1.5; avg=2.5; max=3.5)Mibits/s", "Time : count 2 avg 0.5 +/- 0.1 max 0.6" ---- */

/* So many lines of statistics may follow their title. */
enum { TITLED_LINES_MAX = 3 };

struct statistic {
    struct str name;
    struct number number;
};

/* The name and number at *at, and behind them what parts them from the next. */
static bool statistic_at(struct str line, size_t *at, struct statistic *ret)
{
    size_t from = *at, to = from;
    while (str_is_letter(char_at(line, to)) || (to > from && (str_is_digit(char_at(line, to)) || is_one_of(char_at(line, to), "._%"))))
        to++;
    ret->name = str_sub(line, from, to - from);
    size_t i = to;
    while (is_one_of(char_at(line, i), " =:") && char_at(line, i))
        i++;
    size_t n = to > from && i > to ? guess_number(str_sub(line, i, line.n)) : 0;
    char behind = char_at(line, i + n);
    if (!n || (behind && !is_one_of(behind, " ,;)]")))
        return false;
    ret->number = (struct number){.from = i, .to = i + n, .end = i + n};
    for (i = figure_error_skip(line, i + n); char_at(line, i) && is_one_of(char_at(line, i), " ,;");)
        i++;
    *at = i;
    return true;
}

/* Statistics without a unit each, from `at` to the end of the line, and the unit of all behind them. Returns how many. */
static size_t statistics_take(struct str line, size_t at, struct statistic to[FIGURES_MAX], const struct unit **ret_unit)
{
    size_t n = 0, known = 0;
    while (str_is_blank(char_at(line, at)))
        at++;
    bool open = char_at(line, at) == '(';
    at += open;
    for (; n < FIGURES_MAX && statistic_at(line, &at, &to[n]); n++) {
        bool amount = figure_is_amount(to[n].name);
        if (!amount && !figure_is_statistic(to[n].name) && !figure_is_spread(to[n].name))
            return 0;
        known += !amount;
    }
    if (open && char_at(line, at++) != ')')
        return 0;
    struct str rest = str_trim(str_sub(line, at, line.n)), raw, words = rest, word = str_word(&words);
    *ret_unit = NULL;
    if (rest.n && rest.p[0] != '(' && (words.n || !figure_unit(word, ret_unit, &raw) || !*ret_unit))
        return 0;
    return known >= 2 ? n : 0;
}

/* "resnet18  min = 23.14  max = 26.36  avg = 23.88": a name in a column, and two or more statistics with a fraction. *ret_end: that of the name. */
static size_t statistics_behind_name(struct str line, struct statistic to[FIGURES_MAX], const struct unit **ret_unit, size_t *ret_end)
{
    size_t gap = 1, n;
    while (gap + 1 < line.n && !(str_is_blank(line.p[gap]) && str_is_blank(line.p[gap + 1])))
        gap++;
    if (gap + 1 >= line.n || !str_is_letter(line.p[0]) || !memchr(line.p, '=', line.n))
        return 0;
    n = statistics_take(line, gap, to, ret_unit);
    for (size_t i = 0; i < n; i++)
        if (!memchr(line.p + to[i].number.from, '.', to[i].number.to - to[i].number.from))
            return 0;
    *ret_end = gap;
    return n;
}

/* What names the statistics of a line: the words before them, or the title above, which then has the unit ("Latency (ns):"). */
static bool statistics_name(const struct figure_context *x, struct str head, const struct unit **unit, char name[64])
{
    if (!head.n && x->title_age <= TITLED_LINES_MAX && !*unit && (*unit = figure_unit_of_label(str_of(x->title))) &&
        figure_is_time_or_rate(*unit))
        head = str_of(x->title);
    else if (head.n && !*unit)
        *unit = figure_unit_of_label(head);
    return !(*unit && !strcmp((*unit)->dimension, "byte")) && !figure_has_number(head) && figure_name_clean(head, name, 64) &&
           !figure_is_condition(str_of(name));
}

size_t figure_take_statistics(const struct figure_context *x, struct str line, struct figure *to)
{
    struct statistic found[FIGURES_MAX];
    const struct unit *unit = NULL;
    size_t n = statistics_take(line, 0, found, &unit), count = 0, head_from = 0, head_to = 0;
    for (size_t colon = 0; colon < line.n && !n; colon++)
        if (line.p[colon] == ':' && !(n = statistics_take(line, colon + 1, found, &unit)))
            head_from = colon + 1;
        else if (n)
            head_to = colon;
    bool bare = true;
    if (!n && (n = statistics_behind_name(line, found, &unit, &head_to)))
        bare = false;
    char name[64];
    if (!n || !statistics_name(x, str_trim(str_sub(line, head_from, head_to - head_from)), &unit, name))
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (!figure_is_statistic(found[i].name) || figure_is_spread(found[i].name) ||
            (size_t)snprintf(to[count].name, sizeof to->name, "%s " STR_FMT, name, STR_ARG(found[i].name)) >= sizeof to->name ||
            !figure_value_set(x, line, &found[i].number, unit, &to[count]))
            continue;
        to[count].bare = !unit && bare;
        to[count].is_computed = !unit && !bare;
        to[count].has_few_digits = false;
        to[count++].section = 0;
    }
    return count;
}

/* "Latencies [min, mean, 50, 99, max]  549.56us, 16.33ms, 5.499ms, 98.184ms, 136.405ms": titles in brackets, then as many values with units. */
size_t figure_take_listed(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const char *open = memchr(line.p, '[', line.n), *close = open ? memchr(open, ']', (size_t)(line.p + line.n - open)) : NULL;
    struct str titles = close ? (struct str){open + 1, (size_t)(close - open) - 1} : (struct str){"", 0}, head, value, values;
    char name[64];
    size_t behind = close ? (size_t)(close + 1 - line.p) : 0, k = 0, first, found = 0;
    if (!titles.n || !memchr(titles.p, ',', titles.n) ||
        !figure_name_clean(head = str_sub(line, 0, (size_t)(open - line.p)), name, sizeof name) || figure_has_number(head) ||
        figure_is_condition(str_of(name)))
        return 0;
    values = str_trim(str_sub(line, behind, line.n));
    while (k < count && n[k].from < behind)
        k++;
    first = k;
    for (struct str title; (title = str_trim(str_cut(&titles, ','))).n; k++) {
        value = str_trim(str_cut(&values, ','));
        if (k == count || found == FIGURES_MAX || line.p + n[k].from != value.p || n[k].end - n[k].from != value.n || n[k].plain ||
            n[k].raw.n || n[k].error || !figure_is_statistic(title) || !figure_is_time_or_rate(n[k].unit) ||
            strcmp(n[k].unit->dimension, n[first].unit->dimension))
            return 0;
        bool percentile = str_is_digit(title.p[0]);
        snprintf(to[found].name, sizeof to->name, "%s %s" STR_FMT, name, percentile ? "p" : "", (int)(title.n > 20 ? 20 : title.n),
                 title.p);
        to[found].section = 0;
        if (!figure_value_set(x, line, &n[k], n[k].unit, &to[found++]))
            return 0;
    }
    return values.n || k < count ? 0 : found;
}

/* "5000 -> 4000 bytes": does a size become that of n[k]? */
static bool is_reduced_to(struct str line, const struct number *n, size_t k)
{
    static const char *const arrows[] = {"->", "-->", "=>", "==>", "\xe2\x86\x92", "\xe2\x9e\x9c"};
    struct str between = k ? str_trim(str_sub(line, n[k - 1].end, n[k].from - n[k - 1].end)) : (struct str){"", 0};
    for (size_t a = 0; a < sizeof arrows / sizeof *arrows; a++)
        if (str_is(between, arrows[a]) || (str_ends(between, arrows[a]) && str_starts(between, "bytes ")))
            return true;
    return false;
}

/* "a.png: 5000 -> 4000 bytes (20.5%)": two sizes, and one percentage with a fraction, of what is left or saved. */
size_t figure_take_reduction(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const struct number *percent = NULL;
    size_t pair = 0;
    for (size_t k = 0; k < count; k++) {
        if (!pair && is_reduced_to(line, n, k))
            pair = k;
        if (!n[k].unit || strcmp(n[k].unit->dimension, "percent"))
            continue;
        if (percent || !pair || !memchr(line.p + n[k].from, '.', n[k].to - n[k].from) || line.p[n[k].from] == '-')
            return 0;
        percent = &n[k];
    }
    if (!percent)
        return 0;
    struct str name = str_sub(line, 0, n[pair - 1].from), words = name;
    if (figure_has_number(name)) /* "a.jpg 100x100 24 bit: …" */
        name = str_word(&words);
    if (!figure_name_clean(name, to->name, 60) || !guess_letters(str_of(to->name)))
        snprintf(to->name, sizeof to->name, "size");
    to->section = 0;
    return figure_value_set(x, line, percent, percent->unit, to);
}

/* ---- shares ---- */

enum { SHARE_NAME_MAX = 60 };

bool figure_is_share(struct str amounts, struct str percent)
{
    double part, all, share;
    size_t a = guess_number(amounts), slash = a;
    while (str_is_blank(char_at(amounts, slash)))
        slash++;
    struct str rest = char_at(amounts, slash) == '/' ? str_trim(str_sub(amounts, slash + 1, amounts.n)) : (struct str){"", 0};
    return a && guess_is_number(rest) && str_double(str_sub(amounts, 0, a), &part) && str_double(rest, &all) && all > 0 &&
           str_double(percent, &share) && share > 100 * part / all - 1 && share < 100 * part / all + 1 && share <= 100;
}

/* "Disk: 12 / 100 (12.5%)", "Train split: 800 (80.5%)": the state of a machine, or a setting. */
bool figure_is_share_of_setting(struct str name)
{
    for (struct str word; (word = str_word(&name)).n;)
        if (figure_is_any(word, "battery cpu disk memory mix proportion ram sample split storage subset swap train training validation"))
            return true;
    return false;
}

/* The percentage in parentheses that ends the line; NULL: there is none. */
static const struct number *last_percentage(struct str line, const struct number *n, size_t count)
{
    const struct number *last = count ? &n[count - 1] : NULL;
    return last && last->inside && !last->plain && !last->error && last->unit && !strcmp(last->unit->dimension, "percent") &&
                   last->end + 1 == line.n && char_at(line, last->from - 1) == '(' && char_at(line, last->end) == ')'
               ? last
               : NULL;
}

/* Sets a result that is a share. False: the name is too long, that of a setting, or none. */
static bool share_set(const struct figure_context *x, struct str line, const struct number *n, struct str name, struct figure *to)
{
    if (figure_has_number(name) || figure_is_condition(name) || figure_is_share_of_setting(name) ||
        !figure_name_clean(name, to->name, sizeof to->name) || !str_is_letter(to->name[0]) || strlen(to->name) > SHARE_NAME_MAX)
        return false;
    to->section = 0;
    return figure_value_set(x, line, n, n->unit, to);
}

/* "Hits: 22837 / 30017 (76.08%)", "Reads with adapters: 30 (1.5%)": an amount, what it is a part of, and its share. */
size_t figure_take_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const struct number *last = last_percentage(line, n, count);
    const char *colon = memchr(line.p, ':', line.n);
    struct str name = colon ? str_sub(line, 0, (size_t)(colon - line.p)) : (struct str){"", 0}, amounts;
    if (!name.n || !last || is_one_of(line.p[last->from], "+-") || !memchr(line.p + last->from, '.', last->to - last->from))
        return 0;
    amounts = str_trim(str_sub(line, name.n + 1, last->from - 1 - name.n - 1));
    for (size_t i = 0; i < amounts.n; i++)
        if (!str_is_digit(amounts.p[i]) && !is_one_of(amounts.p[i], " ,/"))
            return 0;
    return amounts.n && share_set(x, line, last, name, to);
}

/* Returns whether the name is that of what came about, "Correctly Classified Instances", or of a score. "Memory used" is the
 * state of a machine. */
static bool is_outcome(struct str name)
{
    bool past = false;
    for (struct str word; (word = str_word(&name)).n;) {
        if (figure_is_any(word, "used allocated reserved unallocated cached shared buffered"))
            return false;
        past = past || figure_is_past_verb(word) || figure_is_score(word);
    }
    return past;
}

/* "loss: 0.27, accuracy: 9912/10000 (99%)": the share that ends a line with other results. It is what the two amounts show. */
size_t figure_take_last_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    const struct number *last = last_percentage(line, n, count);
    if (!last)
        return 0;
    struct str before = str_trim(str_sub(line, 0, last->from - 1)), clause = before;
    const char *comma = memrchr(before.p, ',', before.n), *colon = memrchr(before.p, ':', before.n);
    if (!colon || (comma && comma > colon))
        return 0;
    clause = comma ? str_trim((struct str){comma + 1, (size_t)(colon - comma) - 1}) : str_sub(before, 0, (size_t)(colon - before.p));
    struct str amounts = str_trim((struct str){colon + 1, (size_t)(before.p + before.n - colon) - 1});
    return figure_is_share(amounts, str_sub(line, last->from, last->to - last->from)) && is_outcome(clause) &&
           share_set(x, line, last, clause, to);
}

/* "Correctly Classified Instances    147    98 %": columns of a name, an amount and its share of all. */
size_t figure_take_column_share(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    if (count != 2 || n[0].unit || n[0].raw.n || n[0].from < 2 || !n[1].unit || strcmp(n[1].unit->dimension, "percent") || n[1].plain ||
        n[1].inside || n[1].error || n[1].end != line.n || line.p[n[1].from] == '-' || !str_is_blank(line.p[n[0].from - 1]) ||
        !str_is_blank(line.p[n[0].from - 2]) || str_trim(str_sub(line, n[0].end, n[1].from - n[0].end)).n || n[1].from < n[0].end + 2)
        return 0;
    struct str name = str_trim(str_sub(line, 0, n[0].from));
    return is_outcome(name) && share_set(x, line, &n[1], name, to);
}

/* ---- results without a name ---- */

static bool nameless_set(const struct figure_context *x, struct figure *to, struct str line, const struct number *n, const char *name)
{
    snprintf(to->name, sizeof to->name, "%s", name);
    to->section = 0;
    return figure_value_set(x, line, n, n->unit, to);
}

/* "99%   20.23ms", "95th: 3.1 ms" below "Latency Distribution": a percentile, whose name is above. */
size_t figure_take_percentile(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    struct str title = str_of(x->title), behind = str_sub(line, n[0].to, line.n);
    char label[sizeof x->title];
    if (count != 2 || n[0].from || !(str_starts(behind, "%") || str_starts(behind, "th")) || !figure_is_time(title) || n[1].raw.n ||
        n[1].inside || n[1].plain || n[1].own[0])
        return 0;
    const struct unit *u = n[1].unit ? n[1].unit : figure_unit_of_label(title);
    struct str rest = str_trim(str_sub(line, n[1].end, line.n));
    if (!u || strcmp(u->dimension, "second") || n[1].to - n[1].from >= sizeof to->value ||
        !(!rest.n || rest.p[0] == '(' || str_is(rest, "<=")) || !figure_name_clean(title, label, sizeof label) ||
        figure_is_condition(str_of(label)))
        return 0;
    if ((size_t)snprintf(to->name, sizeof to->name, "%s p" STR_FMT, label, (int)n[0].to, line.p) >= sizeof to->name)
        return 0;
    to->section = strlen(label);
    return figure_value_set(x, line, &n[1], u, to);
}

size_t figure_take_bracketed(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    static const char means[] = "mean avg average median";
    const struct number *first = NULL;
    for (size_t k = 0; k < count; k++)
        if (!n[k].inside)
            return 0;
        else if (!first && n[k].unit)
            first = &n[k];
    if (!first || first->plain || first->error || !figure_is_time_or_rate(first->unit))
        return 0;
    struct str before = str_trim(str_sub(line, 0, first->from)), name, word;
    while (before.n && is_one_of(before.p[before.n - 1], ":= "))
        before.n--;
    const char *open = before.n ? memrchr(before.p, '(', before.n) : NULL;
    word = open ? str_sub(before, (size_t)(open + 1 - before.p), before.n) : (struct str){"", 0};
    char label[64];
    if (!word.n || memchr(word.p, ' ', word.n) || !str_has_word(means, word))
        return 0;
    name = str_trim(str_sub(before, 0, (size_t)(open - before.p)));
    if (figure_has_number(name) || !figure_name_clean(name, label, sizeof label) || !str_is_letter(label[0]))
        return 0;
    snprintf(to->name, sizeof to->name, "%s " STR_FMT, label, STR_ARG(word));
    to->section = 0;
    return figure_value_set(x, line, first, first->unit, to);
}

size_t figure_take_erred(const struct figure_context *x, struct str line, const struct number *n, size_t count, bool indented,
                         struct figure *to)
{
    if (!indented || count < 2 || n[0].from || n[0].plain || n[0].raw.n || !figure_is_time_or_rate(n[0].unit) || !n[1].error ||
        !n[1].inside || !figure_name_clean(str_of(x->section), to->name, sizeof to->name) || figure_is_condition(str_of(to->name)) ||
        !str_is_letter(to->name[0]))
        return 0;
    to->section = 0;
    return figure_value_set(x, line, &n[0], n[0].unit, to);
}

/* True if the number may have no name. */
static bool is_lone(struct str line, const struct number *n, size_t count, size_t k)
{
    return !n[k].error && !n[k].plain && !n[k].own[0] && n[k].to - n[k].from < sizeof((struct figure *)NULL)->value &&
           line.p[n[k].from] != '-' && !figure_is_range_end(line, n, k) && !(k + 1 < count && figure_is_range_end(line, n, k + 1));
}

/* Stores the results of a line whose numbers have no names: rates, or one time. Returns how
 * many. */
static size_t take_nameless(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t rates = 0, times = 0; /* times that were measured: no whole numbers */
    struct str rest = count ? str_trim(str_sub(line, n[0].end, line.n)) : (struct str){"", 0};
    for (size_t k = 0; k < count; k++) {
        if (n[k].unit && !strcmp(n[k].unit->dimension, "second") && !memchr(line.p + n[k].from, ':', n[k].to - n[k].from))
            times += memchr(line.p + n[k].from, '.', n[k].to - n[k].from) != NULL || (count == 1 && n[k].unit->factor < 1);
        if (!n[k].unit || !figure_is_rate(n[k].unit))
            continue;
        for (size_t i = 0; i < rates; i++)
            if (!strcmp(to[i].unit->dimension, n[k].unit->dimension)) /* two of a kind: which one counts is not known */
                return 0;
        if (rates == FIGURES_MAX || !is_lone(line, n, count, k) || !nameless_set(x, &to[rates], line, &n[k], figure_rate_name(n[k].unit)))
            return 0;
        rates++;
    }
    for (size_t k = 1; k < count && rates == 1; k++) /* "1.09 Mbps in 7.00 usec" */
        if (n[k - 1].unit && n[k - 1].unit == to[0].unit && n[k].unit && !strcmp(n[k].unit->dimension, "second") && !n[k].plain &&
            str_is(str_trim(str_sub(line, n[k - 1].end, n[k].from - n[k - 1].end)), "in") && nameless_set(x, &to[1], line, &n[k], "time"))
            return 2;
    if (rates || count != 1 || n[0].from || !times || !is_lone(line, n, count, 0) ||
        !(!rest.n || rest.p[0] == '(' || str_starts(rest, "per ")))
        return times ? rates : 0;
    bool each = str_has(line, " per ") || memchr(line.p, '/', n[0].end); /* "0.03 microseconds per iteration", "5.04 usecs/op" */
    return nameless_set(x, to, line, n, each ? "time per operation" : "time");
}

/* Results of a line without a name: its rates next to a time ("20 iter 0.44s user 9.777 iter/s"),
 * or the time that is all of it ("0.029 seconds"). */
size_t figure_take_lone(const struct figure_context *x, struct str line, const struct number *n, size_t count, struct figure *to)
{
    size_t found = take_nameless(x, line, n, count, to);
    return found && figure_is_rate_condition(line) ? 0 : found; /* the words cost more */
}
