/* guess_write.c: the rule file of what the finders have proposed: head, arguments, parts, readers, and checks to be thought about. */
#include "benchmarks/guess_parts.h"

#include "benchmarks/engine.h"
#include "benchmarks/interpreter.h"

/* Appends one metric of a reader as YAML. */
static void write_metric(struct buf *b, const struct guess_metric *m)
{
    buf_puts(b, "      - {name: ");
    buf_json(b, str_of(m->name));
    buf_puts(b, ", cell: ");
    buf_json(b, str_of(m->cell));
    if (m->unit_cell)
        buf_printf(b, ", unit_cell: %s", m->unit_cell);
    else if (m->from && m->unit && strcmp(m->from, m->unit->name)) {
        buf_puts(b, ", from: ");
        buf_json(b, str_of(m->from));
    }
    if (m->unit)
        buf_printf(b, ", unit: %s", m->unit->name);
    const char *direction = record_direction_name(m->better);
    buf_printf(b, ", better: %s", *direction ? direction : "none");
    if (m->suffix)
        buf_puts(b, ", suffix: decimal");
    if (m->step) {
        buf_puts(b, ", step: ");
        buf_json(b, str_of(m->step));
    }
    if (m->series)
        buf_printf(b, ", headline: %s", m->better == DIR_HIGHER ? "max" : m->better == DIR_LOWER ? "min" : "median");
    buf_puts(b, "}\n");
}

bool guess_reader_useful(const struct guess_reader *r)
{
    size_t n = r->dead || r->muted ? 0 : r->params + (r->version_cell != NULL);
    for (size_t i = 0; i < r->metrics; i++)
        n += !r->metric[i].drop && !r->dead && !r->muted;
    return n && r->spec;
}

/* Appends the reader with its params and metrics as YAML. slice: the number of its part; 0: none.
 */
static void write_reader(struct buf *b, const struct guess_reader *r, size_t slice)
{
    buf_puts(b, "\n  # ");
    buf_puts(b, r->comment);
    buf_printf(b, "\n  - name: %s\n    %s\n", r->name, r->spec);
    if (slice)
        buf_printf(b, "    slice: part_%zu\n", slice);
    if (r->version_cell)
        buf_printf(b, "    version_cell: %s\n", r->version_cell);
    if (r->params)
        buf_puts(b, "    params:\n");
    for (size_t i = 0; i < r->params; i++) {
        buf_puts(b, "      - {param: ");
        buf_json(b, str_of(r->param[i].name));
        buf_puts(b, ", cell: ");
        buf_json(b, str_of(r->param[i].cell));
        if (r->param[i].type)
            buf_printf(b, ", type: %s", r->param[i].type);
        buf_puts(b, "}\n");
    }
    bool any = false;
    for (size_t i = 0; i < r->metrics; i++) {
        if (!r->metric[i].drop && !any)
            buf_puts(b, "    metrics:\n");
        any = any || !r->metric[i].drop;
        if (!r->metric[i].drop)
            write_metric(b, &r->metric[i]);
    }
}

/* Number of the reader's slice, from 1; 0: it reads everywhere. Readers behind the same line share one. */
static size_t slice_of(const struct guess *g, size_t reader, bool *ret_new)
{
    size_t number = 0;
    *ret_new = false;
    for (size_t i = 0; i <= reader && g->reader[reader]->section; i++) {
        const struct guess_reader *r = g->reader[i];
        if (!r->section || !guess_reader_useful(r))
            continue;
        size_t first = i;
        for (size_t k = 0; k < i; k++)
            if (g->reader[k]->section && guess_reader_useful(g->reader[k]) && !strcmp(g->reader[k]->section, r->section) && first == i)
                first = k;
        number += first == i;
        if (i == reader && first != i) {
            bool unused;
            return slice_of(g, first, &unused);
        }
        *ret_new = i == reader && first == i;
    }
    return number;
}

void guess_bury_parts(struct guess *g)
{
    bool new;
    for (size_t i = 0; i < g->readers; i++)
        if (guess_reader_useful(g->reader[i]) && slice_of(g, i, &new) > SLICES_MAX)
            g->reader[i]->dead = true;
}

