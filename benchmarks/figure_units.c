/* figure_units.c: the units of lines that no rules know: as printed behind a number, as words, and as part of names. */
#include "benchmarks/figure_words.h"
#include "base/counted.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>
#include <string.h>

bool figure_is_rate(const struct unit *u)
{
    return strstr(u->dimension, "/s") || !strcmp(u->dimension, "teps");
}

bool figure_is_time_or_rate(const struct unit *u)
{
    return u && (!strcmp(u->dimension, "second") || figure_is_rate(u));
}

bool figure_is_counted(const struct unit *u)
{
    return u && u->factor == 1 && (!strcmp(u->dimension, "op/s") || !strcmp(u->dimension, "token/s") || !strcmp(u->dimension, "teps"));
}

bool figure_is_loose_bytes(const struct unit *u)
{
    return u && (u->factor == 1e3 || u->factor == 1e6 || u->factor == 1e9 || u->factor == 1e12);
}

const char *figure_rate_name(const struct unit *u)
{
    return !strcmp(u->dimension, "byte/s") || !strcmp(u->dimension, "bit/s") ? "bandwidth" : "rate";
}

static bool is_second(struct str s)
{
    return figure_is_any(s, "s sec second secs seconds");
}

/* A counted noun: letters alone, and none that may stand for an unknown multiple ("MH", "kfoos"). */
static bool is_counted(struct str amount)
{
    if (amount.n < 3 || amount.n > 20)
        return figure_is_any(amount, "op it ev tx");
    for (size_t i = 0; i < amount.n; i++)
        if (!str_is_letter(amount.p[i]) && amount.p[i] != '_')
            return false;
    return !counted_may_hide(amount) && !units_find(amount);
}

bool figure_rate(struct str amount, struct str time, const struct unit **ret)
{
    char text[64];
    if (!is_second(time) || amount.n > 40)
        return false;
    snprintf(text, sizeof text, STR_FMT "/s", STR_ARG(amount));
    const struct unit *u = units_find(str_of(text));
    *ret = u && figure_is_rate(u) ? u : is_counted(amount) ? units_find(STR("op/s")) : NULL;
    return *ret != NULL;
}

static bool is_span_of_time(struct str s)
{
    return is_second(s) || figure_is_any(s, "ms us ns msec usec nsec min mins minute minutes h hour hours day days");
}

bool figure_per_one(struct str time, struct str one, const struct unit **ret)
{
    const struct unit *u = units_find(time);
    bool good = u && !strcmp(u->dimension, "second") && !is_span_of_time(one) &&
                (is_counted(one) || figure_is_any(one, "iter iteration call req step"));
    *ret = good ? u : NULL;
    return good;
}

static bool is_plain_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!str_is_letter(s.p[i]) && s.p[i] != '_')
            return false;
    return s.n >= 3;
}

enum { UNIT_WORD_MAX = 28 };

