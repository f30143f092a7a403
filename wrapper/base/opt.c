/* opt.c: option rows: parsing, origins, checks. */
#include "base/opt.h"

#include "base/site.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t row_at(const struct opt_set *set, struct str name)
{
    size_t i = 0;
    while (i < set->count && !str_is(name, set->rows[i].name))
        i++;
    return i;
}

const char *opt_word_answer(const struct opt_word *words, const char *place, struct str typed)
{
    for (; words && words->typed; words++)
        if (strcmp(words->place, place) == 0 && str_is(typed, words->typed))
            return words->answer;
    return NULL;
}

/* Returns the row of a name, or of another program's name for the same option; set->count: there is
 * none. */
static size_t row_or_alias(const struct opt_set *set, struct str name)
{
    size_t at = row_at(set, name);
    const char *answer = at == set->count ? opt_word_answer(set->words, OPT_ALIAS, name) : NULL;
    return answer ? row_at(set, str_of(answer)) : at;
}

static size_t row_of_letter(const struct opt_set *set, char letter)
{
    size_t i = 0;
    while (i < set->count && set->rows[i].letter != letter)
        i++;
    return i;
}

const char *opt_nearest(const struct opt_set *set, struct str name)
{
    const char *best = NULL;
    unsigned least = 3;
    for (size_t i = 0; i < set->count; i++) {
        struct str row = str_of(set->rows[i].name);
        unsigned d = str_distance(name, row);
        if (d == 2 && name.n <= 4 && row.n != name.n) /* another word: runs, rules; two letters that changed places are none */
            continue;
        if (d < least)
            least = d, best = set->rows[i].name;
    }
    return best;
}

struct opt_kept {
    struct opt_kept *next;
    _Alignas(struct opt_value) char bytes[];
};

/* Returns n bytes that live until opt_deinit; NULL with errno. */
static void *opt_alloc(struct opt_set *set, size_t n)
{
    struct opt_kept *k = malloc(sizeof *k + n);
    if (!k)
        return NULL;
    k->next = set->kept;
    set->kept = k;
    return k->bytes;
}

/* Returns both texts joined, owned by the set. NULL: out of memory. */
static char *opt_join_text(struct opt_set *set, const char *before, const char *text)
{
    size_t a = strlen(before), b = strlen(text);
    char *copy = opt_alloc(set, a + b + 1);
    if (copy) {
        memcpy(copy, before, a);
        memcpy(copy + a, text, b + 1);
    }
    return copy;
}

void opt_deinit(struct opt_set *set)
{
    while (set->kept) {
        struct opt_kept *k = set->kept;
        set->kept = k->next;
        free(k);
    }
}

/* Stores a value of option i, which replaces the others; of an option that repeats it is appended
 * to those of the same origin. 0; -1 with err. */
static int opt_store(struct opt_set *set, size_t i, const char *text, enum opt_origin origin, const char *where, struct err *err)
{
    struct opt_value *v = &set->values[i], **last = &v->next;
    bool append = opt_repeats(&set->rows[i]) && v->text && v->origin == origin;
    if (!append) {
        *v = (struct opt_value){.text = text, .origin = origin, .where = where};
        return 0;
    }
    struct opt_value *node = opt_alloc(set, sizeof *node);
    if (!node)
        return err_sys(err, "option %s", where);
    *node = (struct opt_value){.text = text, .origin = origin, .where = where};
    while (*last)
        last = &(*last)->next;
    *last = node;
    return 0;
}

void opt_defaults(struct opt_set *set, char *(*env)(const char *name))
{
    for (size_t i = 0; i < set->count; i++) {
        const struct opt_row *row = &set->rows[i];
        const char *text = row->env && env ? env(row->env) : NULL;
        if (text && *text)
            set->values[i] = (struct opt_value){.text = text, .origin = OPT_ENVIRONMENT, .where = row->env};
        else
            set->values[i] = (struct opt_value){.text = row->value, .origin = OPT_DEFAULT, .where = row->value ? "default" : NULL};
    }
}

