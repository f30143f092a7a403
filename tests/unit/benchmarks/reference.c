/* reference.c (test): which entry fits, bands and units, direction, ReFrame's tuples, what a wrong file is told. */
#include "benchmarks/reference_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A run of ior on cluster alpha with a bandwidth of 1000 MiB/s (higher is better) and a latency of 2 ms (lower is better). */
static void make_run(struct record *r)
{
    record_init(r, "00000000000000000000000000000000", 1);
    record_tag(r, "benchmark", STR("ior"));
    record_tag(r, "cluster", STR("alpha"));
    record_tag(r, "site", STR("here"));
    record_tag(r, "benchwrap.headline", STR("write.bw_MiB_per_s.max"));
    record_param(r, "job.partition", STR("gpu-long"));
    record_param(r, "node.type", STR("7eec00d58a30a1a5"));
    record_param(r, "transfer_size_B", STR("1048576"));
    record_param(r, "api", STR("POSIX"));
    record_metric(r, "write.bw_MiB_per_s", 1000, "MiB_per_s", DIR_HIGHER, 0, 1);
    record_metric(r, "write.bw_MiB_per_s", 900, "MiB_per_s", DIR_HIGHER, 1, 1);
    record_metric(r, "write.bw_MiB_per_s", 980, "MiB_per_s", DIR_HIGHER, 2, 1);
    record_metric(r, "write.bw_MiB_per_s.max", 1000, "MiB_per_s", DIR_HIGHER, 0, 1);
    record_metric(r, "latency_ms", 2, "ms", DIR_LOWER, 0, 1);
    record_metric(r, "errors", 3, "", DIR_LOWER, 0, 1);
    record_metric(r, "plain", 50, "", DIR_NONE, 0, 1);
    record_metric(r, "cold", -10, "", DIR_HIGHER, 0, 1);
    for (int i = 0; i < 3; i++)
        record_metric(r, "osu.bw_MB_per_s", 10 << i, "MB_per_s", DIR_HIGHER, 8 << i, 1);
}

static void judge(const char *text, struct record *r, struct reference_outcome *out)
{
    struct references *refs;
    struct err err = {0};
    if (references_parse(&refs, "r.yaml", str_of(text), &err))
        fail_msg("%s\n%s", err.text, text);
    assert_int_equal(references_judge((const struct references *const *)&refs, 1, r, out, &err), 0);
    references_free(refs);
}

