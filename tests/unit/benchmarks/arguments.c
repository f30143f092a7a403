/* args.c: params of command lines: flags, counts, directives, joined words, values that are optional, operands. */
#include "rules_case.h"

#include <string.h>

#define RULES \
    "arguments:\n  options:\n" \
    "  - {flags: [-n, --count], param: n, type: integer}\n" \
    "  - {flags: [-b], param: block_B, type: size}\n" \
    "  - {flags: [-v], kind: count, param: v, type: integer}\n" \
    "  - {flags: [-w], kind: flag, param: w}\n" \
    "  - {flags: [-O], kind: directives}\n" \
    "  - {flags: [check], param: check, type: integer}\n" \
    "  - {flags: [--color], param: color, optional: true}\n" \
    "  operands: [file, target]\n" \
    "readers:\n- name: r\n  regex: '^v=(?<v>\\S+)'\n  metrics: [{name: x, cell: v, unit: s, better: lower}]\n"

static void lines_become_params(void **state)
{
    static const struct {
        const char *line, *params;
    } rows[] = {
        {"prog", ""},
        {"prog -n 4", "param n 4\n"},
        {"prog --count=4", "param n 4\n"},
        {"prog --count 4 in", "param n 4\nparam file in\n"},
        {"prog -n4", "param n 4\n"},
        {"prog -n=4", "param n 4\n"},
        {"prog -b 1k", "param block_B 1024\n"},
        {"prog -v", "param v 1\n"},
        {"prog -v -v in", "param v 2\nparam file in\n"},
        {"prog -vwv", "param v 2\nparam w true\n"},
        {"prog -wn 4 in out", "param w true\nparam n 4\nparam file in\nparam target out\n"},
        {"prog -O check=3", "param check 3\n"},
        {"prog -O check=3,other=4 in", "param check 3\nparam file in\n"},
        {"prog --color in", "param color true\nparam file in\n"},
        {"prog --color=red in", "param color red\nparam file in\n"},
        {"prog -z in", ""}, /* "in" may be the value of -z */
        {"prog --zeta in", ""},
        {"prog --zeta=1 in", "param file in\n"},
        {"prog in out more", "param file in\nparam target out\n"},
    };
    (void)state;
    struct rules *rules;
    struct err err = {0};
    if (rules_case_load(&rules, RULES, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200], params[1000] = "", *argv[20] = {NULL}, *rest = text;
        snprintf(text, sizeof text, "%s", rows[i].line);
        for (size_t n = 0; n < 19 && (argv[n] = strsep(&rest, " ")); n++)
            ;
        struct rules_case c = {.name = rows[i].line, .text = "v=1\n", .argv = argv};
        CLEANUP_BUF struct buf got;
        buf_init(&got, 1 << 20);
        rules_case_read(rules, &c, 1 << 20, &got);
        for (struct str all = buf_text(&got), line; (line = str_cut(&all, '\n')).n;)
            if (str_starts(line, "param ") && !str_starts(line, "param option") && !str_starts(line, "param argument"))
                snprintf(params + strlen(params), sizeof params - strlen(params), STR_FMT "\n", STR_ARG(line));
        if (strcmp(params, rows[i].params) != 0)
            fail_msg("%s:\n%s(all: %s)", rows[i].line, params, got.p);
    }
    rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_become_params)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
