/* argument_list.c: list the arguments of a command line that the rules do not explain. */
#include "compare/argument_list.h"

#include "base/buf.h"
#include "benchmarks/reference_parts.h"
#include "benchmarks/rules.h"
#include "launch/peel.h"

#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 16 << 20,
    OPPOSED_MAX = 200 /* arguments that are compared with each other: if there are more, the order of all counts */
};

struct listing_arguments {
    const struct argument_request *asked;
    struct argument *list;
    size_t count;
    bool failed;
};

static size_t count_line_words(char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n;
}

/* ---- one argument ---- */

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Quotes a value that is empty, could be read as several values or a quoted one, or has control
 * characters. */
static struct str argument_value_text(struct listing_arguments *l, struct str value)
{
    bool quoted = value.p && (!value.n || value.p[0] == '"' || str_has(value, ", "));
    for (size_t i = 0; i < value.n && !quoted; i++)
        quoted = is_control(value.p[i]);
    if (!quoted)
        return value.p ? value : STR("");
    CLEANUP_BUF struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_json(&b, value);
    const char *text = b.failed ? NULL : arena_dup(l->asked->a, b.p, b.n);
    l->failed |= !text;
    return str_of(text);
}

static void add_argument(struct listing_arguments *l, const char *key, struct str value, struct str written, bool ordered)
{
    l->failed |= !key;
    if (key)
        l->list[l->count] = (struct argument){key, argument_value_text(l, value), written, l->count, ordered};
    l->count += key != NULL;
}

/* Returns the option without its dashes, or with them if the rest is a number, as an operand's key
 * is, or "order". */
static struct str option_key(struct str option)
{
    struct str name = option;
    int64_t number;
    while (name.n && name.p[0] == '-')
        name = str_sub(name, 1, name.n);
    return name.n && !str_int(name, &number) && !str_is(name, "order") ? name : option;
}

/* Adds the word at `at`. An unknown option's value is the next word, unless that begins with a dash or the rules explain it. Returns the number of
 * words used. */
static size_t add_argument_word(struct listing_arguments *l, char *const *at, bool next_explained, size_t *operand)
{
    struct arena *a = l->asked->a;
    struct str word = str_of(at[0]), value = word, option = str_cut(&value, '=');
    if (word.n < 2 || word.p[0] != '-') {
        const char *number = arena_printf(a, "%zu", ++*operand);
        add_argument(l, arena_printf(a, "argument.%s", number ? number : ""), word, str_of(number), false);
        return 1;
    }
    bool takes = !value.p && at[1] && at[1][0] != '-' && !next_explained;
    struct str key = option_key(option);
    add_argument(l, arena_printf(a, "argument." STR_FMT, STR_ARG(key)), takes ? str_of(at[1]) : value,
                 value.p ? str_sub(word, 0, option.n + 1) : option, false);
    return takes ? 2 : 1;
}

static bool is_swept_word(const struct listing_arguments *l, size_t at)
{
    return l->asked->swept && strcmp(l->asked->line[at], l->asked->swept[at]) != 0;
}

/* ---- all of them ---- */

/* Adds an option of a starter before the program as "argument.STARTER.NAME", an operand with its number as the name, the starter itself as
 * "argument.STARTER". */
static void add_line_setting(struct listing_arguments *l, const struct peel_setting *s, size_t *operand)
{
    struct arena *a = l->asked->a;
    bool swept = false;
    for (size_t k = 0; k < s->words; k++)
        swept |= is_swept_word(l, s->at + k);
    if (!s->name.n && !s->value.p)
        *operand = 0;
    else if (!s->name.n)
        ++*operand;
    if (swept)
        return;
    const char *key = s->name.n    ? arena_printf(a, "argument.%s." STR_FMT, s->starter, STR_ARG(s->name))
                      : s->value.p ? arena_printf(a, "argument.%s.%zu", s->starter, *operand)
                                   : arena_printf(a, "argument.%s", s->starter);
    add_argument(l, key, s->value, (struct str){NULL, 0}, false);
}

