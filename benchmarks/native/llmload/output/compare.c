/* compare.c: two results side by side: what changed, by how much, and whether that is more than
 * chance. Of three runs or more on each side the interval of the medians' ratio decides
 * (base/stats.h); of single runs the confidence intervals of their percentiles, where they have
 * some: metrics whose intervals overlap show no change. */
#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/stats.h"
#include "base/opt.h"
#include "benchmarks/native/llmload/verbs.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 20, REGRESSION_STATUS = 3, COMPARE_RUNS_MAX = 100 };

/* One side: the files of one or more runs ("a.json", "a1.json,a2.json,a3.json"), results of llmload
 * or of vLLM's benchmark. */
struct compare_side {
    const char *label;
    struct json *run[COMPARE_RUNS_MAX];
    size_t n;
};

/* What is compared: the member, whether more is better, and where its interval stands. */
static const struct figure {
    const char *key, *interval;
    bool more;
} figures[] = {
    {"request_throughput", NULL, true},
    {"output_throughput", NULL, true},
    {"total_token_throughput", NULL, true},
    {"request_goodput", NULL, true},
    {"mean_ttft_ms", NULL, false},
    {"median_ttft_ms", "/metrics/ttft/p50", false},
    {"p99_ttft_ms", "/metrics/ttft/p99", false},
    {"mean_tpot_ms", NULL, false},
    {"median_tpot_ms", "/metrics/tpot/p50", false},
    {"p99_tpot_ms", "/metrics/tpot/p99", false},
    {"mean_itl_ms", NULL, false},
    {"median_itl_ms", "/metrics/itl/p50", false},
    {"p99_itl_ms", "/metrics/itl/p99", false},
    {"mean_e2el_ms", NULL, false},
    {"median_e2el_ms", "/metrics/e2el/p50", false},
    {"p99_e2el_ms", "/metrics/e2el/p99", false},
    {"p99_e2el_from_schedule_ms", "/metrics/e2el_from_schedule/p99", false},
    {"score_accuracy", NULL, true},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Conditions: where these differ, the figures do not compare the servers alone. */
static const char *const conditions[] = {"/backend",
                                         "/model_id",
                                         "/num_prompts",
                                         "/request_rate",
                                         "/max_concurrency",
                                         "/load/arrivals",
                                         "/load/schedule_sha256",
                                         "/load/max_tokens",
                                         "/load/prompts",
                                         "/load/dataset_sha256",
                                         "/server_version"};

static void compare_deinit(struct compare_side *s)
{
    for (size_t i = 0; i < s->n; i++)
        json_free(s->run[i]);
    s->n = 0;
}

static int compare_read(struct compare_side *ret, const char *files, struct err *err)
{
    struct str rest = str_of(files);
    *ret = (struct compare_side){.label = files};
    while (rest.p) {
        struct str one = str_cut(&rest, ',');
        struct buf path CLEANUP_BUF, text CLEANUP_BUF;
        buf_init(&path, 4096);
        buf_init(&text, FILE_MAX);
        buf_str(&path, one);
        int rc = path.n && !path.failed ? fs_read(AT_FDCWD, path.p, FILE_MAX, 0, &text, err)
                                        : err_set(err, ERR_USAGE, "expected FILE[,FILE…], got \"%.200s\"", files);
        if (rc == 0 && ret->n == COMPARE_RUNS_MAX)
            rc = err_set(err, ERR_USAGE, "more than %d results on one side", COMPARE_RUNS_MAX);
        if (rc == 0 && json_parse(&ret->run[ret->n], buf_text(&text), NULL, err) < 0)
            rc = err_wrap(err, "%.300s", path.p);
        if (rc == 0 && !json_is_number(json_get(ret->run[ret->n++], "completed")))
            rc = err_set(err, ERR_INPUT, "%.300s: not a result of llmload --json, nor of vLLM's benchmark (no \"completed\")", path.p);
        if (rc < 0) {
            compare_deinit(ret);
            return -1;
        }
    }
    return 0;
}

/* llmload's percentiles where there are samples enough; others' as they stand. */
static size_t figure_values(const struct compare_side *s, const struct figure *f, double *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        bool is_ours = f->interval && json_get(s->run[i], "metrics");
        const struct json *j = is_ours ? json_get(json_pointer(s->run[i], f->interval), "value") : json_get(s->run[i], f->key);
        double v = json_number(j, NAN);
        if (isfinite(v))
            ret[n++] = v;
    }
    return n;
}

struct figure_change {
    double a, b, ratio, low, high; /* medians; low, high: of the ratio; NaN: not known */
    bool clear; /* more than chance */
    double p; /* of the medians' ratio; NaN: there is no interval of it */
};

static bool figure_interval(const struct json *run, const char *pointer, double *low, double *high)
{
    const struct json *j = pointer ? json_pointer(run, pointer) : NULL;
    *low = json_number(json_get(j, "ci_low"), NAN);
    *high = json_number(json_get(j, "ci_high"), NAN);
    return isfinite(*low) && isfinite(*high);
}

