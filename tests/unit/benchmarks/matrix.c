/* matrix.c: matrices are read whole, in the context of their title; a line or label too many or too few makes their values missing. */
#include "rules_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define VALUES "  metrics: [{name: 'm.{row}.{column}', cell: value, from: GB/s, unit: MB_per_s, better: higher}]\n"
#define TWICE "printed \"rows that do not go on as they began\""

static void values_have_row_and_column(void **state)
{
    static const char plain[] = "readers:\n- name: r\n  matrix: {title: '^memcpy (?<way>\\S+) \\((?<u>\\S+)\\)'}\n"
                                "  metrics: [{name: '{way}.c{row}.g{column}', cell: value, unit_cell: u, unit: MB_per_s, better: higher}]\n";
    static const char context[] = "readers:\n- name: n\n  regex: '^Running (?<test>\\S+)\\.'\n  set: [test]\n- name: r\n  matrix: {title: '^memcpy'}\n"
                                  "  metrics: [{name: '{test}.{row}', cell: value, from: GB/s, unit: MB_per_s, better: higher, many: sum}]\n";
    static const char corner[] = "readers:\n- name: r\n  matrix: {title: '^Latency', corner: 'D\\D', end: '^Done'}\n  metrics: [{name: 'm.{row}.{column}', cell: value, unit: us, better: lower}]\n";
    static const char names[] = "readers:\n- name: r\n  matrix: {title: '^Table'}\n  metrics: [{name: '{row}.{column}', cell: value, better: none}]\n";
    static const struct rules_case cases[] = {
        {"a matrix", plain, "memcpy CE (GB/s)\n           0         1         2\n 0    369.36    269.33    412.11\n 1    323.36    N/A    312.11\n\nSUM 1\n",
         "metric ce.c0.g0_MB_per_s 369360\nmetric ce.c0.g1_MB_per_s 269330\nmetric ce.c0.g2_MB_per_s 412110\nmetric ce.c1.g0_MB_per_s 323360\n"
         "missing ce.c1.g1_MB_per_s: printed \"N/A\"\nmetric ce.c1.g2_MB_per_s 312110\npass\n"},
        {"noise between title, labels and rows", plain, "memcpy CE (GB/s)\nWARNING: slow clocks\n 0 1\nhello\n 0 1 2\n[x] 1 2 3\n 1 3 4\n",
         "metric ce.c0.g0_MB_per_s 1000\nmetric ce.c0.g1_MB_per_s 2000\nmetric ce.c1.g0_MB_per_s 3000\nmetric ce.c1.g1_MB_per_s 4000\npass\n"},
        {"the context is that of the title", context, "Running a.\nmemcpy\n 0\n 0 5\nRunning b.\nmemcpy\n 0\n 0 6\n 1 7\nRunning c.\n",
         "metric a.n0_MB_per_s 5000\nmetric b.n0_MB_per_s 6000\nmetric b.n1_MB_per_s 7000\npass\n"},
        {"a corner, and an end", corner, "Latency\nx 0 1\nD\\D 0 1\n0 1.5 2\nDone\n1 3 4\n", "metric m.n0.n0_us 1.5\nmetric m.n0.n1_us 2\npass\n"},
        {"names", names, "Table\n   read write\na 1 2\nb 3 4\n\nSum 4 6\n", "metric a.read 1\nmetric a.write 2\nmetric b.read 3\nmetric b.write 4\npass\n"},
        {"rows by powers", names, "Table\n   read write\n1 1 2\n2 3 4\n4 5 6\n", "metric n1.read 1\nmetric n1.write 2\nmetric n2.read 3\nmetric n2.write 4\nmetric n4.read 5\nmetric n4.write 6\npass\n"},
        {"no matrix below the title", names, "Table\nnothing here\n", "none: the rules read nothing from the output\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
    rules_refused("readers:\n- name: r\n  matrix: {title: x}\n  metrics: [{name: v, cell: bw, better: none}]\n", "row, column and value");
}

static void what_does_not_go_on_is_not_believed(void **state)
{
    static const char rules[] = "readers:\n- name: r\n  matrix: {title: '^T'}\n  metrics: [{name: m, cell: value, better: higher, headline: max}]\n";
    static const char missing[] = "missing m: " TWICE "\npass\n";
    static const struct { const char *name, *text; bool good; } rows[] = {
        {"whole", "T\n 0 1\n0 1 2\n1 3 4\n2 5 6\n", true},
        {"a line of another process with as many numbers", "T\n 0 1\n0 1 2\n17 99 98\n1 3 4\n", false},
        {"before the first row", "T\n 0 1\n17 99 98\n0 1 2\n1 3 4\n", false},
        {"behind the last row", "T\n 0 1\n0 1 2\n1 3 4\n17 99 98\n", false},
        {"behind an empty line it is something else", "T\n 0 1\n0 1 2\n1 3 4\n\n17 99 98\n", true},
        {"a row that got lost", "T\n 0 1\n0 1 2\n1 3\n2 5 6\n", false},
        {"a row twice", "T\n 0 1\n0 1 2\n1 3 4\n1 3 5\n", false},
        {"a label of another kind", "T\n GPU0 GPU1\nGPU0 1 2\nCPU1 3 4\n", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rules *rules_loaded;
        struct buf got;
        struct rules_case c = {rows[i].name, rules, rows[i].text, ""};
        assert_int_equal(rules_case_load(&rules_loaded, rules, NULL), 0);
        buf_init(&got, 1 << 20);
        rules_case_read(rules_loaded, &c, 1 << 20, &got);
        if ((strstr(got.p, "m.max") != NULL) != rows[i].good || (!rows[i].good && strcmp(got.p, missing)))
            fail_msg("%s: %s", rows[i].name, got.p);
        buf_deinit(&got);
        rules_free(rules_loaded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_row_and_column),
        cmocka_unit_test(what_does_not_go_on_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
