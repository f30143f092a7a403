/* paths.c: the paths in a program's arguments. */
#include "probes/paths.h"

#include <stdio.h>

/* Adds an absolute path, relative ones below cwd. Leaves out duplicates, paths that do not fit, and
 * those below /dev (except /dev/shm), /proc and /sys. */
static void paths_add_path(struct paths *p, struct str path, const char *cwd)
{
    char text[PATH_SIZE];
    static const char *const elsewhere[] = {"/dev/", "/proc/", "/sys/"};
    bool absolute = path.n > 0 && path.p[0] == '/';
    if (path.n == 0 || path.n > 2000 || p->count == PATHS_MAX || memchr(path.p, 0, path.n) || (!absolute && (!cwd || cwd[0] != '/')))
        return;
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    int n = absolute ? snprintf(text, sizeof text, STR_FMT, STR_ARG(path)) : snprintf(text, sizeof text, "%s/" STR_FMT, cwd, STR_ARG(path));
    if (n <= 0 || (size_t)n >= sizeof text)
        return;
    for (size_t i = 0; i < 3; i++)
        if (strncmp(text, elsewhere[i], strlen(elsewhere[i])) == 0 && strncmp(text, "/dev/shm", 8) != 0)
            return;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->list[i], text) == 0)
            return;
    memcpy(p->list[p->count++], text, (size_t)n + 1);
}

/* Returns whether a shell or an interpreter reads the text, so that a slash in it is part of a
 * command, a unit or an expression. A path may have blanks, but then its beginning shows it: "/my
 * data/x". */
static bool paths_is_script(struct str word)
{
    bool rooted = str_starts(word, "/") || str_starts(word, "./") || str_starts(word, "../");
    for (size_t i = 0; i < word.n; i++)
        if ((unsigned char)word.p[i] < ' ' || word.p[i] == 0x7f || strchr(";|&<>`$\"'{}", word.p[i]) ||
            (!rooted && strchr(" ()*?!^", word.p[i])))
            return true;
    return false;
}

/* Returns whether the argument behind this one is code: sh -c, bash -lc, python3 -c, perl -e, node
 * --eval. */
static bool paths_precedes_script(const char *option)
{
    struct str o = str_of(option);
    bool bundled = o.n >= 2 && o.n <= 5 && o.p[0] == '-' && o.p[1] != '-';
    for (size_t i = 1; i < o.n && bundled; i++)
        bundled = o.p[i] >= 'a' && o.p[i] <= 'z';
    return (bundled && (o.p[o.n - 1] == 'c' || o.p[o.n - 1] == 'e')) || str_is(o, "--eval") || str_is(o, "--command");
}

/* Adds the paths of an argument: "/a,/b" and fio's "/a:/b" are two; "host:/x" is on another
 * machine, and left out. */
static void paths_add_list(struct paths *p, struct str list, const char *cwd)
{
    if (str_has(list, "://"))
        return;
    size_t from = 0;
    for (size_t i = 1; i < list.n; i++)
        if ((list.p[i - 1] == ',' || list.p[i - 1] == ':') && list.p[i] == '/') {
            if (list.p[from] == '/')
                paths_add_path(p, str_sub(list, from, i - 1 - from), cwd);
            else if (list.p[i - 1] == ':')
                return;
            from = i;
        }
    struct str last = str_sub(list, from, list.n);
    if (memchr(last.p, '/', last.n))
        paths_add_path(p, last, cwd);
}

void paths_of_arguments(struct paths *ret, char *const *argv, const char *cwd)
{
    ret->count = 0;
    for (char *const *a = argv && argv[0] ? argv + 1 : NULL; a && *a; a++) {
        struct str word = str_of(*a);
        const char *equal = memchr(word.p, '=', word.n), *slash = memchr(word.p, '/', word.n);
        bool code = a > argv + 1 && paths_precedes_script(a[-1]) && (memchr(word.p, ' ', word.n) || memchr(word.p, '\t', word.n));
        if (!slash || code)
            continue;
        if (equal && equal < slash)
            word = str_sub(word, (size_t)(equal - word.p) + 1, word.n);
        else if (word.p[0] == '-')
            word = str_sub(word, (size_t)(slash - word.p), word.n);
        if (!paths_is_script(word))
            paths_add_list(ret, word, cwd);
    }
    if (cwd && ret->count < PATHS_MAX)
        paths_add_path(ret, str_of(cwd), NULL);
}