/* Returns 1 for a word that means on, 0 for one that means off, -1 for any other. */
static int flag_of(const char *text)
{
    static const char *const words[][2] = {{"0", "1"}, {"no", "yes"}, {"off", "on"}, {"false", "true"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int on = 0; on < 2; on++)
            if (strcmp(text, words[i][on]) == 0)
                return on;
    return -1;
}

static bool choice_has(const char *choices, struct str text)
{
    struct str rest = str_of(choices);
    while (rest.p)
        if (str_eq(str_cut(&rest, '|'), text))
            return true;
    return false;
}

bool opt_repeats(const struct opt_row *row)
{
    return row->kind == OPT_LIST || row->kind == OPT_PAIR;
}

/* Returns the form that a value of this kind has, if text is no such value. NULL: it is one. */
static const char *kind_expected(const struct opt_row *row, const char *text)
{
    struct str s = str_of(text);
    double seconds;
    uint64_t bytes;
    int64_t number;
    switch (row->kind) {
    case OPT_FLAG: return flag_of(text) < 0 ? "yes or no" : NULL;
    case OPT_DURATION: return str_duration(s, &seconds) ? NULL : "a duration such as 90s, 5m or 250ms";
    case OPT_SIZE: return str_size(s, &bytes) ? NULL : "a size such as 4096, 64K or 16M";
    case OPT_INT: return str_int(s, &number) ? NULL : "an integer";
    case OPT_CHOICE: return choice_has(row->arg, s) ? NULL : row->arg;
    case OPT_SITE: return site_is_legal(s) ? NULL : SITE_LEGAL;
    case OPT_PAIR: return text[0] != '=' && strchr(text, '=') ? NULL : row->arg;
    case OPT_TEXT:
    case OPT_LIST: break;
    }
    return NULL;
}

int opt_check(const struct opt_row *row, const struct opt_value *value, struct err *err)
{
    for (; value && value->text; value = value->next) {
        const char *expected = kind_expected(row, value->text);
        if (!expected)
            continue;
        struct buf shown;
        buf_init(&shown, 512);
        buf_plain(&shown, str_of(value->text), 60);
        bool is_option = value->where[0] == '-';
        err_set(err, ERR_USAGE, "%s%s%s: expected %s%s, got \"%s\"", value->where, is_option ? "" : ": ", is_option ? "" : row->name,
                row->kind == OPT_CHOICE ? "one of " : "", expected, shown.p ? shown.p : "");
        buf_deinit(&shown);
        return -1;
    }
    return 0;
}

/* Returns "--name" as it was typed, the `where` of a value of the command line; "command line"
 * where memory is used up. */
static const char *opt_typed_name(struct opt_set *set, struct str name)
{
    char *text = opt_alloc(set, strlen("--") + name.n + 1);
    if (!text)
        return "command line";
    memcpy(text, "--", 2);
    memcpy(text + 2, name.p, name.n);
    text[2 + name.n] = 0;
    return text;
}

static int opt_store_typed(struct opt_set *set, size_t i, struct str name, const char *text, struct err *err)
{
    const char *where = set->values[i].text && set->values[i].origin == OPT_COMMAND_LINE ? set->values[i].where : opt_typed_name(set, name);
    struct opt_value one = {.text = text, .origin = OPT_COMMAND_LINE, .where = where};
    if (opt_check(&set->rows[i], &one, err) < 0)
        return -1;
    return opt_store(set, i, text, OPT_COMMAND_LINE, where, err);
}

/* Appends the answer to an unknown name: the option of that name with dashes for its underscores,
 * the answer to another program's word, or the nearest name. */
static void answer_unknown(const struct opt_set *set, struct str name, struct buf *to)
{
    struct buf dashes;
    buf_init(&dashes, 512);
    for (size_t i = 0; i < name.n; i++)
        buf_putc(&dashes, name.p[i] == '_' ? '-' : name.p[i]);
    name = buf_text(&dashes);
    size_t at = row_or_alias(set, name);
    const char *answer = set->place ? opt_word_answer(set->words, set->place, name) : NULL;
    const char *near = at < set->count ? set->rows[at].name : answer ? NULL : opt_nearest(set, name);
    if (near)
        buf_printf(to, "; did you mean --%s?", near);
    else if (answer)
        buf_printf(to, "; %s", answer);
    buf_deinit(&dashes);
}

/* Sets err to "unknown option", with the answer that is known for the name. Returns -1. */
static int opt_err_unknown(const struct opt_set *set, struct str name, struct err *err)
{
    struct buf shown, answer;
    buf_init(&shown, 512);
    buf_init(&answer, 4096);
    buf_plain(&shown, name, 60);
    answer_unknown(set, name, &answer);
    err_set(err, ERR_USAGE, "unknown option --%s%s", shown.p ? shown.p : "", answer.p ? answer.p : "");
    buf_deinit(&shown);
    buf_deinit(&answer);
    return -1;
}

static int unknown_letter(const struct opt_set *set, char letter, struct err *err)
{
    const char *answer = set->place ? opt_word_answer(set->words, set->place, (struct str){&letter, 1}) : NULL;
    if (answer)
        return err_set(err, ERR_USAGE, "unknown option -%c; %s", letter, answer);
    return letter > ' ' && letter < 0x7f ? err_set(err, ERR_USAGE, "unknown option -%c", letter)
                                         : err_set(err, ERR_USAGE, "unknown option -\\x%02x", (unsigned char)letter);
}

/* Returns whether the next word can be an option's value. "--" ends the options, so that a
 * forgotten value does not consume the program's first word. */
static bool has_value(int argc, char **argv, int i)
{
    return i + 1 < argc && strcmp(argv[i + 1], "--") != 0;
}

/* Stores a long option: --name, --name=value, --name value. *i is the index of the word, and moves
 * over a value of its own. 0; -1 with err. */
static int take_long(struct opt_set *set, int argc, char **argv, int *i, struct err *err)
{
    const char *word = argv[*i] + 2, *equals = strchr(word, '=');
    struct str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
    size_t at = row_or_alias(set, name);
    if (at == set->count)
        return opt_err_unknown(set, name, err);
    const struct opt_row *row = &set->rows[at];
    if (row->kind == OPT_FLAG)
        return equals ? err_set(err, ERR_USAGE, "option --%.*s takes no value", (int)name.n, name.p)
                      : opt_store_typed(set, at, name, "1", err);
    if (equals)
        return opt_store_typed(set, at, name, equals + 1, err);
    if (!has_value(argc, argv, *i))
        return err_set(err, ERR_USAGE, "option --%.*s needs a value: %s", (int)name.n, name.p, row->arg ? row->arg : "TEXT");
    return opt_store_typed(set, at, name, argv[++*i], err);
}

/* Stores a word of short options: -q, -qv, -xVALUE, -x VALUE. *i is the index of the word, and
 * moves over a value of its own. 0; -1 with err. */
static int take_short(struct opt_set *set, int argc, char **argv, int *i, struct err *err)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        size_t at = row_of_letter(set, *p);
        if (at == set->count)
            return unknown_letter(set, *p, err);
        const struct opt_row *row = &set->rows[at];
        struct str name = str_of(row->name);
        if (row->kind == OPT_FLAG) {
            if (opt_store_typed(set, at, name, "1", err) < 0)
                return -1;
            continue;
        }
        if (p[1])
            return opt_store_typed(set, at, name, p + 1, err);
        if (!has_value(argc, argv, *i))
            return err_set(err, ERR_USAGE, "option -%c (--%s) needs a value: %s", *p, row->name, row->arg ? row->arg : "TEXT");
        return opt_store_typed(set, at, name, argv[++*i], err);
    }
    return 0;
}

