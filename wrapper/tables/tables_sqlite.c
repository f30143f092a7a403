/* tables_sqlite.c: tables as SQLite files: one table "runs" or "samples", typed columns.
 *
 * SQLite has no NaN: it would store NULL, which stands for a missing value. So NaN is the text 'NaN' in its column of numbers. */
#include "tables/tables.h"

#include "base/fs.h"
#include "base/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SQLITE_COLUMNS_MAX = 2000 /* SQLite's own limit, as it is built everywhere */, ROWS_AT_ONCE = 10000 };

struct sqlite_table {
    struct sqlite q;
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct fs_new file;
    size_t waiting;
};

static int sqlite_refuse(struct tables_writer *w, const char *what)
{
    const struct sqlite_table *t = w->own;
    return err_set(&w->why, ERR_SYSTEM, "cannot %s %s: %.200s", what, w->path,
                   t->db ? t->q.errmsg(t->db) : "out of memory"); /* sqlite3_open sets NULL then alone */
}

/* Appends a name in SQL's double quotes. */
static void put_sql_name(struct buf *to, const char *name)
{
    buf_putc(to, '"');
    for (; *name; name++) {
        if (*name == '"')
            buf_putc(to, '"');
        buf_putc(to, *name);
    }
    buf_putc(to, '"');
}

/* Appends the column's name. SQLite does not distinguish columns by the case of letters: a later
 * one gets a number behind it. */
static void put_column_name(struct tables_writer *w, size_t i, struct buf *to)
{
    CLEANUP_BUF struct buf name;
    size_t same = 1;
    buf_init(&name, 1 << 16);
    for (size_t k = 0; k < i; k++)
        same += strcasecmp(w->columns[k].name, w->columns[i].name) == 0;
    buf_puts(&name, w->columns[i].name);
    if (same > 1)
        buf_printf(&name, "~%zu", same);
    put_sql_name(to, name.p);
}

/* Creates the table "samples" (with --long) or "runs", begins a transaction, and prepares the
 * insertion. Returns -1; w->why has the reason unless it is out of memory. */
