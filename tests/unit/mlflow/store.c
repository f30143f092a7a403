/* store.c: rows in the tables that MLflow makes, tables of another layout, a transaction that fails. */
#include "mlflow/store.h"

#include "base/library.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* What the migrations of MLflow 2.22 and 3.17 make of these five tables. */
static const char layout[] =
    "CREATE TABLE runs (run_uuid VARCHAR(32) NOT NULL, name VARCHAR(250), source_type VARCHAR(20), source_name VARCHAR(500), entry_point_name VARCHAR(50), "
    "user_id VARCHAR(256), status VARCHAR(9), start_time BIGINT, end_time BIGINT, source_version VARCHAR(50), lifecycle_stage VARCHAR(20), "
    "artifact_uri VARCHAR(200), experiment_id INTEGER, deleted_time BIGINT, CONSTRAINT run_pk PRIMARY KEY (run_uuid), "
    "CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED')));"
    "CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, run_uuid VARCHAR(32) NOT NULL, "
    "step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL, CONSTRAINT metric_pk PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));"
    "CREATE TABLE latest_metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT, step BIGINT NOT NULL, is_nan BOOLEAN NOT NULL, "
    "run_uuid VARCHAR(32) NOT NULL, CONSTRAINT latest_metric_pk PRIMARY KEY (key, run_uuid));"
    "CREATE TABLE params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL, PRIMARY KEY (key, run_uuid));"
    "CREATE TABLE tags (key VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL, PRIMARY KEY (key, run_uuid));";

struct place {
    char path[64];
    void *db;
    int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    int (*close)(void *);
    struct buf rows;
    struct mlflow_store *s;
    struct arena arena;
    struct mlflow_run run;
};

static int add_row(void *context, int n, char **values, char **names)
{
    struct buf *to = context;
    (void)names;
    for (int i = 0; i < n; i++)
        buf_printf(to, "%s%s", i ? " " : "", values[i] ? values[i] : "-");
    buf_putc(to, '\n');
    return 0;
}

static const char *sql(struct place *p, const char *text)
{
    buf_clear(&p->rows);
    if (p->exec(p->db, text, add_row, &p->rows, NULL))
        fail_msg("%s", text);
    return p->rows.n ? p->rows.p : "";
}

static int begin(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    void *library = library_open(LIBRARY_SQLITE);
    int (*open)(const char *, void **);
    const struct library_function functions[] = {{"sqlite3_open", &open}, {"sqlite3_exec", &p->exec}, {"sqlite3_close", &p->close}};
    *state = p;
    if (!library)
        return 0;
    snprintf(p->path, sizeof p->path, "/tmp/benchwrap-store.XXXXXX");
    close(mkstemp(p->path));
    assert_null(library_take(library, functions, 3));
    assert_int_equal(open(p->path, &p->db), 0);
    buf_init(&p->rows, 1 << 20);
    arena_init(&p->arena, 0);
    sql(p, layout);
    return 0;
}

static int end(void **state)
{
    struct place *p = *state;
    if (p->db) {
        store_close(p->s);
        p->close(p->db);
        unlink(p->path);
        buf_deinit(&p->rows);
        arena_deinit(&p->arena);
    }
    free(p);
    return 0;
}

static void open_it(struct place *p)
{
    struct err err = {0};
    if (!p->db)
        skip();
    if (store_open(&p->s, p->path, &err))
        fail_msg("%s", err.text);
}

static void make_run(struct place *p)
{
    struct err err;
    const struct mlflow_tag tag = {"benchwrap.run_id", STR("0123")};
    assert_int_equal(store_run_create(p->s, "7", "a run", "me", 1000, &tag, 1, &p->arena, &p->run, &err), MLFLOW_FINE);
}

