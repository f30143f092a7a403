/* parents.c: check a run that is one test of a larger output: its id follows from its parent's, and
 * its metrics are the parent's. */
#include "check/verify.h"

#include <stdio.h>

enum { VALUE_MAX = 1 << 20 };

/* Returns whether two files of a metric have the same values and steps, whatever the times. */
static bool same_samples(struct str a, struct str b)
{
    while (a.p && a.n && b.p && b.n) {
        struct str x = str_cut(&a, '\n'), y = str_cut(&b, '\n');
        str_cut(&x, ' ');
        str_cut(&y, ' ');
        if (!x.p || !y.p || !str_eq(x, y))
            return false;
    }
    return !(a.p && a.n) && !(b.p && b.n);
}

/* Compares the id and the metrics of a run that is one test of a larger output with its parent run,
 * which has them as BLOCK.KEY. Reports at most three metrics that differ. */
static void compare_block(struct run_check *r, const char *block, const char *parent)
{
    char name[400], id[33], path[900];
    size_t told = 0;
    snprintf(name, sizeof name, "child:%.32s/%.300s", parent, block);
    record_named_id(id, str_of(name));
    if (strcmp(id, r->id) != 0)
        run_found(r, CHECK_IDENTITY, "", 0, "it is one test of the run %.8s, and its id is not the one that follows from that", parent);
    for (const struct json *m = json_first(json_get(r->record, "metrics")); m && told < 3; m = json_next(m)) {
        CLEANUP_BUF struct buf b;
        const struct check_entry *e = run_entry(r, 'm', json_key(m));
        buf_init(&b, VALUE_MAX + (1 << 17));
        if (!e || !verify_is_from_rules(json_string(json_get(m, "source"), "")))
            continue;
        snprintf(path, sizeof path, "%s/%s/metrics/%.200s.%.300s", r->experiment, parent, block, json_key(m));
        if (!r->k->tree || folder_read(r->k->tree, path, VALUE_MAX, &b) < 0 || !same_samples(e->value, buf_text(&b))) {
            snprintf(path, sizeof path, "metrics/%.300s", json_key(m));
            run_found(r, CHECK_TRUTH, path, 0, "its parent run %.8s has not these values as %.100s.%.200s", parent, block, json_key(m));
            told++;
        }
    }
}

void check_block(struct run_check *r)
{
    const char *block = run_text(r, 't', "benchwrap.block"), *parent = run_text(r, 't', "mlflow.parentRunId");
    char path[100];
    struct folder_entry e;
    snprintf(path, sizeof path, "%.12s/%.40s", r->experiment, parent ? parent : "");
    if (!record_is_id(str_of(parent)))
        run_found(r, CHECK_IDENTITY, "tags/mlflow.parentRunId", 0, "it is one test of a larger output, and names no run that has it");
    else if (r->k->tree && folder_look(r->k->tree, path, &e, NULL) < 0)
        run_found(r, CHECK_UNVERIFIABLE, "", 0, "the run %.8s, which has its output, is not here", parent);
    else if (r->k->tree)
        compare_block(r, block, parent);
}
