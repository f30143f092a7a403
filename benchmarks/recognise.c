/* recognise.c: whose output is this? The head key `recognise`: lines that only this program prints, when it ran, where, with what line. */
#include "benchmarks/load.h"

#include <stdio.h>
#include <time.h>

enum { BANNERS_MAX = 8, PATTERNS_MAX = 4, FORMATS_MAX = 12 };

struct group_patterns { /* patterns with one named group; the first that matches decides */
    struct pattern *pattern[PATTERNS_MAX];
    int group[PATTERNS_MAX];
    size_t n;
};

struct recognise {
    struct pattern *banner[BANNERS_MAX]; /* one line in each output */
    struct pattern *mark[BANNERS_MAX]; /* any number of lines */
    struct pattern *begin[BANNERS_MAX]; /* lines of an output before its banner */
    size_t banners, marks, begins;
    bool repeats; /* the rules separate several outputs in one */
    struct group_patterns started, finished, host, command;
    struct str format[FORMATS_MAX];
    size_t formats;
    struct str over[16]; /* programs whose output is inside this one's */
    size_t overs;
};

/* A scalar or a list of scalars, each a pattern. */
static int load_patterns(const struct yaml *y, struct pattern **ret, size_t max, size_t *ret_n, const struct rules *rules, struct err *err)
{
    for (const struct yaml *c = y && y->kind == YAML_LIST ? y->child : y; c; c = y->kind == YAML_LIST ? c->next : NULL) {
        if (*ret_n == max)
            return rules_complain(c, rules, err, "%zu patterns are allowed here at most", max);
        if (load_pattern(&ret[*ret_n], c, rules, err))
            return -1;
        (*ret_n)++;
    }
    return 0;
}

/* Loads the patterns of `key` into *ret, each with the number of its group named `group`. An absent
 * key yields none. -1 with err, which names file and line. */
static int load_told(const struct yaml *map, const char *key, const char *group, struct group_patterns *ret, const struct rules *rules,
                     struct err *err)
{
    const struct yaml *y = yaml_get(map, key);
    if (load_patterns(y, ret->pattern, PATTERNS_MAX, &ret->n, rules, err))
        return -1;
    for (size_t i = 0; i < ret->n; i++)
        if ((ret->group[i] = pattern_group(ret->pattern[i], str_of(group))) < 0)
            return rules_complain(y, rules, err, "%s: a pattern with the group (?<%s>…) is expected", key, group);
    return 0;
}

int load_recognise(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"banner", "mark",    "begin", "repeats", "started", "finished",
                                       "host",   "command", "time",  "over",    NULL};
    if (!y)
        return 0;
    struct recognise *r = rules->recognise = ARENA_NEW(&rules->arena, struct recognise);
    if (!r)
        return load_no_memory(rules, err);
    if (y->kind != YAML_MAP)
        return rules_complain(y, rules, err, "recognise is a map: {banner: PATTERN, started: PATTERN …}");
    if (load_keys(y, keys, rules, err) || load_patterns(yaml_get(y, "banner"), r->banner, BANNERS_MAX, &r->banners, rules, err) ||
        load_patterns(yaml_get(y, "mark"), r->mark, BANNERS_MAX, &r->marks, rules, err) ||
        load_patterns(yaml_get(y, "begin"), r->begin, BANNERS_MAX, &r->begins, rules, err) ||
        load_flag(y, "repeats", &r->repeats, rules, err) || load_told(y, "started", "time", &r->started, rules, err) ||
        load_told(y, "finished", "time", &r->finished, rules, err) || load_told(y, "host", "host", &r->host, rules, err) ||
        load_told(y, "command", "command", &r->command, rules, err) ||
        load_texts(yaml_get(y, "over"), r->over, sizeof r->over / sizeof r->over[0], &r->overs, rules, err) ||
        load_texts(yaml_get(y, "time"), r->format, FORMATS_MAX, &r->formats, rules, err))
        return -1;
    if (!r->banners && !r->marks)
        return rules_complain(y, rules, err, "recognise without banner or mark: a pattern that only this program's output matches");
    if ((r->started.n || r->finished.n) && !r->formats)
        return rules_complain(y, rules, err, "recognise: time is missing: how started and finished are written (strptime(3) formats)");
    return 0;
}

