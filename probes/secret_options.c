/* secret_options.c: secrets behind options, by the rows of secret_options.def. */
#include "probes/secret_options.h"

#include "probes/secret_names.h"

enum { NAME_MAX_BYTES = 64 };

enum secret_option_form { NEXT, JOINED, EITHER, PAIR, PIPED };

static const struct option_row {
    const char *programs;
    struct str option;
    enum secret_option_form how;
} rows[] = {
#define OPTION(programs, option, how) {programs, {option, sizeof(option) - 1}, how},
#include "probes/secret_options.def"
#undef OPTION
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool secret_option_is_word_byte(char c)
{
    char small = str_lower(c);
    return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* Returns the place of the name as a separate word in the text; text.n: not found. */
static size_t secret_option_find_word(struct str text, struct str name)
{
    for (size_t from = 0; from + name.n <= text.n;) {
        ptrdiff_t at = str_find(str_sub(text, from, text.n), name);
        if (at < 0)
            break;
        from += (size_t)at;
        if ((from == 0 || !secret_option_is_word_byte(text.p[from - 1])) &&
            (from + name.n == text.n || !secret_option_is_word_byte(text.p[from + name.n])))
            return from;
        from++;
    }
    return text.n;
}

/* Returns whether the text before the option names one of the programs. "*" stands for all;
 * "name+verb" requires both, in this order. */
static bool secret_option_names_program(const char *programs, struct str before)
{
    if (str_is(str_of(programs), "*"))
        return true;
    for (struct str rest = str_of(programs); rest.n > 0;) {
        struct str verb = str_word(&rest), name = str_cut(&verb, '+');
        size_t at = secret_option_find_word(before, name);
        if (at < before.n && (!verb.p || secret_option_find_word(str_sub(before, at, before.n), verb) < before.n - at))
            return true;
    }
    return false;
}

static struct str secret_option_unquote(struct str v)
{
    if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
        return str_sub(v, 1, v.n - 2);
    return v;
}

static bool secret_option_is_value(const struct option_row *row, struct str value)
{
    bool number;
    int64_t passes;
    if (row->how == NEXT && strcmp(row->programs, "*") == 0 && value.n <= 2 && str_int(value, &passes))
        return false; /* x264 --pass 1: which of several passes */
    if (row->how == PAIR && !memchr(value.p, ':', value.n) && !memchr(value.p, '%', value.n))
        return false;
    return value.n > 0 && value.p[0] != '-' && secret_is_value(SECRET_NAME_WHOLE, value, &number);
}

/* Returns whether the name of the option announces that the value is a secret: "--password X",
 * "-api-key X". */
static bool secret_option_is_named(struct str word, struct str value)
{
    bool number;
    struct str name = word;
    while (name.n > 0 && name.p[0] == '-')
        name = str_sub(name, 1, name.n);
    if (name.n < 3 || name.n > NAME_MAX_BYTES || memchr(name.p, '=', name.n) || value.n == 0 || value.p[0] == '-')
        return false;
    enum secret_weight weight = secret_name_weight(name);
    if (weight == SECRET_NAME_PERHAPS && value.n >= 6 && word.n > 1 && word.p[1] == '-')
        weight = SECRET_NAME_PART;
    return secret_is_value(weight, value, &number);
}

/* Returns the password within the value of an OpenSSL option, whose word names the source
 * ("pass:X"). Empty for another source, such as a file. */
static struct str secret_option_behind_source(struct str word, struct str value)
{
    if (!str_starts(word, "-pass") || word.n == 0)
        return value;
    if (str_starts(value, "pass:"))
        return str_sub(value, 5, value.n);
    return str_starts(value, "env:") || str_starts(value, "file:") || str_starts(value, "fd:") || str_is(value, "stdin") ? STR("") : value;
}

/* Returns the last word of "echo X |" or "printf X |" at the end of the text, without quotes; n 0:
 * there is none. */
static struct str secret_option_piped_word(struct str before)
{
    size_t end = before.n, from;
    while (end > 0 && before.p[end - 1] != '|')
        end--;
    struct str command = str_trim(str_sub(before, 0, end ? end - 1 : 0));
    size_t program = secret_option_find_word(command, STR("echo"));
    program = program < command.n ? program : secret_option_find_word(command, STR("printf"));
    if (program == command.n)
        return STR("");
    char last = command.p[command.n - 1];
    bool quoted = last == '"' || last == '\'';
    for (from = command.n - quoted; from > program && (quoted ? command.p[from - 1] != last : !strchr(" \t", command.p[from - 1]));)
        from--;
    from -= quoted && from > program;
    return from > program ? secret_option_unquote(str_sub(command, from, command.n)) : STR("");
}

bool secret_option_find(struct str before, struct str word, struct str value, struct str *ret)
{
    value = secret_option_behind_source(word, secret_option_unquote(value));
    for (const struct option_row *row = rows; row < rows + ROWS; row++) {
        if (!str_starts(word, row->option.p))
            continue;
        struct str rest = str_sub(word, row->option.n, word.n);
        if (row->how == PIPED) {
            struct str piped = secret_option_piped_word(before);
            if (rest.n == 0 && piped.n > 0 && piped.p[0] != '$' && secret_option_is_value(row, piped) &&
                secret_option_names_program(row->programs, before)) {
                *ret = piped;
                return true;
            }
            continue;
        }
        bool joined = rest.n > 0;
        if (joined && rest.p[0] == '=' && row->how == PAIR)
            rest = str_sub(rest, 1, rest.n);
        else if (joined && (row->how == NEXT || word.p[1] == '-'))
            continue;
        if (!joined && row->how == JOINED)
            continue;
        struct str secret = joined ? secret_option_unquote(rest) : value;
        if (secret_option_is_value(row, secret) && secret_option_names_program(row->programs, before)) {
            *ret = secret;
            return true;
        }
    }
    *ret = value;
    return secret_option_is_named(word, value);
}

size_t secret_option_find_program(struct str text)
{
    size_t first = text.n;
    for (const struct option_row *row = rows; row < rows + ROWS; row++) {
        if (row > rows && row->programs == row[-1].programs)
            continue;
        for (struct str rest = str_of(row->programs); rest.n > 0 && !str_is(rest, "*");) {
            struct str verb = str_word(&rest), name = str_cut(&verb, '+');
            size_t at = secret_option_find_word(str_sub(text, 0, first), name);
            first = at < first ? at : first;
        }
    }
    return first;
}
