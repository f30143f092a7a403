/* A stored output that ends too early, or of which a part is lost, never passes with other values than the complete one, in all entries of the catalogue: each
 * sample is cut behind its lines, and within them, and at places drawn at random. CUTS=NAME: that entry alone. CUTS_SEED=N: other places.
 * BENCHWRAP_LONG=1: 60 times as many of these. */
/* quick: no, because every sample of the catalogue is cut */
#include "rules_sample.h"
#include "draws.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { CUTS_MAX = 120, HOLE = 16 };

/* What the form of an output makes impossible to see. */
enum { ANY = 10000 };
static const struct allowed {
    const char *entry, *sample; /* "": all samples */
    unsigned lines; /* non-blank lines behind the last mandatory one */
    const char *why;
} allowed[] = {
    {"fio", "", 4, "Disk stats are printed where the system has them"},
    {"fio", "normal-json-both", 21, "the JSON document has the values, the text behind it repeats them"},
    {"gpcnet", "", 1, "the table's lower border"},
    {"gromacs", "", 3, "the quotation at the end can be switched off"},
    {"gromacs", "made-two-runs", 6, "the second of two runs has not begun"},
    {"hdparm", "", 1, "with -T alone there is no line of the disk"},
    {"hdparm", "two", 4, "the second device has not begun"},
    {"hpcc", "", 2, "the date behind the last line"},
    {"hpcg", "", 7, "remarks behind the result"},
    {"hpcg", "made-two-reports", 131, "the second report has not begun"},
    {"hpl", "", 2, "the border behind End of Tests."},
    {"io500", "", 1, "the name of the folder"},
    {"ior", "3.2.1-json-stdout-v", 56, "the text behind the JSON document"},
    {"ior", "4.0.0-human-vvv", 13, "other ranks print behind the end"},
    {"iperf3", "server-human", ANY, "a server prints tests until it is stopped"},
    {"k6", "", 2, "progress lines behind the summary are optional, a short run has no users"},
    {"lammps", "akrr-2010", 13, "statistics of neighbours are optional"},
    {"lammps", "made-atoms-lost", 14, "statistics of neighbours are optional"},
    {"likwid-bench", "", 1, "the table's lower border"},
    {"md-workbench", "made-two-runs", 9, "the second run has not begun"},
    {"mdtest", "made-two-runs", 19, "the second run has not begun"},
    {"mdtest", "main-launcher-tagoutput", 1, "an empty line with a prefix"},
    {"mlperf", "made-inference", 12, "parameters behind the result"},
    {"namd", "", 1, "some builds print a line of Charm++"},
    {"namd", "made-two-runs", 21, "the second run has not begun"},
    {"nccl-tests", "", 2, "a comment behind the average"},
    {"nccl-tests", "made-two-programs", 25, "the second program has not begun"},
    {"nccl-tests", "made-ranks-alone", 54, "the second program has not begun"},
    {"netperf", "verbose", 8, "details of -v 2"},
    {"netperf", "made-two-tests", 8, "the second test has not begun"},
    {"nvbandwidth", "", 1, "the second half of the note"},
    {"nvbandwidth", "made-two-runs", 54, "the second run has not begun"},
    {"gromacs", "package-2022-minimization", 4, "a minimisation has no result"},
    {"oha", "made-ms", 3, "counts of errors are printed where there are some"},
    {"openfoam", "icofoam-parallel", 1, "a remark behind End"},
    {"quantum-espresso", "", 1, "the border behind JOB DONE."},
    {"reframe", "", 2, "remarks behind Finished on"},
    {"stream", "", 1, "the table's lower border"},
    {"stream", "made-two-runs", 34, "the second run has not begun"},
    {"sysbench", "made-alerts", 2, "messages behind the end"},
    {"sysbench", "made-two-runs", 25, "the second run has not begun"},
    {"babelstream", "made-two-runs", 14, "the second run has not begun"},
    {"imb", "akrr-2018", 417, "the second suite has not begun"},
    {"taskrate", "", 7, "remarks behind METG50"},
};
/* Outputs that have no last line: rows until there are no more. Statistics over the rows that are there may differ, too. */
static const struct {
    const char *entry, *sample, *why;
} endless[] = {
    {"imb", "2021.11-mt", "this suite prints no last line"},
    {"criterion", "", "a paragraph for each benchmark"},
    {"iozone", "", "the tables for spreadsheets behind the rows have the same values"},
    {"jmh", "", "a paragraph and a row for each benchmark and percentile; the JSON document has an end"},
    {"lm-eval", "", "a row for each task and metric"},
    {"unixbench", "partial", "a part for each number of copies"},
    {"elbencho", "", "a paragraph for each phase"},
    {"ycsb", "", "rows for each operation"},
    {"google-benchmark", "console", "a row for each benchmark; the JSON document has an end"},
    {"hyperfine", "", "a paragraph for each command; of a file that is cut the text remains"},
    {"ior", "main-csv-stdout-reps3", "a row for each repetition"},
    {"netperf", "request-values", "which values are printed is the user's choice"},
    {"netperf", "formats-datagram", "an output for each unit"},
    {"netperf", "formats-stream", "an output for each unit"},
    {"netperf", "formats-values", "an output for each unit"},
    {"llmload", "", "tables for people, chosen by options; the JSON document has an end"},
    {"openssl", "", "a row for each algorithm"},
    {"osu", "", "a row for each size; the largest is known by the arguments alone"},
    {"pgbench", "", "a row for each script and statement; progress lines until the end"},
    {"redis-benchmark", "", "a paragraph or row for each command"},
    {"k6", "compact", "the file and the text have the same values: of one that is cut the other remains"},
    {"sglang-bench", "", "the file and the text have the same values: of one that is cut the other remains"},
    {"stream", "made-lmbench", "a row for each kernel, without a head"},
};
/* Outputs that repeat their values while the program runs: the earlier ones stand where the last are lost, and the run fails. */
static const struct {
    const char *entry, *sample, *why;
} repeated[] = {
    {"fio", "json-percentiles-status", "a document at each interval"},
    {"hpcc", "made-appended", "an earlier run's results stand in the file"},
    {"nccl-tests", "made-two-programs", "the second table's first values come without those that contradict them"},
    {"nccl-tests", "superbench-reduce", "half a row is one of the in-place columns alone"},
    {"osu", "made-same-twice", "the second table's first values come without those that contradict them"},
    {"osu", "made-threads-before-title", "the title of a table tells how its columns are meant"},
    {"stress-ng", "package-yaml", "the text has the values with fewer digits"},
};

