/* guess_version.c: the line with the program's version: "sysbench 1.0.20 (using …", "STREAM version
 * $Revision: 5.10 $", "fio-3.33". */
#include "benchmarks/guess_parts.h"

enum { TEXT_MAX = 4000 };

static bool has_number(struct str line)
{
    for (struct str word; (word = str_word(&line)).n;)
        if (guess_number(word))
            return true;
    return false;
}

/* Returns the length of the dotted number at `at`, such as 1.2.3, and the count of its parts; 0:
 * none, or a date such as 23.11.2026. */
static size_t dotted_number(struct str line, size_t at, size_t *ret_parts)
{
    size_t n = at, part = at;
    for (*ret_parts = 1; n < line.n && (str_is_digit(line.p[n]) || (line.p[n] == '.' && n + 1 < line.n && str_is_digit(line.p[n + 1])));
         n++)
        if (line.p[n] == '.') {
            ++*ret_parts;
            part = n + 1;
        }
    bool date = *ret_parts == 3 && n - part == 4;
    return *ret_parts < 2 || *ret_parts > 4 || n - at > 20 || date ? 0 : n - at;
}

/* Is "version" or "release" one of the last two words, without a number behind it? Not
 * "conversion", nor `version 2 took`. */
static bool is_called_version(struct str before)
{
    size_t age = 0, count = 0;
    for (struct str word; (word = str_word(&before)).n; count++) {
        bool number = has_number(word);
        struct str bare = str_cut(&word, memchr(word.p, '=', word.n) ? '=' : ':');
        bool says = str_is_anycase(bare, "version") || str_is_anycase(bare, "release");
        age = says ? 1 : age && !number ? age + 1 : 0;
    }
    return age && age <= 2 && count <= 8;
}

/* "fio-3.33", "mybench 2.4", "tool v1.2", "sysbench 1.0.20": one word, then the form of a version.
 * Any other name with a number is a result. */
static bool is_named_version(struct str line, size_t from, size_t n, size_t parts, const char *name)
{
    struct str before = str_trim(str_sub(line, 0, from)), words = before, word = str_word(&words);
    struct str behind = str_sub(line, from + n, line.n);
    bool letter_v = line.p[from - 1] == 'v' && (from < 2 || strchr(" -(", line.p[from - 2]));
    bool parted = line.p[from - 1] == ' ' || line.p[from - 1] == '-' || letter_v;
    if (letter_v)
        word = str_trim(str_sub(line, 0, from - 1)), words = str_sub(word, 0, 0);
    bool ends = !behind.n || strchr(" -,(", behind.p[0]);
    bool column = from > 1 && line.p[from - 1] == ' ' && line.p[from - 2] == ' ';
    while (word.n && strchr("-(", word.p[word.n - 1]))
        word.n--;
    bool result = line.p[from - 1] != '-' && !behind.n && line.p[from] == '0'; /* "matmul 0.25" */
    bool program = name && str_is_anycase(word, name) && !result;
    return !str_trim(words).n && guess_letters(word) && !memchr(word.p, ' ', word.n) && parted && ends && !column && !has_number(behind) &&
           (letter_v || program || parts == 3);
}

/* Finds the version in a line and its place. name: the program's. */
static bool find_version(struct str line, const char *name, size_t *ret_from, size_t *ret_n)
{
    for (size_t i = 1; i + 2 < line.n; i++) {
        size_t parts = 0, n = strchr(" -v:(", line.p[i - 1]) && str_is_digit(line.p[i]) ? dotted_number(line, i, &parts) : 0;
        struct str before = str_trim(str_sub(line, 0, i)), behind = str_sub(line, i + n, line.n);
        bool said = n && is_called_version(before);
        bool ends = str_ends(before, "=") || str_ends(before, "(") || (str_ends(before, ":") && !said);
        if (!n || ends || guess_unit(str_word(&behind)) || !(said || is_named_version(line, i, n, parts, name)))
            continue;
        *ret_from = i;
        *ret_n = n;
        return true;
    }
    return false;
}

void guess_version(struct guess *g, const char *name)
{
    for (size_t i = 0; i < g->lines && i < 200; i++) {
        struct str line = g->line[i].text;
        size_t from, n;
        if (!g->line[i].plain || g->line[i].used || line.n > 200 || !find_version(line, name, &from, &n))
            continue;
        struct guess_reader *r = guess_reader_add(g, "version", i);
        CLEANUP_BUF struct buf pattern, spec;
        buf_init(&pattern, TEXT_MAX);
        buf_init(&spec, 2 * TEXT_MAX);
        buf_puts(&pattern, "^");
        guess_pattern(&pattern, str_sub(line, 0, from), false);
        buf_puts(&pattern, "(?<version>\\d[\\w.+-]*)");
        buf_puts(&spec, "regex: ");
        guess_quoted(&spec, buf_text(&pattern));
        if (r) {
            r->spec = arena_dup(&g->arena, spec.p, spec.n);
            r->version_cell = "version";
        }
        return;
    }
}
