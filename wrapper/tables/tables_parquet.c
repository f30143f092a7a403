/* tables_parquet.c: tables as Parquet (https://parquet.apache.org/docs/file-format/): groups of rows, each with one plain, uncompressed page for each
 * column, and the description of all of them at the end, in Thrift's compact protocol. */
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUP_BYTES = 16 << 20, /* of values that wait for their group to be written */
    COLUMN_MAX = 1 << 30,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_TEXT = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

/* ---- Thrift ---- */

static void put_varint(struct buf *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_putc(to, (char)(n | 0x80));
    buf_putc(to, (char)n);
}

static void put_zigzag(struct buf *to, int64_t n)
{
    put_varint(to, ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0));
}

/* Appends the header of a field. Fields of a struct are in rising order; *last is the id of the one
 * before, 0 at the beginning. */
static void put_field(struct buf *to, int *last, int id, int type)
{
    buf_putc(to, (char)((id - *last) << 4 | type));
    *last = id;
}

static void put_number_field(struct buf *to, int *last, int id, int type, int64_t n)
{
    put_field(to, last, id, type);
    put_zigzag(to, n);
}

static void put_thrift_text(struct buf *to, struct str text)
{
    put_varint(to, text.n);
    buf_str(to, text);
}

static void put_list_field(struct buf *to, int *last, int id, int type, size_t count)
{
    put_field(to, last, id, THRIFT_LIST);
    buf_putc(to, (char)((count < 15 ? count : 15) << 4 | (unsigned)type));
    if (count >= 15)
        put_varint(to, count);
}

/* ---- columns ---- */

struct parquet_column {
    struct buf values, levels; /* levels: runs of present and missing values */
    bool run_is; /* the run that is not written yet: present? */
    uint64_t run;
};
struct parquet_table {
    struct parquet_column *columns;
    struct buf groups; /* the descriptions of the groups that are written */
    size_t group_count;
    uint64_t rows, group_rows, offset;
    size_t waiting; /* bytes */
};

static int parquet_type(enum tables_type type)
{
    return type == TABLES_TEXT ? 6 : type == TABLES_NUMBER ? 5 : 2; /* BYTE_ARRAY, DOUBLE, INT64 */
}

static void put_bytes(struct buf *to, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(to, (char)(n >> (8 * i)));
}

static void end_level_run(struct parquet_column *c)
{
    if (c->run) {
        put_varint(&c->levels, c->run << 1);
        buf_putc(&c->levels, (char)c->run_is);
    }
    c->run = 0;
}

/* Appends the value to the column, in the format PLAIN; of a missing one only the definition level,
 * as a run of equal levels. */
static void add_parquet_value(struct parquet_column *c, const struct filter_value *v)
{
    bool is = v->is != FILTER_MISSING;
    if (is != c->run_is)
        end_level_run(c);
    c->run_is = is;
    c->run++;
    if (v->is == FILTER_TEXT) {
        size_t at = c->values.n;
        put_bytes(&c->values, 0, 4);
        buf_utf8(&c->values, v->text);
        size_t n = c->values.failed ? 0 : c->values.n - at - 4;
        for (int i = 0; i < 4 && !c->values.failed; i++)
            c->values.p[at + (size_t)i] = (char)(n >> (8 * i));
    } else if (v->is == FILTER_NUMBER) {
        uint64_t bits;
        memcpy(&bits, &v->number, sizeof bits);
        put_bytes(&c->values, bits, 8);
    } else if (v->is == FILTER_INTEGER) {
        put_bytes(&c->values, (uint64_t)v->integer, 8);
    }
}

static void parquet_write(struct tables_writer *w, struct parquet_table *t, const struct buf *b)
{
    fwrite(b->p ? b->p : "", 1, b->n, w->out);
    t->offset += b->n;
}

/* Writes one page with all values of the group; its description is appended. Returns the bytes that
 * it has. */