/* Moves argv[from…to-1] before the `held` operands that precede it. */
static void move_before(char **argv, int from, int to, int held)
{
    for (int i = from; i < to; i++) {
        char *word = argv[i];
        memmove(&argv[i - held + 1], &argv[i - held], (size_t)held * sizeof *argv);
        argv[i - held] = word;
    }
}

int opt_parse(struct opt_set *set, int argc, char **argv, int *ret_next, struct err *err)
{
    int held = 0, i;
    set->dashes = false;
    for (i = 1; i < argc && !set->dashes; i++) {
        int from = i;
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            if (!set->permute)
                break;
            held++;
            continue;
        }
        if (strcmp(argv[i], "--") == 0)
            set->dashes = true;
        else if ((argv[i][1] == '-' ? take_long : take_short)(set, argc, argv, &i, err) < 0)
            return -1;
        move_before(argv, from, i + 1, held);
    }
    *ret_next = i - held;
    return 0;
}

/* Finds "--name" as a whole word in text, from `at` on. Returns its place in text. NULL: not found. */
static char *find_option(char *at, const char *name)
{
    size_t n = strlen(name);
    while ((at = strstr(at, "--"))) {
        if (strncmp(at + 2, name, n) == 0 && !strchr("-_", at[2 + n] ? at[2 + n] : ' ') && !isalnum((unsigned char)at[2 + n]))
            return at;
        at += 2;
    }
    return NULL;
}