/* Appends the parts of the output that readers are bound to; nothing where there are none. */
static void write_slices(struct buf *b, const struct guess *g)
{
    bool any = false, new;
    for (size_t i = 0; i < g->readers; i++) {
        size_t n = guess_reader_useful(g->reader[i]) ? slice_of(g, i, &new) : 0;
        if (!n || !new)
            continue;
        buf_printf(b, "%s  part_%zu: {after: ", any ? "" : "\nslices:            # parts of the output, each begun by a line\n", n);
        guess_quoted(b, str_of(g->reader[i]->section));
        if (g->reader[i]->until) { /* what is indented no deeper is the next part's */
            buf_puts(b, ", until: ");
            guess_quoted(b, str_of(g->reader[i]->until));
            buf_puts(b, ", open_end: true");
        }
        buf_puts(b, "}\n");
        any = true;
    }
}

/* The best guess at what matters: rates, then times. */
static void write_headlines(struct buf *b, const struct guess *g)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->readers && n < 4; i++)
            for (size_t k = 0; k < g->reader[i]->metrics && n < 4; k++) {
                const struct guess_metric *m = &g->reader[i]->metric[k];
                if (m->drop || strchr(m->name, '{') || m->better != (pass ? DIR_LOWER : DIR_HIGHER))
                    continue;
                buf_printf(b, "%s%s", n++ ? ", " : "headlines: [", m->name);
            }
    if (n)
        buf_puts(b, "]       # guessed: what to show first\n");
}

/* Writes the first lines that mention errors, as checks for the user to review. */
static void write_errors(struct buf *b, const struct guess *g)
{
    static const char *const words[] = {"ERROR", "FATAL", "Error:", "error:", "FAILED", "failed", "Segmentation fault", "WARNING"};
    size_t n = 0;
    for (size_t i = 0; i < g->lines && n < 5; i++) {
        const struct guess_line *l = &g->line[i];
        size_t w = 0;
        while (l->plain && w < 8 && !str_has(l->text, words[w]))
            w++;
        if (!l->plain || w == 8 || l->text.n > 300)
            continue;
        CLEANUP_BUF struct buf pattern;
        buf_init(&pattern, 4000);
        buf_putc(&pattern, '^');
        guess_pattern(&pattern, str_sub(l->text, 0, 40), false);
        buf_puts(b, "  # - {must_not: ");
        guess_quoted(b, buf_text(&pattern));
        buf_printf(b, ", reason: \"what it means\"}   # line %zu: does it spoil the result?\n", i + 1);
        n++;
    }
}

/* Appends the head of the rule file, with what the user has to check. argv: of the program, or
 * NULL; cut: only a part of the output was read. */
static void write_head(struct buf *b, const struct guess *g, const char *name, char *const *argv, bool cut)
{
    const char *base = argv && argv[0] ? interpreter_name(argv) : name;
    buf_puts(b, "# A first rule file, guessed from one output. Check before use:\n"
                "# - names, units and directions (better: higher, lower, none) of the metrics; those that are no results: take them out\n"
                "# - `headline`: the statistic that counts where there are several values; without it they must all be the same\n"
                "# - words in patterns that belong to this one run (paths, names of hosts): make them \\S+\n"
                "# - checks: what a good output must contain, and what it must not\n"
                "# Then: benchwrap rules check THIS_FILE, with outputs in samples/ next to it (docs/howto-benchmark.md).\n");
    if (cut)
        buf_printf(b, "# The output is longer than the %d MiB that were read.\n", GUESS_BYTES_MAX >> 20);
    buf_puts(b, "name: ");
    buf_json(b, str_of(name));
    buf_puts(b, "\nversion: \"1\"\nsummary: ");
    buf_json(b, str_of(arena_printf((struct arena *)&g->arena, "%s: what it measures", name)));
    buf_puts(b, "\nprograms: [");
    buf_json(b, str_of(base));
    buf_puts(b, "]\n");
    write_headlines(b, g);
}