static uint64_t write_column(struct tables_writer *w, struct parquet_table *t, size_t i)
{
    struct parquet_column *c = &t->columns[i];
    struct buf *of = &t->groups;
    const uint64_t begin = t->offset;
    int last = 0, inner = 0;
    end_level_run(c);
    const size_t size = 4 + c->levels.n + c->values.n;
    buf_clear(&w->line);
    put_number_field(&w->line, &last, 1, THRIFT_I32, 0); /* a data page */
    put_number_field(&w->line, &last, 2, THRIFT_I32, (int64_t)size);
    put_number_field(&w->line, &last, 3, THRIFT_I32, (int64_t)size);
    put_field(&w->line, &last, 5, THRIFT_STRUCT);
    put_number_field(&w->line, &inner, 1, THRIFT_I32, (int64_t)t->group_rows);
    put_number_field(&w->line, &inner, 2, THRIFT_I32, 0); /* plain values */
    put_number_field(&w->line, &inner, 3, THRIFT_I32, 3); /* levels as runs */
    put_number_field(&w->line, &inner, 4, THRIFT_I32, 3);
    buf_putc(&w->line, 0);
    buf_putc(&w->line, 0);
    put_bytes(&w->line, c->levels.n, 4);
    parquet_write(w, t, &w->line);
    parquet_write(w, t, &c->levels);
    parquet_write(w, t, &c->values);
    const int64_t bytes = (int64_t)(t->offset - begin);
    last = inner = 0;
    put_number_field(of, &last, 2, THRIFT_I64, (int64_t)begin);
    put_field(of, &last, 3, THRIFT_STRUCT);
    put_number_field(of, &inner, 1, THRIFT_I32, parquet_type(w->columns[i].type));
    put_list_field(of, &inner, 2, THRIFT_I32, 2);
    put_zigzag(of, 0);
    put_zigzag(of, 3);
    put_list_field(of, &inner, 3, THRIFT_TEXT, 1);
    put_thrift_text(of, str_of(w->columns[i].name));
    put_number_field(of, &inner, 4, THRIFT_I32, 0);
    put_number_field(of, &inner, 5, THRIFT_I64, (int64_t)t->group_rows);
    put_number_field(of, &inner, 6, THRIFT_I64, bytes);
    put_number_field(of, &inner, 7, THRIFT_I64, bytes);
    put_number_field(of, &inner, 9, THRIFT_I64, (int64_t)begin);
    buf_putc(of, 0);
    buf_putc(of, 0);
    return (uint64_t)bytes;
}

/* Writes the collected rows as a row group and adds its metadata to t->groups. Returns -1 when out
 * of memory. */
static int write_group(struct tables_writer *w, struct parquet_table *t)
{
    int last = 0;
    uint64_t bytes = 0;
    bool failed = false;
    if (!t->group_rows)
        return 0;
    put_list_field(&t->groups, &last, 1, THRIFT_STRUCT, w->count);
    for (size_t i = 0; i < w->count; i++) {
        bytes += write_column(w, t, i);
        failed = failed || t->columns[i].values.failed || t->columns[i].levels.failed;
        buf_clear(&t->columns[i].values);
        buf_clear(&t->columns[i].levels);
    }
    put_number_field(&t->groups, &last, 2, THRIFT_I64, (int64_t)bytes);
    put_number_field(&t->groups, &last, 3, THRIFT_I64, (int64_t)t->group_rows);
    buf_putc(&t->groups, 0);
    t->group_count++;
    t->rows += t->group_rows;
    t->group_rows = 0;
    t->waiting = 0;
    buf_clear(&w->line);
    return failed || t->groups.failed ? -1 : 0;
}

/* ---- the form ---- */

/* Frees the table, which may be NULL or incomplete. */
static void parquet_free(struct tables_writer *w, struct parquet_table *t)
{
    for (size_t i = 0; t && t->columns && i < w->count; i++) {
        buf_deinit(&t->columns[i].values);
        buf_deinit(&t->columns[i].levels);
    }
    if (t) {
        buf_deinit(&t->groups);
        free(t->columns);
    }
    free(t);
    w->own = NULL;
}

