/* argument_list.c: two lists of arguments are equal only if the lines are equivalent. */
#include "compare/argument_list.h"

#include "benchmarks/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* "x=1|argument.order=-x" of the line `words`, split at blanks; '~' is an empty word, '_' a blank. */
static const char *list_text(const char *words, const struct rules *rules, const struct opt_value *ignore, struct arena *a)
{
    char *line[64] = {NULL};
    struct argument *list;
    size_t n = 0, count = 0;
    for (struct str rest = str_of(words), word; (word = str_word(&rest)).n;) {
        char *copy = arena_dup(a, word.p, word.n);
        for (char *c = copy; *c; c++)
            *c = (char)(*c == '_' ? ' ' : *c);
        line[n++] = strcmp(copy, "~") == 0 ? copy + 1 : copy;
    }
    const struct argument_request asked = {.line = line, .rules = rules, .ignore = ignore, .a = a};
    assert_int_equal(argument_list_make(&asked, &list, &count), 0);
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(a, "%s%s%s=" STR_FMT, text, i ? "|" : "", list[i].key + strlen("argument."), STR_ARG(list[i].value));
    return text;
}

static void assert_lists(const char *one, const char *other, bool same, const struct rules *rules, const struct opt_value *ignore)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    const char *x = list_text(one, rules, ignore, &a), *y = list_text(other, rules, ignore, &a);
    if ((strcmp(x, y) == 0) != same)
        fail_msg("[%s] %s\n[%s] %s", one, x, other, y);
    arena_deinit(&a);
}

static void lines_that_differ_have_other_lists(void **state)
{
    static const char *const pairs[][2] = {
        {"p --a 1 --b 2", "p --b 2 --a 1"},
        {"p -ss 10 -i a out", "p -i a -ss 10 out"},
        {"p -C a log", "p log -C a"},
        {"p bench --jobs 4", "p --jobs 4 bench"},
        {"p -all", "p --all"},
        {"p -x a", "p --x a"},
        {"p --x=a", "p ---x=a"},
        {"p --color auto", "p --color=auto"},
        {"p -n=4", "p -n 4"},
        {"p --1=a", "p a"},
        {"p -1", "p -2"},
        {"p -2 a", "p a -2"},
        {"p --x ~", "p --x"},
        {"p --x ~", "p --x \"\""},
        {"p --x= --y", "p --x=\"\" --y"},
        {"p a\nb", "p a\\nb"},
        {"p a,_b", "p a b"},
        {"p --x a,_b", "p --x a --x b"},
        {"p --order=a --n 1", "p --order=b --n 1"},
        {"p --a - --b", "p --a --b -"},
        {"p -- --x", "p --x --"},
        {"p a -- b", "p a b"},
        {"env A=1 p", "p --env.A=1"},
        {"env A= p", "env A=\"\" p"},
        {"p -O2 -O3", "p -O3 -O2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_lists(pairs[i][0], pairs[i][1], false, NULL, NULL);
        assert_lists(pairs[i][0], pairs[i][0], true, NULL, NULL);
    }
}

static void a_line_has_this_list(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a, 1 << 20);
    assert_string_equal(list_text("p -v --x=1 in -O2 --size 4", NULL, NULL, &a), "1=in|O2=|size=4|v=|x=1|order=-v --x= 1 -O2 --size");
    assert_string_equal(list_text("nice -n 5 p", NULL, NULL, &a), "nice=|nice.n=5");
    arena_deinit(&a);
}

static void what_is_ignored_has_no_place(void **state)
{
    struct opt_value ignore = {.text = "argument.b"};
    struct arena a;
    (void)state;
    arena_init(&a, 1 << 20);
    assert_string_equal(list_text("p --b 2 --a 1", NULL, &ignore, &a), "a=1|b=2|order=--a");
    assert_lists("p --b 2 --a 1", "p --a 1 --b 2", true, NULL, &ignore);
    arena_deinit(&a);
}

/* With a table of options the program reads them in any order, but for those that opposed or joined values make. */
static void a_table_of_options_explains_the_order(void **state)
{
    static const char text[] = "name: p\nversion: \"1\"\narguments:\n  options:\n    - {flags: [--name], param: name, join: true}\n"
                               "    - {flags: [--bs], param: bs, join: true}\n    - {flags: [-t], param: t}\n"
                               "readers:\n  - {name: r, regex: '^s: (?<v>\\S+)', metrics: [{name: s, cell: v, better: higher}]}\n";
    struct rules *rules;
    struct err err = {0};
    (void)state;
    if (rules_load_text(&rules, "rules.yaml", str_of(text), &err))
        fail_msg("%s", err.text);
    assert_lists("p -t 1 --a 1 --b 2", "p --b 2 --a 1 -t 1", true, rules, NULL);
    assert_lists("p -O2 -O3", "p -O3 -O2", false, rules, NULL);
    assert_lists("p --all", "p -all", false, rules, NULL);
    assert_lists("p --name=a --bs=4k", "p --bs=4k --name=a", true, rules, NULL);
    assert_lists("p --name=a --bs=4k --name=b", "p --bs=4k --name=a --name=b", false, rules, NULL);
    assert_lists("p --name=a --bs=4k --name=b --bs=4k", "p --name=a --bs=4k --name=b", false, rules, NULL);
    rules_free(rules);
}

static void the_order_is_named_alone(void **state)
{
    const char *with_other[] = {"argument.order", "argument.x", "bs", NULL}, *alone[] = {"argument.order", "bs", NULL};
    (void)state;
    argument_drop_order(with_other);
    assert_string_equal(with_other[0], "argument.x");
    assert_null(with_other[2]);
    argument_drop_order(alone);
    assert_string_equal(alone[0], "argument.order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_differ_have_other_lists), cmocka_unit_test(a_line_has_this_list),
        cmocka_unit_test(what_is_ignored_has_no_place),       cmocka_unit_test(a_table_of_options_explains_the_order),
        cmocka_unit_test(the_order_is_named_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