static void add_line_settings(struct listing_arguments *l)
{
    struct peel_setting *settings = arena_get(l->asked->a, (count_line_words(l->asked->line) + 1) * sizeof *settings);
    size_t n = settings ? peel_settings(l->asked->line, settings) : 0, operand = 0;
    l->failed |= !settings;
    for (size_t i = 0; i < n; i++)
        add_line_setting(l, &settings[i], &operand);
}

/* Returns whether one of the options that the rules join occurs several times, as in fio's jobs, or
 * whether there are too many words to compare. */
static bool is_joined_twice(const char *const *joined, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; joined[i] && k < i; k++)
            if (n > OPPOSED_MAX || (joined[k] && strcmp(joined[i], joined[k]) == 0))
                return true;
    return false;
}

/* Adds an argument without a key: the rules explain it, but its position counts. */
static void add_joined(struct listing_arguments *l, const char *param)
{
    l->list[l->count] = (struct argument){NULL, {NULL, 0}, str_of(param), l->count, true};
    l->count++;
}

/* Adds the words of a command line that no rule of the benchmark explains and no sweep sets.
 * l->failed: out of memory. */
static void add_argument_words(struct listing_arguments *l, char *const *argv)
{
    size_t words = count_line_words(argv), operand = 0;
    bool *explained = arena_get(l->asked->a, (words + 2) * sizeof *explained);
    const char **joined = arena_get(l->asked->a, (words + 2) * sizeof *joined);
    if (!explained || !joined) {
        l->failed = true;
        return;
    }
    memset(explained, 0, (words + 2) * sizeof *explained);
    memset(joined, 0, (words + 2) * sizeof *joined);
    if (l->asked->rules)
        rules_explain(l->asked->rules, argv, explained, joined);
    bool places = is_joined_twice(joined, words);
    for (size_t i = 0; i < words; i++)
        explained[i] |= is_swept_word(l, (size_t)(argv - l->asked->line) + i);
    for (size_t i = 1; i < words;)
        if (explained[i]) {
            if (places && joined[i])
                add_joined(l, joined[i]);
            i++;
        } else
            i += add_argument_word(l, &argv[i], explained[i + 1], &operand);
}

/* ---- their order ---- */

static struct str argument_name(const struct argument *e)
{
    return e->key ? str_of(e->key + strlen("argument.")) : STR("");
}

/* Returns whether the options are as "O2" and "O3", or "color" and "no-color": of such options the
 * last one counts. */
static bool are_opposed(struct str x, struct str y)
{
    if (str_starts(x, "no-") || str_starts(y, "no-"))
        return str_eq(str_starts(x, "no-") ? str_sub(x, 3, x.n) : x, str_starts(y, "no-") ? str_sub(y, 3, y.n) : y) && !str_eq(x, y);
    return x.n > 1 && y.n > 1 && x.p[0] == y.p[0] && !str_is_digit(x.p[0]) && !str_eq(x, y) && str_is_digit(x.p[1]) && str_is_digit(y.p[1]);
}

static bool is_opposed_to_any(const struct listing_arguments *l, size_t i)
{
    for (size_t k = 0; k < l->count && l->count <= OPPOSED_MAX; k++)
        if (are_opposed(argument_name(&l->list[i]), argument_name(&l->list[k])))
            return true;
    return false;
}

/* A joined argument has no key here, so it is never ignored. */
static bool is_place_ignored(const struct listing_arguments *l, const struct argument *e)
{
    for (const struct opt_value *v = l->asked->ignore; v && v->text && e->key; v = v->next)
        if (reference_fits(str_of(v->text), str_of(e->key)))
            return true;
    return false;
}

static void mark_ordered(struct listing_arguments *l)
{
    bool all = !l->asked->rules || !rules_has_options(l->asked->rules) || l->count > OPPOSED_MAX;
    for (size_t i = 0; i < l->count; i++)
        if ((all && l->list[i].written.p) || is_opposed_to_any(l, i))
            l->list[i].ordered = true;
}

