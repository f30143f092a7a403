/* readers.c: CSV, INI, JSON behind a prefix; words that mean missing, and ranges: the right number or none. */
#include "benchmarks/engine.h"
#include "rules_case.h"

#define V "metrics: [{name: v, cell: v, unit: s, better: lower}]\n"
#define SERIES "metrics: [{name: v, cell: v, unit: s, better: lower, headline: min}]\n"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void values_mean_what_the_rule_says(void **state)
{
    static const char one[] = "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  " V;
    static const char words[] = "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower, missing: ['-1', skipped]}]\n";
    static const char open[] = "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower, range: [null, null]}]\n";
    static const char both[] = "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: none, range: [-5, 1e3]}]\n";
    static const struct rules_case cases[] = {
        {"a number", one, "v=3\n", "metric v_s 3\npass\n"},
        {"no negative time", one, "v=-3\n",
         "missing v_s: -3 is outside of what can be (0 to inf)\nfail: v: -3 is outside of what can be (0 to inf)\n"},
        {"zero is a number", one, "v=0\n", "metric v_s 0\npass\n"},
        {"minus zero too", one, "v=-0.0\n", "metric v_s 0\npass\n"},
        {"open range", open, "v=-3\n", "metric v_s -3\npass\n"},
        {"a range of its own", both, "v=1000\n", "metric v_s 1000\npass\n"},
        {"above it", both, "v=1000.01\n",
         "missing v_s: 1000.01 is outside of what can be (-5 to 1000)\nfail: v: 1000.01 is outside of what can be (-5 to 1000)\n"},
        {"a word for none", words, "v=skipped\n", "missing v_s: printed \"skipped\"\npass\n"},
        {"a number for none, however printed", words, "v=-1.000\n", "missing v_s: printed \"-1.000\"\npass\n"},
        {"another negative one is not believed", words, "v=-1.5\n",
         "missing v_s: -1.5 is outside of what can be (0 to inf)\nfail: v: -1.5 is outside of what can be (0 to inf)\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
    rules_refused("readers:\n- name: r\n  regex: '(?<v>x)'\n  metrics: [{name: v, cell: v, better: lower, range: [2, 1]}]\n", "range is [lowest, highest]");
    rules_refused("readers:\n- name: r\n  regex: '(?<v>x)'\n  metrics: [{name: v, cell: v, better: lower, range: [2]}]\n", "range is [lowest, highest]");
}

static void csv_rows_are_lines_of_the_right_width(void **state)
{
    static const char header[] = "readers:\n- name: r\n  csv: {header: '^size,', comment: '#'}\n"
                                 "  metrics: [{name: bw, cell: bw, unit: MiB_per_s, better: higher, step: size}]\n";
    static const char plain[] = "readers:\n- name: r\n  csv: {separator: ';', columns: [n, v]}\n  params: [{param: n, cell: n}]\n  " V;
    static const char unquoted[] = "readers:\n- name: r\n  csv: {separator: ';', columns: [n, v], quotes: false}\n  params: [{param: n, cell: n}]\n  " V;
    static const char tabs[] = "readers:\n- name: r\n  csv: {separator: \"\\t\", columns: [n, v]}\n  " SERIES;
    static const struct rules_case cases[] = {
        {"units stand in the header", header, "text\nsize,bw(KiB/s),note\n1,1024,a\n2,2048,\"b, c\"\n",
         "metric bw_MiB_per_s@1 1\nmetric bw_MiB_per_s@2 2\npass\n"},
        {"comments, other widths and other text are no rows", header, "size,bw,note\n# 1,5,x\n1,7\n1,2,3,4\n1,fast,x\n\n3,4,x\n", "metric bw_MiB_per_s@3 4\npass\n"},
        {"nothing before the header", header, "1,2,x\nsize,bw,note\n", "none: the rules read nothing from the output\n"},
        {"a second header with other columns", header, "size,bw\n1,5\nsize,time,bw\n2,9,6\n", "metric bw_MiB_per_s@1 5\nmetric bw_MiB_per_s@2 6\npass\n"},
        {"quotes", plain, "\"a \"\"b\"\";c\";\"3\"\n", "param n a \"b\";c\nmetric v_s 3\npass\n"},
        {"a quoted field over two lines", plain, "\"a\nb\"; 3\n", "param n a\nb\nmetric v_s 3\npass\n"},
        {"text behind a quote is no record", plain, "\"a\"b;3\n", "none: the rules read nothing from the output\n"},
        {"a quote in the middle is a character", plain, "5\" disk;3\n", "param n 5\" disk\nmetric v_s 3\npass\n"},
        {"a quote that never ends is reported", plain, "x;\"1\n", "warning not read: 1 record of a CSV, with a quote that does not end\nnone: the rules read nothing from the output\n"},
        {"the last line is torn", tabs, "a\t3\nb\t1", "warning stdout: the last line has no end; it may be cut and is not read\nmetric v_s 3\nmetric v_s.min 3\n"
                                                        "fail: exit status 1; the output ends within a row of a CSV: it is cut\n", 1},
        {"the same, whole", tabs, "a\t3\nb\t1", "metric v_s 3\nmetric v_s@1 1\nmetric v_s.max 3\nmetric v_s.min 1\nmetric v_s.mean 2\nmetric v_s.median 2\n"
                                                "metric v_s.sd 1.41421356\nmetric v_s.n 2\npass\n"},
        {"a stored output that ends within a row", header, "size,bw,note\n1,5,x\n2,6",
         "warning stdout: the last line has no end; it may be cut and is not read\nmetric bw_MiB_per_s@1 5\n"
         "fail: the output ends within a row of a CSV: it is cut\n", -1},
        {"a stored output that ends within a row, behind a word", header, "size,bw,note\n1,5,x\nmany,fast",
         "metric bw_MiB_per_s@1 5\nfail: the output ends within a row of a CSV: it is cut\n", -1},
        {"quotes that are characters", unquoted, "\"a\" \"b\";3\n", "param n \"a\" \"b\"\nmetric v_s 3\npass\n"},
        {"an empty field is missing", tabs, "a\t\n", "missing v_s: printed \"\"\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
    rules_refused("readers:\n- name: r\n  csv: {columns: [a, b]}\n  " V, "has no column \"v\"");
    rules_refused("readers:\n- name: r\n  csv: {}\n  " V, "either header");
    rules_refused("readers:\n- name: r\n  csv: {columns: [v]}\n  " V, "two columns or more");
}

static void ini_sections_are_rows(void **state)
{
    static const char named[] = "readers:\n- name: r\n  ini: {}\n  where: {section: [find, write]}\n"
                                "  metrics: [{name: '{section}.v', cell: score, unit_cell: unit, unit: MiB_per_s, better: higher}]\n";
    static const char nameless[] = "readers:\n- name: r\n  ini: {separator: ':'}\n  params: [{param: section, cell: section}]\n  " V;
    static const char blocks[] = "blocks: t\nreaders:\n- name: r\n  ini: {}\n  block: {label: section}\n  " V;
    static const struct rules_case cases[] = {
        {"sections", named, "; io500\n[write]\nscore = 2.5 ; good\nunit=GiB/s\n\n[read]\nscore=9\n[find]\nunit = MiB/s\nscore =3\n",
         "metric write.v_MiB_per_s 2560\nmetric find.v_MiB_per_s 3\npass\n"},
        {"keys before the first section", nameless, "v: 3\n[a]\n", "param section a\nmetric v_s 3\npass\n"},
        {"a key twice with different values has none", named, "[find]\nunit=MiB/s\nscore=3\nscore=4\n",
         "missing find.v_MiB_per_s: printed \"given twice with different values\"\npass\n"},
        {"twice the same is once", named, "[find]\nunit=MiB/s\nscore=3\nscore=3\n", "metric find.v_MiB_per_s 3\npass\n"},
        {"a section twice, of two runs", named, "[find]\nunit=MiB/s\nscore=3\n[find]\nunit=MiB/s\nscore=4\n",
         "missing find.v_MiB_per_s: the output has several different values where one is expected\n"
         "fail: find.v: the output has several different values where one is expected\n"},
        {"log lines are no sections", named, "[find]\nunit=MiB/s\n[0] hello\n[a] [b]\n[12:00:01] x=[y]\nscore=3\n", "metric find.v_MiB_per_s 3\npass\n"},
        {"sections as tests", blocks, "[a]\nv=1\n[b]\nv=2\n", "metric a.v_s 1\nmetric b.v_s 2\npass\n"},
        {"the last line is torn", blocks, "[a]\nv=1\n[b]\nv=2", "warning stdout: the last line has no end; it may be cut and is not read\nmetric a.v_s 1\nfail: exit status 1\n", 1},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
    rules_refused("readers:\n- name: r\n  ini: {separator: '::'}\n  " V, "one character");
    rules_refused("blocks: t\nreaders:\n- name: r\n  ini: {}\n  where: {v: [a]}\n  block: true\n  " V, "`where` can name `section` alone");
}

static void json_stands_behind_a_prefix(void **state)
{
    static const char rules[] = "readers:\n- name: r\n  json: {prefix: ':::LOG', rows: ['']}\n  where: {key: [stop]}\n  " V;
    static const char bracket[] = "readers:\n- name: r\n  json: {prefix: ':::LOG \\{', rows: ['']}\n  " SERIES;
    static const struct rules_case cases[] = {
        {"behind anything", rules, "{\"key\": \"stop\", \"v\": 1}\n0: x :::LOG {\"key\": \"stop\", \"v\": 2} y\n:::LOG {\"key\": \"go\", \"v\": 3}\n", "metric v_s 2\npass\n"},
        {"torn by another process", rules, ":::LOG {\"key\": \"stop\", \"v\": 1\n:::LOG {\"key\": \"stop\", \"v\": 2, :::LOG {\"key\": \"stop\", \"v\": 3}\n",
         "warning stdout: a JSON document stops before its end\nnone: the rules read nothing from the output\n"},
        {"two in a line, the pattern has the bracket", bracket, ":::LOG {\"v\": 1}:::LOG {\"v\": 2}\n",
         "metric v_s 1\nmetric v_s@1 2\nmetric v_s.max 2\nmetric v_s.min 1\nmetric v_s.mean 1.5\nmetric v_s.median 1.5\nmetric v_s.sd 0.707106781\nmetric v_s.n 2\npass\n"},
        {"the last line has no end but the document has", rules, ":::LOG {\"key\": \"stop\", \"v\": 12}", "metric v_s 12\nfail: exit status 1\n", 1},
        {"the document is torn at the end", rules, ":::LOG {\"key\": \"stop\", \"v\": 12", "warning stdout: a JSON document stops before its end\nfail: exit status 1\n", 1},
        {"no document", rules, ":::LOG nothing\n:::LOG\n", "none: the rules read nothing from the output\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

/* Benchwrap loads two hundred files at once: room for all that a reader may have is 150 KB for each of a thousand readers. */
static void memory_follows_the_file(void **state)
{
    struct rules *rules;
    struct err err = {0};
    (void)state;
    assert_int_equal(rules_case_load(&rules,
                                     "arguments: {options: [{flags: [-a], each: {x: [a, b]}}, {flags: [-b]}]}\n"
                                     "readers:\n- name: r\n  regex: '(?<a>.)(?<b>.)(?<c>.)'\n"
                                     "  params: [{each: {x: [a, b]}, param: 'p{x}', cell: '{x}'}, {param: c, cell: c}]\n"
                                     "  metrics: [{each: {x: [a, b]}, name: 'm{x}', cell: '{x}', better: lower}, {name: c, cell: c, better: lower}]\n",
                                     &err),
                     0);
    assert_int_equal(rules->options, 3);
    assert_int_equal(rules->reader[0]->params, 3);
    assert_int_equal(rules->reader[0]->metrics, 3);
    assert_in_range(rules->arena.used, 1, 32 * 1024);
    rules_free(rules);
    err_clear(&err);
}

/* Rows of the last document wait for its end in 32 MiB: what does not fit there is missing, and no
 * text without memory is read. */
static void rows_that_do_not_fit_are_missing(void **state)
{
    static const char text[] = "readers:\n- name: r\n  json: {rows: /runs/*, documents: last}\n  params: [{param: \"p.{id}\", cell: text}]\n"
                               "  metrics: [{name: v, cell: v, unit: s, better: lower, many: last}]\n";
    enum { ROWS = 6000, LONG = 7000 };
    struct rules *rules;
    struct rules_run *run;
    struct record record;
    struct rules_outcome out;
    struct err err = {0};
    char filler[LONG + 1], row[LONG + 100];
    (void)state;
    memset(filler, 'x', LONG);
    filler[LONG] = 0;
    assert_int_equal(rules_case_load(&rules, text, &err), 0);
    assert_int_equal(rules_begin(&run, rules, NULL, NULL, NULL), 0);
    rules_feed(run, "stdout", "{\"runs\":[\n", 10);
    for (int i = 0; i < ROWS; i++) {
        int n = snprintf(row, sizeof row, "{\"id\":\"r%d\",\"v\":%d,\"text\":\"%s\"}%s\n", i, i + 1, filler, i + 1 < ROWS ? "," : "]}");
        rules_feed(run, "stdout", row, (size_t)n);
    }
    record_init(&record, "00000000000000000000000000000000", 1);
    assert_int_equal(rules_end(run, 0, 0, 1, &record, &out, NULL), 0);
    assert_int_equal(out.verdict, VERDICT_FAIL);
    assert_non_null(strstr(out.reason, "v: more values than one reading may hold"));
    record_deinit(&record);
    rules_free(rules);
}

static void one_source_of_a_metric_counts_among_thousands(void **state)
{
    static const char text[] = "readers:\n- {name: a, regex: '^a (?<n>\\S+) (?<v>\\S+)', metrics: [{name: '{n}', cell: v, better: lower}]}\n"
                               "- {name: b, regex: '^b (?<n>\\S+) (?<v>\\S+)', metrics: [{name: '{n}', cell: v, better: lower}]}\n";
    enum { NAMES = 3000 };
    struct rules *rules;
    struct rules_run *run;
    struct record record;
    struct rules_outcome out;
    struct err err = {0};
    size_t metrics = 0;
    (void)state;
    assert_int_equal(rules_case_load(&rules, text, &err), 0);
    assert_int_equal(rules_begin(&run, rules, NULL, NULL, NULL), 0);
    for (int i = 0; i < 2 * NAMES; i++) {
        char line[60];
        int n = snprintf(line, sizeof line, "%c m%d %d\n", i < NAMES ? 'b' : 'a', i % NAMES, i < NAMES ? 2 : 1);
        rules_feed(run, "stdout", line, (size_t)n);
    }
    record_init(&record, "00000000000000000000000000000000", 1);
    assert_int_equal(rules_end(run, 0, 0, 1, &record, &out, NULL), 0);
    for (const struct fact *f = record.first; f; f = f->next)
        if (f->kind == FACT_METRIC) {
            metrics++;
            assert_true(f->value == 1); /* of the reader that is first in the file */
        }
    assert_int_equal(metrics, NAMES);
    record_deinit(&record);
    rules_free(rules);
}

static void an_end_without_fixed_text_ends_a_table(void **state)
{
    /* Rows are known by their first word, so that only lines with such a word would be read. */
    static const char table[] = "readers:\n- name: r\n  table: {header: [op, v], end: '^-*$'}\n  where: {op: [read]}\n  metrics: [{name: v, cell: v, unit: s, better: lower}]\n";
    static const struct rules_case cases[] = {
        {"the line that ends it has no word", table, "op v\nread 3\n---\nread 4\n", "metric v_s 3\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

static void context_does_not_outlive_its_line(void **state)
{
    static const char rules[] = "readers:\n- name: head\n  regex: '^in (?<what>.+)'\n  set: [what]\n"
                                "- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: \"{what}.v\", cell: v, unit: s, better: lower}]\n";
    static const struct rules_case cases[] = {
        {"a name of over 100 bytes is not that before it", rules,
         "in a\nv=1\nin bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nv=2\n",
         "metric a.v_s 1\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

static void params_have_all_their_digits(void **state)
{
    static const char rules[] = "readers:\n- name: r\n  regex: '^x=(?<x>\\S+)'\n  params: [{param: x, type: number}]\n";
    static const struct rules_case cases[] = {
        {"sixteen digits", rules, "x=0.1234567890123456\n", "param x 0.1234567890123456\npass\n"},
        {"an integer that is a double", rules, "x=9007199254740991\n", "param x 9007199254740991\npass\n"},
        {"one that is none stays a text", rules, "x=12345678901234567891\n", "param x 12345678901234567891\npass\n"},
        {"short ones stay short", rules, "x=0.10\n", "param x 0.1\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

static void a_long_reason_is_cut_and_not_lost(void **state)
{
    char rules[2000], long_text[901], facts[1200];
    (void)state;
    memset(long_text, 'r', sizeof long_text);
    long_text[900] = 0;
    snprintf(rules, sizeof rules, "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  " V "checks:\n- {must: '^over', reason: %s}\n", long_text);
    snprintf(facts, sizeof facts, "metric v_s 3\nfail: %.500s...\n", long_text);
    const struct rules_case cases[] = {{"900 characters", rules, "v=3\n", facts}};
    rules_cases_hold(cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_mean_what_the_rule_says),
        cmocka_unit_test(csv_rows_are_lines_of_the_right_width),
        cmocka_unit_test(ini_sections_are_rows),
        cmocka_unit_test(json_stands_behind_a_prefix),
        cmocka_unit_test(memory_follows_the_file),
        cmocka_unit_test(rows_that_do_not_fit_are_missing),
        cmocka_unit_test(one_source_of_a_metric_counts_among_thousands),
        cmocka_unit_test(an_end_without_fixed_text_ends_a_table),
        cmocka_unit_test(context_does_not_outlive_its_line),
        cmocka_unit_test(params_have_all_their_digits),
        cmocka_unit_test(a_long_reason_is_cut_and_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
