/* guess_version.c: the line that says the program's version: "sysbench 1.0.20 (using …", "STREAM version $Revision: 5.10 $", "fio-3.33". */
#include "benchmarks/guess_parts.h"

enum { TEXT_MAX = 4000 };

static bool has_number(struct str line)
{
    for (struct str word; (word = str_word(&line)).n;)
        if (guess_number(word))
            return true;
    return false;
}

/* "sysbench 1.0.20 (using …", "STREAM version $Revision: 5.10 $", "fio-3.33": the number and where it stands. */
static bool version_in(struct str line, size_t *ret_from, size_t *ret_n)
{
    for (size_t i = 1; i + 2 < line.n; i++) {
        bool begins = strchr(" -v:(", line.p[i - 1]) && line.p[i] >= '0' && line.p[i] <= '9';
        size_t n = i, dots = 0;
        while (begins && n < line.n &&
               ((line.p[n] >= '0' && line.p[n] <= '9') ||
                (line.p[n] == '.' && n + 1 < line.n && line.p[n + 1] >= '0' && line.p[n + 1] <= '9')))
            dots += line.p[n++] == '.';
        if (!begins || dots < 1 || dots > 3 || n - i > 20)
            continue;
        struct str before = str_trim(str_sub(line, 0, i)), words = before;
        size_t count = 0;
        while (str_word(&words).n)
            count++;
        bool said = str_has(before, "ersion") || str_has(before, "VERSION") || str_has(before, "Release");
        bool name_only = count == 1 && !has_number(str_sub(line, n, line.n)) && !(i > 1 && line.p[i - 1] == ' ' && line.p[i - 2] == ' ') &&
                         guess_letters(before) && (str_ends(before, "-") || str_ends(before, "v") || line.p[i - 1] == ' ') &&
                         (n == line.n || strchr(" -,(", line.p[n]));
        bool ends = str_ends(before, "=") || str_ends(before, "(") || (str_ends(before, ":") && !said);
        if (!ends && (said || name_only) && count <= 8) {
            *ret_from = i;
            *ret_n = n - i;
            return true;
        }
    }
    return false;
}

void guess_version(struct guess *g)
{
    for (size_t i = 0; i < g->lines && i < 200; i++) {
        struct str line = g->line[i].text;
        size_t from, n;
        if (!g->line[i].plain || g->line[i].used || line.n > 200 || !version_in(line, &from, &n))
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