static bool figure_change_of(const struct compare_side *a, const struct compare_side *b, const struct figure *f, struct figure_change *ret)
{
    double x[COMPARE_RUNS_MAX], y[COMPARE_RUNS_MAX];
    struct stats sx, sy;
    size_t n = figure_values(a, f, x), m = figure_values(b, f, y);
    if (!n || !m)
        return false;
    *ret = (struct figure_change){.low = NAN, .high = NAN, .p = NAN};
    bool known = stats_ratio(x, n, y, m, &ret->ratio, &ret->low, &ret->high);
    stats_of(x, n, &sx);
    stats_of(y, m, &sy);
    ret->a = sx.median, ret->b = sy.median;
    ret->ratio = ret->a > 0 ? ret->b / ret->a : NAN;
    double al, ah, bl, bh;
    if (known) {
        ret->clear = ret->low > 1 || ret->high < 1;
        ret->p = stats_ratio_p(x, n, y, m);
    } else if (a->n == 1 && b->n == 1 && figure_interval(a->run[0], f->interval, &al, &ah) &&
               figure_interval(b->run[0], f->interval, &bl, &bh)) {
        ret->clear = ah < bl || bh < al;
        ret->low = bl / ah, ret->high = bh / al;
    } else
        ret->low = ret->high = NAN;
    return true;
}

/* sure: after Holm's correction over all figures. */
static const char *change_verdict(const struct figure *f, const struct figure_change *c, bool sure, double threshold, bool *ret_worse)
{
    double worse = f->more ? 1 - c->ratio : c->ratio - 1;
    bool known = isfinite(c->low);
    *ret_worse = worse * 100 > threshold && ((c->clear && sure) || !known);
    if (known && !c->clear)
        return "no difference seen";
    if (known && !sure)
        return "uncertain";
    if (!isfinite(c->ratio) || c->ratio == 1)
        return "";
    if (!known && fabs(worse) * 100 <= threshold)
        return "no interval";
    return worse > 0 ? (known ? "worse" : "worse?") : known ? "better" : "better?";
}

/* One line of the comparison; word NULL: a side lacks this metric. */
struct judged {
    struct figure_change change;
    const char *word;
    bool worse;
};

/* The metrics that both sides have, in *ret[FIGURES]; those that they do not have a NULL word.
 * Where nothing has changed, at most one comparison of twenty claims a change of any figure. */
static void judge_all(const struct compare_side *a, const struct compare_side *b, double threshold, struct judged *ret)
{
    double p[FIGURES];
    bool there[FIGURES], sure[FIGURES] = {false};
    size_t tests = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        ret[i] = (struct judged){.word = NULL};
        there[i] = figure_change_of(a, b, &figures[i], &ret[i].change);
        if (there[i] && !isnan(ret[i].change.p))
            p[tests++] = ret[i].change.p;
    }
    if (!stats_holm(p, tests, 0.05, sure))
        memset(sure, 0, sizeof sure);
    tests = 0;
    for (size_t i = 0; i < FIGURES; i++)
        if (there[i])
            ret[i].word = change_verdict(&figures[i], &ret[i].change, isnan(ret[i].change.p) || sure[tests++], threshold, &ret[i].worse);
}

static void put_condition(const struct json *j, struct buf *to)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 4096);
    if (j)
        json_print(j, &text);
    buf_plain(to, text.n ? buf_text(&text) : STR("-"), 60);
}

static bool condition_differs(const struct compare_side *a, const struct compare_side *b, const char *pointer)
{
    struct buf x CLEANUP_BUF, y CLEANUP_BUF;
    buf_init(&x, 1 << 16);
    buf_init(&y, 1 << 16);
    const struct json *i = json_pointer(a->run[0], pointer), *j = json_pointer(b->run[0], pointer);
    if (!i || !j)
        return false; /* only one of the two has it */
    json_print(i, &x);
    json_print(j, &y);
    return !str_eq(buf_text(&x), buf_text(&y));
}

static double failed_share(const struct compare_side *s)
{
    double failed = 0, all = 0;
    for (size_t i = 0; i < s->n; i++) {
        failed += json_number(json_get(s->run[i], "failed"), 0);
        all += json_number(json_get(s->run[i], "failed"), 0) + json_number(json_get(s->run[i], "completed"), 0);
    }
    return all > 0 ? failed / all : NAN;
}

