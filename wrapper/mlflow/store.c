/* store.c: rows of runs in the tables of a local MLflow's SQLite database; see store.h. */
#include "mlflow/store.h"

#include "base/sqlite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { BUSY_MS = 10000 };

enum statement { PUT_RUN, END_RUN, PUT_METRIC, PUT_LATEST, PUT_PARAM, PUT_TAG, STATEMENTS };

/* MLflow shows as latest the sample with the largest step, of those the latest time, of those the
 * largest value. */
static const char *const texts[STATEMENTS] = {
    [PUT_RUN] =
        "INSERT INTO runs (run_uuid, experiment_id, name, user_id, start_time, artifact_uri, source_type, source_name, entry_point_name, "
        "source_version, status, lifecycle_stage) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'UNKNOWN', '', '', '', 'RUNNING', 'active')",
    [END_RUN] = "UPDATE runs SET status = ?2, end_time = coalesce(?3, end_time) WHERE run_uuid = ?1",
    [PUT_METRIC] = "INSERT OR IGNORE INTO metrics (run_uuid, key, value, timestamp, step, is_nan) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [PUT_LATEST] =
        "INSERT INTO latest_metrics (run_uuid, key, value, timestamp, step, is_nan) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
        "ON CONFLICT (key, run_uuid) DO UPDATE SET value = excluded.value, timestamp = excluded.timestamp, step = excluded.step, "
        "is_nan = excluded.is_nan WHERE (excluded.step, excluded.timestamp, excluded.value) > (step, timestamp, value)",
    [PUT_PARAM] = "INSERT OR IGNORE INTO params (run_uuid, key, value) VALUES (?1, ?2, ?3)",
    [PUT_TAG] = "INSERT OR REPLACE INTO tags (run_uuid, key, value) VALUES (?1, ?2, ?3)",
};

struct mlflow_store {
    struct sqlite q;
    sqlite3 *db;
    sqlite3_stmt *at[STATEMENTS];
    bool open, failed; /* a transaction; one that failed and is not forgotten */
    struct err why;
};

static int store_set_error(const struct mlflow_store *s, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "the database: %.200s", s->db ? s->q.errmsg(s->db) : "it cannot be opened");
}

/* Checks that all columns of the table that must have a value are among those that are written
 * here. (The statements name the others.) */
static int check_table(const struct mlflow_store *s, const char *table, const char *written, struct err *err)
{
    char sql[100];
    sqlite3_stmt *at;
    int rc = 0;
    snprintf(sql, sizeof sql, "SELECT name, \"notnull\" AND dflt_value IS NULL FROM pragma_table_info('%s')", table);
    if (s->q.prepare_v2(s->db, sql, -1, &at, NULL) != SQLITE_OK)
        return store_set_error(s, err);
    while (rc == 0 && s->q.step(at) == SQLITE_ROW) {
        char name[100];
        snprintf(name, sizeof name, " %.90s ", (const char *)s->q.column_text(at, 0));
        if (s->q.column_int(at, 1) && !strstr(written, name))
            rc = err_set(err, ERR_SYSTEM, "the database: the table %s has the unknown column%s", table, name);
    }
    s->q.finalize(at);
    return rc;
}

