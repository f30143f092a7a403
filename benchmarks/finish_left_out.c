/* finish_left_out.c: why numbers that a program printed are no results, where no rules know the program. */
#include "benchmarks/finish.h"

#include "base/show.h"
#include "mlruns-format/key.h"
#include "mlruns-format/no_metrics.h"

enum { NAMED_MAX = 2 /* results whose reason is given */, VALUES_MAX = 3 };

/* Does the record have a result already, from the program's output or from benchwrap log? */
static bool has_result(const struct record *r)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && key_is_result(f->key.p))
            return true;
    return false;
}

/* The line of all that were left out that the user would miss most, and what it is: "\"size: 12 MiB\" is a size: "; "": there is none. */
static const char *describe_left_out(const struct ending *e)
{
    const struct ignored_lines *x = &e->run->ignored;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 400);
    if (!x->lines || 2 * x->not_text >= e->run->lines) /* a match in binary data is no line */
        return "";
    buf_plain(&b, str_of(x->size[0] ? x->size : x->line[0]), 80);
    return arena_printf(&e->record->arena, "\"%s\" is %s: ", b.p ? b.p : "", x->size[0] ? "a size" : "not read");
}

/* The output has lines, and none has a result. NULL: out of memory. */
static const char *describe_no_result(const struct ending *e)
{
    struct arena *a = &e->record->arena;
    const size_t n = e->run->lines, not_text = e->run->ignored.not_text;
    const char *lines = n == 1 ? "line" : "lines", *left_out = describe_left_out(e), *binary = "";
    if (not_text == n)
        return arena_printf(a, "the output is not text: %zu %s of binary data or control characters", n, lines);
    if (not_text)
        binary = arena_printf(a, "%zu of them not text (binary data or control characters), ", not_text);
    return left_out && binary
               ? arena_printf(a,
                              "%zu %s read, %snone with a result like \"rate: 12.5 MB/s\" (name, number, unit) or \"loss 0.3\" "
                              "(a known score); %ssizes, settings, errors, progress and lines that begin with a rank or "
                              "step do not count",
                              n, lines, binary, left_out)
               : NULL;
}

/* ---- several values where one is expected ---- */

/* Adds the series' values to the different ones, of which VALUES_MAX are kept. Returns how many
 * there are; VALUES_MAX + 1: more. */
static size_t add_different(const struct series *s, double *values, size_t n)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t k = 0;
        while (k < n && k < VALUES_MAX && values[k] != s->sample[i].value)
            k++;
        if (k == VALUES_MAX)
            return VALUES_MAX + 1;
        values[k] = s->sample[i].value;
        n = k == n ? n + 1 : n;
    }
    return n;
}

/* Appends "bandwidth has 3 different values (285, 515, 594 MB/s)". False: it has another reason. */
static bool put_different(const struct rules_run *run, const struct series *s, const char *trouble, struct buf *to)
{
    double values[VALUES_MAX];
    size_t n = 0;
    for (const struct series *o = run->series; o && n <= VALUES_MAX; o = o->next)
        n = !o->dropped && series_same_metric(run, o, s) ? add_different(o, values, n) : n;
    buf_plain(to, s->name, 100);
    if (n < 2) { /* another reason */
        buf_printf(to, ": %s", trouble ? trouble : s->why);
        return false;
    }
    buf_printf(to, n > VALUES_MAX ? " has more than %d different values (" : " has %d different values (",
               n > VALUES_MAX ? VALUES_MAX : (int)n);
    for (size_t i = 0; i < n && i < VALUES_MAX; i++) {
        buf_puts(to, i ? ", " : "");
        show_value(to, values[i]);
    }
    buf_puts(to, n > VALUES_MAX ? " …" : "");
    if (s->rule->unit && s->rule->unit->name[0]) {
        buf_putc(to, ' ');
        show_unit(to, s->rule->unit->name);
    }
    buf_putc(to, ')');
    return true;
}

/* Appends which results are left out, NAMED_MAX of them with the reason. zeros: also rates and times
 * of zero. *ret_repeated: one has several values. Returns how many they are. */
static size_t put_guesses_left_out(const struct ending *e, bool zeros, struct buf *to, bool *ret_repeated)
{
    const struct rules_run *run = e->run;
    size_t n = 0;
    for (struct series *s = run->series; s; s = s->next) {
        if (s->dropped || series_outdone(run, s))
            continue;
        const char *trouble = series_trouble(run, s);
        if ((!trouble && (s->n || !zeros)) || n++ >= NAMED_MAX)
            continue;
        buf_puts(to, n > 1 ? "; " : "");
        *ret_repeated = put_different(run, s, trouble, to) || *ret_repeated;
    }
    if (n > NAMED_MAX)
        buf_printf(to, "; and %zu more", n - NAMED_MAX);
    return n;
}

const char *explain_left_out(struct ending *e)
{
    const struct rules_run *run = e->run;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    if (!run->rules->guess || !run->lines)
        return NULL;
    bool others = e->metrics || has_result(e->record), repeated = false;
    size_t n = put_guesses_left_out(e, !others, &b, &repeated);
    if (others) {
        if (n)
            record_warning(e->record, LEFT_OUT "%s", b.p ? b.p : "");
        return NULL;
    }
    if (repeated)
        buf_puts(&b, "; use --repeat N with one value a run, or write a rule file");
    const char *why = n ? arena_dup(&e->record->arena, b.p ? b.p : "", b.n) : describe_no_result(e);
    if (why)
        record_warning(e->record, NO_METRICS "%s", why);
    return why;
}
