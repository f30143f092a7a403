/* tables_mlflow.c: a tree as MLflow's SQLite store, by MLflow's own migration. It drops some runs and entries without a word: so the counts are compared. */
#include "tables/tables.h"

#include "base/query.h"
#include "base/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMED_MAX = 10, ANSWER_MAX = 4 << 20 };

struct migrated {
    struct sqlite q;
    sqlite3 *db;
    struct runs *runs;
    FILE *notes;
    size_t present; /* runs that still are in the tree */
    size_t missing; /* runs that the database lacks */
    int64_t params, samples, tags; /* of the tree's runs */
    struct err *err;
};

/* Runs "mlflow migrate-filestore" from the tree into a new database at `path`, and waits for its
 * end without a time limit. Returns -1 with err, which has the last 600 bytes that it printed. */
static int run_migration(const char *mlflow, const char *tree, const char *path, char **env, struct arena *a, struct err *err)
{
    struct query q = QUERY_NONE;
    size_t n = 0;
    while (env[n])
        n++;
    char **own = arena_get(a, (n + 2) * sizeof *own);
    char *argv[] = {(char *)mlflow,
                    (char[]){"migrate-filestore"},
                    (char[]){"--source"},
                    (char *)tree,
                    (char[]){"--target"},
                    arena_printf(a, "sqlite:///%s", path),
                    NULL};
    if (!own || !argv[5])
        return err_memory(err, "MLflow's migration");
    if (n)
        memcpy(own, env, n * sizeof *own);
    own[n] = (char[]){"MLFLOW_ALLOW_FILE_STORE=true"};
    if (query_start(&q, argv, own, ANSWER_MAX, 0, 0, err) < 0) {
        query_close(&q);
        return err_wrap(err, "starting %s", mlflow);
    }
    while (query_wait(&q, 1000) == QUERY_RUNS)
        ;
    int status = q.end == QUERY_DONE && q.status == 0 ? 0 : -1;
    if (status < 0) {
        struct str why = str_trim(q.why.n ? buf_text(&q.why) : buf_text(&q.text));
        CLEANUP_BUF struct buf last;
        buf_init(&last, 4096);
        buf_plain(&last, str_sub(why, why.n > 600 ? why.n - 600 : 0, why.n), 600);
        err_set(err, ERR_SYSTEM, "\"mlflow migrate-filestore\" failed: %s", last.p ? last.p : "no message");
        err_hint(err, "MLflow 3.10 or newer has it: pip install -U mlflow");
    }
    query_close(&q);
    return status;
}

/* Returns the number that the query selects; -1: the database cannot be read. */
static int64_t count_rows(const struct migrated *m, const char *sql)
{
    sqlite3_stmt *at;
    int64_t n = -1;
    if (m->q.prepare_v2(m->db, sql, -1, &at, NULL) != SQLITE_OK)
        return -1;
    if (m->q.step(at) == SQLITE_ROW)
        n = m->q.column_int64(at, 0);
    m->q.finalize(at);
    return n;
}

/* Checks that the database has the run, and reports it if not. Adds its params, tags and samples to
 * the counts. A run that was deleted since the listing is not counted. Returns -1 with err. */
static int check_migrated_run(struct migrated *m, const struct tree_run *run, struct arena *a)
{
    const struct folder tree = runs_tree(m->runs, run);
    struct tree_run whole = *run;
    sqlite3_stmt *at;
    if (m->q.prepare_v2(m->db, "SELECT 1 FROM runs WHERE run_uuid = ?1", -1, &at, NULL) != SQLITE_OK)
        return err_set(m->err, ERR_SYSTEM, "the database: %.200s", m->q.errmsg(m->db));
    m->q.bind_text(at, 1, run->id, -1, NULL);
    bool there = m->q.step(at) == SQLITE_ROW;
    m->q.finalize(at);
    tree_fill(&tree, &whole, TREE_PARAMS | TREE_METRICS | TREE_TAGS, a);
    if (tree_is_gone(&tree, run)) {
        m->runs->gone++;
        return 0;
    }
    m->present++;
    if (!there && m->missing++ < NAMED_MAX)
        fprintf(m->notes, "benchwrap: export: MLflow's migration has left out the run %s%s\n", run->path,
                run->problem ? ", which is damaged" : "");
    for (const struct tree_entry *e = whole.params; e; e = e->next)
        m->params++;
    for (const struct tree_entry *e = whole.tags; e; e = e->next)
        m->tags++;
    for (const struct tree_entry *e = whole.metrics; e; e = e->next)
        m->samples += (int64_t)e->count;
    return 0;
}

