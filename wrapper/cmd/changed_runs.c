/* changed_runs.c: the list of runs that a command has retracted or annotated. */
#include "cmd/changed_runs.h"

void changed_runs_begin(struct listing *ret, struct arena *a)
{
    static const struct listing_column columns[] = {
        {"id", NULL, false, 0},         {"short", "RUN", false, 0}, {"name", "NAME", false, 40}, {"experiment", "EXPERIMENT", false, 30},
        {"result", "RESULT", false, 0}, {"by", NULL, false, 0},     {"path", NULL, false, 0},
    };
    listing_init(ret, columns, sizeof columns / sizeof *columns, a);
}

void changed_runs_add(struct listing *l, const struct tree_run *run, const char *result, const char *by, const char *place)
{
    listing_text(l, run->id);
    listing_str(l, (struct str){run->id, 8});
    listing_text(l, run->name);
    listing_text(l, run->experiment);
    listing_text(l, result);
    listing_text(l, by);
    listing_text(l, place);
}
