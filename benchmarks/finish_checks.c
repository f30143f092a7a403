/* finish_checks.c: evaluates rules of sanity and required metrics. */
#include "benchmarks/coverage.h"
#include "benchmarks/finish.h"
#include "base/buf.h"

#include <stdio.h>

/* Returns whether a check holds. *ret_line becomes the first line that matches its pattern. */
static bool check_holds(struct ending *e, const struct check *c, int block, const char **ret_line)
{
    struct expr_names names = ending_names(e);
    if (c->kind == CHECK_EXPECT) {
        e->derive_limit = e->run->rules->deriveds;
        return expr_truth(c->expect, &names) != 0; /* a check without a result does not fail the run */
    }
    if (c->kind == CHECK_FILE)
        return e->run->source[2 + c->file].found || !e->run->files_known;
    size_t n = matches_of(e->run, c, block, ret_line);
    return c->kind == CHECK_MUST ? n > 0 : n == 0;
}

void check_one(struct ending *e, const struct check *c)
{
    unsigned n = c->once ? 1 : blocks_of(e->run);
    e->run->once_now = c->once;
    for (unsigned b = 0; b < n; b++) {
        const char *line = "";
        char plain[120] = "";
        e->run->block_now = b;
        if (!ending_holds(e, c->when) || check_holds(e, c, c->once ? -1 : (int)b, &line))
            continue;
        if (e->run->coverage)
            e->run->coverage->failed[c->bit - READERS_MAX]++;
        if (line[0]) {
            struct buf text;
            buf_init(&text, 400);
            buf_plain(&text, str_trim(str_of(line)), 90);
            snprintf(plain, sizeof(plain), ": %s", text.p ? text.p : "");
            buf_deinit(&text);
        }
        if (c->warn)
            record_warning(e->record, "%s%s%s", c->once ? "" : e->prefix[b], c->reason, plain);
        else
            ending_fail(e, c->once ? -1 : (int)b, " ", "%s%s", c->reason, plain);
    }
    e->run->once_now = false;
}

void required_one(struct ending *e, const struct required *q)
{
    for (unsigned b = 0; b < blocks_of(e->run); b++) {
        e->run->block_now = b;
        if (ending_holds(e, q->when) && !samples_of(e->run, str_of(q->metric), b))
            ending_fail(e, (int)b, "", "%s is missing", q->metric);
    }
}
