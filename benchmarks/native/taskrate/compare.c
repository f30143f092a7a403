/* compare.c: two results side by side, with the confidence interval of their ratio. */
#include "benchmarks/native/taskrate/compare.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/stats.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 20, VALUES_MAX = 4096, ROWS_MAX = 2048 };

static const struct {
    const char *name, *pointer, *unit;
    bool more; /* more is better */
} figures[] = {{"throughput", "/throughput_per_s", "tasks/s", true},
               {"submit rate", "/submit_rate_per_s", "calls/s", true},
               {"start p50", "/latency/start/p50_s", "s", false},
               {"start p99", "/latency/start/p99_s", "s", false},
               {"turnaround p50", "/latency/turnaround/p50_s", "s", false}};

/* What must be equal for the ratio to speak of the thing itself. */
static const char *const same[] = {"/provider/name", "/provider/version", "/provider/template", "/payload/kind", "/payload/argument_bytes",
                                   "/slots",         "/clients",          "/rate_limit_per_s",  "/reports"};

static int compare_load(const char *path, struct json **ret, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, FILE_MAX);
    if (fs_read(AT_FDCWD, path, FILE_MAX, 0, &text, err) < 0)
        return -1;
    if (json_parse(ret, buf_text(&text), NULL, err) < 0)
        return err_wrap(err, "%s", path);
    if (!json_is_array(json_get(*ret, "configurations")) || !json_get(*ret, "taskrate")) {
        json_free(*ret);
        return err_set(err, ERR_INPUT, "%s: no result of taskrate (--json or --out writes one)", path);
    }
    long long schema = (long long)json_integer(json_get(*ret, "schema"), 0);
    if (schema != 1) {
        json_free(*ret);
        return err_set(err, ERR_INPUT, "%s: a result of another taskrate (schema %lld, this one reads 1)", path, schema);
    }
    return 0;
}

static const struct json *compare_find_label(const struct json *document, const char *part, const char *label)
{
    for (const struct json *c = json_first(json_get(document, part)); c; c = json_next(c))
        if (strcmp(json_string(json_get(c, "label"), ""), label) == 0)
            return c;
    return NULL;
}

static size_t compare_read_values(const struct json *configuration, const char *pointer, double *v)
{
    size_t n = 0;
    for (const struct json *b = json_first(json_get(configuration, "batches")); b && n < VALUES_MAX; b = json_next(b)) {
        const struct json *x = json_pointer(b, pointer);
        if (json_is_number(x) && json_bool(json_get(b, "complete"), false) && isfinite(json_number(x, NAN)))
            v[n++] = json_number(x, NAN);
    }
    return n;
}

static double compare_median(double *v, size_t n)
{
    struct stats s;
    stats_of(v, n, &s);
    return s.median;
}

struct comparison_output {
    bool json, differs;
    struct buf *to;
    struct json_out out; /* with json */
};

/* One figure of one configuration on both sides. */
struct compared_row {
    char label[64];
    size_t figure, na, nb;
    double ma, mb, ratio, low, high, p;
    bool known; /* there is an interval */
};

static struct compared_row compare_make_row(const char *label, size_t f, double *a, size_t na, double *b, size_t nb)
{
    struct compared_row r = {
        .figure = f, .na = na, .nb = nb, .ma = compare_median(a, na), .mb = compare_median(b, nb), .low = NAN, .high = NAN};
    snprintf(r.label, sizeof r.label, "%s", label);
    r.known = stats_ratio(a, na, b, nb, &r.ratio, &r.low, &r.high);
    r.p = r.known ? stats_ratio_p(a, na, b, nb) : NAN;
    if (!r.known)
        r.ratio = r.ma > 0 ? r.mb / r.ma : NAN;
    return r;
}

/* sure: after Holm's correction over all rows. */
static void print_row(struct comparison_output *t, const struct compared_row *r, bool sure)
{
    size_t f = r->figure;
    bool seen = r->known && (r->low > 1 || r->high < 1), better = (r->ratio > 1) == figures[f].more;
    const char *words = !r->known ? "too few repeats to tell (3 of each are needed)"
                        : !seen   ? "no difference can be told"
                        : !sure   ? "uncertain: may be chance among so many figures"
                        : better  ? "B is better"
                                  : "B is worse";
    t->differs |= seen && sure;
    if (!t->json) {
        buf_printf(t->to, "%-16s %-15s %12.5g %12.5g %-8s %8.4g ", r->label, figures[f].name, r->ma, r->mb, figures[f].unit, r->ratio);
        if (r->known)
            buf_printf(t->to, "%8.4g %8.4g", r->low, r->high);
        else
            buf_printf(t->to, "%8s %8s", "-", "-");
        buf_printf(t->to, "  %zu/%zu  %s\n", r->na, r->nb, words);
        return;
    }
    struct json_out *j = &t->out;
    json_line(j, 1);
    json_open(j, NULL, '{');
    json_text(j, "label", r->label);
    json_text(j, "figure", figures[f].name);
    json_text(j, "unit", figures[f].unit);
    json_uint(j, "n_a", r->na);
    json_uint(j, "n_b", r->nb);
    json_known(j, "a", r->ma);
    json_known(j, "b", r->mb);
    json_known(j, "ratio", r->ratio);
    json_known(j, "low", r->low);
    json_known(j, "high", r->high);
    json_text(j, "words", words);
    json_close(j, '}');
}