static bool is_statistic(struct str key)
{
    static const char *const names[] = {".max", ".min", ".mean", ".median", ".sd", ".n", NULL};
    for (size_t i = 0; names[i]; i++)
        if (str_ends(key, names[i]))
            return true;
    return false;
}

static const struct fact *metric_of(const struct record *r, struct str key, int64_t step)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && f->step == step && str_eq(f->key, key))
            return f;
    return NULL;
}

/* Programs that print a value twice, with more and with fewer digits. */
static bool is_near(const struct sample *s, double a, double b)
{
    static const struct {
        const char *entry;
        double part;
    } rounded[] = {{"hpcg", 1e-5}, {"fio", 1e-4}, {"hyperfine", 0.2}, {"stress-ng", 0.02}, {"sglang-bench", 0.02}, {"k6", 0.02}};
    for (size_t i = 0; i < sizeof(rounded) / sizeof(rounded[0]); i++)
        if (strcmp(rounded[i].entry, s->entry) == 0 && fabs(a - b) <= rounded[i].part * fabs(b))
            return true;
    return a == b;
}

/* The same value in the complete output, where one test has plain keys and several have a prefix. */
static bool in_whole(const struct sample *s, const struct record *whole, const struct fact *f)
{
    const struct fact *same = metric_of(whole, f->key, f->step);
    if (same && is_near(s, same->value, f->value))
        return true;
    for (const struct fact *w = whole->first; w; w = w->next)
        if (w->kind == FACT_METRIC && w->step == f->step && is_near(s, w->value, f->value) && w->key.n > f->key.n + 1 &&
            w->key.p[w->key.n - f->key.n - 1] == '.' && str_eq(str_sub(w->key, w->key.n - f->key.n, w->key.n), f->key))
            return true;
    return false;
}

