/* hostlist.c: Slurm's short form of several node names: membership without writing the names out, and the names. */
#include "base/hostlist.h"

#include <stdio.h>

enum { NAME_BYTES = 256 };
enum { DIMENSIONS = 8 /* brackets in one name */, DIGITS = 18 };

/* Returns the part before the next comma outside of brackets, and removes it from *list. The item
 * may be empty; the list has ended when list->n is 0. */
static struct str hostlist_cut(struct str *list)
{
    size_t n = 0;
    for (bool inside = false; n < list->n && (inside || list->p[n] != ','); n++)
        inside = list->p[n] == '[' || (inside && list->p[n] != ']');
    struct str item = str_sub(*list, 0, n);
    *list = str_sub(*list, n < list->n ? n + 1 : n, list->n);
    return item;
}

/* Returns whether the range ("7", "01-12") has this number, written with these digits. */
static bool range_has(struct str range, struct str digits)
{
    struct str high = range, low = str_cut(&high, '-');
    int64_t from, to, n;
    if (!high.p)
        return str_eq(low, digits);
    if (low.n > DIGITS || high.n > DIGITS || !str_int(low, &from) || !str_int(high, &to) || !str_int(digits, &n) || n < from || n > to)
        return false;
    return digits.n == low.n || (digits.n > low.n && *digits.p != '0'); /* numbers are filled up to the width of the first */
}

/* Returns whether the item of a host list ("n[01-12]-ib") holds the name; of more than DIMENSIONS
 * brackets it does not. */
static bool item_has(struct str item, struct str name, int depth)
{
    ptrdiff_t open = str_find(item, STR("["));
    if (open < 0 || depth == DIMENSIONS)
        return open < 0 && str_eq(item, name);
    struct str rest = str_sub(item, (size_t)open + 1, item.n), inside = str_cut(&rest, ']');
    if (!rest.p || name.n < (size_t)open || !str_eq(str_sub(item, 0, (size_t)open), str_sub(name, 0, (size_t)open)))
        return false;
    name = str_sub(name, (size_t)open, name.n);
    for (size_t n = 1; n <= name.n && n <= DIGITS && str_is_digit(name.p[n - 1]); n++)
        for (struct str ranges = inside; ranges.p;)
            if (range_has(str_cut(&ranges, ','), str_sub(name, 0, n)) && item_has(rest, str_sub(name, n, name.n), depth + 1))
                return true;
    return false;
}

bool hostlist_has(struct str list, struct str name)
{
    while (list.n && name.n)
        if (item_has(hostlist_cut(&list), name, 0))
            return true;
    return false;
}

/* ---- each name ---- */

struct hostlist_walk {
    int (*each)(void *context, struct str name);
    void *context;
    char name[NAME_BYTES];
};

/* Reads a range such as "01-12"; its width is the number of digits of the first number. False: it
 * is no range of numbers. */
static bool range_read(struct str range, int64_t *ret_from, int64_t *ret_to, int *ret_width)
{
    struct str high = range, low = str_cut(&high, '-');
    if (!high.p)
        high = low;
    *ret_width = (int)low.n;
    return low.n && low.n <= DIGITS && high.n <= DIGITS && str_int(low, ret_from) && str_int(high, ret_to) && *ret_from >= 0 &&
           *ret_to >= *ret_from;
}

/* Calls w->each for every name of an item whose first n bytes are in w->name, and returns the first
 * result that is not 0. What is no valid list is passed as it is. */
static int item_each(struct hostlist_walk *w, size_t n, struct str item, int depth)
{
    ptrdiff_t open = str_find(item, STR("["));
    struct str plain = open < 0 ? item : str_sub(item, 0, (size_t)open);
    if (n + plain.n >= NAME_BYTES)
        return w->each(w->context, item);
    memcpy(w->name + n, plain.p, plain.n);
    n += plain.n;
    if (open < 0 || depth == DIMENSIONS)
        return n ? w->each(w->context, (struct str){w->name, n}) : 0;
    struct str rest = str_sub(item, (size_t)open + 1, item.n), ranges = str_cut(&rest, ']');
    int rc = 0;
    while (rc == 0 && rest.p && ranges.p) {
        struct str range = str_cut(&ranges, ',');
        int64_t from, to;
        int width;
        if (!range_read(range, &from, &to, &width))
            return w->each(w->context, item);
        for (; rc == 0 && from <= to; from++) {
            int more = snprintf(w->name + n, NAME_BYTES - n, "%0*lld", width, (long long)from);
            rc = more < 0 || n + (size_t)more >= NAME_BYTES ? w->each(w->context, item) : item_each(w, n + (size_t)more, rest, depth + 1);
        }
    }
    return rest.p ? rc : w->each(w->context, item);
}

int hostlist_each(struct str list, int (*each)(void *context, struct str name), void *context)
{
    struct hostlist_walk w = {.each = each, .context = context};
    int rc = 0;
    while (rc == 0 && list.n) {
        struct str item = str_trim(hostlist_cut(&list));
        rc = item.n ? item_each(&w, 0, item, 0) : 0;
    }
    return rc;
}