int store_open(struct mlflow_store **ret, const char *path, struct err *err)
{
    static const char *const tables[][2] = {{"runs", " run_uuid experiment_id "},
                                            {"metrics", " run_uuid key value timestamp step is_nan "},
                                            {"latest_metrics", " run_uuid key value timestamp step is_nan "},
                                            {"params", " run_uuid key value "},
                                            {"tags", " run_uuid key value "}};
    struct mlflow_store *s = calloc(1, sizeof *s);
    if (!s)
        return err_memory(err, "MLflow's store");
    int rc = sqlite_load(&s->q, err);
    if (rc == 0 && s->q.open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        rc = store_set_error(s, err);
    if (rc == 0)
        s->q.busy_timeout(s->db, BUSY_MS); /* MLflow's own writes */
    for (size_t i = 0; rc == 0 && i < sizeof tables / sizeof *tables; i++)
        rc = check_table(s, tables[i][0], tables[i][1], err);
    for (int i = 0; rc == 0 && i < STATEMENTS; i++)
        if (s->q.prepare_v2(s->db, texts[i], -1, &s->at[i], NULL) != SQLITE_OK)
            rc = store_set_error(s, err);
    if (rc)
        store_close(s);
    else
        *ret = s;
    return rc;
}

void store_close(struct mlflow_store *s)
{
    if (!s)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        if (s->at[i])
            s->q.finalize(s->at[i]);
    if (s->db)
        s->q.close_v2(s->db);
    free(s);
}

/* ---- a transaction ---- */

static enum mlflow_answer store_fail(struct mlflow_store *s, struct err *err)
{
    if (!s->failed)
        store_set_error(s, &s->why);
    s->failed = true;
    if (s->open)
        s->q.exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = false;
    *err = s->why;
    return MLFLOW_REFUSED;
}

/* Begins a transaction of the database unless one is open. Everything but MLFLOW_FINE comes with
 * err. */
static enum mlflow_answer store_begin(struct mlflow_store *s, struct err *err)
{
    if (s->failed || (!s->open && s->q.exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK))
        return store_fail(s, err);
    s->open = true;
    return MLFLOW_FINE;
}

enum mlflow_answer store_commit(struct mlflow_store *s, bool forget, struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    if (s->failed || (s->open && s->q.exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK))
        answer = store_fail(s, err);
    s->open = false;
    s->failed = s->failed && !forget;
    return answer;
}

/* ---- rows ---- */

/* Binds the text as the database's readers need it: valid UTF-8. */
static void bind_text(struct mlflow_store *s, enum statement which, int at, struct str text)
{
    void (*const copied)(void *) = (void (*)(void *))(intptr_t)-1; /* SQLITE_TRANSIENT */
    CLEANUP_BUF struct buf valid = {0};
    if (!str_valid_utf8(text) || memchr(text.p ? text.p : "", 0, text.n)) {
        buf_init(&valid, 3 * text.n + 1);
        buf_utf8(&valid, text);
        text = buf_text(&valid);
    }
    s->q.bind_text(s->at[which], at, text.p ? text.p : "", (int)text.n, copied);
}

static enum mlflow_answer run_statement(struct mlflow_store *s, enum statement which, struct err *err)
{
    int rc = s->q.step(s->at[which]);
    enum mlflow_answer answer = rc == SQLITE_DONE ? MLFLOW_FINE : store_fail(s, err);
    s->q.reset(s->at[which]);
    return answer;
}

static bool store_new_id(char ret[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* UUID version 4, as MLflow's */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

enum mlflow_answer store_run_create(struct mlflow_store *s, const char *experiment, const char *name, const char *user, int64_t start_ms,
                                    const struct mlflow_tag *tags, size_t n, struct arena *a, struct mlflow_run *ret, struct err *err)
{
    char id[33];
    int64_t number;
    bool numbered = str_int(str_of(experiment), &number);
    if (!numbered || !store_new_id(id)) {
        if (numbered)
            err_sys(err, "no random id for a run");
        else
            err_set(err, ERR_SYSTEM, "the database: the experiment %.64s has no number", experiment);
        return MLFLOW_REFUSED;
    }
    *ret = (struct mlflow_run){.id = arena_dup(a, id, 32),
                               .experiment = arena_dup(a, experiment, strlen(experiment)),
                               .name = arena_dup(a, name, strlen(name)),
                               .status = "RUNNING",
                               .artifact_uri = arena_printf(a, "mlflow-artifacts:/%s/%s/artifacts", experiment, id),
                               .user = arena_dup(a, user, strlen(user)),
                               .lifecycle = "active",
                               .start_ms = start_ms};
    if (a->failed) {
        err_memory(err, "MLflow's store");
        return MLFLOW_REFUSED;
    }
    enum mlflow_answer answer = store_begin(s, err);
    if (answer != MLFLOW_FINE)
        return answer;
    bind_text(s, PUT_RUN, 1, str_of(id));
    s->q.bind_int64(s->at[PUT_RUN], 2, number);
    bind_text(s, PUT_RUN, 3, str_of(name));
    bind_text(s, PUT_RUN, 4, str_of(user));
    s->q.bind_int64(s->at[PUT_RUN], 5, start_ms);
    bind_text(s, PUT_RUN, 6, str_of(ret->artifact_uri));
    answer = run_statement(s, PUT_RUN, err);
    if (answer == MLFLOW_FINE)
        answer = store_pair(s, id, false, STR("mlflow.runName"), str_of(name), err);
    for (size_t i = 0; i < n && answer == MLFLOW_FINE; i++)
        answer = store_pair(s, id, false, str_of(tags[i].key), tags[i].value, err);
    return answer;
}

enum mlflow_answer store_run_update(struct mlflow_store *s, const char *run, const char *status, int64_t end_ms, struct err *err)
{
    enum mlflow_answer answer = store_begin(s, err);
    if (answer != MLFLOW_FINE)
        return answer;
    bind_text(s, END_RUN, 1, str_of(run));
    bind_text(s, END_RUN, 2, str_of(status));
    if (end_ms)
        s->q.bind_int64(s->at[END_RUN], 3, end_ms);
    else
        s->q.bind_text(s->at[END_RUN], 3, NULL, 0, NULL);
    return run_statement(s, END_RUN, err);
}

enum mlflow_answer store_metric(struct mlflow_store *s, const char *run, struct str key, double value, int64_t time_ms, int64_t step,
                                struct err *err)
{
    static const enum statement both[] = {PUT_METRIC, PUT_LATEST};
    enum mlflow_answer answer = store_begin(s, err);
    for (size_t i = 0; i < 2 && answer == MLFLOW_FINE; i++) {
        bind_text(s, both[i], 1, str_of(run));
        bind_text(s, both[i], 2, key);
        /* MLflow's words for what is no finite number */
        s->q.bind_double(s->at[both[i]], 3, isnan(value) ? 0 : isinf(value) ? copysign(1.7976931348623157e308, value) : value);
        s->q.bind_int64(s->at[both[i]], 4, time_ms);
        s->q.bind_int64(s->at[both[i]], 5, step);
        s->q.bind_int64(s->at[both[i]], 6, isnan(value));
        answer = run_statement(s, both[i], err);
    }
    return answer;
}

enum mlflow_answer store_pair(struct mlflow_store *s, const char *run, bool param, struct str key, struct str value, struct err *err)
{
    enum statement which = param ? PUT_PARAM : PUT_TAG;
    enum mlflow_answer answer = store_begin(s, err);
    if (answer != MLFLOW_FINE)
        return answer;
    bind_text(s, which, 1, str_of(run));
    bind_text(s, which, 2, key);
    bind_text(s, which, 3, value);
    return run_statement(s, which, err);
}
