/* upload.c: which of a server's runs is ours. */
#include "../fault_server.h"

#include "../place.h"

#include "base/fs.h"
#include "base/json.h"
#include "mlflow/upload.h"

#include <fcntl.h>

#define OURS "0123456789abcdef0123456789abcdef"

/* A server, or a cache before it, that overlooks the filter of a search: other people's runs are not taken, and not deleted as doubles of ours. */
static void filters_overlooked(void **state)
{
    static const char *const arguments[] = {"--unfiltered", NULL};
    struct fault_server server;
    struct err err;
    (void)state;
    if (!fault_server_start(&server, arguments))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    struct mlflow_tag theirs_too = {"benchwrap.run_id", STR("00000000000000000000000000000000")};
    struct mlflow_run theirs[2];
    struct mlflow *m;
    struct arena a;
    const char *experiment;
    arena_init(&a, 0);
    assert_int_equal(mlflow_open(&m, &config, &err), 0);
    assert_int_equal(mlflow_experiment(m, "e", &a, &experiment, &err), MLFLOW_FINE);
    for (size_t i = 0; i < 2; i++) /* nobody's of this program, and one of somebody else's */
        assert_int_equal(mlflow_run_create(m, experiment, "theirs", "u", 10, &theirs_too, i, &a, &theirs[i], &err), MLFLOW_FINE);
    for (int careful = 0; careful < 2; careful++) {
        struct upload_config of = {.server = m, .careful = careful};
        struct upload_run run = {.id = OURS, .experiment = "e", .name = "ours", .user = "u", .start_ms = 1000};
        struct upload_place place;
        struct upload *u;
        assert_int_equal(upload_new(&u, &of, &err), 0);
        assert_int_equal(upload_open(u, &run, &place, &err), MLFLOW_FINE);
        assert_int_equal(place.fresh, careful == 0); /* made, and found again */
        assert_string_equal(place.run.name, "ours");
        upload_close(&place);
        upload_free(u);
    }
    for (size_t i = 0; i < 2; i++) {
        struct mlflow_run back;
        assert_int_equal(mlflow_run_get(m, theirs[i].id, &a, &back, &err), MLFLOW_FINE);
        assert_string_equal(back.lifecycle, "active");
        json_free(back.reply);
        json_free(theirs[i].reply);
    }
    mlflow_close(m);
    arena_deinit(&a);
    fault_server_stop(&server);
}

/* ---- many runs of a tree, their doubles looked for together ---- */

enum { RUNS = 5 };
struct tree {
    const struct place *place;
    struct arena a;
    struct tree_run *runs[RUNS];
    size_t count;
    int root;
};

static int take(void *context, struct tree_run *run)
{
    struct tree *t = context;
    t->runs[t->count++] = run;
    return 0;
}

static void put(int dir, const char *path, const char *text)
{
    assert_int_equal(fs_write(dir, path, str_of(text), 0600, false, NULL), 0);
}