static int by_argument_key(const void *a, const void *b)
{
    const struct argument *x = a, *y = b;
    int order = strcmp(x->key ? x->key : "", y->key ? y->key : "");
    return order ? order : (x->nth > y->nth) - (x->nth < y->nth);
}

static int by_line_place(const void *a, const void *b)
{
    const struct argument *x = a, *y = b;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

static void put_written(const struct listing_arguments *l, bool ordered, struct buf *to)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct argument *e = &l->list[i];
        if (e->ordered != ordered || is_place_ignored(l, e) || (!ordered && !e->written.p))
            continue;
        buf_printf(to, "%s" STR_FMT, to->n ? " " : "", STR_ARG(e->written.p ? e->written : argument_name(e)));
    }
}

/* Sorts the list by key, without joined arguments, and appends ARGUMENT_ORDER: first the options whose position does not count, by key, then the
 * others in their order. */
static void finish_arguments(struct listing_arguments *l)
{
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, TEXT_MAX);
    mark_ordered(l);
    qsort(l->list, l->count, sizeof *l->list, by_argument_key);
    put_written(l, false, &b);
    qsort(l->list, l->count, sizeof *l->list, by_line_place);
    put_written(l, true, &b);
    qsort(l->list, l->count, sizeof *l->list, by_argument_key);
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].key)
            l->list[n++] = l->list[i];
    l->count = n;
    const char *text = b.failed ? NULL : arena_dup(l->asked->a, b.p ? b.p : "", b.n);
    l->failed |= !text;
    if (text && *text)
        add_argument(l, ARGUMENT_ORDER, str_of(text), (struct str){NULL, 0}, false);
}

int argument_list_make(const struct argument_request *asked, struct argument **ret, size_t *ret_count)
{
    struct argument_request known = *asked;
    size_t words = count_line_words(asked->line);
    struct listing_arguments l = {.asked = &known, .list = arena_get(asked->a, (3 * words + 3) * sizeof *l.list)};
    if (asked->swept && count_line_words(asked->swept) != words)
        known.swept = NULL;
    if (!l.list)
        return -1;
    add_line_settings(&l);
    add_argument_words(&l, peel_program(asked->line));
    if (!l.failed && l.count)
        finish_arguments(&l);
    *ret = l.list;
    *ret_count = l.count;
    return l.failed ? -1 : 0;
}

void argument_drop_order(const char **names)
{
    size_t others = 0, n = 0;
    for (const char **name = names; *name; name++)
        others += strncmp(*name, "argument.", strlen("argument.")) == 0 && strcmp(*name, ARGUMENT_ORDER) != 0;
    for (const char **name = names; *name; name++)
        if (!others || strcmp(*name, ARGUMENT_ORDER) != 0)
            names[n++] = *name;
    names[n] = NULL;
}

/* Returns whether one of the names is the key of the word, as put_written has written it. */
static bool is_word_of(struct str word, const char *const *names)
{
    struct str value = word, option = str_cut(&value, '=');
    struct str name = word.n > 1 && word.p[0] == '-' ? option_key(option) : word;
    for (; *names; names++)
        if (strncmp(*names, "argument.", strlen("argument.")) == 0 && str_is(name, *names + strlen("argument.")))
            return true;
    return false;
}

/* Returns the next word that belongs to none of the names; n 0 at the end. */
static struct str next_other_word(struct str *rest, const char *const *names)
{
    struct str word;
    do
        word = str_word(rest);
    while (word.n && is_word_of(word, names));
    return word;
}

bool argument_order_differs(struct str x, struct str y, const char *const *names)
{
    struct str a, b;
    do {
        a = next_other_word(&x, names);
        b = next_other_word(&y, names);
    } while (a.n && str_eq(a, b));
    return !str_eq(a, b);
}
