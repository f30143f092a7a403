/* program.c: finds the file of the measured program, and the script of an interpreter. */
#include "probes/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether the absolute path is a regular file of the host, and executable where that is
 * expected. */
static bool program_is_file(const struct host *h, const char *path, bool executable)
{
    struct stat st;
    return path[0] == '/' && path[1] && fstatat(h->root, path + 1, &st, 0) == 0 && S_ISREG(st.st_mode) &&
           (!executable || faccessat(h->root, path + 1, X_OK, 0) == 0);
}

/* Removes components "." from an absolute path: "/home/ada/./run" and "/home/ada/run" are one file. */
static void drop_dots(char *path)
{
    for (char *at; (at = strstr(path, "/./"));)
        memmove(at, at + 2, strlen(at + 2) + 1);
}

static bool program_join_path(char *ret, size_t size, const char *cwd, struct str dir, const char *name)
{
    bool relative = dir.n == 0 || dir.p[0] != '/';
    if (relative && (!cwd || cwd[0] != '/'))
        return false;
    int n = snprintf(ret, size, "%s%s" STR_FMT "%s%s", relative ? cwd : "", relative ? "/" : "", STR_ARG(dir), dir.n > 0 ? "/" : "", name);
    if (n <= 0 || (size_t)n >= size)
        return false;
    drop_dots(ret);
    return true;
}

const char *program_is_hidden(const struct host *h)
{
    const char *why = NULL;
    if (h->other_root)
        return h->other_root;
    if (h->argv && h->argv[0] && !strchr(h->argv[0], '/'))
        look_variable(h, "PATH", &why);
    return why;
}

bool program_find_path(const struct host *h, char *ret, size_t size)
{
    const char *name = h->argv ? h->argv[0] : NULL, *why;
    if (!name || !*name || program_is_hidden(h))
        return false;
    if (strchr(name, '/')) {
        int n = name[0] == '/' ? snprintf(ret, size, "%s", name) : -1;
        if (name[0] != '/' && !program_join_path(ret, size, h->cwd, (struct str){"", 0}, name))
            return false;
        return (name[0] != '/' || (size_t)n < size) && program_is_file(h, ret, true);
    }
    const char *path = look_variable(h, "PATH", &why);
    for (struct str rest = str_of(path ? path : "/bin:/usr/bin"); rest.p;) {
        struct str dir = str_cut(&rest, ':');
        if (program_join_path(ret, size, h->cwd, dir, name) && program_is_file(h, ret, true))
            return true;
    }
    return false;
}

bool program_find_script(const struct host *h, char *ret, size_t size)
{
    static const char *const interpreters[] = {"python",  "bash",  "sh",   "dash", "zsh",   "ksh",    "perl", "ruby",
                                               "Rscript", "julia", "node", "lua",  "tclsh", "octave", "pypy"};
    const char *name = str_base_name(h->argv ? h->argv[0] : NULL);
    bool known = false;
    if (h->other_root)
        return false;
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        size_t n = strlen(interpreters[i]); /* python3.11 is a python */
        known |= strncmp(name, interpreters[i], n) == 0 && strspn(name + n, "0123456789.") == strlen(name + n);
    }
    for (char *const *a = known ? h->argv + 1 : NULL; a && *a; a++) {
        if (**a == '-' && (strcmp(*a, "-c") == 0 || strcmp(*a, "-m") == 0 || strcmp(*a, "-e") == 0))
            return false;
        if (**a == '-')
            continue;
        if (**a == '/')
            return (size_t)snprintf(ret, size, "%s", *a) < size && program_is_file(h, ret, false);
        return program_join_path(ret, size, h->cwd, (struct str){"", 0}, *a) && program_is_file(h, ret, false);
    }
    return false;
}
