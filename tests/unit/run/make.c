/* Runs made from facts: whole or not at all, never two of one id, children of blocks. */
#include "run/make.h"

#include "base/fs.h"
#include "run/children.h"
#include "run/leftovers.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char base[200], tree[240], spool[240];

static int setup(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "%s/run_make.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(base));
    snprintf(tree, sizeof tree, "%s/mlruns", base);
    snprintf(spool, sizeof spool, "%s/.benchwrap/spool", base);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, NULL);
}

static const char ID[] = "0123456789ab5def8123456789abcdef";

static void begin(struct made_run *m, const char *id)
{
    struct err err = {0};
    char none[] = "prog", *argv[] = {none, NULL};
    struct make_plan plan = {.id = id, .spool = spool,
                             .head = {.host = "", .experiment = "e", .run_name = "n", .tree = tree, .user = "", .job = "", .argv = argv, .start_ms = 1700000000000}};
    if (make_begin(m, &plan, &err))
        fail_msg("%s", err.text);
    record_param(&m->record, "p", STR("1"));
    record_metric(&m->record, "speed_s", 2.5, "s", DIR_LOWER, 0, 1700000000000);
    assert_int_equal(make_text(m, "stdout.log", STR("hello\n"), &err), 0);
}

static int end(struct made_run *m)
{
    struct finished f;
    struct err err = {0};
    int rc = make_end(m, RUN_FINISHED, NULL, 1700000001000, &f, &err);
    if (rc < 0)
        print_error("%s\n", err.text);
    finished_deinit(&f);
    return rc;
}

static size_t names(const char *path)
{
    struct fs_names list;
    if (fs_list(AT_FDCWD, path, &list, NULL))
        return 0;
    size_t n = list.count;
    fs_names_deinit(&list);
    return n;
}

static bool there(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%u/%s", tree, tree_experiment_id(STR("e")), name);
    return access(path, F_OK) == 0;
}

static void test_published(void **state)
{
    (void)state;
    struct made_run m;
    struct err err = {0};
    char path[100];
    begin(&m, ID);
    assert_int_equal(end(&m), 0);
    for (size_t i = 0; i < 4; i++) {
        static const char *const files[] = {"meta.yaml", "params/p", "metrics/speed_s", "artifacts/stdout.log"};
        snprintf(path, sizeof path, "%s/%s", ID, files[i]);
        assert_true(there(path));
    }
    snprintf(path, sizeof path, "%s/metrics/run.wall_s", ID);
    assert_false(there(path)); /* nobody saw how long it took */
    assert_int_equal(names(spool), 1);
    struct make_batch batch = {.tree = tree, .spool = spool};
    assert_int_equal(make_batch_add(&batch, ID, &err), 0);
    assert_int_equal(names(spool), 1);
    assert_int_equal(make_batch_settle(&batch, &err), 0);
    assert_int_equal(names(spool), 0);
}

static void test_once(void **state)
{
    (void)state;
    struct made_run a, b;
    begin(&a, ID);
    begin(&b, ID);
    assert_int_equal(end(&a), 0);
    assert_int_equal(end(&b), 1);
    assert_int_equal(names(spool), 1);
    char folder[300];
    snprintf(folder, sizeof folder, "%s/%u", tree, tree_experiment_id(STR("e")));
    assert_int_equal(names(folder), 3); /* meta.yaml, tags, the run */
}

static void test_dropped(void **state)
{
    (void)state;
    struct made_run m;
    begin(&m, NULL);
    make_drop(&m);
    assert_int_equal(names(spool), 0);
    assert_int_equal(names(tree), 0);
}

/* A maker that dies leaves what the next sweep removes; one that lives is left alone. */
static void test_died(void **state)
{
    (void)state;
    struct made_run m;
    struct leftovers_count swept;
    pid_t pid = fork();
    if (pid == 0) {
        struct made_run dies;
        begin(&dies, ID);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    assert_int_equal(names(spool), 1);
    begin(&m, NULL);
    assert_int_equal(names(spool), 2);
    finish_leftovers(spool, NULL, 0, NULL, NULL, &swept);
    assert_int_equal(names(spool), 1);
    assert_int_equal(swept.closed, 0);
    assert_int_equal(names(tree), 0);
    assert_int_equal(end(&m), 0);
}

static void test_ids(void **state)
{
    (void)state;
    char a[33], b[33], c[33];
    make_id(a, "import", STR("x"));
    make_id(b, "import", STR("x"));
    make_id(c, "child", STR("x"));
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_int_equal(a[12], '5');
    assert_string_equal(a, "073d991f5dcd5474a2574f79983749c1"); /* python: uuid5(UUID("6f1c9a52-…"), "import:x").hex */
}

static void test_children(void **state)
{
    (void)state;
    struct rules_block blocks[] = {{.name = "t0", .verdict = VERDICT_PASS, .complete = true},
                                   {.name = "t1", .verdict = VERDICT_FAIL, .reason = "bad", .complete = false}};
    struct rules_outcome outcome = {.block = blocks, .blocks = 2};
    struct finished parent = {.head = {.experiment = "e", .run_name = "n", .tree = tree, .user = "", .host = "", .job = ""}};
    struct finish_options o = {.made = true};
    struct spool s;
    struct err err = {0};
    char child[33], path[120];
    assert_int_equal(spool_create(&s, spool, ID, &err), 0);
    struct record *r = &parent.record;
    record_init(r, ID, 1700000000000);
    r->end_ms = 1700000001000;
    r->status = RUN_FINISHED;
    r->source = "rule:ior:x";
    record_param(r, "api", STR("POSIX"));
    record_param(r, "t0.size", STR("1"));
    record_param(r, "t1.size", STR("2"));
    record_metric(r, "t0.bw", 7, "", DIR_HIGHER, 0, 1700000000000);
    record_metric(r, "t1.bw", 8, "", DIR_HIGHER, 0, 1700000000000);
    r->source = "probe:x";
    record_param(r, "t0.model", STR("of the machine"));
    record_metric(r, "run.wall_s", 9, "s", DIR_LOWER, 0, 1700000000000);
    for (int again = 0; again < 2; again++) {
        struct buf places CLEANUP_BUF;
        buf_init(&places, 1000);
        assert_int_equal(children_publish(&s, &parent, &o, &outcome, RUN_FINISHED, &places, &err), 0);
        snprintf(path, sizeof path, "%u", tree_experiment_id(STR("e")));
        assert_non_null(strstr(places.p, path));
    }
    char folder[300];
    snprintf(folder, sizeof folder, "%s/%u", tree, tree_experiment_id(STR("e")));
    assert_int_equal(names(folder), 4); /* meta.yaml, tags, two runs */
    make_id(child, "child", STR("0123456789ab5def8123456789abcdef/t1"));
    static const struct { const char *name; bool there; } files[] = {
        {"params/api", true}, {"params/size", true}, {"params/t1.size", false}, {"params/t0.size", false}, {"metrics/bw", true},
        {"metrics/t1.bw", false}, {"metrics/t0.bw", false}, {"params/t0.model", true}, {"metrics/run.wall_s", false}, {"tags/mlflow.parentRunId", true}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", child, files[i].name);
        if (there(path) != files[i].there)
            fail_msg("%s is %sthere", path, files[i].there ? "not " : "");
    }
    record_deinit(r);
    spool_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_published, setup, teardown), cmocka_unit_test_setup_teardown(test_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),   cmocka_unit_test_setup_teardown(test_died, setup, teardown),
        cmocka_unit_test(test_ids),                                       cmocka_unit_test_setup_teardown(test_children, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