/* Allocates the columns, which tables_parquet_end frees, and writes the first bytes of the file.
 * Returns -1 when out of memory; then nothing is left to free. */
static int tables_parquet_begin(struct tables_writer *w)
{
    struct parquet_table *t = calloc(1, sizeof *t);
    w->own = t;
    if (!t || !(t->columns = calloc(w->count + 1, sizeof *t->columns))) {
        parquet_free(w, t);
        return -1;
    }
    buf_init(&t->groups, COLUMN_MAX);
    for (size_t i = 0; i < w->count; i++) {
        buf_init(&t->columns[i].values, COLUMN_MAX);
        buf_init(&t->columns[i].levels, COLUMN_MAX);
    }
    fputs("PAR1", w->out);
    t->offset = 4;
    return 0;
}

/* Adds a row to the group, which is written once its values have GROUP_BYTES. Returns -1 when out
 * of memory. */
static int tables_parquet_row(struct tables_writer *w, const struct filter_value *values)
{
    struct parquet_table *t = w->own;
    for (size_t i = 0; i < w->count; i++) {
        const size_t was = t->columns[i].values.n;
        add_parquet_value(&t->columns[i], &values[i]);
        t->waiting += t->columns[i].values.n - was + 1;
    }
    t->group_rows++;
    return t->waiting < GROUP_BYTES ? 0 : write_group(w, t);
}

/* Appends the schema to w->line: a root, and each column as optional with its type. */
static void put_schema(struct tables_writer *w)
{
    int last = 0;
    put_field(&w->line, &last, 4, THRIFT_TEXT);
    put_thrift_text(&w->line, STR("runs"));
    put_number_field(&w->line, &last, 5, THRIFT_I32, (int64_t)w->count);
    buf_putc(&w->line, 0);
    for (size_t i = 0; i < w->count; i++) {
        const enum tables_type type = w->columns[i].type;
        last = 0;
        put_number_field(&w->line, &last, 1, THRIFT_I32, parquet_type(type));
        put_number_field(&w->line, &last, 3, THRIFT_I32, 1); /* may be missing */
        put_field(&w->line, &last, 4, THRIFT_TEXT);
        put_thrift_text(&w->line, str_of(w->columns[i].name));
        if (type == TABLES_TEXT || type == TABLES_TIME)
            put_number_field(&w->line, &last, 6, THRIFT_I32, type == TABLES_TEXT ? 0 : 9); /* UTF-8, milliseconds since 1970 */
        buf_putc(&w->line, 0);
    }
}

/* Writes the last row group and the metadata, unless w->failed, and frees the table. Returns -1
 * when out of memory or after a failure. */
static int tables_parquet_end(struct tables_writer *w)
{
    struct parquet_table *t = w->own;
    int last = 0, rc = t && t->columns && !w->failed ? write_group(w, t) : -1;
    if (rc == 0) {
        buf_clear(&w->line);
        put_number_field(&w->line, &last, 1, THRIFT_I32, 1);
        put_list_field(&w->line, &last, 2, THRIFT_STRUCT, w->count + 1);
        put_schema(w);
        put_number_field(&w->line, &last, 3, THRIFT_I64, (int64_t)t->rows);
        put_list_field(&w->line, &last, 4, THRIFT_STRUCT, t->group_count);
        buf_str(&w->line, buf_text(&t->groups));
        put_field(&w->line, &last, 6, THRIFT_TEXT);
        put_thrift_text(&w->line, STR("benchwrap"));
        buf_putc(&w->line, 0);
        put_bytes(&w->line, w->line.n, 4);
        buf_puts(&w->line, "PAR1");
        parquet_write(w, t, &w->line);
        rc = w->line.failed || t->groups.failed ? -1 : 0;
    }
    parquet_free(w, t);
    return rc;
}

const struct tables_form tables_parquet = {"parquet", false, tables_parquet_begin, tables_parquet_row, tables_parquet_end};