static size_t compare_make_rows(const char *part, const struct json *a, const struct json *b, struct compared_row *rows, size_t n)
{
    static double va[VALUES_MAX], vb[VALUES_MAX];
    for (const struct json *c = json_first(json_get(a, part)); c; c = json_next(c)) {
        const char *label = json_string(json_get(c, "label"), "");
        CLEANUP_BUF struct buf plain;
        const struct json *other = compare_find_label(b, part, label);
        buf_init(&plain, 256);
        buf_plain(&plain, str_of(label), 60);
        for (size_t f = 0; other && f < sizeof figures / sizeof figures[0]; f++) {
            size_t na = compare_read_values(c, figures[f].pointer, va), nb = compare_read_values(other, figures[f].pointer, vb);
            if (na && nb && n < ROWS_MAX)
                rows[n++] = compare_make_row(plain.n ? plain.p : "", f, va, na, vb, nb);
        }
    }
    return n;
}

/* Where nothing has changed, at most one comparison of twenty claims a difference of any figure. */
static size_t print_rows(struct comparison_output *t, const struct json *a, const struct json *b)
{
    static struct compared_row rows[ROWS_MAX];
    static double p[ROWS_MAX];
    static bool sure[ROWS_MAX];
    size_t n = compare_make_rows("chain", a, b, rows, compare_make_rows("configurations", a, b, rows, 0)), tests = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].known)
            p[tests++] = rows[i].p;
    if (!stats_holm(p, tests, 0.05, sure))
        memset(sure, 0, sizeof sure);
    tests = 0;
    for (size_t i = 0; i < n; i++)
        print_row(t, &rows[i], rows[i].known && sure[tests++]);
    return n;
}

static void compare_plain_text(const struct json *j, struct buf *to)
{
    CLEANUP_BUF struct buf raw;
    buf_init(&raw, 4096);
    if (j)
        json_print(j, &raw);
    buf_plain(to, j ? buf_text(&raw) : STR("-"), 200);
}

/* One thing that is not the same on both sides. */
static void compare_print_difference(struct comparison_output *t, const char *name, const struct json *x, const struct json *y)
{
    CLEANUP_BUF struct buf a, b;
    buf_init(&a, 2048);
    buf_init(&b, 2048);
    compare_plain_text(x, &a);
    compare_plain_text(y, &b);
    if (str_eq(buf_text(&a), buf_text(&b)))
        return;
    if (!t->json) {
        buf_printf(t->to, "differs: %s: A %s, B %s\n", name, a.p, b.p);
        return;
    }
    json_line(&t->out, 1);
    json_open(&t->out, NULL, '{');
    json_text(&t->out, "name", name);
    json_str(&t->out, "a", buf_text(&a));
    json_str(&t->out, "b", buf_text(&b));
    json_close(&t->out, '}');
}

static void compare_print_differences(struct comparison_output *t, const struct json *a, const struct json *b)
{
    const struct json *sa = json_get(a, "scheduler"), *sb = json_get(b, "scheduler");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        compare_print_difference(t, same[i] + 1, json_pointer(a, same[i]), json_pointer(b, same[i]));
    for (const struct json *x = json_first(sa); x; x = json_next(x)) {
        CLEANUP_BUF struct buf name;
        buf_init(&name, 256);
        buf_plain(&name, str_of(json_key(x)), 60);
        compare_print_difference(t, name.n ? name.p : "", x, json_get(sb, json_key(x)));
    }
}

int taskrate_compare(const char *path_a, const char *path_b, bool json, struct err *err)
{
    struct json *a = NULL, *b = NULL;
    CLEANUP_BUF struct buf to;
    buf_init(&to, FILE_MAX);
    struct comparison_output t = {.json = json, .to = &to};
    if (compare_load(path_a, &a, err) < 0)
        return -1;
    if (compare_load(path_b, &b, err) < 0) {
        json_free(a);
        return -1;
    }
    if (json) {
        t.out = json_begin(&to, JSON_TIGHT, '{');
        json_open(&t.out, "comparisons", '[');
    } else
        buf_printf(&to, "%-16s %-15s %12s %12s %-8s %8s %8s %8s  %s\n", "what", "figure", "A median", "B median", "unit", "B/A", "low",
                   "high", "n");
    bool nothing = print_rows(&t, a, b) == 0;
    if (json) {
        json_close(&t.out, ']');
        json_line(&t.out, 0);
        json_open(&t.out, "differences", '[');
    }
    compare_print_differences(&t, a, b);
    if (json) {
        json_close(&t.out, ']');
        json_close(&t.out, '}');
        buf_putc(&to, '\n');
    }
    json_free(a);
    json_free(b);
    if (to.failed)
        return err_set(err, ERR_SYSTEM, "memory for the comparison");
    if (nothing)
        return err_set(err, ERR_INPUT, "%s and %s have no complete batches of the same size and duration", path_a, path_b);
    if (fs_write_all(1, to.p, to.n) < 0)
        return err_sys(err, "writing to standard output");
    return t.differs;
}
