/* guess.c: the readers of a first rule file, for outputs of each kind. */
#include "benchmarks/guess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The part of the rules with the readers, without comments and empty lines. */
static struct buf readers_of(struct str rules)
{
    struct buf b;
    bool inside = false;
    buf_init(&b, 1 << 16);
    for (struct str line; rules.n;) {
        line = str_cut(&rules, '\n');
        if (str_starts(line, "readers:"))
            inside = true;
        else if (str_starts(line, "checks:"))
            inside = false;
        else if (inside && str_trim(line).n && str_trim(line).p[0] != '#')
            buf_printf(&b, STR_FMT "\n", STR_ARG(line));
    }
    return b;
}

/* Drafts rules from the output of `prog -n 4 file`, and compares their readers. */
static void check(const char *output, size_t metrics, size_t params, const char *readers)
{
    char words[][8] = {"prog", "-n", "4", "file"}, *argv[] = {words[0], words[1], words[2], words[3], NULL};
    CLEANUP_BUF struct buf rules;
    struct guess_summary found;
    struct err err = {0};
    buf_init(&rules, 1 << 16);
    if (rules_guess(str_of(output), "x", argv, false, &rules, &found, &err) < 0)
        fail_msg("%s", err.text);
    CLEANUP_BUF struct buf got = readers_of(buf_text(&rules));
    assert_string_equal(got.p ? got.p : "", readers);
    assert_int_equal(found.metrics, metrics);
    assert_int_equal(found.params, params);
    assert_int_equal(found.dropped, 0);
    assert_non_null(strstr(rules.p, "- {flags: [\"-n\"], type: integer, param: option.n}\n  operands: [operand_1] "));
}

static void csv_and_a_version(void **state)
{
    (void)state;
    check("prog version 2.1.3\nname,time_s,rate,size\na,1.5,20,3\nb,2.5,30,4\n", 2, 0,
          "  - name: version_1\n"
          "    regex: '^prog\\s+version\\s+(?<version>\\d[\\w.+-]*)'\n"
          "    version_cell: version\n"
          "  - name: csv_2\n"
          "    csv: {header: '^name,time_s,rate,size'}\n"
          "    metrics:\n"
          "      - {name: \"{name}.time_s\", cell: \"time_s\", better: lower}\n"
          "      - {name: \"{name}.rate\", cell: \"rate\", better: higher}\n");
}

static void a_header_that_repeats_a_name_is_none(void **state)
{
    (void)state;
    check("name,time_s,rate,time_s\na,1.5,20,3\nb,2.5,30,4\n", 3, 0,
          "  - name: terse_2\n"
          "    regex: '^(?<c1>[^,]*),(?<c2>[^,]*),(?<c3>[^,]*),(?<c4>[^,]*)$'\n"
          "    metrics:\n"
          "      - {name: \"{c1}.field_2\", cell: \"c2\", better: none}\n"
          "      - {name: \"{c1}.field_3\", cell: \"c3\", better: none}\n"
          "      - {name: \"{c1}.field_4\", cell: \"c4\", better: none}\n");
}

static void json_of_values_and_rows(void **state)
{
    (void)state;
    check("{\"a\": {\"read_MB_s\": 12.5, \"list\": [1,2,3]}, \"rows\": [{\"name\":\"k1\",\"time_s\":1.25},{\"name\":\"k2\",\"time_s\":2.5}], "
          "\"config\": {\"threads\": 4}}\n",
          2, 1,
          "  - name: json_1\n"
          "    json: {rows: \"\"}\n"
          "    params:\n"
          "      - {param: \"threads\", cell: \"/config/threads\", type: number}\n"
          "    metrics:\n"
          "      - {name: \"a.read_mb_s\", cell: \"/a/read_MB_s\", better: none}\n"
          "  - name: json_1_2\n"
          "    json: {rows: \"/rows/*\"}\n"
          "    metrics:\n"
          "      - {name: \"{name}.time_s\", cell: \"/time_s\", better: lower}\n");
}

static void a_matrix_below_its_title(void **state)
{
    (void)state;
    check("Bandwidth matrix (GB/s)\n      GPU0   GPU1\nGPU0  10.5   20.5\nGPU1  30.5   40.5\n", 1, 0,
          "  - name: matrix_2\n"
          "    matrix: {title: '^\\s*Bandwidth\\s+matrix\\s+\\(GB/s\\)\\s*$', indented: true, end: '^\\s*$'}\n"
          "    metrics:\n"
          "      - {name: \"bandwidth_matrix.{row}.{column}\", cell: \"value\", from: \"GB/s\", unit: MiB_per_s, better: higher}\n");
}

static void lines_with_names(void **state)
{
    (void)state;
    check("iterations: 100\nthroughput: 12.5 MB/s\nlatency: 3.5 us\n", 2, 1,
          "  - name: line_1\n"
          "    regex: '^iterations:\\s+(?<v0>[-+\\d.eE]+)'\n"
          "    params:\n"
          "      - {param: \"iterations\", cell: \"v0\", type: integer}\n"
          "  - name: line_2\n"
          "    regex: '^throughput:\\s+(?<v0>[-+\\d.eE]+)\\s+(?<u0>[^\\s\\d,;()\\[\\]]+)'\n"
          "    metrics:\n"
          "      - {name: \"throughput\", cell: \"v0\", unit_cell: u0, unit: MB_per_s, better: higher}\n"
          "  - name: line_3\n"
          "    regex: '^latency:\\s+(?<v0>[-+\\d.eE]+)\\s+(?<u0>[^\\s\\d,;()\\[\\]]+)'\n"
          "    metrics:\n"
          "      - {name: \"latency\", cell: \"v0\", unit_cell: u0, unit: us, better: lower}\n");
}

static void lines_of_numbers_alone(void **state)
{
    (void)state;
    check("1 2.5 3.5\n2 4.5 6.5\n3 8.5 9.5\n", 2, 0,
          "  - name: terse_1\n"
          "    regex: '^\\s*(?<c1>[-+\\d.eE]+)\\s+(?<c2>[-+\\d.eE]+)\\s+(?<c3>[-+\\d.eE]+)\\s*$'\n"
          "    metrics:\n"
          "      - {name: \"field_2\", cell: \"c2\", better: none, step: \"c1\", headline: median}\n"
          "      - {name: \"field_3\", cell: \"c3\", better: none, step: \"c1\", headline: median}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(csv_and_a_version),        cmocka_unit_test(a_header_that_repeats_a_name_is_none),
                                       cmocka_unit_test(json_of_values_and_rows),  cmocka_unit_test(a_matrix_below_its_title),
                                       cmocka_unit_test(lines_with_names),         cmocka_unit_test(lines_of_numbers_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
