/* summary.c: the few lines at the end of a run: benchmark, verdict, headline metrics, where the run lies. */
#include "run/summary.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Latest value of a metric. */
static const struct fact *metric(const struct record *r, struct str key)
{
    const struct fact *found = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_eq(f->key, key))
            found = f;
    return found;
}

static bool is_statistic(struct str s)
{
    static const char *const names[] = {"max", "min", "mean", "median", "sd", "n", "p50", "p90", "p95", "p99", "p999"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(s, names[i]))
            return true;
    return false;
}

/* "write.bw_MiB_per_s.max" -> "write.bw max"; the unit is told behind the number. */
static void print_key(const struct fact *f, struct buf *to)
{
    struct str base = f->key, stat = {"", 0};
    const char *dot = memrchr(base.p, '.', base.n);
    size_t unit = f->unit ? strlen(f->unit) : 0;
    if (dot && is_statistic(str_sub(base, (size_t)(dot - base.p) + 1, base.n))) {
        stat = str_sub(base, (size_t)(dot - base.p) + 1, base.n);
        base.n = (size_t)(dot - base.p);
    }
    if (unit && base.n > unit + 1 && str_ends(base, f->unit) && base.p[base.n - unit - 1] == '_')
        base.n -= unit + 1;
    buf_plain(to, base, 60);
    if (stat.n) {
        buf_putc(to, ' ');
        buf_plain(to, stat, 12);
    }
    buf_putc(to, ' ');
}

static void print_unit(const char *unit, struct buf *to)
{
    struct str u = str_of(unit);
    ptrdiff_t per = str_find(u, STR("_per_"));
    if (u.n == 0)
        return;
    buf_putc(to, ' ');
    if (per < 0)
        buf_str(to, u);
    else
        buf_printf(to, STR_FMT "/" STR_FMT, (int)per, u.p, STR_ARG(str_sub(u, (size_t)per + 5, u.n)));
}

static void print_number(double v, struct buf *to)
{
    double size = fabs(v);
    if (size >= 1e7 || (size > 0 && size < 1e-3))
        buf_printf(to, "%.4g", v);
    else
        buf_printf(to, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : 3, v);
}

/* The metrics that the rules put first. */
static void print_headlines(const struct record *r, struct buf *to)
{
    const struct fact *tag = record_find(r, FACT_TAG, "benchwrap.headline");
    struct str rest = tag ? tag->text : STR(""), key;
    unsigned shown = 0;
    while ((key = str_word(&rest)).n > 0) {
        const struct fact *m = metric(r, key);
        if (!m)
            continue;
        buf_puts(to, shown++ ? ", " : "benchwrap:   ");
        print_key(m, to);
        print_number(m->value, to);
        print_unit(m->unit, to);
    }
    const struct fact *rules = record_find(r, FACT_TAG, "benchwrap.rules");
    if (shown && rules && str_is(rules->text, "generic"))
        buf_puts(to, " (guessed: no rules know this program)");
    if (shown)
        buf_putc(to, '\n');
}

/* What the record holds against itself and was not told when it arose. */
static void print_warnings(const struct record *r, struct buf *to)
{
    enum { SHOWN = 3 };
    unsigned n = 0;
    for (const struct fact *f = r->first; f; f = f->next) {
        if (f->kind != FACT_WARNING || (f->source && strcmp(f->source, SUMMARY_TOLD) == 0) || n++ >= SHOWN)
            continue;
        buf_puts(to, "benchwrap:   warning: ");
        buf_plain(to, f->text, 200);
        buf_putc(to, '\n');
    }
    if (n > SHOWN)
        buf_printf(to, "benchwrap:   and %u more warnings: benchwrap show %.8s\n", n - SHOWN, r->id);
}

void summary_print_place(const struct finished *f, struct buf *to)
{
    enum { SHOWN = 1000 };
    char cwd[PATH_MAX];
    struct str tree = str_of(f->head.tree), here = getcwd(cwd, sizeof cwd) && strcmp(cwd, "/") ? str_of(cwd) : STR("");
    if (here.n && tree.n > here.n && str_starts(tree, here.p) && tree.p[here.n] == '/')
        tree = (struct str){tree.p + here.n + 1, tree.n - here.n - 1};
    buf_puts(to, "benchwrap: recorded as ");
    buf_plain(to, tree, SHOWN);
    buf_plain(to, str_of(strchr(f->place, '/')), 100);
    buf_putc(to, '\n');
}

void summary_print(const struct finished *f, struct buf *to)
{
    const struct record *r = &f->record;
    const struct fact *benchmark = record_find(r, FACT_TAG, "benchmark");
    buf_puts(to, "benchwrap: ");
    buf_plain(to, benchmark ? benchmark->text : STR("run"), 40);
    buf_printf(to, ": %s, verdict %s", record_status_name(r->status), f->verdict);
    if (f->reason[0]) {
        buf_puts(to, " (");
        buf_plain(to, str_of(f->reason), 200);
        buf_putc(to, ')');
    }
    buf_putc(to, '\n');
    print_headlines(r, to);
    run_references_print(r, "benchwrap:   ", 3, to);
    print_warnings(r, to);
    summary_print_place(f, to);
}
