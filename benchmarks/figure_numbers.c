/* figure_numbers.c: the numbers of a line with their units, and the words that can name one. */
#include "benchmarks/figure_parts.h"
#include "benchmarks/figure_words.h"
#include "base/counted.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* ---- log prefixes ---- */

static bool is_stamp_char(char c)
{
    return str_is_digit(c) || is_one_of(c, "-:.,/TZ+");
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* "2026-11-20 10:11:12,123 ", "[10:11:12] ", "I1120 10:11:12.123 ", "INFO: " at the beginning. */
struct str figure_without_stamp(struct str s)
{
    for (int pass = 0; pass < 5; pass++) {
        size_t i = 0, digits = 0, marks = 0;
        bool bracket = char_at(s, 0) == '[';
        for (i = bracket; i < s.n && is_stamp_char(s.p[i]); i++) {
            digits += str_is_digit(s.p[i]);
            marks += s.p[i] == ':' || s.p[i] == '-';
        }
        if (digits >= 4 && marks >= 2 && (bracket ? char_at(s, i) == ']' : str_is_blank(char_at(s, i)))) {
            s = str_trim(str_sub(s, i + bracket, s.n));
            continue;
        }
        struct str rest = s, word = str_word(&rest);
        struct str behind = str_trim(rest), process = word;
        while (process.n && is_one_of(process.p[0], "="))
            process = str_sub(process, 1, process.n);
        while (process.n && is_one_of(process.p[process.n - 1], "="))
            process.n--;
        if (process.n + 4 == word.n && str_starts(word, "==") && str_uint(process, &(uint64_t){0})) { /* "==6238== " */
            s = behind;
            continue;
        }
        bool apart = word.n && char_at(behind, 0) == ':' && figure_is_level(word); /* "Info    : Done" */
        if (apart) {
            s = str_trim(str_sub(behind, 1, behind.n));
            continue;
        }
        bool marked = word.n && (is_one_of(word.p[word.n - 1], ":]") || !is_lower(word.p[word.n - 1])); /* "Trace Time" is a name */
        while (word.n && is_one_of(word.p[word.n - 1], ":]"))
            word.n--;
        if (word.n && word.p[0] == '[')
            word = str_sub(word, 1, word.n);
        if (!marked || !figure_is_level(word))
            return s;
        s = str_trim(rest);
    }
    return s;
}

/* ---- numbers ---- */

/* "(27.3", "[26.0": is the place in brackets? */
static void mark_inside(struct str line, struct number *n, size_t count)
{
    size_t depth = 0, k = 0;
    for (size_t i = 0; i < line.n && k < count; i++) {
        depth += line.p[i] == '(' || line.p[i] == '[' || line.p[i] == '{' || line.p[i] == '<';
        while (k < count && n[k].from == i)
            n[k++].inside = depth > 0;
        if (is_one_of(line.p[i], ")]}>") && depth)
            depth--;
    }
}

static bool is_error_sign(struct str before)
{
    while (before.n && str_is_blank(before.p[before.n - 1]))
        before.n--;
    if (!before.n || !is_one_of(before.p[before.n - 1], "\xb1+-"))
        return false;
    return str_ends(before, "\xc2\xb1") || str_ends(before, "+/-") || str_ends(before, "+-") || str_ends(before, "-/+");
}

size_t figure_error_skip(struct str line, size_t at)
{
    static const char *const signs[] = {"\xc2\xb1", "+/-", "+-", "-/+"};
    size_t i = at;
    while (i < line.n && str_is_blank(line.p[i]))
        i++;
    if (!is_one_of(char_at(line, i), "\xc2+-"))
        return at;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (str_starts(str_sub(line, i, line.n), signs[k])) {
            i += strlen(signs[k]);
            while (i < line.n && str_is_blank(line.p[i]))
                i++;
            size_t n = guess_number(str_sub(line, i, line.n));
            return n ? i + n : at;
        }
    return at;
}

static bool is_number_char(char c)
{
    return str_is_letter(c) || str_is_digit(c) || c == '.' || c == ':';
}

/* Two digits and a colon at i, behind hours and their colon? */
static bool is_minute_of_hour(struct str s, size_t i)
{
    return str_is_digit(char_at(s, i)) && str_is_digit(char_at(s, i + 1)) && char_at(s, i + 2) == ':';
}

size_t figure_minutes(struct str s, char *to, size_t size)
{
    size_t i = 0, hours = 0, minutes = 0, from, digits;
    bool is_clock = false;
    while (i < s.n && i < 5 && str_is_digit(s.p[i]))
        minutes = minutes * 10 + (size_t)(s.p[i++] - '0');
    if (i && (char_at(s, i) == 'h' ? str_is_digit(char_at(s, i + 1)) : char_at(s, i) == ':' && is_minute_of_hour(s, i + 1))) {
        char end = s.p[i] == 'h' ? 'm' : ':';
        is_clock = end == ':';
        hours = minutes;
        minutes = 0;
        for (digits = 0, i++; digits < 3 && str_is_digit(char_at(s, i)); digits++)
            minutes = minutes * 10 + (size_t)(s.p[i++] - '0');
        if (char_at(s, i) != end)
            return 0;
    }
    bool colon = char_at(s, i) == ':';
    if (!i || !(colon || char_at(s, i) == 'm') || !str_is_digit(char_at(s, i + 1)))
        return 0;
    from = ++i;
    size_t n = guess_number(str_sub(s, i, s.n));
    bool fraction = str_is_digit(char_at(s, i + 1)) && char_at(s, i + 2) == '.' && (i + n == s.n || !is_number_char(char_at(s, i + n)));
    bool clock = colon && is_clock && n == 2 && (i + n == s.n || !is_number_char(char_at(s, i + n))); /* "00:00:02" */
    if (!n || (colon ? !fraction && !clock : char_at(s, i + n) != 's' || str_is_letter(char_at(s, i + n + 1))))
        return 0;
    char seconds[24];
    double value;
    snprintf(seconds, sizeof seconds, STR_FMT, (int)(n > 20 ? 20 : n), s.p + from);
    if (!str_double(str_of(seconds), &value))
        return 0;
    snprintf(to, size, "%.10g", (double)(hours * 60 + minutes) * 60 + value);
    return i + n + !colon;
}

/* An amount and a word of the list at *at, which moves behind them and the blanks that follow. */
static bool take_amount_of(struct str s, size_t *at, const char *words, double *ret)
{
    size_t n = guess_number(str_sub(s, *at, s.n)), i = *at + n, from;
    if (!n || !str_is_digit(char_at(s, *at)) || !str_double(str_sub(s, *at, n), ret))
        return false;
    while (char_at(s, i) == ' ')
        i++;
    for (from = i; str_is_letter(char_at(s, i));)
        i++;
    if (i == from || !str_has_word(words, str_sub(s, from, i - from)))
        return false;
    while (is_one_of(char_at(s, i), " ,") && char_at(s, i))
        i++;
    *at = i;
    return true;
}

/* "0min 0.233s", "1 minute, 2.5 seconds", "0 days 1 hour 2 min 3 sec": seconds as text. Returns its length, 0: none. */
static size_t minutes_spelled(struct str s, char *to, size_t size)
{
    double days = 0, hours = 0, minutes, seconds;
    size_t at = 0;
    if (take_amount_of(s, &at, "d day days", &days) && days > 0)
        return 0;
    if (!take_amount_of(s, &at, "h hour hours", &hours))
        hours = 0;
    if (!take_amount_of(s, &at, "m min mins minute minutes", &minutes))
        return 0;
    if (str_starts(str_sub(s, at, s.n), "and "))
        at += 4;
    size_t before = at;
    if (!take_amount_of(s, &at, "s sec secs second seconds", &seconds) || before == at)
        return 0;
    while (at && is_one_of(s.p[at - 1], " ,"))
        at--;
    if (str_is_digit(char_at(str_trim(str_sub(s, at, s.n)), 0))) /* "4 seconds 713 msec" */
        return 0;
    snprintf(to, size, "%.10g", (hours * 60 + minutes) * 60 + seconds);
    return at;
}

/* "4.97 k iops", "1.2 million rows per second": a rate of which thousands or millions are counted. `rest` begins behind the multiple. */
static void take_multiple(struct str line, double factor, struct str rest, struct number *n)
{
    double value;
    struct str unit = str_word(&rest), per = str_word(&rest), time = str_word(&rest);
    for (size_t more = 0; more < 2 && str_is(time, "per") && guess_letters(per); more++) { /* "million atom updates per second" */
        unit = per;
        per = time;
        time = str_word(&rest);
    }
    while (unit.n && is_one_of(unit.p[unit.n - 1], ".,;"))
        unit.n--;
    while (time.n && is_one_of(time.p[time.n - 1], ".,;)"))
        time.n--;
    bool spelled = (str_is(per, "per") || str_is(per, "/")) && time.n;
    bool found = spelled ? figure_rate(unit, time, &n->unit) : figure_unit(unit, &n->unit, &n->raw) && !n->raw.n;
    if (found && spelled)
        unit = str_sub(line, (size_t)(unit.p - line.p), (size_t)(time.p + time.n - unit.p));
    if (!found || !figure_is_counted(n->unit) || !str_double(str_sub(line, n->from, n->to - n->from), &value)) {
        n->unit = NULL;
        n->raw = (struct str){"", 0};
        n->plain = true;
        return;
    }
    snprintf(n->own, sizeof n->own, "%.10g", value * factor);
    n->end = (size_t)(unit.p + unit.n - line.p);
}

/* "x 10^6", "*1e6" */
static bool is_power(struct str word, struct str next)
{
    static const char *const signs[] = {"x", "X", "*", "\xc3\x97", "\xc2\xb7"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_starts(word, signs[i])) {
            size_t n = strlen(signs[i]);
            return str_is_digit(word.n > n ? word.p[n] : char_at(next, 0));
        }
    return false;
}

/* "Mops/s/core": a unit that is none of the known words. */
static bool is_quotient(struct str word)
{
    const char *slash = memchr(word.p, '/', word.n);
    return slash && slash > word.p && str_is_letter(slash[-1]) && slash + 1 < word.p + word.n && str_is_letter(slash[1]);
}

static bool is_rate_word(struct str word)
{
    const struct unit *unit;
    struct str raw;
    return memchr(word.p, '/', word.n) && figure_unit(word, &unit, &raw);
}

static bool is_no_size(struct str word)
{
    const struct unit *unit = units_find(word);
    return !unit || (strcmp(unit->dimension, "byte") && strcmp(unit->dimension, "second"));
}

/* "nodes 30000 nps 116731 time": is the word behind a number the name of the next one, although it can be a unit? rest: behind the word. */
static bool names_next(struct str before, struct str word, struct str rest)
{
    const struct unit *unit;
    struct str raw, next = rest, number = str_word(&next), behind = str_word(&next);
    return figure_is_any(word, "fps nps pps lps cps ips iops qps tps rps mips") && before.n && str_is_letter(before.p[before.n - 1]) &&
           number.n && guess_is_number(number) && !figure_unit(behind, &unit, &raw);
}

/* The unit that begins at `at`, behind blanks: one word, or "requests per second". Sets n->unit or n->raw, and n->end. */
static void take_unit(struct str line, size_t at, bool joined, struct number *n)
{
    size_t blanks = 0;
    while (str_is_blank(char_at(line, at + blanks)))
        blanks++;
    struct str before = str_trim(str_sub(line, 0, n->from));
    size_t gap_max = str_ends(before, ":") || str_ends(before, "=") ? 8 : before.n ? 3 : 16; /* "0.234      seconds elapsed" */
    if (str_is(str_sub(line, at + blanks, line.n), "%")) /* "147    98      %" */
        gap_max = 16;
    if (joined ? blanks > 0 : blanks == 0 || blanks > gap_max)
        return;
    at += blanks;
    bool open = is_one_of(char_at(line, at), "[(");
    size_t from = at + open, to = from;
    while (to < line.n && !str_is_blank(line.p[to]) && !is_one_of(line.p[to], ",;()[]|=") && line.p[to] != ':')
        to++;
    if (open && !is_one_of(char_at(line, to), ")]"))
        return;
    struct str word = str_sub(line, from, to - from), rest = str_sub(line, to, line.n);
    while (word.n && is_one_of(word.p[word.n - 1], ".!"))
        word.n--;
    /* "12 seconds: …" and "30 s = …" name what follows */
    struct str behind = char_at(line, to) == ':' ? str_trim(str_sub(line, to + 1, line.n)) : (struct str){"", 0};
    bool said = str_ends(before, ":") && str_is_letter(char_at(behind, 0)); /* "performance: 0.5 s: parsing" */
    if (!word.n || (is_one_of(char_at(line, to), "=:") && !said && !str_ends(str_trim(line), ":")))
        return;
    struct str next = rest, per = str_word(&next), time = str_word(&next);
    if (!open && !joined && names_next(before, word, rest))
        return;
    if (!open && counted_multiple(word) > 0) {
        take_multiple(line, counted_multiple(word), rest, n); /* "4.97 k iops" */
        return;
    }
    if (!open && !joined && str_is(word, "per")) { /* "1556 created (778 per second)" */
        while (per.n && is_one_of(per.p[per.n - 1], ".,;)"))
            per.n--;
        if (figure_rate(STR("op"), per, &n->unit)) {
            n->end = (size_t)(per.p + per.n - line.p);
            n->word = str_sub(line, from, n->end - from);
        }
        return;
    }
    if (!open && !joined && is_power(word, per)) { /* "3.5 x 10^6 rows/s" */
        n->plain = true;
        return;
    }
    if (!open && !joined && str_is_blank(char_at(rest, 0)) && (str_is(per, "per") || str_is(per, "/")) && guess_letters(time)) {
        while (time.n && is_one_of(time.p[time.n - 1], ".,;)"))
            time.n--;
        if (figure_rate(word, time, &n->unit)) {
            n->end = (size_t)(time.p + time.n - line.p);
            n->word = str_sub(line, from, n->end - from);
            return;
        }
        if (figure_per_one(word, time, &n->unit)) {
            n->end = (size_t)(time.p + time.n - line.p);
            n->word = word;
        } else if (memchr(line.p + n->from, '.', n->to - n->from) && is_no_size(word) && str_is_letter(word.p[0]) &&
                   str_is_letter(time.p[0]))
            n->raw = str_sub(line, from, (n->end = (size_t)(time.p + time.n - line.p)) - from); /* "4.9 bits per byte" */
        else
            n->plain = true; /* "3 GB per node" */
        return;
    }
    if (figure_unit(word, &n->unit, &n->raw)) {
        n->end = open ? to + 1 : from + word.n; /* a point behind it ends the sentence */
        n->word = word;
    } else if (!open && !joined && (is_rate_word(per) || is_quotient(word))) /* "3.5 lakh rows/s": with a multiple between */
        n->plain = true;
}

/* A number begins at i: its value, its unit, and whether it can be a result at all. Returns the place behind it. */
size_t figure_number_take(struct str line, size_t i, size_t length, struct number *n)
{
    struct str before = str_sub(line, 0, i);
    *n = (struct number){.from = i, .to = i + length, .end = i + length, .error = is_error_sign(before)};
    size_t minutes = figure_minutes(str_sub(line, i, line.n), n->own, sizeof n->own);
    if (!minutes)
        minutes = minutes_spelled(str_sub(line, i, line.n), n->own, sizeof n->own);
    if (minutes) {
        n->to = n->end = i + minutes;
        n->clock = memchr(line.p + i, ':', minutes) && memrchr(line.p + i, ':', minutes) != memchr(line.p + i, ':', minutes);
        n->unit = units_find(STR("s"));
        return n->end;
    }
    char next = char_at(line, n->to), behind = char_at(line, n->to + 1);
    bool ends =
        !next || str_is_blank(next) || is_one_of(next, ",;)]}>|") || ((next == '.' || next == ':') && (!behind || str_is_blank(behind)));
    if (!ends) {
        take_unit(line, n->to, true, n);
        n->joined = n->unit || n->raw.n;
        if (n->joined)
            return n->end;
        n->plain = next != '/';
        n->times = next == 'x' && (!behind || is_one_of(behind, " \t,;)"));
        n->multiple = !behind || is_one_of(behind, " \t,;)") ? counted_multiple(str_sub(line, n->to, 1)) : 0; /* "12.3k" */
        size_t to = n->to;
        struct str per = str_sub(line, to, line.n), word = str_word(&per);
        if (str_is(word, "/s") || str_is(word, "/sec")) { /* "337317/s" */
            n->unit = units_find(STR("op/s"));
            n->word = word;
            n->joined = true;
            return n->end = to + word.n;
        }
        while (to < line.n && !str_is_blank(line.p[to]) && !is_one_of(line.p[to], ",;()[]|="))
            to++;
        if (next == '/') /* "1/2" is no result by itself: a list of parts may read it */
            n->plain = true;
        n->end = to;
        return to;
    }
    if (next == ',' && str_is_digit(behind)) { /* "1.234,5": a decimal comma, or a list */
        n->plain = true;
        n->decimal_comma = figure_is_decimal_comma(line, i, n->to);
        return n->end;
    }
    size_t at = figure_error_skip(line, n->to);
    take_unit(line, at, false, n);
    if (at > n->to && n->end == n->to)
        n->end = at;
    return n->end;
}

/* "2d 3h 4m 5.5s", "0h:1m:5s": does an amount of days, hours or minutes end right before? */
static bool follows_minutes(struct str before)
{
    static const char *const units[] = {"d", "day", "days", "h", "hour", "hours", "m", "min", "mins", "minute", "minutes"};
    while (before.n && is_one_of(before.p[before.n - 1], " \t:,"))
        before.n--;
    size_t from = before.n;
    while (from && str_is_letter(before.p[from - 1]))
        from--;
    struct str word = str_sub(before, from, before.n), amount = str_trim(str_sub(before, 0, from));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(word, units[i]))
            return amount.n && str_is_digit(amount.p[amount.n - 1]);
    return false;
}

