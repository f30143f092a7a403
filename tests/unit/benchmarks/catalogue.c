/* catalogue.c: a rule file is found by name and by program, one's own folders first; the compiled ones are the source tree's, byte by byte. */
#include "benchmarks/catalogue.h"
#include "base/fs.h"
#include "benchmarks/rules.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct arena arena;
static char root[] = "/tmp/benchwrap-catalogue.XXXXXX";

static void rule_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
    assert_int_equal(fs_mkdirs(AT_FDCWD, path, 0755, NULL), 0);
    snprintf(path, sizeof(path), "%s/%s/%s/rules.yaml", root, folder, name);
    assert_int_equal(fs_write(AT_FDCWD, path, str_of(text), 0644, false, NULL), 0);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    if (!mkdtemp(root))
        return -1;
    rule_file("one", "ior", "programs: [ior]\n");
    rule_file("one", "flow", "# c\nprograms: [\"a b\", 'gmx' , # note\n    gmx_mpi,\n]\nreaders: [hidden]\n");
    rule_file("one", "block", "name: x\nprograms:\n  - xhpl\n  # note\n  - \"xhpl-2.3\"\nreaders:\n  - below\n");
    rule_file("one", "single", "programs: lonely\r\nreaders: []\n");
    rule_file("two", "flow", "programs: [gmx, late]\n");
    rule_file("two", "open", "programs: [torn");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return fs_remove_tree(AT_FDCWD, root, NULL);
}

static void found(void **state)
{
    (void)state;
    static const struct {
        const char *program, *path;
    } rows[] = {
        {"ior", "/one/ior/"},
        {"/usr/bin/ior", "/one/ior/"},
        {"gmx", "/one/flow/"},
        {"gmx_mpi", "/one/flow/"},
        {"a b", "/one/flow/"},
        {"hidden", NULL},
        {"note", NULL},
        {"]", NULL},
        {"xhpl", "/one/block/"},
        {"xhpl-2.3", "/one/block/"},
        {"below", NULL},
        {"lonely", "/one/single/"},
        {"late", "/two/flow/"},
        {"torn", "/two/open/"},
        {"fio", "shipped:fio"},
        {"nosuch", NULL},
        {"", NULL},
        {"..", NULL},
        {"dir/", NULL},
    };
    struct catalogue c = {0};
    catalogue_add(&c, arena_printf(&arena, "%s/none", root));
    catalogue_add(&c, arena_printf(&arena, "%s/one", root));
    catalogue_add(&c, arena_printf(&arena, "%s/two", root));
    catalogue_add(&c, arena_printf(&arena, "%s/one", root));
    assert_int_equal(c.folders, 3);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = catalogue_for_program(&c, rows[i].program, &arena);
        if ((path != NULL) != (rows[i].path != NULL) || (path && !strstr(path, rows[i].path)))
            fail_msg("%s: %s", rows[i].program, path ? path : "none");
    }
    assert_string_equal(catalogue_by_name(&c, "shipped:ior", &arena), "shipped:ior");
    assert_non_null(strstr(catalogue_by_name(&c, "ior", &arena), "/one/ior/rules.yaml"));
    assert_null(catalogue_by_name(&c, "../one/ior", &arena));
    assert_null(catalogue_by_name(&c, "shipped:nosuch", &arena));
    size_t n = 0, hidden = 0;
    struct catalogue_entry *e = catalogue_list(&c, &arena, &n);
    for (size_t i = 0; i < n; i++)
        hidden += e[i].hidden;
    assert_int_equal(hidden, 2); /* two/flow and the shipped ior */
    assert_string_equal(catalogue_name("shipped:ior", &arena), "ior");
    assert_string_equal(catalogue_name("/x/ior/rules.yaml", &arena), "ior");
    assert_null(catalogue_name("rules.yaml", &arena));
}

/* What is compiled in is the file, and loads. (Where the tests run outside the source tree there is nothing to compare with.) */
static void shipped_is_the_file(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct catalogue_shipped *s = catalogue_shipped; s->name; s++, n++) {
        CLEANUP_BUF struct buf file, text;
        struct rules *rules = NULL;
        struct err err = {0};
        char path[300];
        buf_init(&file, CATALOGUE_FILE_MAX);
        buf_init(&text, CATALOGUE_FILE_MAX);
        snprintf(path, sizeof(path), "shipped:%s", s->name);
        assert_int_equal(catalogue_read(path, &text, NULL), 0);
        if (rules_load(&rules, path, &err))
            fail_msg("%s", err.text);
        assert_string_equal(rules_name(rules), s->name);
        rules_free(rules);
        snprintf(path, sizeof(path), "benchmarks/catalogue/%s/rules.yaml", s->name);
        if (fs_read(AT_FDCWD, path, CATALOGUE_FILE_MAX, 0, &file, NULL) == 0)
            assert_true(str_eq(buf_text(&file), buf_text(&text)));
    }
    assert_true(n >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(shipped_is_the_file)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