void free_recognise(struct recognise *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->banners; i++)
        pattern_free(r->banner[i]);
    for (size_t i = 0; i < r->marks; i++)
        pattern_free(r->mark[i]);
    for (size_t i = 0; i < r->begins; i++)
        pattern_free(r->begin[i]);
    struct group_patterns *const all[] = {&r->started, &r->finished, &r->host, &r->command};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < all[k]->n; i++)
            pattern_free(all[k]->pattern[i]);
}

bool rules_recognise(const struct rules *rules)
{
    return rules->recognise != NULL;
}

bool rules_over(const struct rules *rules, const char *name)
{
    for (size_t i = 0; rules->recognise && i < rules->recognise->overs; i++)
        if (str_is(rules->recognise->over[i], name))
            return true;
    return false;
}

bool rules_single(const struct rules *rules)
{
    return !rules->recognise || !rules->recognise->repeats;
}

/* True if the text can match at all. Searched in all of it, which is much faster than line by line.
 * Colours may be within a literal. */
static bool is_match_possible(const struct pattern *p, struct str text)
{
    const struct str *literal;
    size_t n = pattern_literals(p, &literal);
    if (n && memchr(text.p, 0x1b, text.n))
        return true;
    for (size_t i = 0; i < n; i++)
        if (memmem(text.p, text.n, literal[i].p, literal[i].n))
            return true;
    return n == 0;
}

/* True if the format contains the zone: %z, or a Z or GMT at its end? */
static bool is_zoned(const char *format)
{
    size_t n = strlen(format);
    return strstr(format, "%z") || (n >= 4 && strcmp(format + n - 4, " GMT") == 0) ||
           (n >= 2 && format[n - 1] == 'Z' && format[n - 2] != '%');
}

bool rules_time(struct str text, struct str format, int64_t *ret_ms)
{
    enum { YEAR_FIRST = 1990 - 1900, FUTURE_S = 86400 };
    char z[128], f[64];
    struct tm tm = {.tm_isdst = -1, .tm_mday = 1};
    text = str_trim(text);
    if (text.n >= sizeof z || format.n >= sizeof f || !text.n)
        return false;
    snprintf(z, sizeof z, STR_FMT, STR_ARG(text));
    snprintf(f, sizeof f, STR_FMT, STR_ARG(format));
    const char *end = strptime(z, f, &tm);
    if (!end || *end)
        return false;
    long offset = tm.tm_gmtoff;
    time_t t;
    if (strstr(f, "%s")) { /* glibc returns the broken-down local time of it */
        tm.tm_isdst = -1;
        t = mktime(&tm);
    } else if (is_zoned(f)) {
        tm.tm_isdst = 0;
        t = timegm(&tm) - offset;
    } else
        t = mktime(&tm);
    if (t == (time_t)-1 || tm.tm_year < YEAR_FIRST || t > time(NULL) + FUTURE_S)
        return false; /* a machine without a clock, or not a time at all */
    *ret_ms = (int64_t)t * 1000;
    return true;
}

/* Searches the line by those patterns that may match. *ret: the group of the first match, without
 * blanks around. False: no pattern matches, or the group is empty. */
static bool group_match(const struct group_patterns *t, const bool *may, struct str line, struct str *ret)
{
    struct match m;
    for (size_t i = 0; i < t->n; i++)
        if (may[i] && pattern_match(t->pattern[i], line, &m) == 1 && m.group[t->group[i]].p) {
            *ret = str_trim(m.group[t->group[i]]);
            return ret->n > 0;
        }
    return false;
}

static void take_time(const struct recognise *r, struct str text, int64_t *ret)
{
    for (size_t i = 0; i < r->formats; i++)
        if (rules_time(text, r->format[i], ret))
            return;
}

static bool count_matches(struct pattern *const *p, const bool *may, size_t n, struct str line, size_t *count)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        if (may[i] && pattern_match(p[i], line, NULL) == 1)
            any = ++count[i];
    return any;
}

/* The line as the readers see it. */
static struct str plain_line(struct wrapped *w, struct str line)
{
    wrapped_bare(w, &line);
    return wrapped_text(w, line);
}

