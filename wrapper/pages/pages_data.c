/* pages_data.c: what the pages know of each run. */
#include "pages/pages_data.h"

#include <string.h>

const char *page_fact_value(const struct page_facts *facts, const char *name)
{
    for (size_t i = 0; facts && i < facts->count; i++)
        if (strcmp(facts->list[i].name, name) == 0)
            return facts->list[i].value;
    return NULL;
}

const struct page_value *page_run_value(const struct page_run *run, const char *key)
{
    for (size_t i = 0; i < run->value_count; i++)
        if (strcmp(run->values[i].key, key) == 0)
            return &run->values[i];
    return NULL;
}

bool page_run_counts(const struct page_run *run)
{
    return !run->is_parent && !run->is_warmup && !*run->problem && strcmp(run->status, "FINISHED") == 0 && strcmp(run->verdict, "fail") != 0;
}

int page_run_order(const void *a, const void *b)
{
    const struct page_run *x = a, *y = b;
    return x->start_ms != y->start_ms ? (x->start_ms < y->start_ms ? 1 : -1) : strcmp(y->id, x->id);
}