/* Is n[k] no value of its own but the end of one, or one of several behind a name? "107 852 015 op/s", "1.1, 1.2, 1.3 ms", "4 x 3.5 MB/s". */
static bool is_continued(struct str line, const struct number *n, size_t k)
{
    if (n[k].unit && !strcmp(n[k].unit->dimension, "second") && follows_minutes(str_sub(line, 0, n[k].from)))
        return true;
    if (!k || n[k - 1].unit || n[k - 1].raw.n || n[k - 1].inside || n[k - 1].error)
        return false;
    struct str between = str_sub(line, n[k - 1].to, n[k].from - n[k - 1].to), mark = str_trim(between);
    if (mark.n)
        return str_is(mark, ",") || str_is(mark, ";") || str_is(mark, "x") || str_is(mark, "*") || str_is(mark, "\xc3\x97");
    struct str name = str_trim(str_sub(line, 0, n[k - 1].from));
    bool fraction = memchr(line.p + n[k - 1].from, '.', n[k - 1].to - n[k - 1].from) != NULL;
    bool field = char_at(between, 0) == '\t'; /* of a row: a number of its own */
    return str_is_blank(char_at(between, 0)) && !field && (between.n == 1 || (fraction && name.n && is_one_of(name.p[name.n - 1], ":=")));
}