void opt_name_as_typed(const struct opt_set *set, struct err *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct opt_value *v = &set->values[i];
        const char *name = set->rows[i].name;
        if (!v->text || v->origin != OPT_COMMAND_LINE || strcmp(v->where + 2, name) == 0)
            continue;
        for (char *at = err->text; (at = find_option(at, name)); at += strlen(v->where)) {
            char rest[sizeof err->text];
            snprintf(rest, sizeof rest, "%s", at + 2 + strlen(name));
            snprintf(at, (size_t)(err->text + sizeof err->text - at), "%s%s", v->where, rest);
        }
    }
}

int opt_assign(struct opt_set *set, const char *name, const char *text, enum opt_origin origin, const char *where, struct err *err)
{
    size_t at = row_at(set, str_of(name));
    if (at == set->count) {
        opt_err_unknown(set, str_of(name), err);
        if (err)
            err->kind = ERR_INPUT;
        err_wrap(err, "%s", where);
        return 1;
    }
    const struct opt_row *row = &set->rows[at];
    if (!(row->flags & OPT_FROM_FILE) && !(row->flags & OPT_TRUSTED && origin < OPT_REPOSITORY))
        return err_set(err, ERR_INPUT, "%s: %s is no key of a configuration file; use the option --%s", where, row->name, row->name);
    if (row->flags & OPT_TRUSTED && origin == OPT_REPOSITORY)
        return err_set(err, ERR_INPUT, "%s: %s is ignored in a repository's file; use the option --%s or your own configuration", where,
                       row->name, row->name);
    struct opt_value one = {.text = text, .origin = origin, .where = where};
    if (opt_check(row, &one, err) < 0) {
        if (err)
            err->kind = ERR_INPUT;
        return -1;
    }
    if (set->values[at].text && set->values[at].origin > origin)
        return 0;
    char *kept = opt_join_text(set, "", text), *place = opt_join_text(set, "", where);
    if (!kept || !place || opt_store(set, at, kept, origin, place, err) < 0) {
        errno = ENOMEM;
        return err_sys(err, "%s: %s", where, name);
    }
    return 0;
}

const struct opt_value *opt_find(const struct opt_set *set, const char *name)
{
    static const struct opt_value none;
    size_t at = row_at(set, str_of(name));
    return at == set->count ? &none : &set->values[at];
}

const char *opt_text(const struct opt_set *set, const char *name)
{
    return opt_find(set, name)->text;
}

bool opt_on(const struct opt_set *set, const char *name)
{
    const char *text = opt_text(set, name);
    return text && flag_of(text) == 1;
}

double opt_seconds(const struct opt_set *set, const char *name)
{
    double v = 0;
    str_duration(str_of(opt_text(set, name)), &v);
    return v;
}

uint64_t opt_bytes(const struct opt_set *set, const char *name)
{
    uint64_t v = 0;
    str_size(str_of(opt_text(set, name)), &v);
    return v;
}

int64_t opt_integer(const struct opt_set *set, const char *name)
{
    int64_t v = 0;
    str_int(str_of(opt_text(set, name)), &v);
    return v;
}

const char *opt_origin_name(enum opt_origin origin)
{
    static const char *const names[] = {"default", "system", "user", "repository", "environment", "command line"};
    return (size_t)origin < sizeof names / sizeof *names ? names[origin] : "unknown";
}
