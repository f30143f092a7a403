/* slices.c: readers and checks that are bound to a part of the output. */
#include "rules_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LAST "slices: {s: {after: '^begin', which: last}}\n"

static void parts_are_what_lies_between(void **state)
{
    static const char between[] = "slices: {s: {after: '^begin', until: '^end'}}\nreaders:\n- name: r\n  slice: s\n  regex: '(?:^| )v=(?<v>\\S+)'\n"
                                  "  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]\n";
    static const char head[] = "slices: {s: {until: '^---'}}\nreaders:\n- name: r\n  slice: s\n  regex: '^v=(?<v>\\S+)'\n"
                               "  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]\n";
    static const char first[] = "slices: {s: {after: '^begin', which: first}}\nreaders:\n- name: r\n  slice: s\n  regex: '^v=(?<v>\\S+)'\n"
                                "  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]\n";
    static const char lines[] = "slices: {s: {after: '^---', until: '^---'}}\nreaders:\n- name: r\n  slice: s\n  regex: '^v=(?<v>\\S+)'\n"
                                "  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]\n";
    static const char open[] = "slices: {s: {after: '^begin', until: '^end', open_end: true}}\nreaders:\n- name: r\n  slice: s\n  regex: '^v=(?<v>\\S+)'\n"
                               "  metrics: [{name: v, cell: v, unit: s, better: lower, many: sum}]\n";
    static const struct rules_case cases[] = {
        {"the end of the output ends it too", open, "begin\nv=1\nend\nv=2\nbegin\nv=4\n", "metric v_s 5\npass\n"},
        {"each, the first line is in it, the last is not", between, "v=1\nbegin v=2\nv=4\nend v=8\nv=16\nbegin\nv=32\nend\n", "metric v_s 38\npass\n"},
        {"no part", between, "v=1\nend\n", "none: the rules read nothing from the output\n"},
        {"the end never comes", between, "begin\nv=1\nv=2\n",
         "missing v_s: the line that ends this part of the output never came, so it is not known what belongs to it\n"
         "fail: v: the line that ends this part of the output never came, so it is not known what belongs to it\n"},
        {"the same of a program that failed", between, "begin\nv=1\nv=2\n", "warning stdout: the part s has no end\nmetric v_s 3\nfail: exit status 1\n", 1},
        {"from the beginning", head, "v=1\nv=2\n---\nv=4\n", "metric v_s 3\npass\n"},
        {"the first", first, "v=1\nbegin\nv=2\nbegin\nv=4\n", "metric v_s 2\npass\n"},
        {"one line ends a part and begins another", lines, "v=1\n---\nv=2\n---\nv=4\n---\n", "metric v_s 6\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

static void of_several_the_last_counts(void **state)
{
    static const char all[] = LAST
        "readers:\n- name: t\n  slice: s\n  table: {header: [n, v]}\n  metrics: [{name: t, cell: v, unit: s, better: lower, many: sum}]\n"
        "- name: k\n  slice: s\n  keyvalue: {}\n  params: [{param: color, cell: color}, {param: size, cell: size}]\n"
        "- name: c\n  slice: s\n  regex: '^on (?<disk>\\S+)'\n  set: [disk]\n"
        "- name: d\n  slice: s\n  regex: '^d=(?<v>\\S+)'\n  metrics: [{name: '{disk}.d', cell: v, unit: s, better: lower}]\n"
        "- name: i\n  slice: s\n  ini: {}\n  where: {section: [x]}\n  metrics: [{name: i, cell: i, better: none}]\n"
        "- name: j\n  slice: s\n  json: {rows: [''], documents: last}\n  metrics: [{name: j, cell: j, better: none}]\n"
        "checks:\n- {name: bad, must_not: '^BAD', slice: s, reason: it is bad}\n- {must: '^done', slice: s, reason: not done}\n"
        "- {expect: 'rows(t) < 3', reason: too many rows}\n";
    static const char tests[] = LAST "blocks: t\nreaders:\n- name: b\n  slice: s\n  regex: '^test (?<l>\\S+)'\n  block: {label: l}\n"
        "- name: r\n  slice: s\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: v, cell: v, unit: s, better: lower}]\n";
    static const struct rules_case cases[] = {
        {"all that came from another part is forgotten", all,
         "begin\nn v\n1 100\n1 200\n2 300\ncolor: red\nsize: 5\non sda\nd=7\nBAD\ndone\n[x]\ni=5\n{\"j\": 6}\n"
         "begin\n3 400\nd=8\nn v\n1 1\ncolor: blue\ndone\n",
         "param color blue\nmetric t_s 1\npass\n"},
        {"rows that are complete only at the end of their part", all, "begin\n[x]\ni=5\n{\"j\": 6}\ndone\nbegin\ndone\n[x]\ni=6\n{\"j\": 7}\n", "metric i 6\nmetric j 7\npass\n"},
        {"what is bad in the last part", all, "begin\ndone\nbegin\nBAD luck\n", "fail: it is bad: BAD luck; not done\n"},
        {"tests are forgotten with their part", tests, "begin\ntest a\nv=1\ntest b\nv=2\ntest c\nv=3\nbegin\ntest d\nv=4\ntest e\nv=5\n", "metric d.v_s 4\nmetric e.v_s 5\npass\n"},
        {"one test in the last part", tests, "begin\ntest a\nv=1\ntest b\nv=2\nbegin\ntest d\nv=4\n", "metric v_s 4\npass\n"},
        {"the last part is empty", tests, "begin\ntest a\nv=1\nbegin\n", "none: the rules read nothing from the output\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

static void what_cannot_work_is_refused(void **state)
{
    (void)state;
    rules_refused("readers:\n- name: r\n  slice: s\n  regex: '(?<v>x)'\n", "there is no slice of this name");
    rules_refused("slices: {s: {}}\nreaders: []\n", "needs after, until, or both");
    rules_refused("slices: {s: {after: x, open_end: true}}\nreaders: []\n", "open_end has no effect without until");
    rules_refused("slices: {s: {until: x, which: last}}\nreaders: []\n", "which has no effect without after");
    rules_refused(LAST "blocks: t\nreaders:\n- {name: b, slice: s, regex: 'x', block: true}\n- {name: r, regex: '(?<v>x)', metrics: [{name: v, cell: v, better: none}]}\n",
                  "so this reader must be bound to that slice too");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_what_lies_between),
        cmocka_unit_test(of_several_the_last_counts),
        cmocka_unit_test(what_cannot_work_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
