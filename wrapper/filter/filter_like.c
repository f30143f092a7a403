/* filter_like.c: LIKE and ILIKE as MLflow's file store evaluates them, with Python's regular expressions: ".*" for "%" and "." for "_". */
#include "filter/filter_parts.h"

struct like {
    struct str text, pattern;
    bool any_case;
};

/* Returns how many bytes at `at` one element of the pattern matches ("_" any but a line end); 0:
 * none. */
static size_t like_one(const struct like *l, size_t at, uint32_t element)
{
    uint32_t c;
    if (at == l->text.n)
        return 0;
    size_t k = filter_char(l->text.p + at, l->text.n - at, &c);
    bool same = element == '_' ? c != '\n' : c == element || (l->any_case && filter_char_same(c, element));
    return same ? k : 0;
}

/* Returns whether the text ends here, where a pattern that does not end in "%" must: at its end, or
 * at the line end that it ends in. */
static bool like_ends(const struct like *l, size_t at)
{
    return at == l->text.n || (at + 1 == l->text.n && l->text.p[at] == '\n');
}

bool filter_like(struct str text, struct str pattern, bool any_case)
{
    const struct like l = {text, pattern, any_case};
    bool open = str_ends(pattern, "%");
    size_t t = 0, p = 0, again_t = 0, again_p = SIZE_MAX; /* where the last "%" may match one character more */
    for (;;) {
        uint32_t element = 0;
        size_t k = p < pattern.n ? filter_char(pattern.p + p, pattern.n - p, &element) : 0, got;
        if (k && element == '%') {
            p += k;
            again_p = p;
            again_t = t;
        } else if (k && (got = like_one(&l, t, element)) > 0) {
            p += k;
            t += got;
        } else if (!k && (open || like_ends(&l, t))) {
            return true;
        } else {
            got = again_p == SIZE_MAX ? 0 : like_one(&l, again_t, '_');
            if (!got)
                return false;
            again_t += got;
            t = again_t;
            p = again_p;
        }
    }
}