static void bands(void **state)
{
    static const struct {
        const char *metric;
        enum referred verdict;
        bool fails;
        double low, high; /* NaN: none */
    } rows[] = {
        {"write.bw_MiB_per_s.max: {value: 1000, lower: -0.05, upper: +0.10}", REFERRED_PASS, false, 950, 1100},
        {"write.bw_MiB_per_s.max: {value: 1000, lower: 5%, upper: 10%}", REFERRED_PASS, false, 950, 1100},
        {"write.bw_MiB_per_s.max: {value: 1000, band: \"5 %\"}", REFERRED_PASS, false, 950, 1050},
        {"write.bw_MiB_per_s.max: {value: 1000, lower: -50 MiB_per_s}", REFERRED_PASS, false, 950, NAN},
        {"write.bw_MiB_per_s.max: {value: 1048.576, unit: MB/s, band: 1%}", REFERRED_PASS, false, 990, 1010},
        {"write.bw_MiB_per_s.max: {value: 1 GiB_per_s, lower: -10.24 MiB/s}", REFERRED_BELOW, true, 1013.76, NAN},
        {"write.bw_MiB_per_s.max: {min: 1000}", REFERRED_PASS, false, 1000, NAN}, /* the edge belongs to the band */
        {"write.bw_MB_per_s.max: {value: 1048.576, band: 1%}", REFERRED_PASS, false, 990, 1010}, /* the name's unit is that of its numbers */
        {"latency_us: {value: 1900, upper: 10%}", REFERRED_PASS, false, NAN, 2.09},
        {"latency_s: {max: 0.0019}", REFERRED_ABOVE, true, NAN, 1.9},
        {"write.bw_MiB_per_s.max: {min: 1000.5}", REFERRED_BELOW, true, 1000.5, NAN},
        {"write.bw_MiB_per_s.max: {min: 0.5 GiB/s, max: 0.75 GiB/s}", REFERRED_ABOVE, false, 512, 768}, /* better than the band */
        {"write.bw_MiB_per_s.max: {min: 512, max: 768, strict: true}", REFERRED_ABOVE, true, 512, 768},
        {"write.bw_MiB_per_s.max: {value: 1100, lower: -5%}", REFERRED_BELOW, true, 1045, NAN},
        {"write.bw_MiB_per_s.max: {value: 1100, upper: 5%}", REFERRED_PASS, false, NAN, 1155}, /* no bound on the bad side: cannot fail */
        {"latency_ms: {value: 1 ms, upper: 5%}", REFERRED_ABOVE, true, NAN, 1.05},
        {"latency_ms: {value: 3000 us, lower: 10%, upper: 5%}", REFERRED_BELOW, false, 2.7, 3.15},
        {"plain: {value: 40, band: 10%}", REFERRED_ABOVE, true, 36, 44},   /* no direction: both sides count */
        {"plain: {value: 60, band: 10%}", REFERRED_BELOW, true, 54, 66},
        {"cold: {value: -10, lower: -10%}", REFERRED_PASS, false, -11, NAN}, /* of a negative value below is still below */
        {"errors: [0, null, 2, null]", REFERRED_ABOVE, true, NAN, 2},        /* ReFrame: of 0 the bounds are absolute */
        {"errors: [0, 0, 3]", REFERRED_PASS, false, 0, 3},
        {"errors: {value: 0, upper: 2}", REFERRED_ABOVE, true, NAN, 2},
        {"latency_ms: [0, None, 500, us]", REFERRED_ABOVE, true, NAN, 0.5},
        {"write.bw_MiB_per_s.max: [1000, -0.05, null, MiB/s]", REFERRED_PASS, false, 950, NAN},
        {"write.bw_MiB_per_s.max: [1100, -0.05, 0.05, ~]", REFERRED_BELOW, true, 1045, 1155},
        {"write.bw: [1000, -0.05, 0.05]", REFERRED_PASS, false, 950, 1050},     /* the headline */
        {"write.bw_MiB_per_s: {value: 980, band: 0%}", REFERRED_PASS, false, 980, 980}, /* repetitions: their median */
        {"osu.bw_MB_per_s@16: {value: 20, band: 1%}", REFERRED_PASS, false, 19.8, 20.2},
        {"osu.bw@32: {value: 40 MB/s, band: 1%}", REFERRED_PASS, false, 39.6, 40.4},
        {"osu.bw_MB_per_s@64: {min: 1}", REFERRED_MISSING, true, NAN, NAN},
        {"osu.bw_MB_per_s: {min: 1}", REFERRED_MISSING, true, NAN, NAN}, /* which of its steps? */
        {"none: {min: 1}", REFERRED_MISSING, true, NAN, NAN},
        {"latency: {min: 1 MiB}", REFERRED_MISSING, true, NAN, NAN}, /* cannot be converted: told when the unit is known */
        {"plain: {min: 1 s}", REFERRED_MISSING, true, NAN, NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        struct record r;
        struct reference_outcome out;
        snprintf(text, sizeof text, "references:\n- metrics:\n    %s\n", rows[i].metric);
        make_run(&r);
        judge(text, &r, &out);
        const struct referred_metric *m = out.first;
        if (m->verdict != rows[i].verdict || m->fails != rows[i].fails || out.judged != 1 || out.failed != rows[i].fails)
            fail_msg("%s: %s, fails %d: %s", rows[i].metric, referred_name(m->verdict), m->fails, m->text);
        if (isnan(m->low) != isnan(rows[i].low) || fabs(m->low - rows[i].low) > 1e-9 || isnan(m->high) != isnan(rows[i].high) ||
            fabs(m->high - rows[i].high) > 1e-9)
            fail_msg("%s: band %.17g .. %.17g", rows[i].metric, m->low, m->high);
        assert_int_equal(out.failed > 0, out.reason[0] != 0);
        assert_true(r.references.n > 0);
        record_deinit(&r);
    }
}

static void conditions(void **state)
{
    static const struct { const char *conditions; bool fits; } rows[] = {
        {"{}", true},
        {"benchmark: ior", true},
        {"benchmark: fio", false},
        {"benchmark: [fio, ior]", true},
        {"benchmark: \"*\"", true},
        {"cluster: alph", false},
        {"cluster: alph?", true},
        {"cluster: \"a*a\"", true},
        {"cluster: \"[!b-z]lpha\"", true},
        {"cluster: \"[b-z]lpha\"", false},
        {"cluster: \"a*b*a\"", false},
        {"site: here", true},
        {"partition: \"gpu*\"", true},
        {"partition: cpu", false},
        {"node_type: 7eec00d58a30a1a5", true},
        {"node_type: 7eec00d58a30a1a6", false},
        {"params: {api: POSIX, transfer_size_B: 1048576}", true},
        {"params: {api: POSIX, transfer_size_B: 1m}", true},
        {"params: {transfer_size_B: 1.048576e6}", true},
        {"params: {transfer_size_B: 2m}", false},
        {"params: {api: [MPIIO, POSIX]}", true},
        {"params: {other: 1}", false},
        {"params: {other: null}", true},
        {"params: {api: null}", false},
        {"benchmark: ior\n  cluster: beta", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        struct record r;
        struct reference_outcome out;
        snprintf(text, sizeof text, "references:\n- metrics: {plain: {min: 1}}\n  %s\n", strcmp(rows[i].conditions, "{}") ? rows[i].conditions : "");
        make_run(&r);
        judge(text, &r, &out);
        if ((out.judged == 1) != rows[i].fits)
            fail_msg("%s: %s", rows[i].conditions, out.judged ? "fits" : "does not fit");
        record_deinit(&r);
    }
}

/* Of an older run, or of a program without a launcher, the allocation is the shape; of a launch whose nodes are not known it is not. */
static void the_shape_of_a_launch(void **state)
{
    static const char text[] = "references:\n- metrics: {plain: {min: 1}}\n  params: {step.nodes: 3}\n";
    static const struct {
        const char *step_nodes, *step_tasks;
        bool missing, fits;
    } rows[] = {{NULL, NULL, false, true}, {"3", NULL, false, true}, {"2", NULL, false, false}, {NULL, "2", true, false}, {NULL, NULL, true, false}, {NULL, "2", false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct record r;
        struct reference_outcome out;
        make_run(&r);
        record_param(&r, "job.nodes", STR("3"));
        if (rows[i].step_nodes)
            record_param(&r, "step.nodes", str_of(rows[i].step_nodes));
        if (rows[i].step_tasks)
            record_param(&r, "step.tasks", str_of(rows[i].step_tasks));
        if (rows[i].missing)
            record_missing(&r, "step.nodes", "Slurm reported no step");
        judge(text, &r, &out);
        if ((out.judged == 1) != rows[i].fits)
            fail_msg("row %zu: %s", i, out.judged ? "fits" : "does not fit");
        record_deinit(&r);
    }
}

static size_t warnings(const struct record *r)
{
    size_t n = 0;
    for (const struct fact *f = r->first; f; f = f->next)
        n += f->kind == FACT_WARNING;
    return n;
}

static void the_most_specific_entry_counts(void **state)
{
    static const struct { const char *text; double low; size_t warnings; } rows[] = {
        {"references:\n- {benchmark: ior, metrics: {plain: {min: 1}}}\n- {benchmark: ior, cluster: alpha, metrics: {plain: {min: 2}}}\n", 2, 0},
        {"references:\n- {benchmark: ior, cluster: alpha, metrics: {plain: {min: 2}}}\n- {benchmark: ior, metrics: {plain: {min: 1}}}\n", 2, 0},
        {"references:\n- {cluster: \"a*\", metrics: {plain: {min: 1}}}\n- {cluster: alpha, metrics: {plain: {min: 2}}}\n", 2, 0}, /* a text before a pattern */
        {"references:\n- {cluster: alpha, metrics: {plain: {min: 1}}}\n- {site: here, metrics: {plain: {min: 2}}}\n", 1, 1},
        {"references:\n- {metrics: {plain: {min: 1}}}\n- {metrics: {plain: {min: 2}}}\n- {metrics: {plain: {min: 3}}}\n", 1, 1},
        {"references:\n- {metrics: {plain: {min: 1}}}\n- {metrics: {plain: {min: 2}}}\n- {site: here, metrics: {plain: {min: 3}}}\n", 3, 0}, /* what was equal does not count */
        {"references:\n- {benchmark: ior, metrics: {errors: {max: 9}}}\n- {metrics: {plain: {min: 4}}}\n", 4, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct record r;
        struct reference_outcome out;
        make_run(&r);
        judge(rows[i].text, &r, &out);
        const struct referred_metric *m = out.first;
        while (m && strcmp(m->metric, "plain"))
            m = m->next;
        assert_non_null(m);
        if (m->low != rows[i].low || warnings(&r) != rows[i].warnings)
            fail_msg("row %zu: low %g, %zu warnings", i, m->low, warnings(&r));
        record_deinit(&r);
    }
}

static void a_sentence_has_two_different_numbers(void **state)
{
    struct record r;
    struct reference_outcome out;
    (void)state;
    make_run(&r);
    judge("references: [{metrics: {plain: {min: 50.0000001}}}]", &r, &out);
    assert_string_equal(out.first->text, "plain 50 is below 50.0000001 (r.yaml:1)");
    record_deinit(&r);
}

static void the_stronger_file_counts_and_the_weaker_adds(void **state)
{
    struct references *refs[2];
    struct record r;
    struct reference_outcome out;
    (void)state;
    make_run(&r);
    assert_int_equal(references_parse(&refs[0], "a", str_of("references: [{metrics: {plain: {min: 1}}}]"), NULL), 0);
    assert_int_equal(references_parse(&refs[1], "b", str_of("references: [{benchmark: ior, metrics: {plain: {min: 99}, errors: {max: 1}}}]"), NULL), 0);
    assert_int_equal(references_judge((const struct references *const *)refs, 2, &r, &out, NULL), 0);
    assert_int_equal(out.judged, 2);
    assert_string_equal(out.first->metric, "plain");
    assert_false(out.first->fails);
    assert_string_equal(out.first->next->where, "b:1");
    assert_true(out.first->next->fails);
    assert_int_equal(out.first->next->next->verdict, REFERRED_NONE); /* the headline that nobody speaks of */
    assert_null(out.first->next->next->next);
    assert_string_equal(out.reason, "errors 3 is above 1 (b:1)");
    references_free(refs[0]);
    references_free(refs[1]);
    record_deinit(&r);
}

static void wrong_files_are_refused(void **state)
{
    static const struct { const char *text, *message; } rows[] = {
        {"x: 1", "r.yaml:1:4: \"x\" is not known in a reference file; allowed are format, references"},
        {"# only a remark\n", "the document is empty"},
        {"[]", "r.yaml:1:1: a reference file: a map"},
        {"format: 2\nreferences: []", "r.yaml:1:9: format: this version reads 1 only"},
        {"references: 1", "a list of entries is expected"},
        {"references:\n- {metric: {}}", "r.yaml:2:12: \"metric\" is not known in an entry; allowed are site, cluster, partition"},
        {"references:\n- {cluster: a}", "r.yaml:2:3: an entry has metrics"},
        {"references:\n- {metrics: {m: 5}}", "r.yaml:2:17: m: a value alone has no band"},
        {"references:\n- {metrics: {m: {value: 5}}}", "m: expected a bound here"},
        {"references:\n- {metrics: {m: {unit: s}}}", "expected a value or a limit"},
        {"references:\n- {metrics: {m: {lower: 5%}}}", "lower is relative to a value, and there is none"},
        {"references:\n- {metrics: {m: {value: 5, lower: -5}}}", "r.yaml:2:35: lower: -5 is 500 % below the value; 5 % is written -5%"},
        {"references:\n- {metrics: {m: {value: 5, upper: -5%}}}", "upper is above the value"},
        {"references:\n- {metrics: {m: {value: 0, band: 5%}}}", "a percentage of the reference 0 is 0"},
        {"references:\n- {metrics: {m: {value: 5, band: 5%, upper: 1%}}}", "band is lower and upper in one"},
        {"references:\n- {metrics: {m: {value: 5, lower: 5%, min: 1}}}", "either lower or min"},
        {"references:\n- {metrics: {m: {value: 5, low: 5%}}}", "\"low\" is not known in a metric"},
        {"references:\n- {metrics: {m: {value: 5 MiB, unit: MiB, band: 1%}}}", "its unit occurs twice"},
        {"references:\n- {metrics: {m: {value: 5 parsec, band: 1%}}}", "\"parsec\" is no unit"},
        {"references:\n- {metrics: {m: {value: nan, band: 1%}}}", "a number is expected"},
        {"references:\n- {metrics: {m: {value: x, band: 1%}}}", "a number is expected"},
        {"references:\n- {metrics: {m: {min: 5%}}}", "min is a limit, not a part of the value: that is lower"},
        {"references:\n- {metrics: {bw_MiB_per_s.max: {value: 5 s, band: 1%}}}", "r.yaml:2:40: bw_MiB_per_s.max: the metric is in MiB_per_s, and s cannot"},
        {"references:\n- {metrics: {bw_MiB_per_s: [5, -0.1, null, s]}}", "r.yaml:2:44: bw_MiB_per_s: the metric is in MiB_per_s, and s cannot"},
        {"references:\n- {metrics: {t_s: {min: 5 MiB}}}", "the metric is in s, and MiB cannot"},
        {"references:\n- {metrics: {m: [5, -0.1]}}", "[reference, lower, upper, unit] is expected"},
        {"references:\n- {metrics: {m: [5, -0.1, 1, s, 2]}}", "r.yaml:2:33: [reference, lower"},
        {"references:\n- {metrics: {m: [null, -0.1, 1]}}", "the reference is a number"},
        {"references:\n- {metrics: {m@x: {min: 1}}}", "expected a step, a whole number, behind @"},
        {"references:\n- {metrics: {m: {min: 1}, m: {min: 2}}}", "occurs twice"},
        {"references:\n- {cluster: {a: b}, metrics: {m: {min: 1}}}", "a text, or a list of texts"},
        {"references:\n- {cluster: [], metrics: {m: {min: 1}}}", "1 to 100 texts"},
        {"references:\n- {params: x, metrics: {m: {min: 1}}}", "params: a map"},
        {"references:\n- &a {metrics: {m: {min: 1}}}", "anchors"},
        {"references:\n- {strict: maybe, metrics: {m: {min: 1}}}", "strict is true or false"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct references *refs = NULL;
        struct err err = {0};
        if (references_parse(&refs, "r.yaml", str_of(rows[i].text), &err) == 0)
            fail_msg("taken: %s", rows[i].text);
        if (err.kind != ERR_INPUT || strncmp(err.text, "r.yaml:", 7) || !strstr(err.text, rows[i].message))
            fail_msg("%s\n%s", rows[i].text, err.text);
        assert_null(refs);
    }
}

static void a_file_without_entries_refers_to_nothing(void **state)
{
    static const char *const texts[] = {"references:\n", "references: []\n", "format: 1\nreferences: ~", "~"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct record r;
        struct reference_outcome out;
        make_run(&r);
        judge(texts[i], &r, &out);
        assert_int_equal(out.judged, 0);
        record_deinit(&r);
    }
}

static void a_hostile_pattern_costs_little(void **state)
{
    char pattern[2001], text[5001];
    (void)state;
    for (int i = 0; i < 2000; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[1999] = 'b';
    memset(text, 'a', 5000);
    assert_false(reference_fits((struct str){pattern, 2000}, (struct str){text, 5000}));
    assert_true(reference_fits(STR("\\*[]x]"), STR("*]")));
    assert_true(reference_fits(STR("[a"), STR("[a")));
    assert_true(reference_fits(STR(""), STR("")));
    assert_false(reference_fits(STR(""), STR("a")));
}

static void names_have_stem_unit_and_statistic(void **state)
{
    static const struct { const char *key, *stem, *unit, *stat; } rows[] = {
        {"write.bw_MiB_per_s.max", "write.bw", "MiB_per_s", "max"}, {"run.wall_s", "run.wall", "s", ""}, {"write.iops_op_per_s", "write.iops", "op_per_s", ""},
        {"bw_MiB_per_s.n", "bw", NULL, "n"}, {"plain", "plain", NULL, ""}, {"max", "max", NULL, ""}, {"_s", "_s", NULL, ""}, {"a_b_s.p99", "a_b", "s", "p99"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct unit *unit;
        struct str stat, stem = reference_stem(str_of(rows[i].key), &unit, &stat);
        if (!str_is(stem, rows[i].stem) || !str_is(stat, rows[i].stat) || (unit == NULL) != (rows[i].unit == NULL) ||
            (unit && strcmp(unit->name, rows[i].unit)))
            fail_msg("%s: %.*s %s %.*s", rows[i].key, STR_ARG(stem), unit ? unit->name : "-", STR_ARG(stat));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands),
        cmocka_unit_test(conditions), cmocka_unit_test(the_shape_of_a_launch),
        cmocka_unit_test(the_most_specific_entry_counts),
        cmocka_unit_test(a_sentence_has_two_different_numbers), cmocka_unit_test(the_stronger_file_counts_and_the_weaker_adds),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(a_file_without_entries_refers_to_nothing),
        cmocka_unit_test(a_hostile_pattern_costs_little),
        cmocka_unit_test(names_have_stem_unit_and_statistic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
