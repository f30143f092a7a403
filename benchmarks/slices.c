/* slices.c: parts of an output, from one line to another, that a reader or check may be bound to.
 *
 * Nothing is kept back: rows count as they come. Where the last part is the one that counts, everything carries the number of the
 * part it came from (its generation), and what is of an earlier one is forgotten as soon as another begins. */
#include "benchmarks/slices.h"

static unsigned generation_at(const struct rules *rules, const struct source *source, int slice)
{
    return slice >= 0 && rules->slice[slice].which == WHICH_LAST ? source->slice[slice].generation : 0;
}

unsigned slice_generation(const struct rules_run *run, const struct source *source, int slice)
{
    return generation_at(run->rules, source, slice);
}

bool slice_stale(const struct rules_run *run, unsigned generation)
{
    if (!generation)
        return false;
    for (size_t i = 0; i < 2 + run->rules->files; i++)
        for (size_t k = 0; k < run->rules->slices; k++)
            if (run->source[i].slice[k].generation == generation)
                return false;
    return true;
}

void slices_start(struct rules_run *run)
{
    for (size_t i = 0; i < 2 + run->rules->files; i++)
        for (size_t k = 0; k < run->rules->slices; k++)
            run->source[i].slice[k].open = !run->rules->slice[k].after;
}

static void staged_forget(struct rules_run *run, const struct reader *r)
{
    struct staged *s = &run->staged[r->index];
    arena_deinit(&s->open_arena);
    arena_deinit(&s->whole_arena);
    *s = (struct staged){.tail = &s->open};
}

/* The readers of the slice begin again: what they had begun ends here. */
static void readers_reset(struct rules_run *run, struct source *source, int slice)
{
    for (size_t i = 0; i < run->rules->readers; i++) {
        const struct reader *r = run->rules->reader[i];
        if (r->slice != slice || !source->touched[i])
            continue;
        source->touched[i] = false;
        if (r->kind->end)
            r->kind->end(run, source, r, source->state[i]);
        if (r->kind->state_size)
            memset(source->state[i], 0, r->kind->state_reset ? r->kind->state_reset : r->kind->state_size);
        source->hungry.word[i / 64] &= ~((uint64_t)1 << (i % 64));
    }
}

/* Removes what the slice held before: variables, staged rows and version. Of a slice that begins
 * tests it also removes all tests of the source. */
static void slice_forget(struct rules_run *run, struct source *source, int slice)
{
    const struct slice *s = &run->rules->slice[slice];
    source->slice[slice].generation = ++run->generation;
    for (size_t i = 0; i < run->rules->vars; i++)
        if (s->vars >> i & 1)
            source->var[i][0] = 0;
    for (size_t i = 0; i < run->rules->readers; i++) {
        const struct reader *r = run->rules->reader[i];
        if (r->slice == slice && r->last_document)
            staged_forget(run, r);
        if (r->slice == slice && r->version_cell >= 0)
            run->version[0] = source->version[0] = 0;
    }
    if (!s->begins)
        return;
    for (unsigned i = 0; i < source->blocks; i++)
        run->block[i] = (struct block){0};
    source->blocks = source->block = run->blocks = 0;
    for (size_t i = 0; i < 2 + run->rules->files; i++)
        if (run->source[i].blocks > run->blocks)
            run->blocks = run->source[i].blocks;
}

/* Begins the slice: what its readers had begun ends. Of `which: first` only the first one is open;
 * of `which: last` what earlier ones had is forgotten. */
static void slice_begin(struct rules_run *run, struct source *source, int slice)
{
    const struct slice *s = &run->rules->slice[slice];
    struct slice_state *state = &source->slice[slice];
    readers_reset(run, source, slice);
    state->open = s->which != WHICH_FIRST || !state->begun;
    state->begun = true;
    state->rows = false;
    if (s->which == WHICH_LAST)
        slice_forget(run, source, slice);
}

void slices_line(struct rules_run *run, struct source *source, const struct prefilter_mask *mask, struct str line)
{
    for (size_t i = 0; i < run->rules->slices; i++) {
        const struct slice *s = &run->rules->slice[i];
        struct slice_state *state = &source->slice[i];
        int found = 0;
        if (s->until && state->open && prefilter_has(mask, SLICE_BIT(i) + 1)) {
            found = pattern_match(s->until, line, NULL);
            if (found == 1) {
                readers_reset(run, source, (int)i);
                state->open = false;
            }
            run->gave_up += found < 0;
        }
        if (s->after && prefilter_has(mask, SLICE_BIT(i))) {
            found = pattern_match(s->after, line, NULL);
            if (found == 1)
                slice_begin(run, source, (int)i);
            run->gave_up += found < 0;
        }
    }
}

void slices_end(struct rules_run *run, bool ended_well)
{
    for (size_t i = 0; i < 2 + run->rules->files; i++)
        for (size_t k = 0; k < run->rules->slices; k++) {
            struct slice_state *state = &run->source[i].slice[k];
            const struct slice *s = &run->rules->slice[k];
            bool endless = run->source[i].fed && state->open && state->rows && s->until && !s->open_end;
            state->endless = endless && ended_well; /* of a killed program what is there counts */
            state->torn = endless && !ended_well;
        }
    struct value_seen **link = &run->values;
    while (*link)
        if (slice_stale(run, (*link)->generation))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    run->values_tail = link;
    for (size_t i = 0; i < sizeof(run->count_bucket) / sizeof(run->count_bucket[0]); i++)
        for (struct count *c = run->count_bucket[i]; c; c = c->next)
            if (slice_stale(run, c->generation))
                c->n = 0;
    for (struct series *s = run->series; s; s = s->next)
        if (s->generation != slice_generation(run, s->source, s->reader->slice) || s->report != run->block[s->block].report) {
            s->n = s->missing = 0;
            s->dropped = s->forgotten = true;
        }
}