/* "in less than 1 second", "up to 5 MB/s", "<1 ms": a limit of the value, not the value. */
static bool is_bound(struct str line, const struct number *n)
{
    static const char *const words[] = {"less than", "more than", "fewer than", "greater than",
                                        "at least",  "at most",   "up to",      "no more than"};
    struct str before = str_trim(str_sub(line, 0, n->from));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_ends_anycase(before, words[i]))
            return true;
    bool sign = before.n && is_one_of(before.p[before.n - 1], "<>");
    return sign && !memchr(line.p + n->to, '>', line.n - n->to) && !str_ends(before, "->") && !str_ends(before, "=>");
}

bool figure_is_named_rate(const struct number *n)
{
    struct str word = n->word, noun = str_cut(&word, '/');
    return n->unit && n->unit->factor == 1 && !strcmp(n->unit->dimension, "op/s") && word.p && noun.n > 2 &&
           !str_has_word("ops iter", noun);
}

size_t figure_numbers_take(struct str line, struct number to[FIGURE_NUMBERS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < line.n && count < FIGURE_NUMBERS_MAX; i++) {
        char before = i ? line.p[i - 1] : ' ';
        bool dots = before == '.' && i > 1 && line.p[i - 2] == '.'; /* "assembling...0.5s" */
        if (before == '.' && line.p[i] == '.')
            continue;
        if (!str_is_digit(line.p[i]) && !(is_one_of(line.p[i], "-+") && str_is_digit(char_at(line, i + 1))) &&
            !(line.p[i] == '.' && str_is_digit(char_at(line, i + 1))))
            continue;
        bool apart = str_is_blank(before) || dots || is_one_of(before, "=:([<>~|,;") || (unsigned char)before == 0xb1;
        bool clock = i > 1 && is_one_of(before, ":,") && str_is_digit(line.p[i - 2]); /* 10:11:12 and 1,2,3 are no numbers */
        size_t n = apart && !clock ? guess_number(str_sub(line, i, line.n)) : 0;
        if (n) {
            i = (figure_grouped_take(line, i, &to[count]) ? to[count].end : figure_number_take(line, i, n, &to[count])) - 1;
            count++;
            continue;
        }
        while (i + 1 < line.n && (str_is_letter(line.p[i + 1]) || str_is_digit(line.p[i + 1]) || is_one_of(line.p[i + 1], ".-_")))
            i++;
    }
    mark_inside(line, to, count);
    for (size_t k = 0; k < count; k++)
        to[k].plain = to[k].plain || is_continued(line, to, k) || is_bound(line, &to[k]);
    return count;
}
/* ---- names ---- */