static void a_run_has_the_rows_that_mlflow_writes(void **state)
{
    struct place *p = *state;
    struct err err;
    open_it(p);
    make_run(p);
    assert_int_equal(strlen(p->run.id), 32);
    const char *id = p->run.id;
    const double values[] = {3, 1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(store_metric(p->s, id, i < 2 ? STR("a") : i == 2 ? STR("n") : STR("i"), values[i], 5, i ? 0 : 2, &err), MLFLOW_FINE);
    assert_int_equal(store_metric(p->s, id, STR("a"), 1, 5, 0, &err), MLFLOW_FINE); /* once more: no second row */
    assert_int_equal(store_pair(p->s, id, true, STR("p"), STR("old"), &err), MLFLOW_FINE);
    assert_int_equal(store_pair(p->s, id, true, STR("p"), STR("new"), &err), MLFLOW_FINE);
    assert_int_equal(store_pair(p->s, id, false, STR("t"), STR("old"), &err), MLFLOW_FINE);
    assert_int_equal(store_pair(p->s, id, false, STR("t"), STR("b\xff"), &err), MLFLOW_FINE);
    assert_string_equal(sql(p, "SELECT count(*) FROM runs"), "0\n"); /* until it is committed */
    assert_int_equal(store_run_update(p->s, id, "FAILED", 2000, &err), MLFLOW_FINE);
    assert_int_equal(store_commit(p->s, true, &err), MLFLOW_FINE);
    assert_string_equal(sql(p, "SELECT name, source_type, source_name, entry_point_name, user_id, status, start_time, end_time, source_version, "
                               "lifecycle_stage, experiment_id, deleted_time, artifact_uri = 'mlflow-artifacts:/7/' || run_uuid || '/artifacts' FROM runs"),
                        "a run UNKNOWN   me FAILED 1000 2000  active 7 - 1\n");
    assert_string_equal(sql(p, "SELECT key, printf('%.15g', value), timestamp, step, is_nan FROM metrics ORDER BY key, step"),
                        "a 1 5 0 0\na 3 5 2 0\ni 1.79769313486232e+308 5 0 0\nn 0 5 0 1\n");
    assert_string_equal(sql(p, "SELECT key, printf('%.15g', value), step FROM latest_metrics ORDER BY key"), "a 3 2\ni 1.79769313486232e+308 0\nn 0 0\n");
    assert_string_equal(sql(p, "SELECT key, value FROM params"), "p old\n");
    assert_string_equal(sql(p, "SELECT key, value FROM tags ORDER BY key"), "benchwrap.run_id 0123\nmlflow.runName a run\nt b\xef\xbf\xbd\n");
    assert_int_equal(store_run_update(p->s, id, "FINISHED", 0, &err), MLFLOW_FINE);
    assert_int_equal(store_commit(p->s, true, &err), MLFLOW_FINE);
    assert_string_equal(sql(p, "SELECT status, end_time FROM runs"), "FINISHED 2000\n");
}

static void other_tables_are_refused(void **state)
{
    static const struct { const char *change; bool known; } rows[] = {
        {"ALTER TABLE runs ADD COLUMN workspace VARCHAR(60)", true},
        {"ALTER TABLE runs ADD COLUMN tier INTEGER NOT NULL DEFAULT 1", true},
        {"DROP TABLE params; CREATE TABLE params (key TEXT NOT NULL, value TEXT NOT NULL, run_uuid TEXT NOT NULL, kind TEXT NOT NULL)", false},
        {"DROP TABLE params; CREATE TABLE params (key TEXT NOT NULL, text TEXT NOT NULL, run_uuid TEXT NOT NULL)", false},
        {"DROP TABLE params", false},
    };
    struct place *p = *state;
    struct err err = {0};
    if (!p->db)
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sql(p, rows[i].change);
        if ((store_open(&p->s, p->path, &err) == 0) != rows[i].known)
            fail_msg("%s: %s", rows[i].change, err.text);
        if (rows[i].known)
            store_close(p->s);
        p->s = NULL;
    }
    assert_int_equal(store_open(&p->s, "/proc/none/mlflow.db", &err), -1);
    p->s = NULL;
}

static void what_fails_is_lost_as_a_whole_and_said(void **state)
{
    struct place *p = *state;
    struct err err;
    open_it(p);
    make_run(p);
    assert_int_equal(store_run_update(p->s, p->run.id, "NONE", 0, &err), MLFLOW_REFUSED);
    assert_non_null(strstr(err.text, "CHECK"));
    assert_int_equal(store_pair(p->s, p->run.id, true, STR("p"), STR("v"), &err), MLFLOW_REFUSED); /* not half of it */
    assert_int_equal(store_commit(p->s, false, &err), MLFLOW_REFUSED);
    assert_int_equal(store_commit(p->s, true, &err), MLFLOW_REFUSED);
    assert_string_equal(sql(p, "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM tags)"), "0\n");
    make_run(p);
    assert_int_equal(store_commit(p->s, true, &err), MLFLOW_FINE);
    assert_string_equal(sql(p, "SELECT count(*) FROM runs"), "1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_has_the_rows_that_mlflow_writes, begin, end),
        cmocka_unit_test_setup_teardown(other_tables_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_fails_is_lost_as_a_whole_and_said, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