/* Runs of others: 0…01, 0…02, each with a param. */
static void make_tree(struct tree *t, const struct place *place)
{
    char path[200], text[400];
    *t = (struct tree){.place = place};
    arena_init(&t->a, 0);
    assert_int_equal(fs_mkdirs(t->place->dir, "mlruns/7", 0700, NULL), 0);
    put(t->place->dir, "mlruns/7/meta.yaml", "experiment_id: '7'\nlifecycle_stage: active\nname: e\n");
    for (int i = 1; i <= RUNS; i++) {
        snprintf(path, sizeof path, "mlruns/7/%032d/params", i);
        assert_int_equal(fs_mkdirs(t->place->dir, path, 0700, NULL), 0);
        snprintf(path, sizeof path, "mlruns/7/%032d/params/p", i);
        put(t->place->dir, path, "v");
        snprintf(path, sizeof path, "mlruns/7/%032d/meta.yaml", i);
        snprintf(
            text, sizeof text,
            "end_time: %d\nexperiment_id: '7'\nlifecycle_stage: active\nrun_id: '%032d'\nrun_name: r\nstart_time: %d\nstatus: 3\nuser_id: u\n",
            2000 + i, i, 1000 + i);
        put(t->place->dir, path, text);
    }
    t->root = openat(t->place->dir, "mlruns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(tree_walk(t->root, TREE_META, &t->a, take, t, NULL), 0);
    assert_int_equal(t->count, RUNS);
}

static void drop_tree(struct tree *t)
{
    close(t->root);
    arena_deinit(&t->a);
}

/* One who makes and completes all, and goes on as sync does. */
struct syncing {
    struct tree *tree;
    struct upload *u;
    struct mlflow *m;
    unsigned again;
};

static void again(void *context, const char *id)
{
    struct syncing *s = context;
    struct upload_result got;
    struct err err;
    s->again++;
    for (size_t i = 0; i < RUNS; i++)
        if (strcmp(s->tree->runs[i]->id, id) == 0)
            assert_int_equal(upload_tree_run(s->u, s->tree->root, s->tree->runs[i], &got, &err), 0);
}

static void begin(struct syncing *s, struct tree *t, const struct mlflow_config *config, const char *state, bool restore)
{
    struct err err;
    *s = (struct syncing){.tree = t};
    assert_int_equal(mlflow_open(&s->m, config, &err), 0);
    struct upload_config of = {.server = s->m, .state = state, .together = true, .restore = restore};
    assert_int_equal(upload_new(&s->u, &of, &err), 0);
}

static void end(struct syncing *s)
{
    upload_free(s->u);
    mlflow_close(s->m);
}

static void send_all(struct syncing *s)
{
    struct upload_result got;
    struct err err;
    for (size_t i = 0; i < RUNS; i++)
        assert_int_equal(upload_tree_run(s->u, s->tree->root, s->tree->runs[i], &got, &err), 0);
}

static void settle(struct syncing *s)
{
    struct err err;
    size_t left;
    assert_int_equal(upload_settle_all(s->u, again, s, &left, &err), MLFLOW_FINE);
    assert_int_equal(left, 0);
}

static int count_one(void *context, const struct mlflow_run *run)
{
    (void)run;
    ++*(unsigned *)context;
    return 0;
}

static unsigned active(struct mlflow *m, const char *filter)
{
    struct err err;
    struct arena a;
    const char *experiment;
    unsigned n = 0;
    arena_init(&a, 0);
    assert_int_equal(mlflow_experiment_find(m, "e", &a, &experiment, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_search_pages(m, experiment, filter, false, 1000, count_one, &n, &err), MLFLOW_FINE);
    arena_deinit(&a);
    return n;
}

/* Somebody else makes the run too. */
static void make_double(struct mlflow *m, const char *id, int64_t start_ms)
{
    struct mlflow_tag tag = {"benchwrap.run_id", str_of(id)};
    struct mlflow_run run;
    struct arena a;
    struct err err;
    const char *experiment;
    arena_init(&a, 0);
    assert_int_equal(mlflow_experiment_find(m, "e", &a, &experiment, &err), MLFLOW_FINE);
    assert_int_equal(mlflow_run_create(m, experiment, "r", "u", start_ms, &tag, 1, &a, &run, &err), MLFLOW_FINE);
    json_free(run.reply);
    arena_deinit(&a);
}

/* One question for all where there are no doubles; where there are, one of each stays, complete. */
static void doubles_together(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing s;
    char notes[300];
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    snprintf(notes, sizeof notes, "%s/notes", tree.place->path);
    begin(&s, &tree, &config, notes, false);
    send_all(&s);
    for (size_t i = 0; i < RUNS; i++) {
        assert_true(upload_is_unsettled(s.u, tree.runs[i]->id));
        assert_false(upload_is_known(s.u, tree.root, tree.runs[i])); /* not before it was looked for */
    }
    make_double(s.m, tree.runs[1]->id, tree.runs[1]->start_ms);
    make_double(s.m, tree.runs[3]->id, tree.runs[3]->start_ms);
    settle(&s);
    assert_int_equal(s.again, 2);
    assert_int_equal(active(s.m, "tags.`benchwrap.run_id` LIKE '%'"), RUNS);
    assert_int_equal(active(s.m, "tags.`benchwrap.synced` LIKE '%'"), RUNS); /* complete ones */
    for (size_t i = 0; i < RUNS; i++)
        assert_true(upload_is_known(s.u, tree.root, tree.runs[i]));
    end(&s);
    drop_tree(&tree);
    fault_server_stop(&server);
}

static void alone_together(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing s;
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    begin(&s, &tree, &config, NULL, false);
    send_all(&s);
    unsigned before = mlflow_requests(s.m);
    settle(&s);
    assert_int_equal(mlflow_requests(s.m) - before, 1);
    end(&s);
    begin(&s, &tree, &config, NULL, false); /* killed before it looked, and somebody else had made one: the next looks */
    make_double(s.m, tree.runs[2]->id, tree.runs[2]->start_ms);
    send_all(&s);
    settle(&s);
    assert_int_equal(active(s.m, "tags.`benchwrap.run_id` LIKE '%'"), RUNS);
    end(&s);
    drop_tree(&tree);
    fault_server_stop(&server);
}

/* What was cut when the run was written is named on the server, as it is for a run that was sent while it ran. */
static void cut_values_named(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing s;
    char path[200];
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    snprintf(path, sizeof path, "mlruns/7/%032d/tags", 1);
    assert_int_equal(fs_mkdirs(tree.place->dir, path, 0700, NULL), 0);
    snprintf(path, sizeof path, "mlruns/7/%032d/tags/benchwrap.cut", 1);
    put(tree.place->dir, path, "param p, tag a b/c");
    begin(&s, &tree, &config, NULL, false);
    send_all(&s);
    settle(&s);
    assert_int_equal(active(s.m, "tags.`benchwrap.cut` LIKE '%'"), 1);
    assert_int_equal(active(s.m, "tags.`benchwrap.cut` = 'param:p, tag:a b/c'"), 1);
    end(&s);
    drop_tree(&tree);
    fault_server_stop(&server);
}

/* Run 1 is a child of run 2. */
static void make_child(const struct tree *t)
{
    char path[200], parent[33];
    snprintf(path, sizeof path, "mlruns/7/%032d/tags", 1);
    assert_int_equal(fs_mkdirs(t->place->dir, path, 0700, NULL), 0);
    snprintf(path, sizeof path, "mlruns/7/%032d/tags/mlflow.parentRunId", 1);
    snprintf(parent, sizeof parent, "%032d", 2);
    put(t->place->dir, path, parent);
}

/* The uploader of one run, which does not search for several. */
static void begin_alone(struct syncing *s, struct tree *t, const struct mlflow_config *config)
{
    begin(s, t, config, NULL, false);
    upload_free(s->u);
    struct upload_config of = {.server = s->m};
    struct err err;
    assert_int_equal(upload_new(&s->u, &of, &err), 0);
}

static void send_one_run(struct syncing *s, int i)
{
    struct upload_result got;
    struct err err;
    assert_int_equal(upload_tree_run(s->u, s->tree->root, s->tree->runs[i], &got, &err), 0);
}

static int send_parent_between(void *context, const struct mlflow_run *run, int dir, struct err *err)
{
    struct syncing *s = context;
    (void)run, (void)dir, (void)err;
    for (int i = 0; i < RUNS; i++)
        if (s->tree->runs[i]->id[31] == '2')
            send_one_run(s, i);
    return 0;
}

/* Parent and child are sent by two processes at the same time: whichever of the orders, the child has its link. */
static void parent_between(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing child, parent;
    struct err err;
    int of[RUNS + 1] = {0};
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    make_child(&tree);
    for (int i = 0; i < RUNS; i++)
        of[tree.runs[i]->id[31] - '0'] = i;
    begin_alone(&parent, &tree, &config);
    begin_alone(&child, &tree, &config);
    send_one_run(&parent, of[3]); /* it has read the experiment before the child is there */
    send_one_run(&child, of[1]);
    assert_int_equal(active(child.m, "tags.`benchwrap.parent_run_id` LIKE '%'"), 1);
    send_one_run(&parent, of[2]);
    assert_int_equal(active(child.m, "tags.`mlflow.parentRunId` LIKE '%'"), 1);
    assert_int_equal(active(child.m, "tags.`benchwrap.parent_run_id` LIKE '%'"), 0);
    end(&child);
    end(&parent);
    fault_server_stop(&server);

    assert_true(fault_server_start(&server, NULL));
    config.uri = server.uri;
    begin_alone(&parent, &tree, &config);
    begin_alone(&child, &tree, &config);
    struct upload_run live = {.id = tree.runs[of[1]]->id, .experiment = "e", .name = "r", .user = "u", .start_ms = 1001};
    struct upload_place place;
    assert_int_equal(upload_open(child.u, &live, &place, &err), MLFLOW_FINE); /* while it ran */
    upload_close(&place);
    upload_free(child.u);
    struct upload_config between = {.server = child.m, .place = send_parent_between, .context = &parent};
    assert_int_equal(upload_new(&child.u, &between, &err), 0);
    send_one_run(&child, of[1]);
    assert_int_equal(active(child.m, "tags.`mlflow.parentRunId` LIKE '%'"), 1);
    assert_int_equal(active(child.m, "tags.`benchwrap.parent_run_id` LIKE '%'"), 0);
    end(&child);
    end(&parent);
    drop_tree(&tree);
    fault_server_stop(&server);
}

static int delete_one(void *context, const struct mlflow_run *run)
{
    struct err err;
    assert_int_equal(mlflow_run_delete(context, run->id, &err), MLFLOW_FINE);
    return 1;
}

/* A run that was noted as complete and is deleted on the server stays so, unless it is to be restored. */
static void deleted_after(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing s;
    struct err err;
    char notes[300];
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    snprintf(notes, sizeof notes, "%s/notes", tree.place->path);
    for (int restore = 0; restore < 2; restore++) {
        begin(&s, &tree, &config, notes, restore);
        for (size_t i = 0; i < RUNS; i++) {
            struct upload_result got;
            if (!upload_is_known(s.u, tree.root, tree.runs[i]))
                assert_int_equal(upload_tree_run(s.u, tree.root, tree.runs[i], &got, &err), 0);
        }
        settle(&s);
        assert_int_equal(active(s.m, "tags.`benchwrap.synced` LIKE '%'"), RUNS);
        struct arena a;
        const char *experiment;
        arena_init(&a, 0);
        assert_int_equal(mlflow_experiment_find(s.m, "e", &a, &experiment, &err), MLFLOW_FINE);
        assert_int_equal(mlflow_run_search_pages(s.m, experiment, "", false, 1000, delete_one, s.m, &err), MLFLOW_FINE);
        arena_deinit(&a);
        assert_int_equal(active(s.m, "tags.`benchwrap.synced` LIKE '%'"), RUNS - 1);
        end(&s);
    }
    drop_tree(&tree);
    fault_server_stop(&server);
}

/* Notes of what is complete hold as long as the server has it, or does not answer; not when another stands at its address. */
static void server_replaced(void **state)
{
    struct fault_server server;
    struct tree tree;
    struct syncing s;
    char notes[300], port[20];
    const char *const again_there[] = {"--port", port, NULL};
    if (!fault_server_start(&server, NULL))
        skip();
    struct mlflow_config config = {.uri = server.uri, .http = {.total_s = 60, .cancel_fd = -1}, .retries = 2, .backoff_s = 0.02};
    make_tree(&tree, *state);
    snprintf(notes, sizeof notes, "%s/notes", tree.place->path);
    snprintf(port, sizeof port, "%u", server.port);
    begin(&s, &tree, &config, notes, false);
    send_all(&s);
    settle(&s);
    end(&s);
    for (int i = 0; i < 2; i++) {
        begin(&s, &tree, &config, notes, false);
        assert_true(upload_is_known(s.u, tree.root, tree.runs[0]));
        end(&s);
        if (i == 0)
            fault_server_stop(&server);
    }
    if (!fault_server_start(&server, again_there))
        skip();
    begin(&s, &tree, &config, notes, false);
    for (size_t i = 0; i < RUNS; i++)
        assert_false(upload_is_known(s.u, tree.root, tree.runs[i]));
    send_all(&s);
    settle(&s);
    assert_int_equal(active(s.m, "tags.`benchwrap.synced` LIKE '%'"), RUNS);
    end(&s);
    begin(&s, &tree, &config, notes, false);
    assert_true(upload_is_known(s.u, tree.root, tree.runs[0]));
    end(&s);
    drop_tree(&tree);
    fault_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(filters_overlooked),
                                       cmocka_unit_test_setup_teardown(alone_together, place_begin, place_end),
                                       cmocka_unit_test_setup_teardown(cut_values_named, place_begin, place_end),
                                       cmocka_unit_test_setup_teardown(parent_between, place_begin, place_end),
                                       cmocka_unit_test_setup_teardown(server_replaced, place_begin, place_end),
                                       cmocka_unit_test_setup_teardown(deleted_after, place_begin, place_end),
                                       cmocka_unit_test_setup_teardown(doubles_together, place_begin, place_end)};
    if (!http_library()) {
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
