/* run_summary.c: the few lines at the end of a run: benchmark, verdict, headline metrics, where the run lies. */
#include "wrapper/run_summary.h"

#include <math.h>
#include <stdio.h>

enum { HEADLINES = 6 };

static bool is_headline(const struct fact *f)
{
    static const char *const stats[] = {".max", ".mean", ".median", ".min", ".p99"};
    if (f->kind != FACT_METRIC || !f->source || !str_starts(str_of(f->source), "rule"))
        return false;
    for (size_t i = 0; i < sizeof stats / sizeof *stats; i++)
        if (str_ends(f->key, stats[i]))
            return true;
    return false;
}

/* "write.bw_MiB_per_s.max" -> "write.bw max"; the unit is told behind the number. */
static void print_key(const struct fact *f, struct buf *to)
{
    struct str key = f->key;
    const char *dot = memrchr(key.p, '.', key.n);
    struct str base = {key.p, dot ? (size_t)(dot - key.p) : key.n}, stat = {dot ? dot + 1 : "", dot ? key.n - base.n - 1 : 0};
    size_t unit = f->unit ? strlen(f->unit) : 0;
    if (unit && base.n > unit + 1 && str_ends(base, f->unit) && base.p[base.n - unit - 1] == '_')
        base.n -= unit + 1;
    buf_plain(to, base, 60);
    buf_putc(to, ' ');
    buf_plain(to, stat, 12);
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

void summary_print(const struct finished *f, struct buf *to)
{
    const struct record *r = &f->record;
    const struct fact *benchmark = record_find(r, FACT_TAG, "benchmark");
    unsigned shown = 0, more = 0;
    buf_puts(to, "benchwrap: ");
    buf_plain(to, benchmark ? benchmark->text : STR("run"), 40);
    buf_printf(to, ": %s, verdict %s", record_status_name(r->status), f->verdict);
    if (f->reason[0]) {
        buf_puts(to, " (");
        buf_plain(to, str_of(f->reason), 200);
        buf_putc(to, ')');
    }
    buf_putc(to, '\n');
    for (const struct fact *m = r->first; m; m = m->next) {
        if (!is_headline(m))
            continue;
        if (shown == HEADLINES) {
            more++;
            continue;
        }
        buf_puts(to, shown++ ? ", " : "benchwrap:   ");
        print_key(m, to);
        buf_putc(to, ' ');
        print_number(m->value, to);
        print_unit(m->unit, to);
    }
    if (more)
        buf_printf(to, ", and %u more", more);
    if (shown)
        buf_putc(to, '\n');
    buf_puts(to, "benchwrap: recorded as ");
    buf_plain(to, str_of(f->place), 200);
    buf_putc(to, '\n');
}
