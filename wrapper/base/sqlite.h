/* sqlite.h: SQLite's functions, loaded (dlopen) when they are needed first. */
#ifndef BASE_SQLITE_H
#define BASE_SQLITE_H
#include "base/err.h"

#include <stdint.h>

/* Of sqlite3.h, whose interface is stable (SQLite's promise for version 3). */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
enum { SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101, SQLITE_OPEN_READONLY = 1, SQLITE_OPEN_READWRITE = 2, SQLITE_OPEN_CREATE = 4 };

struct sqlite {
    int (*open_v2)(const char *path, sqlite3 **ret, int flags, const char *vfs);
    int (*close_v2)(sqlite3 *);
    int (*busy_timeout)(sqlite3 *, int ms);
    int (*exec)(sqlite3 *, const char *sql, int (*each)(void *, int, char **, char **), void *, char **);
    int (*prepare_v2)(sqlite3 *, const char *sql, int bytes, sqlite3_stmt **ret, const char **tail);
    int (*finalize)(sqlite3_stmt *);
    int (*reset)(sqlite3_stmt *);
    int (*step)(sqlite3_stmt *);
    int (*bind_int64)(sqlite3_stmt *, int at, int64_t);
    int (*bind_double)(sqlite3_stmt *, int at, double);
    int (*bind_text)(sqlite3_stmt *, int at, const char *, int bytes, void (*destroy)(void *));
    int (*bind_null)(sqlite3_stmt *, int at);
    int (*column_int)(sqlite3_stmt *, int at);
    int64_t (*column_int64)(sqlite3_stmt *, int at);
    const unsigned char *(*column_text)(sqlite3_stmt *, int at);
    const char *(*errmsg)(sqlite3 *);
};
/* Loads SQLite, which stays loaded. ERR_SYSTEM: it is not installed (the text names the package),
 * or too old. */
int sqlite_load(struct sqlite *ret, struct err *err);
#endif
