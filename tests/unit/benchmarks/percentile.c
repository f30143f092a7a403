/* percentile.c: a percentile is recorded if the rules know that enough values are behind it. Each percentile of a shipped entry has their number. */
#include "benchmarks/percentile.h"
#include "benchmarks/catalogue.h"
#include "benchmarks/engine.h"
#include "rules_case.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void a_name_says_which_percentile(void **state)
{
    static const struct {
        const char *name, *percentile;
        uint64_t needs;
    } rows[] = {
        {"p99", "p99", 662},         {"latency.p50", "p50", 11},     {"latency.tail_p95", "p95", 130}, {"x.p999", "p999", 6636}, {"x.p99_9", "p99_9", 6636},
        {"x.percentile_75", "percentile_75", 24}, {"x.p25", "p25", 24}, {"latency", "", 0},          {"x.p2p", "", 0},         {"p100", "", 0},
        {"x.p5", "", 0},             {"http99", "", 0},              {"ap99", "", 0},                  {"", "", 0},              {"x.p99_9_9", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str got = percentile_in(str_of(rows[i].name));
        if (!str_is(got, rows[i].percentile) || percentile_needs(str_of(rows[i].name)) != rows[i].needs)
            fail_msg("%s: " STR_FMT " needs %llu", rows[i].name, STR_ARG(got), (unsigned long long)percentile_needs(str_of(rows[i].name)));
    }
    assert_true(percentile_needs(STR("x.p9999999999")) > UINT32_MAX);
}

#define RULES                                                                                                                                     \
    \
    "derive: [{name: behind, value: 'either(done, rate * time)'}]\n"                                                                              \
    "readers:\n"                                                                                                                                  \
    "- {name: n, regex: '^(?<op>\\w+) done (?<n>\\d+)$', params: [{param: 'done.{op}', cell: n, type: integer, hidden: true}]}\n"                 \
    "- {name: d, regex: '^done (?<n>\\d+)$', params: [{param: done, cell: n, type: integer, hidden: true}]}\n"                                    \
    "- {name: r, regex: '^(?<rate>\\d+)/s for (?<time>\\d+) s$', params: [{param: rate, cell: rate, hidden: true}, {param: time, cell: time, hidden: true}]}\n"     \
    "- {name: p, regex: '^(?<op>\\w+) p(?<p>\\d+) (?<v>[\\d.]+)$', metrics: [{name: '{op}.p{p}', cell: v, unit: s, values: 'done.{op}', better: lower}]}\n"     \
    "- {name: q, regex: '^p99 (?<v>[\\d.]+)$', metrics: [{name: all, cell: v, unit: s, stat: p99, values: behind, better: lower}]}\n"             \
    "- {name: c, regex: '^size (?<size>\\d+) of (?<n>\\S+) p99 (?<v>[\\d.]+)$', metrics: [{name: row.p99, cell: v, unit: s, values_cell: n, step: size, headline: max, better: lower}]}\n"

static void too_few_values_are_no_percentile(void **state)
{
    static const struct rules_case cases[] = {
        {"enough", RULES, "read done 662\nread p99 5\n", "metric read.p99_s 5\npass\n"},
        {"one too few", RULES, "read done 661\nread p99 5\n", "missing read.p99_s: p99 of 661 values, 662 needed\npass\n"},
        {"those of another operation", RULES, "write done 900\nread p99 5\n", "missing read.p99_s: p99 of an unknown number of values, 662 needed\npass\n"},
        {"the count stands behind", RULES, "read p50 5\nread done 11\n", "metric read.p50_s 5\npass\n"},
        {"no percentile", RULES, "read done 1\nread p9 5\n", "metric read.p9_s 5\npass\n"},
        {"a derived number", RULES, "100/s for 7 s\np99 5\n", "metric all_s.p99 5\npass\n"},
        {"a derived number, too small", RULES, "100/s for 6 s\np99 5\n", "missing all_s.p99: p99 of 600 values, 662 needed\npass\n"},
        {"the number itself counts before it", RULES, "100/s for 7 s\ndone 20\np99 5\n", "missing all_s.p99: p99 of 20 values, 662 needed\npass\n"},
        {"of each row", RULES, "size 1 of 1000 p99 5\nsize 2 of 20 p99 6\n",
         "metric row.p99_s@1 5\nmissing row.p99_s.max: 1 of 2 values are missing (p99 of 20 values, 662 needed)\npass\n"},
        {"of a row that does not say", RULES, "size 1 of many p99 5\n", "missing row.p99_s: p99 of an unknown number of values, 662 needed\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
    rules_refused("readers:\n- {name: p, regex: '^(?<v>.)', metrics: [{name: t, cell: v, values: n, better: lower}]}\n", "is for a percentile");
}

/* Each entry that reads a percentile says of how many values it is. The exceptions count the values themselves, print percentiles of numbers that are
 * fixed when they are compiled, or, as netperf, print a histogram's percentiles without how many transactions it has. */
static void shipped_percentiles_have_their_number(void **state)
{
    static const char *const exceptions[] = {"gpcnet", "mlperf", "llmload", "netperf", "taskrate"};
    (void)state;
    for (const struct catalogue_shipped *s = catalogue_shipped; s->name; s++) {
        struct rules *rules = NULL;
        struct err err = {0};
        char path[300];
        bool excepted = false;
        for (size_t i = 0; i < COUNT(exceptions); i++)
            excepted = excepted || strcmp(exceptions[i], s->name) == 0;
        snprintf(path, sizeof path, "shipped:%s", s->name);
        assert_int_equal(rules_load(&rules, path, &err), 0);
        for (size_t i = 0; i < rules->readers && !excepted; i++)
            for (size_t k = 0; k < rules->reader[i]->metrics; k++) {
                const struct metric_rule *m = &rules->reader[i]->metric[k];
                struct str name = m->stat ? str_of(m->stat) : m->name.part[m->name.n - 1].text;
                if (name.n && percentile_needs(name) && !m->values.n && m->values_cell < 0)
                    fail_msg("%s: reader %s, metric %zu: no number of values", s->name, rules->reader[i]->name, k);
            }
        rules_free(rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_name_says_which_percentile), cmocka_unit_test(too_few_values_are_no_percentile),
                                       cmocka_unit_test(shipped_percentiles_have_their_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
