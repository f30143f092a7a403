/* hostlist.c: Slurm's short form of several node names: membership, without writing the names out. */
#include "base/hostlist.h"

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

/* "7", "01-12": does it hold this number, written with these digits? */
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
