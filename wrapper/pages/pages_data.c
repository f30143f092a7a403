/* pages_data.c: what the pages know of each run. */
#include "pages/pages_data.h"

#include <string.h>

static const char *copy_page_text(const char *text, struct arena *a)
{
    const char *copy = *text ? arena_dup(a, text, strlen(text)) : "";
    return copy ? copy : "";
}

static const struct page_facts *copy_page_facts(const struct page_facts *from, struct arena *a)
{
    struct page_facts *to = ARENA_NEW(a, struct page_facts);
    struct page_fact *list = arena_get(a, (from->count + 1) * sizeof *list);
    for (size_t i = 0; list && i < from->count; i++)
        list[i] = (struct page_fact){copy_page_text(from->list[i].name, a), copy_page_text(from->list[i].value, a)};
    if (!to || !list)
        return from; /* the arena has failed */
    *to = (struct page_facts){copy_page_text(from->id, a), list, from->count};
    return to;
}

void page_run_set_measurement(struct page_run *run, struct arena *a)
{
    const char *measurement = arena_printf(a, "%s-%s", run->measured, run->experiment_id);
    run->measurement = measurement ? measurement : "";
}

void page_run_copy(struct page_run *to, const struct page_run *from, const struct page_run *before, struct arena *a)
{
    *to = *from;
    const char **const texts[] = {&to->id,        &to->experiment,    &to->name,    &to->status,   &to->verdict,
                                  &to->reason,    &to->experiment_id, &to->stamp,   &to->site,     &to->cluster,
                                  &to->partition, &to->machine,       &to->version, &to->measured, &to->system,
                                  &to->problem,   &to->stale,         &to->noisy,   &to->warning,  &to->unjudged};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = copy_page_text(*texts[i], a);
    page_run_set_measurement(to, a);
    for (size_t i = 0; i < to->value_count; i++) {
        to->values[i].key = copy_page_text(to->values[i].key, a);
        to->values[i].unit = copy_page_text(to->values[i].unit, a);
        to->values[i].better = copy_page_text(to->values[i].better, a);
    }
    to->inputs = before && strcmp(before->inputs->id, from->inputs->id) == 0 ? before->inputs : copy_page_facts(from->inputs, a);
    to->conditions =
        before && strcmp(before->conditions->id, from->conditions->id) == 0 ? before->conditions : copy_page_facts(from->conditions, a);
}

const char *page_fact_value(const struct page_facts *facts, const char *name)
{
    for (size_t i = 0; facts && i < facts->count; i++)
        if (strcmp(facts->list[i].name, name) == 0)
            return facts->list[i].value;
    return NULL;
}

const struct page_value *page_run_value(const struct page_run *run, const struct page_value *metric)
{
    for (size_t i = 0; i < run->value_count; i++)
        if (strcmp(run->values[i].key, metric->key) == 0 && strcmp(run->values[i].unit, metric->unit) == 0)
            return &run->values[i];
    return NULL;
}

bool page_run_counts(const struct page_run *run)
{
    return !run->is_parent && !run->is_warmup && !*run->problem && strcmp(run->status, "FINISHED") == 0 &&
           strcmp(run->verdict, "fail") != 0;
}

int page_run_order(const void *a, const void *b)
{
    const struct page_run *x = a, *y = b;
    return x->start_ms != y->start_ms ? (x->start_ms < y->start_ms ? 1 : -1) : strcmp(y->id, x->id);
}