/* True if this argument is the value of the one before. As write_arguments guesses it. */
static bool takes_value(const char *before)
{
    struct str arg = str_of(before);
    bool attached = arg.n > 2 && arg.p[1] != '-' && str_is_digit(arg.p[2]);
    return arg.n >= 2 && arg.p[0] == '-' && !str_is(arg, "--") && !guess_is_number(arg) && !attached && !memchr(arg.p, '=', arg.n);
}

/* What is no option: else `prog 64` and `prog 256` would be the same to whoever compares them. */
static void write_operands(struct buf *b, char *const *argv, bool any)
{
    size_t n = 0;
    for (size_t i = 1; argv && argv[0] && argv[i] && i < 200 && n < 8; i++) {
        if ((argv[i][0] == '-' && !guess_is_number(str_of(argv[i]))) || (i > 1 && takes_value(argv[i - 1])))
            continue;
        if (!n++)
            buf_puts(b, any ? "  operands: [" : "\narguments:\n  operands: [");
        buf_printf(b, "%soperand_%zu", n > 1 ? ", " : "", n);
    }
    if (n)
        buf_puts(b, "]         # what is no option, in its order: name them\n");
}

/* The program's options, as they were given: whether one has a value is guessed from what follows. */
static void write_arguments(struct buf *b, char *const *argv, struct arena *a)
{
    bool any = false;
    for (size_t i = 1; argv && argv[0] && argv[i] && i < 200; i++) {
        struct str arg = str_of(argv[i]), value = arg, flag = str_cut(&value, '=');
        bool attached = arg.n > 2 && arg.p[1] != '-' && str_is_digit(arg.p[2]); /* -t16 */
        if (attached) {
            flag = str_sub(arg, 0, 2);
            value = str_sub(arg, 2, arg.n);
        }
        if (arg.n < 2 || arg.p[0] != '-' || str_is(arg, "--") || guess_is_number(arg) || arg.n > 60 ||
            !guess_plain_line(arg, GUESS_LINE_MAX))
            continue;
        bool twice = false;
        for (size_t k = 1; k < i; k++) {
            struct str other = str_of(argv[k]);
            twice = twice || str_eq(str_cut(&other, '='), flag);
        }
        if (twice)
            continue;
        const char *next = argv[i + 1];
        bool has = value.p || (next && (next[0] != '-' || guess_is_number(str_of(next))));
        struct str text = value.p ? value : str_of(has ? next : "");
        uint64_t bytes;
        int64_t whole;
        bool integer = str_int(text, &whole), size = !integer && text.n && str_size(text, &bytes);
        const char *segment = guess_segment(str_sub(flag, str_starts(flag, "--") ? 2 : 1, flag.n), a);
        buf_printf(b, "%s    - {flags: [", any ? "" : "\narguments:\n  options:         # those that were given; the program has more\n");
        buf_json(b, flag);
        buf_printf(b, "], %sparam: option.%s%s}\n",
                   !has      ? "kind: flag, "
                   : integer ? "type: integer, "
                   : size    ? "type: size, "
                             : "",
                   segment, size ? "_B" : "");
        any = true;
    }
    write_operands(b, argv, any);
}

void guess_write(struct buf *b, struct guess *g, const char *name, char *const *argv, bool cut)
{
    size_t useful = 0;
    bool new;
    write_head(b, g, name, argv, cut);
    write_arguments(b, argv && argv[0] ? interpreter_script(argv) : argv, &g->arena);
    write_slices(b, g);
    buf_puts(b, "\nreaders:\n");
    for (size_t i = 0; i < g->readers; i++)
        if (guess_reader_useful(g->reader[i])) {
            write_reader(b, g->reader[i], slice_of(g, i, &new));
            useful++;
        }
    if (!useful)
        buf_puts(
            b,
            "  # No line in the form of a result was found; this reader is an example.\n  - name: example\n    regex: '^result: (?<v>\\S+)$'\n"
            "    metrics:\n      - {name: result, cell: v, better: none}\n");
    buf_puts(b, "\nchecks:\n");
    write_errors(b, g);
    buf_puts(b, "  - {name: done, expect: \"exit_status == 0\", reason: \"the program has not ended well\"}\n");
}