void rules_see(const struct rules *rules, struct str text, struct arena *a, struct rules_seen *ret)
{
    const struct recognise *r = rules->recognise;
    size_t count[BANNERS_MAX] = {0}, marks[BANNERS_MAX] = {0}, number = 0, banner_lines = 0;
    bool banner[BANNERS_MAX], mark[BANNERS_MAX], started[PATTERNS_MAX], finished[PATTERNS_MAX], host[PATTERNS_MAX], command[PATTERNS_MAX],
        any = false;
    struct wrapped wrapped = {0};
    wrapped_begin(&wrapped, text, rules_own_word, rules);
    *ret = (struct rules_seen){0};
    for (size_t i = 0; r && i < r->banners; i++)
        any = (banner[i] = is_match_possible(r->banner[i], text)) || any;
    for (size_t i = 0; r && i < r->marks; i++)
        any = (mark[i] = is_match_possible(r->mark[i], text)) || any;
    if (!any)
        return;
    const struct {
        const struct group_patterns *told;
        bool *may;
    } all[] = {{&r->started, started}, {&r->finished, finished}, {&r->host, host}, {&r->command, command}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < all[k].told->n; i++)
            all[k].may[i] = is_match_possible(all[k].told->pattern[i], text);
    for (struct str rest = text; rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n'), found;
        number++;
        if (line.n > RULES_LINE_MAX)
            continue;
        line = plain_line(&wrapped, line);
        if (count_matches(r->banner, banner, r->banners, line, count) && banner_lines++ < 2)
            ret->line[banner_lines - 1] = number;
        ret->known = count_matches(r->mark, mark, r->marks, line, marks) || ret->known;
        if (!ret->started_ms && group_match(&r->started, started, line, &found))
            take_time(r, found, &ret->started_ms);
        if (group_match(&r->finished, finished, line, &found))
            take_time(r, found, &ret->finished_ms); /* the last one counts */
        if (!ret->host && group_match(&r->host, host, line, &found))
            ret->host = arena_dup(a, found.p, found.n);
        if (!ret->command && group_match(&r->command, command, line, &found))
            ret->command = arena_dup(a, found.p, found.n);
    }
    wrapped_deinit(&wrapped);
    for (size_t i = 0; i < r->banners; i++) /* one output can print its name in two ways */
        if (count[i] > ret->banners)
            ret->banners = count[i];
    ret->known = ret->known || ret->banners;
    if (ret->finished_ms && ret->started_ms && ret->finished_ms < ret->started_ms)
        ret->finished_ms = 0;
}

enum { BEGINS_MAX = 4096 };

static bool matches_any(struct pattern *const *p, size_t n, struct str line)
{
    for (size_t i = 0; i < n; i++)
        if (pattern_match(p[i], line, NULL) == 1)
            return true;
    return false;
}

/* The outputs that this banner begins, behind those that are there already. */
static size_t find_begins(const struct rules *rules, size_t banner, struct str text, struct rules_output_begin *to, size_t n)
{
    const struct recognise *r = rules->recognise;
    const size_t none = SIZE_MAX;
    size_t before = none, brace = none; /* where lines before the banner began, and the last JSON document */
    struct wrapped wrapped = {0};
    wrapped_begin(&wrapped, text, rules_own_word, rules);
    for (struct str rest = text; rest.p && rest.n && n < BEGINS_MAX;) {
        struct str line = str_cut(&rest, '\n');
        size_t at = (size_t)(line.p - text.p);
        if (line.n > RULES_LINE_MAX)
            continue;
        struct str plain = plain_line(&wrapped, line);
        if (pattern_match(r->banner[banner], plain, NULL) == 1) {
            bool member = str_starts(str_trim(plain), "\"");
            to[n++] = (struct rules_output_begin){member && brace != none ? brace : before != none && !member ? before : at, banner};
            before = brace = none;
        } else if (before == none && matches_any(r->begin, r->begins, plain))
            before = at;
        if (plain.n && plain.p[0] == '{')
            brace = at;
    }
    wrapped_deinit(&wrapped);
    return n;
}

size_t rules_begins(const struct rules *rules, struct str text, struct arena *a, struct rules_output_begin **ret)
{
    const struct recognise *r = rules->recognise;
    size_t n = 0;
    *ret = arena_get(a, BEGINS_MAX * sizeof **ret);
    for (size_t i = 0; r && *ret && i < r->banners; i++)
        n = find_begins(rules, i, text, *ret, n);
    return n < BEGINS_MAX ? n : 0;
}