/* Prints one count, that of the database by a query. Returns 1: the database has fewer rows than the
 * tree; 0: it has not; -1 with m->err: it cannot be read. */
static int print_count(const struct migrated *m, FILE *out, const char *what, int64_t tree, const char *sql)
{
    int64_t database = sql ? count_rows(m, sql) : (int64_t)(m->present - m->missing);
    if (database < 0)
        return err_set(m->err, ERR_SYSTEM, "cannot count the %s in MLflow's database: %.200s", what, m->q.errmsg(m->db));
    fprintf(out, "%-8s %10lld in the tree %10lld in the database%s\n", what, (long long)tree, (long long)database,
            database < tree ? "  MISSING" : "");
    return database < tree;
}

/* Prints how many runs, params, samples and tags the tree and the database have. Returns 0: the
 * database lacks none; 1: it lacks some; -1 with err. */
static int compare_counts(struct migrated *m, FILE *out)
{
    for (size_t i = 0; i < m->runs->count; i++) {
        struct arena one;
        arena_init(&one, 0);
        int status = check_migrated_run(m, m->runs->all[i], &one);
        arena_deinit(&one);
        if (status < 0)
            return -1;
    }
    if (m->missing > NAMED_MAX)
        fprintf(m->notes, "benchwrap: export: MLflow's migration has left out %zu more runs\n", m->missing - NAMED_MAX);
    const struct {
        const char *what, *sql; /* NULL: the runs, which were read one by one */
        int64_t tree;
    } rows[] = {
        {"runs", NULL, (int64_t)m->present},
        {"params", "SELECT count(*) FROM params JOIN runs USING (run_uuid) WHERE lifecycle_stage = 'active'", m->params},
        {"samples", "SELECT count(*) FROM metrics JOIN runs USING (run_uuid) WHERE lifecycle_stage = 'active'", m->samples},
        {"tags", "SELECT count(*) FROM tags JOIN runs USING (run_uuid) WHERE lifecycle_stage = 'active'", m->tags},
    };
    bool missing = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int fewer = print_count(m, out, rows[i].what, rows[i].tree, rows[i].sql);
        if (fewer < 0)
            return -1;
        missing = missing || fewer;
    }
    return missing ? 1 : 0;
}

int tables_mlflow_db(struct runs *runs, const char *mlflow, const char *path, char **env, FILE *out, FILE *notes, struct arena *a,
                     struct err *err)
{
    static const struct runs_filter everything = {.corrected = true};
    struct migrated m = {.runs = runs, .notes = notes, .err = err};
    struct stat st;
    if (sqlite_load(&m.q, err) < 0 || runs_load(runs, &everything, a, err) < 0)
        return -1;
    if (lstat(path, &st) == 0)
        return err_set(err, ERR_INPUT, "%s exists: MLflow's migration writes a new database only; remove it, or name another file", path);
    if (errno != ENOENT)
        return err_sys(err, "cannot write %s", path);
    char *folder = realpath(".", NULL);
    const char *full = path[0] == '/' ? path : folder ? arena_printf(a, "%s/%s", folder, path) : NULL;
    free(folder);
    if (!full)
        return err_memory(err, "MLflow's database");
    if (run_migration(mlflow, runs->tree, full, env, a, err) < 0)
        return -1;
    if (m.q.open_v2(full, &m.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "MLflow's migration has made no database %s", path);
    int status = compare_counts(&m, out);
    m.q.close_v2(m.db);
    return status;
}
