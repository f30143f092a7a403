/* search_path.c (test): which file a program's name means. */
#include "base/search_path.h"

#include "../place.h"

#include <string.h>
#include <sys/stat.h>

static void put_file(const char *path, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static void finds_what_execvp_starts(void **state)
{
    static const struct { const char *path, *name; bool absolute; const char *found; } rows[] = {
        {"a:b", "tool", false, "b/tool"}, /* a/tool is a folder */
        {"b:", "own", false, "./own"}, /* an empty folder is the current one */
        {"", "own", false, "./own"},
        {":b", "own", true, NULL},
        {"b", "tool", true, NULL},
        {"b", "text", false, NULL}, /* not executable */
        {"b", "none", false, NULL},
        {"b", "", false, NULL},
        {"a", "b/tool", false, "b/tool"},
        {"a", "b/tool", true, "b/tool"},
        {"b", "a/tool", false, NULL},
    };
    struct place *p = *state;
    struct arena a;
    assert_int_equal(chdir(p->path), 0);
    assert_int_equal(mkdir("a", 0700) | mkdir("b", 0700) | mkdir("a/tool", 0700), 0);
    put_file("b/tool", 0700);
    put_file("b/text", 0600);
    put_file("own", 0700);
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *found = search_path_find(rows[i].path, rows[i].name, rows[i].absolute, &a);
        bool same = rows[i].found ? found && strcmp(found, rows[i].found) == 0 : !found;
        if (!same)
            fail_msg("%s in %s: %s", rows[i].name, rows[i].path, found ? found : "nothing");
    }
    const char *full = arena_printf(&a, "x:%s/b", p->path), *found = search_path_find(full, "tool", true, &a);
    assert_string_equal(found ? found : "nothing", arena_printf(&a, "%s/b/tool", p->path));
    assert_non_null(search_path_find(NULL, "sh", true, &a));
    arena_deinit(&a);
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(finds_what_execvp_starts, place_begin, place_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