/* The last part of the text before a number: behind the last comma, bar, tab or pair of blanks,
 * unless these are directly before the number. */
struct str figure_clause(struct str text)
{
    size_t end = text.n;
    while (end && (str_is_blank(text.p[end - 1]) || is_one_of(text.p[end - 1], "=:~<>.([")))
        end--;
    size_t from = end, open = end;
    if (end && is_one_of(text.p[end - 1], ")]")) { /* "Latency (us)": the brackets belong to the name */
        while (open && !is_one_of(text.p[open - 1], "(["))
            open--;
        from = open ? open - 1 : end;
    }
    bool joined = end < text.n && text.p[end] == '='; /* "264 calls. qps=87.6": the text before the word is another sentence */
    while (from) {
        char c = text.p[from - 1];
        if (is_one_of(c, ",;|\t)]}") || (c == ' ' && from > 1 && str_is_blank(text.p[from - 2])) ||
            (joined && c == ' ' && from > 1 && text.p[from - 2] == '.'))
            break;
        from--;
    }
    return str_trim(str_sub(text, from, end - from));
}

/* Without quotes, list marks, a leading "the", and small words at its end; brackets and what they hold go. */
size_t figure_name_clean(struct str label, char *to, size_t size)
{
    size_t n = 0, depth = 0;
    for (size_t i = 0; i < label.n && n + 1 < size; i++) {
        char c = label.p[i];
        bool open = is_one_of(c, "([{<");
        depth += open;
        if (!depth)
            to[n++] = is_one_of(c, "\"'`") ? ' ' : c;
        if (is_one_of(c, ")]}>") && depth)
            depth--;
    }
    to[n] = 0;
    struct str s = str_trim((struct str){to, n});
    while (s.n && is_one_of(s.p[0], "#-+*=>/.: "))
        s = str_sub(s, 1, s.n);
    for (bool more = true; more && s.n;) {
        while (s.n && is_one_of(s.p[s.n - 1], " \t=:.-~>#*"))
            s.n--;
        const char *blank = memrchr(s.p, ' ', s.n);
        struct str last = blank ? str_sub(s, (size_t)(blank + 1 - s.p), s.n) : s;
        more = figure_is_small(last);
        if (more)
            s.n = blank ? (size_t)(blank - s.p) : 0;
    }
    memmove(to, s.p, s.n);
    to[s.n] = 0;
    return s.n;
}

bool figure_has_number(struct str label)
{
    for (size_t i = 0; i < label.n; i++)
        if (str_is_digit(label.p[i]) && (i == 0 || is_one_of(label.p[i - 1], " \t=:([,")))
            return true;
    return false;
}
