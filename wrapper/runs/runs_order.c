/* runs_order.c: sorts runs by facts that are read once for each run. */
#include "runs/runs_order.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_KEYS_MAX = 16, ORDER_TEXT_MAX = 1 << 20 };

struct order_keys {
    struct filter_key key[ORDER_KEYS_MAX];
    bool descending[ORDER_KEYS_MAX];
    size_t count;
};
struct ordered_run {
    struct tree_run *run;
    struct filter_value *values; /* one for each key */
    const struct order_keys *keys;
};
struct order_reading {
    const struct runs *runs;
    struct ordered_run *list;
};

/* Orders runs by the keys of the user, then newest first, then by id. */
static int compare_ordered_runs(const void *a, const void *b)
{
    const struct ordered_run *x = a, *y = b;
    for (size_t i = 0; i < x->keys->count; i++) {
        int order = filter_value_order(&x->values[i], &y->values[i], x->keys->descending[i]);
        if (order)
            return order;
    }
    if (x->run->start_ms != y->run->start_ms)
        return x->run->start_ms < y->run->start_ms ? 1 : -1;
    return strcmp(x->run->id, y->run->id);
}

/* Reads the values of one run by which it is sorted, in the arena. Workers call it in parallel. A
 * damaged value becomes the run's problem. */
static void read_ordered_run(void *context, size_t i, struct arena *a)
{
    const struct order_reading *r = context;
    struct ordered_run *of = &r->list[i];
    const struct folder tree = runs_tree(r->runs, of->run);
    CLEANUP_BUF struct buf text;
    buf_init(&text, 300u << 20);
    of->values = arena_get(a, of->keys->count * sizeof *of->values);
    for (size_t k = 0; of->values && k < of->keys->count; k++) {
        const char *problem = NULL;
        struct filter_value v = filter_value_read(&of->keys->key[k], &tree, of->run, &text, a, &problem);
        if (v.is == FILTER_TEXT)
            v.text.p = arena_dup(a, v.text.p, v.text.n);
        of->values[k] = v;
        if (problem && !of->run->problem)
            of->run->problem = problem;
    }
}

static int read_order_keys(const struct opt_value *chain, struct order_keys *ret, struct arena *a, struct err *err)
{
    for (const struct opt_value *v = chain; v && v->text; v = v->next) {
        if (ret->count == ORDER_KEYS_MAX)
            return err_set(err, ERR_USAGE, "--sort: expected at most %d keys", ORDER_KEYS_MAX);
        if (filter_parse_order(v->text, "--sort", a, &ret->key[ret->count], &ret->descending[ret->count], err) < 0)
            return -1;
        ret->count++;
    }
    return 0;
}

int runs_sort(struct runs *runs, const struct opt_value *keys, struct arena *a, struct err *err)
{
    struct order_keys *order = ARENA_NEW(a, struct order_keys);
    struct ordered_run *list = arena_get(a, (runs->count + 1) * sizeof *list);
    if (!order || !list)
        return err_memory(err, "the order of %zu runs", runs->count);
    if (read_order_keys(keys, order, a, err) < 0)
        return -1;
    for (size_t i = 0; i < runs->count; i++) {
        runs->damaged -= runs->all[i]->problem != NULL;
        list[i] = (struct ordered_run){.run = runs->all[i], .keys = order};
    }
    parallel_each(runs_workers(runs, runs->count), runs->count, read_ordered_run, &(struct order_reading){runs, list}, a);
    if (a->failed)
        return err_memory(err, "the values of %zu runs", runs->count);
    if (runs->count)
        qsort(list, runs->count, sizeof *list, compare_ordered_runs);
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (list[i].run->problem && runs_is_gone(runs, list[i].run)) {
            runs->gone++;
            continue;
        }
        runs->all[kept++] = list[i].run;
        runs->damaged += list[i].run->problem != NULL;
    }
    runs->count = kept;
    return 0;
}
