/* columns.c: labels of columns, with their units, as tables and CSV files have them. */
#include "benchmarks/columns.h"

struct str column_label(struct str field, struct str *ret_unit)
{
    const char *open = memchr(field.p, '(', field.n);
    *ret_unit = (struct str){NULL, 0};
    if (!open || open == field.p || field.p[field.n - 1] != ')')
        return field;
    size_t n = (size_t)(open - field.p);
    *ret_unit = str_sub(field, n + 1, field.n - n - 2);
    return str_trim(str_sub(field, 0, n));
}

int column_find(const struct str *fields, size_t n, struct str cell, const struct unit **ret_unit)
{
    size_t wanted = 1;
    const char *mark = memchr(cell.p, '#', cell.n);
    if (mark && mark > cell.p && mark + 1 < cell.p + cell.n && mark[1] >= '1' && mark[1] <= '9') {
        wanted = (size_t)(mark[1] - '0');
        cell.n = (size_t)(mark - cell.p);
    }
    for (size_t i = 0; i < n; i++) {
        struct str unit;
        if (str_eq(column_label(fields[i], &unit), cell) && --wanted == 0) {
            *ret_unit = unit.p ? units_find(unit) : NULL;
            return (int)i;
        }
    }
    return -1;
}

struct str column_plain(struct str cell)
{
    const char *mark = memchr(cell.p, '#', cell.n);
    return mark && mark > cell.p ? str_sub(cell, 0, (size_t)(mark - cell.p)) : cell;
}

bool column_is_statement(const struct str *fields, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        char last = fields[i].p[fields[i].n - 1];
        if ((last == '=' || last == ':') && (fields[i].n == 1 || str_is_letter(fields[i].p[0])))
            return true;
    }
    return false;
}
