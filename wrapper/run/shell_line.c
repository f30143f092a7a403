/* shell_line.c: splits a line of shell into its commands, to find those that start programs elsewhere. */
#include "run/shell_line.h"

#include <string.h>

enum { WORDS_MAX = 64 }; /* of one command: a launcher and what it starts are among the first */

static bool shell_line_is_joint(struct str word)
{
    static const char *const joints[] = {"then",  "do",     "else",     "elif",  "if",      "while",   "until",
                                         "exec",  "!",      "{",        "}",     "command", "builtin", "eval",
                                         "alias", "export", "readonly", "local", "declare", "typeset"};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        if (str_is(word, joints[i]))
            return true;
    return false;
}

static bool shell_line_is_assignment(struct str word)
{
    size_t n = 0;
    while (n < word.n && ((word.p[n] >= 'A' && word.p[n] <= 'Z') || (word.p[n] >= 'a' && word.p[n] <= 'z') || word.p[n] == '_' ||
                          (n > 0 && word.p[n] >= '0' && word.p[n] <= '9')))
        n++;
    return n > 0 && n < word.n && word.p[n] == '=';
}

/* Cuts off the next word of a command, without quotes, and returns it as a text in the arena; NULL:
 * none is left. */
static char *shell_line_cut_word(struct str *line, struct arena *a)
{
    static const char blanks[] = " \t\"'\\$";
    while (line->n && strchr(blanks, *line->p))
        *line = str_sub(*line, 1, line->n);
    size_t n = 0;
    while (n < line->n && !strchr(blanks, line->p[n]))
        n++;
    char *word = n ? arena_dup(a, line->p, n) : NULL;
    *line = str_sub(*line, n, line->n);
    return word;
}

char **shell_line_next(struct str *rest, struct arena *a)
{
    static const char ends[] = ";|&\n()`";
    while (rest->n) {
        size_t n = 0;
        while (n < rest->n && rest->p[n] && !strchr(ends, rest->p[n]))
            n++;
        struct str command = str_sub(*rest, 0, n);
        *rest = str_sub(*rest, n < rest->n ? n + 1 : n, rest->n);
        char **words = arena_get(a, (WORDS_MAX + 1) * sizeof *words);
        size_t count = 0;
        for (char *word; words && count < WORDS_MAX && (word = shell_line_cut_word(&command, a));)
            if (count || (!shell_line_is_joint(str_of(word)) && !shell_line_is_assignment(str_of(word))))
                words[count++] = word;
        if (!words)
            return NULL;
        words[count] = NULL;
        if (count)
            return words;
    }
    return NULL;
}

struct str shell_line_of(char *const *argv, char *const **at)
{
    static const char *const shells[] = {"sh",  "bash", "dash", "zsh", "ksh",     "ash",    "mksh", "fish",
                                         "csh", "tcsh", "su",   "sg",  "runuser", "script", "flock"};
    static const char *const others[] = {"hyperfine", "watch"};
    const char *name = argv[0] ? str_base_name(argv[0]) : "";
    bool shell = false, any = false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        shell |= strcmp(name, shells[i]) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        any |= strcmp(name, others[i]) == 0;
    bool splits = strcmp(name, "env") == 0;
    for (; (shell || any || splits) && **at; ++*at) {
        const char *word = **at;
        bool option = word[0] == '-', has_c = strchr(word, splits ? 'S' : 'c') != NULL;
        if (any && !option)
            return str_of(*(*at)++);
        if (any || !option || !has_c || !(*at)[1])
            continue;
        *at += 2;
        return str_of((*at)[-1]);
    }
    return (struct str){NULL, 0};
}
