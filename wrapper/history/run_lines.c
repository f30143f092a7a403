/* run_lines.c: artifacts whose lines are facts; see run_lines.h. */
#include "history/run_lines.h"

#include <string.h>

static const struct lines_kind {
    const char *path, *prefix;
    char between; /* the name and the rest of a line */
} lines_kinds[LINES_KINDS] = {
    [LINES_LIBRARIES] = {"artifacts/libraries.txt", "library.", ' '},
    [LINES_ENVIRONMENT] = {"artifacts/environment.txt", "environment.", '='},
};

struct str run_lines_read(const struct runs *runs, const struct tree_run *run, enum run_lines of, struct arena *a)
{
    return str_of(runs_file(runs, run, lines_kinds[of].path, LINES_READ_MAX, a));
}

size_t run_lines_next(enum run_lines of, struct str *rest, char key[LINE_KEY_MAX], struct str *value, struct str *ret_text)
{
    const struct lines_kind *kind = &lines_kinds[of];
    size_t n = strlen(kind->prefix);
    while (rest->n) {
        struct str text = str_cut(rest, '\n'), name = str_cut(&text, kind->between), word, last = text;
        if (of == LINES_LIBRARIES)
            for (struct str words = text; (word = str_word(&words)).n;)
                last = word;
        if (!name.n || !last.p || n + name.n >= LINE_KEY_MAX)
            continue;
        memcpy(key, kind->prefix, n);
        memcpy(key + n, name.p, name.n);
        key[n + name.n] = 0;
        *value = last;
        *ret_text = text;
        return n + name.n;
    }
    return 0;
}

enum run_lines run_lines_of(const char *key)
{
    int of = 0;
    while (of < LINES_KINDS && strncmp(key, lines_kinds[of].prefix, strlen(lines_kinds[of].prefix)) != 0)
        of++;
    return (enum run_lines)of;
}
