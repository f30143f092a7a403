/* listing_parts.h: what the parts of listing.h share: the cells. */
#ifndef BASE_LISTING_PARTS_H
#define BASE_LISTING_PARTS_H
#include "base/listing.h"

struct listing_cell {
    const char *text; /* NULL: nothing known */
    double value;
    bool number;
    enum style style;
    size_t span; /* columns that it covers: 1, 0 for those that the cell before covers */
};

static inline const struct listing_cell *listing_cell_at(const struct listing *l, size_t row, size_t column)
{
    return &l->cells[row * l->count + column];
}
#endif
