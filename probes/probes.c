/* probes.c: the list of probes, and running them: errors become missing facts, costs are measured, lasting facts are cached. */
#include "probes/probe.h"

#include "base/clock.h"
#include "probes/look.h"
#include "probes/state.h"

#include <stdio.h>
#include <stdlib.h>

#define PROBE(name) extern const struct probe probe_##name;
#include "probes/probes.def"
#undef PROBE

const struct probe *const probes[] = {
#define PROBE(name) &probe_##name,
#include "probes/probes.def"
#undef PROBE
};
const size_t probes_count = sizeof probes / sizeof *probes;

/* Sources outlive the host: facts point to them. */
static const char *const sources[] = {
#define PROBE(name) "probe:" #name,
#include "probes/probes.def"
#undef PROBE
};

static struct probes_state *state_of(struct host *h)
{
    if (h->state)
        return h->state;
    struct probes_state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->costs = calloc(probes_count, sizeof *s->costs);
    if (!s->costs) {
        free(s);
        return NULL;
    }
    return h->state = s;
}

void probes_end(struct host *h)
{
    if (!h->state)
        return;
    sampler_free(h->state->sampler);
    free(h->state->costs);
    free(h->state);
    h->state = NULL;
}

const struct probe_cost *probes_costs(const struct host *h)
{
    return h->state ? h->state->costs : NULL;
}

typedef int hook(struct host *, struct record *, struct err *);

static hook *hook_of(const struct probe *p, enum probe_phase phase)
{
    return phase == PROBE_BEFORE ? p->before : phase == PROBE_AFTER ? p->after : p->sample;
}

/* Returns whether the cache answered. */
static bool run_hook(const struct probe *p, hook *run, bool lasting, struct host *h, struct record *r)
{
    if (lasting && cache_replay(h, p->name, r))
        return true;
    const struct fact *after = r->last;
    struct err err = {0};
    if (run(h, r, &err) != 0) {
        char key[64];
        snprintf(key, sizeof key, "probe.%s", p->name);
        record_missing(r, key, "%s", err.text);
    } else if (lasting)
        cache_keep(h, p->name, r, after);
    return false;
}

void probes_run(enum probe_phase phase, bool nested, struct host *h, struct record *r)
{
    struct probes_state *state = state_of(h);
    if (!state) {
        record_missing(r, "probe", "out of memory");
        return;
    }
    const char *source = r->source;
    for (size_t i = 0; i < probes_count; i++) {
        hook *run = hook_of(probes[i], phase);
        if (!run || (nested && !probes[i]->nested))
            continue;
        int64_t start = clock_mono_ns();
        r->source = sources[i];
        bool cached = run_hook(probes[i], run, phase == PROBE_BEFORE && probes[i]->lasting, h, r);
        struct probe_cost *cost = &state->costs[i];
        cost->ms[phase] += (double)(clock_mono_ns() - start) / 1e6;
        cost->runs[phase]++;
        cost->cached |= cached;
    }
    r->source = source;
}

bool probes_public(const char *key)
{
    /* A row that ends in "*" allows every key that begins with what stands before it. */
    static const char *const allowed[] = {
#define PUBLIC(pattern) pattern,
#include "probes/public.def"
#undef PUBLIC
    };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        size_t n = strlen(allowed[i]);
        if (allowed[i][n - 1] == '*' ? strncmp(key, allowed[i], n - 1) == 0 : strcmp(key, allowed[i]) == 0)
            return true;
    }
    return false;
}

bool probes_cache_dir(char *const *env, struct buf *ret)
{
    static const struct {
        const char *name, *below;
    } places[] = {{"XDG_RUNTIME_DIR", "/benchwrap"}, {"XDG_CACHE_HOME", "/benchwrap"}, {"HOME", "/.cache/benchwrap"}};
    struct host h = {.env = env};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = look_env(&h, places[i].name);
        if (!value || value[0] != '/')
            continue;
        buf_puts(ret, value);
        buf_puts(ret, places[i].below);
        return !ret->failed;
    }
    return false;
}
