/* Slurm's short lists of node names: what they hold, what they do not, and what is not understood. */
#include "base/buf.h"
#include "base/hostlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void lists_hold_names(void **state)
{
    static const struct { const char *list, *name; bool has; } rows[] = {
        {"n1", "n1", true},               {"n1", "n11", false},              {"n[1-3]", "n2", true},          {"n[1-3]", "n4", false},
        {"n[1-3]", "n02", false},         {"n[01-12]", "n07", true},         {"n[01-12]", "n7", false},       {"n[01-12]", "n12", true},
        {"n[8-12]", "n10", true},         {"n[1-2,5]", "n5", true},          {"n[1-2,5],login", "login", true}, {"a1,n[1-2,5],b", "n3", false},
        {"r[1-2]n[1-4]", "r2n4", true},   {"r[1-2]n[1-4]", "r3n1", false},   {"n[1-3]0", "n30", true},        {"n[1-3]0", "n3", false},
        {"n[1-3]-ib", "n2-ib", true},     {"n[1", "n1", false},              {"n[]", "n", false},             {"", "n1", false},
        {"n1", "", false},                {"n[1-3],,n9", "n9", true},       {"n[3-1]", "n2", false},         {"n[98-102]", "n100", true},
        {"n[099-101]", "n100", true},     {"n[1-99999999999999999999]", "n5", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (hostlist_has(str_of(rows[i].list), str_of(rows[i].name)) != rows[i].has)
            fail_msg("%s in %s", rows[i].name, rows[i].list);
}

static int join_name(void *context, struct str name)
{
    struct buf *b = context;
    buf_printf(b, "%s" STR_FMT, b->n ? " " : "", STR_ARG(name));
    return str_is(name, "end");
}

static void lists_have_names(void **state)
{
    static const struct { const char *list, *names; } rows[] = {
        {"n1", "n1"},
        {"n[1-3,07],login", "n1 n2 n3 n07 login"},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib"},
        {" a , b,,", "a b"},
        {"", ""},
        {"n[1", "n[1"},
        {"n[3-1]", "n[3-1]"},
        {"n[x]", "n[x]"},
        {"a,end,b", "a end"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4000);
        assert_int_equal(hostlist_each(str_of(rows[i].list), join_name, &b), strstr(rows[i].list, "end") != NULL);
        assert_string_equal(b.p ? b.p : "", rows[i].names);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(lists_hold_names), cmocka_unit_test(lists_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