static size_t n_metrics(const struct record *r)
{
    size_t n = 0;
    for (const struct fact *f = r->first; f; f = f->next)
        n += f->kind == FACT_METRIC;
    return n;
}

/* Non-blank lines from here on. */
static unsigned lines_from(struct str text, size_t at)
{
    unsigned n = 0;
    for (struct str rest = str_sub(text, at, text.n); rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n');
        n += strspn(line.p, " \t\r") < line.n && line.n > 0;
    }
    return n;
}

#define LISTED(list, s) is_listed(&(list)[0].entry, sizeof(list) / sizeof((list)[0]), (s))
/* list: rows of entry, sample and reason. */
static bool is_listed(const char *const *list, size_t n, const struct sample *s)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[3 * i], s->entry) == 0 && (!*list[3 * i + 1] || strcmp(list[3 * i + 1], s->name) == 0))
            return true;
    return false;
}

static unsigned lines_allowed(const struct sample *s)
{
    unsigned most = LISTED(endless, s) ? ANY : 0;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (strcmp(allowed[i].entry, s->entry) == 0 && (!*allowed[i].sample || strcmp(allowed[i].sample, s->name) == 0) &&
            allowed[i].lines > most)
            most = allowed[i].lines;
    return most;
}

/* true: this cut is read rightly. Of a line that is cut itself only its own values may be missing. */
static bool cut_check(const struct sample *s, const struct answer *whole, size_t at)
{
    struct answer cut;
    bool good = true;
    const struct str text = buf_text(&s->text[s->target]);
    const bool torn = text.p[at - 1] != '\n';
    const unsigned behind = lines_from(text, at), lost = behind > torn ? behind - torn : 0;
    answer_get(s, at, &cut);
    const bool pass = cut.out.verdict != VERDICT_FAIL;
    for (const struct fact *f = cut.record.first; f && good; f = f->next) {
        if (f->kind != FACT_METRIC || in_whole(s, &whole->record, f) || (is_statistic(f->key) && (!pass || LISTED(endless, s))) ||
            (!pass && LISTED(repeated, s)))
            continue;
        print_message("wrong: %s/%s %s at byte %zu, %u lines lost: " STR_FMT " = %.17g, %s\n", s->entry, s->name, torn ? "torn" : "cut", at,
                      lost, STR_ARG(f->key), f->value, pass ? "passes" : "fails");
        good = false;
    }
    if (good && pass && lost > lines_allowed(s)) {
        print_message("wrong: %s/%s %s at byte %zu, %u lines lost: passes with %zu of %zu metrics\n", s->entry, s->name,
                      torn ? "torn" : "cut", at, lost, n_metrics(&cut.record), n_metrics(&whole->record));
        good = false;
    }
    record_deinit(&cut.record);
    return good;
}

/* Cuts one source behind its lines and within them: of a long output's lines some, and the last ones each. */
static size_t source_cut(const struct sample *s, const struct answer *whole)
{
    const struct str text = buf_text(&s->text[s->target]);
    size_t wrong = 0, lines = 0, line = 0;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    const size_t step = lines / CUTS_MAX + 1;
    for (size_t from = 0; from < text.n; line++) {
        const char *end = memchr(text.p + from, '\n', text.n - from);
        const size_t next = end ? (size_t)(end - text.p) + 1 : text.n, length = next - from - (end != NULL);
        if (line % step == 0 || line + 30 > lines) {
            if (next < text.n)
                wrong += !cut_check(s, whole, next);
            if (length > 1)
                wrong += !cut_check(s, whole, from + length / 2) + !cut_check(s, whole, from + length * 3 / 4) +
                         !cut_check(s, whole, from + length - 1);
        }
        from = next;
    }
    return wrong;
}