static int create_table(struct tables_writer *w)
{
    static const char *const types[] = {
        [TABLES_TEXT] = "TEXT", [TABLES_NUMBER] = "REAL", [TABLES_INTEGER] = "INTEGER", [TABLES_TIME] = "INTEGER"};
    struct sqlite_table *t = w->own;
    CLEANUP_BUF struct buf sql, insert;
    const char *table = w->count && strcmp(w->columns[w->count - 1].name, "direction") == 0 ? "samples" : "runs";
    buf_init(&sql, 8 << 20);
    buf_init(&insert, 1 << 20);
    buf_printf(&sql, "CREATE TABLE %s (", table);
    buf_printf(&insert, "INSERT INTO %s VALUES (", table);
    for (size_t i = 0; i < w->count; i++) {
        buf_puts(&sql, i ? ", " : "");
        put_column_name(w, i, &sql);
        buf_printf(&sql, " %s", types[w->columns[i].type]);
        buf_puts(&insert, i ? ", ?" : "?");
    }
    buf_puts(&sql, ")");
    buf_puts(&insert, ")");
    if (sql.failed || insert.failed)
        return -1;
    if (t->q.exec(t->db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL) != SQLITE_OK ||
        t->q.exec(t->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL) != SQLITE_OK ||
        t->q.exec(t->db, sql.p, NULL, NULL, NULL) != SQLITE_OK || t->q.exec(t->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        t->q.prepare_v2(t->db, insert.p, -1, &t->insert, NULL) != SQLITE_OK)
        return sqlite_refuse(w, "write");
    return 0;
}

/* Closes the database and frees the table. A new file that was not completed is removed. */
static void sqlite_table_free(struct tables_writer *w)
{
    struct sqlite_table *t = w->own;
    if (!t)
        return;
    if (t->insert)
        t->q.finalize(t->insert);
    if (t->db)
        t->q.close_v2(t->db);
    if (t->file.folder >= 0)
        fs_new_end(&t->file, w->path, false, NULL);
    free(t);
    w->own = NULL;
}

/* Creates the database under a temporary name in the target's folder. Returns -1 with w->why, which
 * is empty when out of memory; the table is then freed. */
static int tables_sqlite_begin(struct tables_writer *w)
{
    if (w->count > SQLITE_COLUMNS_MAX)
        return err_set(&w->why, ERR_USAGE,
                       "--format sqlite: a table has at most %d columns, got %zu; name fewer with --columns, or use --long",
                       SQLITE_COLUMNS_MAX, w->count);
    struct sqlite_table *t = calloc(1, sizeof *t);
    char path[100];
    w->own = t;
    if (!t)
        return -1;
    t->file.folder = -1;
    int rc = sqlite_load(&t->q, &w->why) < 0 || fs_new_begin(&t->file, w->path, 0644, &w->why) < 0 ? -1 : 0;
    if (rc == 0) { /* SQLite opens by a path, and never a link: it finds the folder that is open here */
        snprintf(path, sizeof path, "/proc/self/fd/%d/%s", t->file.folder, t->file.temporary);
        rc = t->q.open_v2(path, &t->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK ? create_table(w) : sqlite_refuse(w, "create");
    }
    if (rc < 0)
        sqlite_table_free(w);
    return rc;
}

/* Sets the value of the insertion's parameter `at`, from 1. The text must live until the row is
 * inserted. Returns a code of SQLite. */
static int bind_value(const struct sqlite_table *t, int at, const struct filter_value *v)
{
    switch (v->is) {
    case FILTER_TEXT: return t->q.bind_text(t->insert, at, v->text.p ? v->text.p : "", (int)v->text.n, NULL);
    case FILTER_NUMBER:
        return isnan(v->number) ? t->q.bind_text(t->insert, at, "NaN", 3, NULL) : t->q.bind_double(t->insert, at, v->number);
    case FILTER_INTEGER: return t->q.bind_int64(t->insert, at, v->integer);
    case FILTER_MISSING: break;
    }
    return t->q.bind_null(t->insert, at);
}

/* Inserts a row, and commits after each ROWS_AT_ONCE rows. Returns -1 with w->why. */
static int tables_sqlite_row(struct tables_writer *w, const struct filter_value *values)
{
    struct sqlite_table *t = w->own;
    int rc = SQLITE_OK;
    for (size_t i = 0; i < w->count && rc == SQLITE_OK; i++)
        rc = bind_value(t, (int)i + 1, &values[i]);
    if (rc != SQLITE_OK || t->q.step(t->insert) != SQLITE_DONE)
        return sqlite_refuse(w, "write");
    t->q.reset(t->insert);
    if (++t->waiting < ROWS_AT_ONCE)
        return 0;
    t->waiting = 0;
    return t->q.exec(t->db, "COMMIT; BEGIN", NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_refuse(w, "write");
}

/* Commits and renames the file to its path, unless w->failed, and frees the table. Returns -1, with
 * w->why for an error of its own. */
static int tables_sqlite_end(struct tables_writer *w)
{
    struct sqlite_table *t = w->own;
    int rc = t && !w->failed ? 0 : -1;
    if (rc == 0 && t->q.exec(t->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rc = sqlite_refuse(w, "write");
    if (rc == 0) {
        t->q.finalize(t->insert);
        t->insert = NULL;
        if (t->q.close_v2(t->db) != SQLITE_OK)
            rc = err_set(&w->why, ERR_SYSTEM, "cannot write %s", w->path);
        t->db = NULL;
        if (rc == 0)
            rc = fs_new_end(&t->file, w->path, true, &w->why);
    }
    sqlite_table_free(w);
    return rc;
}

const struct tables_form tables_sqlite = {"sqlite", true, tables_sqlite_begin, tables_sqlite_row, tables_sqlite_end};