static unsigned compare_print_table(const struct compare_side *a, const struct compare_side *b, double threshold, struct buf *to)
{
    unsigned regressions = 0;
    struct judged judged[FIGURES];
    buf_puts(to, "A: "), buf_plain(to, str_of(a->label), 300), buf_puts(to, "\nB: "), buf_plain(to, str_of(b->label), 300),
        buf_puts(to, "\n");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (condition_differs(a, b, conditions[i])) {
            buf_printf(to, "not the same %s: ", conditions[i] + 1);
            put_condition(json_pointer(a->run[0], conditions[i]), to), buf_puts(to, " and "),
                put_condition(json_pointer(b->run[0], conditions[i]), to), buf_putc(to, '\n');
        }
    buf_printf(to, "failed: A %.3g %%, B %.3g %%\n\n%-30s %12s %12s %9s  %s\n", 100 * failed_share(a), 100 * failed_share(b), "", "A", "B",
               "change", "95 % of B/A");
    judge_all(a, b, threshold, judged);
    for (size_t i = 0; i < FIGURES; i++) {
        struct judged j = judged[i];
        if (!j.word)
            continue;
        regressions += j.worse;
        buf_printf(to, "%-30s %12.5g %12.5g %+8.2f%%  ", figures[i].key, j.change.a, j.change.b, (j.change.ratio - 1) * 100);
        if (isfinite(j.change.low))
            buf_printf(to, "%.3f..%.3f  ", j.change.low, j.change.high);
        buf_printf(to, "%s%s\n", j.word, j.worse ? "  REGRESSION" : "");
    }
    return regressions;
}

static unsigned compare_print_json(const struct compare_side *a, const struct compare_side *b, double threshold, struct buf *to)
{
    unsigned regressions = 0;
    struct judged judged[FIGURES];
    struct json_out out = json_begin(to, JSON_TIGHT, '{');
    json_text(&out, "a", a->label);
    json_text(&out, "b", b->label);
    json_open(&out, "conditions_differ", '[');
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (condition_differs(a, b, conditions[i]))
            json_text(&out, NULL, conditions[i] + 1);
    json_close(&out, ']');
    json_open(&out, "figures", '{');
    judge_all(a, b, threshold, judged);
    for (size_t i = 0; i < FIGURES; i++) {
        const struct judged *j = &judged[i];
        if (!j->word)
            continue;
        regressions += j->worse;
        json_open(&out, figures[i].key, '{');
        json_known(&out, "a", j->change.a);
        json_known(&out, "b", j->change.b);
        json_known(&out, "ratio", j->change.ratio);
        json_known(&out, "ratio_ci_low", j->change.low);
        json_known(&out, "ratio_ci_high", j->change.high);
        json_text(&out, "verdict", j->word);
        json_flag(&out, "regression", j->worse);
        json_close(&out, '}');
    }
    json_close(&out, '}');
    json_uint(&out, "regressions", regressions);
    json_close(&out, '}');
    buf_putc(to, '\n');
    return regressions;
}

/* A table, or with json one object. threshold: percent from which on a worse figure counts as a
 * regression. Returns their number. */
static unsigned compare_print(const struct compare_side *a, const struct compare_side *b, double threshold, bool json, struct buf *to)
{
    return json ? compare_print_json(a, b, threshold, to) : compare_print_table(a, b, threshold, to);
}

/* ---- the verb ---- */

static const struct opt_row compare_rows[] = {
    {.name = OPTION_THRESHOLD,
     .letter = 't',
     .kind = OPT_TEXT,
     .arg = "PERCENT",
     .value = "5",
     .group = "Comparing",
     .help = "so much worse is a regression, unless it may be chance"},
    {.name = OPTION_GATE, .kind = OPT_FLAG, .group = "Comparing", .help = "exit 3 if there is a regression"},
    {.name = OPTION_JSON, .kind = OPT_FLAG, .group = "Comparing", .help = "one JSON object"},
    {.name = OPTION_HELP, .letter = 'h', .kind = OPT_FLAG, .group = "Comparing", .help = "this text"},
};

static int compare_run(const struct opt_set *set, char **argv, struct err *err)
{
    struct compare_side a, b;
    struct buf out CLEANUP_BUF;
    double threshold;
    buf_init(&out, 16 << 20);
    if (!str_double(str_of(opt_text(set, OPTION_THRESHOLD)), &threshold) || !(threshold >= 0))
        return err_set(err, ERR_USAGE, "--threshold: expected a percentage >= 0, got \"%.40s\"", opt_text(set, OPTION_THRESHOLD));
    if (compare_read(&a, argv[0], err) < 0)
        return -1;
    if (compare_read(&b, argv[1], err) < 0) {
        compare_deinit(&a);
        return -1;
    }
    unsigned regressions = compare_print(&a, &b, threshold, opt_on(set, OPTION_JSON), &out);
    compare_deinit(&a);
    compare_deinit(&b);
    if (out.failed || fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
        return err_sys(err, "writing the comparison");
    return opt_on(set, OPTION_GATE) && regressions ? REGRESSION_STATUS : 0;
}

int compare_main(int argc, char **argv, struct err *err)
{
    static const struct verb verb = {
        .usage = "compare [--threshold PERCENT] [--gate] [--json] A.json[,A2.json…] B.json[,B2.json…]",
        .about = "Compares results of llmload --json (or of vLLM's benchmark).",
        .rows = compare_rows,
        .count = sizeof compare_rows / sizeof *compare_rows,
        .operands = 2,
        .expected = "two results: llmload compare A.json B.json (several runs of one side with commas between)",
        .run = compare_run,
    };
    return verb_run(&verb, argc, argv, err);
}