/* "SECONDS", as programs in Fortran print it. */
static const struct unit *upper_case_time(struct str word)
{
    static const struct {
        const char *words, *unit;
    } times[] = {{"SECOND SECONDS SEC SECS", "s"}, {"MILLISECONDS MSEC", "ms"}, {"MICROSECONDS USEC", "us"}, {"NANOSECONDS NSEC", "ns"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (str_has_word(times[i].words, word))
            return units_find(str_of(times[i].unit));
    return NULL;
}

bool figure_is_energy_unit(struct str word)
{
    return str_is(word, "eV") || str_is(word, "Eh") || str_is(word, "Ha") || str_is(word, "Ry") ||
           figure_is_any(word, "hartree hartrees kcal/mol kj/mol");
}

/* A word of at most UNIT_WORD_MAX bytes, by the tables. */
static bool search_unit(struct str word, const struct unit **ret, struct str *ret_raw)
{
    static const char *const per_second[] = {"fps", "nps", "pps", "lps", "cps", "ips", "FPS", "NPS", "PPS", "LPS", "CPS", "IPS"};
    const char *slash = memchr(word.p, '/', word.n);
    if (str_is(word, "#/sec") || str_is(word, "c/s") || str_is(word, "i/s") || str_is(word, "1/s")) {
        *ret = units_find(STR("op/s"));
        return true;
    }
    for (size_t i = 0; i < sizeof per_second / sizeof *per_second; i++)
        if (str_is(word, per_second[i])) {
            *ret = units_find(STR("op/s"));
            return true;
        }
    bool many = word.n == 4 && counted_multiple(str_sub(word, 0, 1)) > 0;
    for (size_t i = 0; many && i < sizeof per_second / sizeof *per_second; i++)
        if (str_is(str_sub(word, 1, 3), per_second[i])) { /* "kfps" */
            *ret_raw = word;
            return true;
        }
    if (figure_is_any(
            word, "mips mwips dmips mops lpm h/s kh/s mh/s gh/s th/s mpix/s mpixels/s kpps mpps gpts mlups glups mlup/s glup/s kreq/s elo "
                  "cycles/op cpb ns/day")) {
        *ret_raw = word;
        return true;
    }
    if (slash && figure_is_any(str_sub(word, 0, (size_t)(slash - word.p)), "mflop mflops gflop gflops tflop tflops") &&
        is_second(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) { /* "MFlops/s" */
        char text[8] = {(char)(word.p[0] & ~0x20), 'F', 'L', 'O', 'P', 'S', 0};
        *ret = units_find(str_of(text));
        return *ret != NULL;
    }
    if (slash && figure_is_any(str_sub(word, 0, (size_t)(slash - word.p)), "cycles cycle clocks instructions") &&
        is_plain_word(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) {
        *ret_raw = word;
        return true;
    }
    if (slash && figure_is_any(str_sub(word, 0, (size_t)(slash - word.p)), "kbytes kbyte") &&
        is_second(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) {
        *ret_raw = word;
        return true;
    }
    if (figure_is_any(word, "gbit/s gbits/s gbit/sec gbits/sec")) { /* a lower-case "m" may be a thousandth */
        *ret = units_find(STR("Gbit/s"));
        return *ret != NULL;
    }
    bool loose = str_starts(word, "KB/s"); /* 1000 to one program and 1024 to another */
    if (loose || figure_is_energy_unit(word)) {
        *ret_raw = word;
        return true;
    }
    if (slash) {
        struct str amount = str_sub(word, 0, (size_t)(slash - word.p)), per = str_sub(word, amount.n + 1, word.n);
        if (is_second(per) ? figure_rate(amount, STR("s"), ret) : figure_per_one(amount, per, ret))
            return true;
        if (!is_span_of_time(per) || !is_plain_word(amount))
            return false;
        *ret_raw = word;
        return true;
    }
    if (figure_is_any(
            word,
            "h d day days b op ops m k g t pct hour hours ma a v c f x ps io requests request events transactions queries messages samples "
            "images steps iterations updates tasks token tokens tok edges bit bits"))
        return false;
    *ret = units_find(word);
    *ret = *ret ? *ret : upper_case_time(word);
    return *ret != NULL;
}

/* Outputs repeat few words behind their numbers: the last ones are remembered. */
bool figure_unit(struct str word, const struct unit **ret, struct str *ret_raw)
{
    static struct known_unit {
        char word[UNIT_WORD_MAX];
        unsigned char n;
        bool is_unit, is_raw;
        const struct unit *unit;
    } known[256];
    unsigned hash = (unsigned)word.n;
    if (!word.n || word.n > UNIT_WORD_MAX)
        return false;
    for (size_t i = 0; i < word.n; i++)
        hash = hash * 31 + (unsigned char)word.p[i];
    struct known_unit *k = &known[hash % 256];
    if (!str_eq(word, (struct str){k->word, k->n})) {
        struct str raw = {"", 0};
        k->unit = NULL;
        k->is_unit = search_unit(word, &k->unit, &raw);
        k->is_raw = raw.n > 0;
        memcpy(k->word, word.p, word.n);
        k->n = (unsigned char)word.n;
    }
    *ret = k->unit;
    if (k->is_raw)
        *ret_raw = word;
    return k->is_unit;
}

static bool label_has_digit(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_is_digit(s.p[i]))
            return true;
    return false;
}

const struct unit *figure_unit_of_label(struct str label)
{
    while (label.n > 1 && strchr("\"'`", label.p[0]) && label.p[label.n - 1] == label.p[0])
        label = str_sub(label, 1, label.n - 2);
    const struct unit *u = guess_unit_in(label);
    struct str raw = {NULL, 0};
    if (u)
        return u;
    label = str_trim(label);
    for (size_t i = 0; i < label.n; i++) { /* "(MB/s)", "[ms]" with what only this grammar reads */
        char open = label.p[i];
        const char *close = open == '(' || open == '[' ? memchr(label.p + i, open == '(' ? ')' : ']', label.n - i) : NULL;
        struct str inside = close ? str_sub(label, i + 1, (size_t)(close - label.p) - i - 1) : (struct str){"", 0};
        const char *words = inside.n ? memrchr(inside.p, ' ', inside.n) : NULL;
        if (words && !label_has_digit(inside)) /* "(Wallclock seconds)", "(in us)" */
            inside = str_sub(inside, (size_t)(words + 1 - inside.p), inside.n);
        if (close && figure_unit(inside, &u, &raw) && u)
            return u;
    }
    const char *blank = label.n ? memrchr(label.p, ' ', label.n) : NULL;
    struct str last = blank ? str_sub(label, (size_t)(blank + 1 - label.p), label.n) : label;
    if (memchr(last.p, '/', last.n) && figure_unit(last, &u, &raw))
        return u; /* "Requests/sec", "tokens/s" */
    struct str front = str_trim(str_sub(label, 0, label.n - last.n)), first_words = label, first = str_word(&first_words);
    if ((str_is(front, "in") || str_ends(front, " in")) && front.n < label.n && figure_unit(last, &u, &raw) && u)
        return u; /* "Time in seconds" */
    if (figure_is_any(str_trim(first_words), "total overall average avg mean median max min sum aggregate") &&
        memchr(first.p, '/', first.n) && figure_unit(first, &u, &raw) && u)
        return u; /* "MB/s total" */
    if (figure_is_any(str_trim(first_words), "measured achieved sustained") && figure_is_any(first, "gflops mflops tflops"))
        return units_find(first); /* "MFLOPS measured" */
    const char *colon = label.n ? memrchr(label.p, ':', label.n) : NULL;
    bool alone = last.n == label.n || (colon && colon + 1 == blank) ||
                 figure_is_any(front, "effective average avg mean total actual achieved measured"); /* "read: IOPS", "Effective rps" */
    if (figure_is_any(last, "seconds secs milliseconds microseconds nanoseconds") && front.n &&
        !str_ends(front, " per")) /* "Total running seconds" */
        return units_find(last);
    struct str after = first_words, second = str_word(&after), third = str_word(&after);
    if (figure_is_any(first, "seconds secs milliseconds microseconds nanoseconds") &&
        figure_is_any(str_trim(first_words), "taken elapsed used spent total"))
        return units_find(first); /* `Seconds taken` */
    if (figure_is_any(first, "total elapsed wall cpu user real") && figure_is_any(second, "seconds") &&
        figure_is_any(third, "in for to required"))
        return units_find(STR("seconds")); /* "Total seconds in IPOPT" */
    if (figure_is_any(last, "iops qps tps fps nps pps gflops mflops tflops rps gbps mbps") && alone)
        return units_find(last) ? units_find(last) : units_find(STR("op/s"));
    if (figure_is_any(last, "gflops mflops tflops"))
        return units_find(last);
    struct str rest = label, word, before = {NULL, 0}, middle = {NULL, 0}; /* "images per second", "Nodes/second" */
    while ((word = str_word(&rest)).n) {
        if (str_is(middle, "per") && before.n && is_second(word) && !str_is_anycase(word, "seconds") && !rest.n &&
            figure_rate(before, word, &u))
            return u;
        before = middle;
        middle = word;
    }
    return NULL;
}
