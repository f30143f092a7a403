/* Option rows: spellings, origins, what is refused and how it is said. */
#include "base/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct opt_row rows[] = {
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) {name, letter, kind, arg, env, value, group, help, flags},
#include "launch/options.def"
    {"count", 'C', OPT_INT, "N", NULL, NULL, "Behaviour", "a number", OPT_FROM_FILE},
};
enum { ROWS = sizeof rows / sizeof *rows };

static char *no_env(const char *name)
{
    (void)name;
    return NULL;
}

static char *some_env(const char *name)
{
    static char strict[] = "yes", tree[] = "", timeout[] = "soon";
    return strcmp(name, "BENCHWRAP_STRICT") == 0 ? strict : strcmp(name, "BENCHWRAP_TREE") == 0 ? tree : strcmp(name, "BENCHWRAP_TIMEOUT") == 0 ? timeout : NULL;
}

/* Words in, "name=value …" or the message out. */
static void spelling_table(void **state)
{
    (void)state;
    static const struct {
        const char *words[8], *name, *value;
        int next;
        const char *message;
    } cases[] = {
        {{"-e", "x", "--", "ior"}, "experiment", "x", 4, NULL},
        {{"-ex", "ior", "-a"}, "experiment", "x", 2, NULL},
        {{"--experiment=x"}, "experiment", "x", 2, NULL},
        {{"--experiment", "x"}, "experiment", "x", 3, NULL},
        {{"--experiment="}, "experiment", "", 2, NULL},
        {{"-qv", "-e", "-"}, "experiment", "-", 4, NULL},
        {{"-qvexy"}, "experiment", "xy", 2, NULL},
        {{"-qv"}, "verbose", "1", 2, NULL},
        {{"--experiment=--", "--", "p"}, "experiment", "--", 3, NULL},
        {{"-p", "a=1", "-pb=2"}, "param", "a=1", 4, NULL},
        {{"-T", "1.5m"}, "timeout", "1.5m", 3, NULL},
        {{"-c", "none"}, "capture", "none", 3, NULL},
        {{"-"}, "experiment", NULL, 1, NULL},
        {{"--exp-name", "x"}, "experiment", "x", 3, NULL},
        {{"--exp-name=x"}, "experiment", "x", 2, NULL},
        {{"--runz"}, NULL, NULL, 0, "unknown option --runz"},
        {{"--experimen", "x"}, NULL, NULL, 0, "unknown option --experimen; did you mean --experiment?"},
        {{"--timout", "x"}, NULL, NULL, 0, "unknown option --timout; did you mean --timeout?"},
        {{"--runs", "3"}, NULL, NULL, 0, "unknown option --runs; did you mean --repeat?"},
        {{"-w"}, NULL, NULL, 0, "unknown option -w; did you mean --warmup?"},
        {{"--exp"}, NULL, NULL, 0, "unknown option --exp; did you mean --experiment?"},
        {{"--nme"}, NULL, NULL, 0, "unknown option --nme; did you mean --name?"},
        {{"--rums"}, NULL, NULL, 0, "unknown option --rums"},
        {{"--zzzzzzz"}, NULL, NULL, 0, "unknown option --zzzzzzz"},
        {{"--qqqq\033b"}, NULL, NULL, 0, "unknown option --qqqq\\x1bb"},
        {{"-Z"}, NULL, NULL, 0, "unknown option -Z"},
        {{"-e"}, NULL, NULL, 0, "option -e (--experiment) needs a value: NAME"},
        {{"-e", "--", "ior"}, NULL, NULL, 0, "option -e (--experiment) needs a value: NAME"},
        {{"-qe", "--", "ior"}, NULL, NULL, 0, "option -e (--experiment) needs a value: NAME"},
        {{"--timeout", "--", "ior"}, NULL, NULL, 0, "option --timeout needs a value: DURATION"},
        {{"--timeout"}, NULL, NULL, 0, "option --timeout needs a value: DURATION"},
        {{"--quiet=1"}, NULL, NULL, 0, "option --quiet takes no value"},
        {{"-T", "5x"}, NULL, NULL, 0, "--timeout: expected a duration such as 90s, 5m or 250ms, got \"5x\""},
        {{"-T", "-5"}, NULL, NULL, 0, "--timeout: expected a duration such as 90s, 5m or 250ms, got \"-5\""},
        {{"--log-max=lots"}, NULL, NULL, 0, "--log-max: expected a size such as 4096, 64K or 16M, got \"lots\""},
        {{"-c", "pt"}, NULL, NULL, 0, "--capture: expected one of auto|pty|pipe|none, got \"pt\""},
        {{"-p", "nokey"}, NULL, NULL, 0, "--param: expected KEY=VALUE, got \"nokey\""},
        {{"--tag", "a=1", "--tag", "=x"}, NULL, NULL, 0, "--tag: expected KEY=VALUE, got \"=x\""},
        {{"--tag="}, NULL, NULL, 0, "--tag: expected KEY=VALUE, got \"\""},
        {{"-C", "1.5"}, NULL, NULL, 0, "--count: expected an integer, got \"1.5\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opt_value values[ROWS];
        static const struct opt_word words[] = {
            {"--", "runs", "did you mean --repeat?"}, {"--", "w", "did you mean --warmup?"}, {"ls", "runz", "elsewhere"}, {OPT_ALIAS, "exp-name", "experiment"}, {NULL, NULL, NULL}};
        struct opt_set set = {.rows = rows, .count = ROWS, .values = values, .words = words, .place = "--"};
        struct err err = {0};
        char *argv[10] = {(char *)"benchwrap"};
        int argc = 1, next = 0;
        while (argc < 9 && cases[i].words[argc - 1])
            argv[argc] = (char *)cases[i].words[argc - 1], argc++;
        opt_defaults(&set, no_env);
        int rc = opt_parse(&set, argc, argv, &next, &err);
        if (cases[i].message) {
            assert_int_equal(rc, -1);
            assert_int_equal(err.kind, ERR_USAGE);
            assert_string_equal(err.text, cases[i].message);
            opt_deinit(&set);
            continue;
        }
        if (rc)
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(next, cases[i].next);
        if (cases[i].value)
            assert_string_equal(opt_text(&set, cases[i].name), cases[i].value);
        else
            assert_null(opt_text(&set, cases[i].name));
        opt_deinit(&set);
    }
}

static void lists_keep_order_of_the_strongest_origin(void **state)
{
    (void)state;
    struct opt_value values[ROWS];
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values};
    int next;
    opt_defaults(&set, no_env);
    assert_int_equal(opt_assign(&set, "tag", "f=1", OPT_USER, "u.yaml:1", NULL), 0);
    assert_int_equal(opt_assign(&set, "tag", "f=2", OPT_USER, "u.yaml:2", NULL), 0);
    const struct opt_value *v = opt_find(&set, "tag");
    assert_string_equal(v->text, "f=1");
    assert_string_equal(v->next->text, "f=2");
    assert_string_equal(v->next->where, "u.yaml:2");
    char *argv[] = {(char *)"b", (char *)"--tag", (char *)"a=1", (char *)"--tag=b=2", NULL};
    assert_int_equal(opt_parse(&set, 4, argv, &next, NULL), 0);
    v = opt_find(&set, "tag");
    assert_string_equal(v->text, "a=1");
    assert_string_equal(v->where, "--tag");
    assert_string_equal(v->next->text, "b=2");
    assert_null(v->next->next);
    assert_int_equal(opt_assign(&set, "tag", "late=1", OPT_REPOSITORY, "r:1", NULL), 0);
    assert_string_equal(opt_text(&set, "tag"), "a=1");
    opt_deinit(&set);
}