/* Without this source the answer is the same: it holds what no rule needs. */
static bool is_idle(const struct sample *s, const struct answer *whole)
{
    struct answer none;
    answer_get(s, 0, &none);
    bool idle = none.out.verdict == whole->out.verdict && n_metrics(&none.record) == n_metrics(&whole->record);
    record_deinit(&none.record);
    return idle;
}

static size_t draw_below(size_t n)
{
    uint64_t drawn = draws_next();
    return n ? (size_t)(drawn % n) : 0;
}

/* Where the line begins in which this byte is. */
static size_t line_of(struct str text, size_t at)
{
    const char *before = at ? memrchr(text.p, '\n', at) : NULL;
    return before ? (size_t)(before - text.p) + 1 : 0;
}

/* A part of the output is lost, and the reader knows it. Then no value may remain: even a right one may belong to the lost part. The run must not pass. */
static bool gap_check(const struct sample *s, const struct answer *whole, size_t until, size_t from, enum gap gap)
{
    struct answer cut;
    bool good = true;
    answer_with_gap(s, until, from, gap, &cut);
    const bool pass = cut.out.verdict != VERDICT_FAIL;
    for (const struct fact *f = cut.record.first; f && good; f = f->next) {
        if (f->kind != FACT_METRIC || in_whole(s, &whole->record, f) || LISTED(repeated, s))
            continue;
        print_message("wrong: %s/%s bytes %zu to %zu are %s: " STR_FMT " = %.17g, %s\n", s->entry, s->name, until, from,
                      gap == GAP_KNOWN ? "not kept" : "zeros", STR_ARG(f->key), f->value, pass ? "passes" : "fails");
        good = false;
    }
    if (good && pass && n_metrics(&cut.record) < n_metrics(&whole->record) && !LISTED(endless, s)) {
        print_message("wrong: %s/%s bytes %zu to %zu are %s: passes with %zu of %zu metrics\n", s->entry, s->name, until, from,
                      gap == GAP_KNOWN ? "not kept" : "zeros", n_metrics(&cut.record), n_metrics(&whole->record));
        good = false;
    }
    record_deinit(&cut.record);
    return good;
}

/* Cuts and gaps at places that are drawn. */
static size_t source_damage(const struct sample *s, const struct answer *whole, size_t times)
{
    const struct str text = buf_text(&s->text[s->target]);
    size_t wrong = 0, end = text.n;
    while (end && strchr(" \t\r\n", text.p[end - 1]))
        end--;
    for (size_t last = line_of(text, end); times-- && end > 1;) {
        size_t a = 1 + draw_below(text.n - 1), b = 1 + draw_below(text.n - 1), until = a < b ? a : b;
        size_t from = (a < b ? b : a) + HOLE < text.n ? (a < b ? b : a) + HOLE : text.n;
        size_t line = line_of(text, a);
        wrong += !cut_check(s, whole, a) + (line ? !cut_check(s, whole, line) : 0);
        wrong += !cut_check(s, whole, last + 1 + draw_below(end - last));
        wrong += !gap_check(s, whole, until, from, GAP_KNOWN) + (from - until >= HOLE ? !gap_check(s, whole, until, from, GAP_ZEROS) : 0);
    }
    return wrong;
}

static size_t sample_cut(struct sample *s)
{
    const char *seed = getenv("CUTS_SEED"), *is_long = getenv("BENCHWRAP_LONG");
    struct answer whole;
    size_t wrong = 0;
    draws_state = 88172645463325252u + (seed ? strtoull(seed, NULL, 10) * 0x9e3779b97f4a7c15u : 0); /* the same places for a sample alone */
    answer_get(s, SIZE_MAX, &whole);
    for (s->target = 0; s->target < s->sources && whole.out.verdict == VERDICT_PASS; s->target++)
        if (!is_idle(s, &whole))
            wrong += source_cut(s, &whole) + source_damage(s, &whole, is_long && *is_long ? 60 : 1);
    record_deinit(&whole.record);
    return wrong;
}

static void cut_outputs(void **state)
{
    (void)state;
    size_t outputs = 0, wrong = samples_each(getenv("CUTS"), sample_cut, &outputs);
    print_message("%zu outputs cut\n", outputs);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
