/* sqlite.c: SQLite's functions, loaded when they are needed first. */
#include "base/sqlite.h"

#include "base/library.h"

int sqlite_load(struct sqlite *q, struct err *err)
{
    void *library = library_open(LIBRARY_SQLITE);
    if (!library)
        return library_err(LIBRARY_SQLITE, err);
#define ROW(name)                                                                                                                          \
    {                                                                                                                                      \
        "sqlite3_" #name, &q->name                                                                                                         \
    }
    const struct library_function rows[] = {ROW(open_v2),    ROW(close_v2),     ROW(busy_timeout), ROW(exec),
                                            ROW(prepare_v2), ROW(finalize),     ROW(reset),        ROW(step),
                                            ROW(bind_int64), ROW(bind_double),  ROW(bind_text),    ROW(bind_null),
                                            ROW(column_int), ROW(column_int64), ROW(column_text),  ROW(errmsg)};
#undef ROW
    const char *lacks = library_take(library, rows, sizeof rows / sizeof *rows);
    return lacks ? err_set(err, ERR_SYSTEM, "the SQLite of this machine has no %s", lacks) : 0;
}