static const struct opt_row *row_of(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void environment_and_files_have_their_rank(void **state)
{
    (void)state;
    struct opt_value values[ROWS];
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values};
    struct err err = {0};
    opt_defaults(&set, some_env);
    assert_true(opt_on(&set, "strict"));
    assert_false(opt_on(&set, "quiet"));
    assert_null(opt_text(&set, "tree")); /* empty counts as unset */
    assert_string_equal(opt_find(&set, "strict")->where, "BENCHWRAP_STRICT");
    assert_int_equal(opt_check(row_of("timeout"), opt_find(&set, "timeout"), &err), -1);
    assert_string_equal(err.text, "BENCHWRAP_TIMEOUT: timeout: expected a duration such as 90s, 5m or 250ms, got \"soon\"");
    assert_int_equal(opt_assign(&set, "strict", "no", OPT_USER, "u:1", &err), 0);
    assert_true(opt_on(&set, "strict")); /* the environment is stronger */
    assert_int_equal(opt_assign(&set, "quiet", "true", OPT_USER, "u:2", &err), 0);
    assert_true(opt_on(&set, "quiet"));
    assert_int_equal(opt_assign(&set, "quiet", "perhaps", OPT_USER, "u:2", &err), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    assert_int_equal(opt_assign(&set, "nmae", "x", OPT_USER, "u:3", &err), 1);
    assert_string_equal(err.text, "u:3: unknown option --nmae; did you mean --name?");
    assert_int_equal(opt_assign(&set, "name", "x", OPT_USER, "u:4", &err), -1);
    assert_int_equal(opt_assign(&set, "tree", "/x", OPT_REPOSITORY, "r:1", &err), -1);
    assert_int_equal(opt_assign(&set, "tree", "/x", OPT_USER, "u:5", &err), 0);
    assert_string_equal(opt_text(&set, "tree"), "/x");
    assert_true(opt_seconds(&set, "probe-wait") == 0.25);
    assert_true(opt_bytes(&set, "log-max") == 16 << 20);
    opt_deinit(&set);
}

static void operands_may_stand_among_options(void **state)
{
    (void)state;
    struct opt_value values[ROWS];
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values, .permute = true};
    int next;
    char *argv[] = {(char *)"b", (char *)"one", (char *)"-q", (char *)"two", (char *)"-e", (char *)"x", (char *)"--", (char *)"-v", NULL};
    opt_defaults(&set, no_env);
    assert_int_equal(opt_parse(&set, 8, argv, &next, NULL), 0);
    assert_int_equal(next, 5);
    assert_true(set.dashes);
    assert_string_equal(argv[5], "one");
    assert_string_equal(argv[6], "two");
    assert_string_equal(argv[7], "-v");
    assert_string_equal(opt_text(&set, "experiment"), "x");
    assert_false(opt_on(&set, "verbose"));
    opt_deinit(&set);
}

static void help_fits_the_terminal_and_names_every_row(void **state)
{
    (void)state;
    struct opt_value values[ROWS];
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values};
    struct buf text;
    buf_init(&text, 64 << 10);
    opt_help(&set, &text);
    assert_false(text.failed);
    struct str rest = buf_text(&text);
    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        if (line.n > 80)
            fail_msg("%zu columns: " STR_FMT, line.n, STR_ARG(line));
    }
    for (size_t i = 0; i < ROWS; i++)
        assert_true(str_has(buf_text(&text), rows[i].name));
    assert_true(str_has(buf_text(&text), "[$BENCHWRAP_TIMEOUT]"));
    buf_deinit(&text);
}

static void brief_help_is_one_line_for_each_option(void **state)
{
    (void)state;
    struct opt_set set = {.rows = rows, .count = ROWS};
    static const char *const names[] = {"experiment", "name", "no-such", "repeat", "quiet", NULL};
    struct buf text;
    buf_init(&text, 4096);
    opt_help_brief(&set, names, &text);
    buf_putc(&text, 0);
    assert_string_equal(text.p, "Record      -e, --experiment NAME     Set the experiment\n"
                                      "            -n, --name NAME           Name the run\n"
                                      "Repetitions     --repeat N            Run the program N times\n"
                                      "Behaviour   -q, --quiet               Print no summary\n");
    buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_table),
        cmocka_unit_test(lists_keep_order_of_the_strongest_origin),
        cmocka_unit_test(environment_and_files_have_their_rank),
        cmocka_unit_test(operands_may_stand_among_options),
        cmocka_unit_test(help_fits_the_terminal_and_names_every_row),
        cmocka_unit_test(brief_help_is_one_line_for_each_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
