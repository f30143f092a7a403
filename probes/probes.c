/* probes.c: the list of probes, and running them: errors become missing facts, costs are measured, lasting facts are cached. */
#include "probes/probe.h"

#include "base/clock.h"
#include "probes/probe_child.h"
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

/* Returns the state of all probes, made at the first call; probes_end frees it. NULL: out of
 * memory. */
static struct probes_state *probes_state_of(struct host *h)
{
    if (h->state)
        return h->state;
    struct probes_state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    buf_init(&s->mounts, LOOK_MOUNTS_MAX + (1 << 17));
    s->costs = calloc(probes_count, sizeof *s->costs);
    s->besides = calloc(probes_count, sizeof *s->besides);
    s->afters = calloc(probes_count, sizeof *s->afters);
    s->kept = calloc(probes_count, sizeof *s->kept);
    s->rest_until = calloc(probes_count, sizeof *s->rest_until);
    for (size_t i = 0; s->besides && s->afters && i < probes_count; i++)
        s->besides[i].work = s->afters[i].work = CHILD_WORK_NONE;
    h->state = s;
    if (!s->costs || !s->besides || !s->afters || !s->kept || !s->rest_until)
        probes_end(h);
    return h->state;
}

void probes_end(struct host *h)
{
    struct probes_state *s = h->state;
    if (!s)
        return;
    for (size_t i = 0; s->besides && s->afters && i < probes_count; i++) {
        child_work_deinit(&s->besides[i].work);
        child_work_deinit(&s->afters[i].work);
    }
    for (size_t i = 0; s->besides && s->afters && i < probes_count; i++) {
        child_work_reap(&s->besides[i].work, PROBE_REAP_MS);
        child_work_reap(&s->afters[i].work, PROBE_REAP_MS);
    }
    for (size_t i = 0; s->kept && i < probes_count; i++) {
        if (s->kept[i] && probes[i]->drop)
            probes[i]->drop(s->kept[i]);
        free(s->kept[i]);
    }
    free(s->kept);
    free(s->rest_until);
    free(s->afters);
    free(s->besides);
    free(s->costs);
    buf_deinit(&s->mounts);
    free(s);
    h->state = NULL;
}

void *probe_data(const struct host *h, const struct probe *p)
{
    size_t i = 0;
    while (i < probes_count && probes[i] != p)
        i++;
    if (i == probes_count || !h->state || !h->state->kept)
        return NULL;
    if (!h->state->kept[i])
        h->state->kept[i] = calloc(1, p->keeps ? p->keeps : 1);
    return h->state->kept[i];
}

const struct probe_cost *probes_costs(const struct host *h)
{
    return h->state ? h->state->costs : NULL;
}

static probe_hook *probes_hook_of(const struct probe *p, enum probe_phase phase)
{
    probe_hook *const hooks[PROBE_PHASES] = {
        [PROBE_BEFORE] = p->before, [PROBE_BESIDE] = p->beside, [PROBE_AFTER] = p->after, [PROBE_SAMPLE] = p->sample};
    return hooks[phase];
}

static bool probes_is_lasting(const struct probe *p, enum probe_phase phase)
{
    return (phase == PROBE_BEFORE && p->lasting) || (phase == PROBE_BESIDE && p->beside_lasts);
}

/* A probe can have lasting facts of both kinds. */
static const char *probes_cache_name(const struct probe *p, enum probe_phase phase, char ret[64])
{
    snprintf(ret, 64, "%s%s", p->name, phase == PROBE_BESIDE ? "+" : "");
    return ret;
}

static void probes_emit_missing(struct record *r, const struct probe *p, const char *why)
{
    char key[64];
    snprintf(key, sizeof key, "probe.%s", p->name);
    record_missing(r, key, "%s", why);
}

static void probes_run_hook(const struct probe *p, enum probe_phase phase, struct host *h, struct record *r)
{
    const struct fact *after = r->last;
    struct err err = {0};
    char name[64];
    h->state->unsure = false;
    if (probes_hook_of(p, phase)(h, r, &err) != 0)
        probes_emit_missing(r, p, err.text);
    else if (probes_is_lasting(p, phase) && !h->state->unsure)
        cache_store(h, probes_cache_name(p, phase, name), r, after);
}

static int probes_limit_ms(const struct probe *p)
{
    return p->limit_ms ? p->limit_ms : 2500;
}

/* Collects the facts of a child process. A late child is killed; the facts that it has sent count. */
static void probes_collect_child(size_t i, enum probe_phase phase, int64_t from_ns, struct host *h, struct record *r)
{
    const struct probe *p = probes[i];
    struct probe_child *a = phase == PROBE_BESIDE ? &h->state->besides[i] : &h->state->afters[i];
    struct probe_cost *cost = &h->state->costs[i];
    const struct fact *after = r->last;
    char text[160], name[64];
    if (a->work.pid == 0)
        return;
    r->source = sources[i];
    child_work_wait(&a->work, from_ns + probes_limit_ms(p) * (int64_t)1000000);
    double ms = probe_child_emit(a, h, r);
    if (ms < 0 && a->work.fd >= 0)
        snprintf(text, sizeof text, "the probe had not finished %d ms after the program's end", probes_limit_ms(p));
    else
        snprintf(text, sizeof text, "the probe's process ended early");
    if (ms < 0)
        probes_emit_missing(r, p, text);
    else if (probes_is_lasting(p, phase) && !a->failed)
        cache_store(h, probes_cache_name(p, phase, name), r, after);
    cost->ms[phase] += ms >= 0 ? ms : (double)(clock_mono_ns() - a->start_ns) / 1e6;
    cost->runs[phase]++;
    child_work_deinit(&a->work);
}

/* Runs one hook, here or in a process of its own, unless the cache has its facts or it is not
 * requested. */
static void probes_run_probe(size_t i, enum probe_phase phase, struct host *h, struct record *r)
{
    const struct probe *p = probes[i];
    struct probe_cost *cost = &h->state->costs[i];
    bool own_process = h->real && (phase == PROBE_BESIDE || (phase == PROBE_AFTER && p->aside));
    int64_t start = clock_mono_ns();
    char name[64];
    if ((h->elsewhere && !p->anywhere) || (p->wanted && !p->wanted(phase, h, r)))
        return;
    r->source = sources[i];
    if (probes_is_lasting(p, phase) && cache_replay(h, probes_cache_name(p, phase, name), r))
        cost->cached = true;
    else if (own_process) {
        bool beside = phase == PROBE_BESIDE;
        if (probe_child_begin(beside ? &h->state->besides[i] : &h->state->afters[i], h, r, probes_hook_of(p, phase), beside) == 0)
            return; /* the child measures its cost */
        probes_emit_missing(r, p, "cannot start a process for the probe");
    } else
        probes_run_hook(p, phase, h, r);
    cost->ms[phase] += (double)(clock_mono_ns() - start) / 1e6;
    cost->runs[phase]++;
}

int64_t probes_clock_ns(const struct host *h)
{
    return h->clock ? h->clock() : clock_mono_ns();
}

void probes_set_now(struct host *h)
{
    h->state->now_ns = probes_clock_ns(h);
}

/* Runs the samplers. Each may use a 5000th of a core: after a costly sample it rests. The first two
 * samples open files, and are the base. */
static void probes_run_samplers(bool nested, struct host *h, struct record *r)
{
    struct probes_state *state = h->state;
    probes_set_now(h);
    for (size_t i = 0; i < probes_count; i++) {
        if (!probes[i]->sample || (nested && !probes[i]->nested) || state->now_ns < state->rest_until[i])
            continue;
        int64_t start = clock_own_ns();
        probes_run_probe(i, PROBE_SAMPLE, h, r);
        if (state->costs[i].runs[PROBE_SAMPLE] > 2)
            state->rest_until[i] = state->now_ns + 5000 * (clock_own_ns() - start);
    }
    state->round++;
}

/* Records the costs of all probes: sums as metrics, each one's in a tag. */
static void probes_emit_costs(const struct host *h, struct record *r)
{
    static const char *const names[PROBE_PHASES] = {"before", "beside", "after", "sample"};
    double sum[PROBE_PHASES] = {0};
    struct buf text CLEANUP_BUF;
    buf_init(&text, 8000);
    for (size_t i = 0; i < probes_count; i++) {
        const struct probe_cost *c = &h->state->costs[i];
        size_t from = text.n;
        for (int phase = 0; phase < PROBE_PHASES; phase++) {
            if (c->runs[phase] == 0)
                continue;
            sum[phase] += c->ms[phase];
            if (text.n == from)
                buf_printf(&text, "%s%s", from ? "; " : "", probes[i]->name);
            buf_printf(&text, " %s %.3f", names[phase], c->ms[phase]);
        }
        if (c->cached)
            buf_puts(&text, " (cached)");
    }
    r->source = "recorder";
    if (!text.failed)
        record_tag(r, "benchwrap.probe_costs_ms", buf_text(&text));
    for (int phase = 0; phase < PROBE_PHASES; phase++) {
        char key[40];
        snprintf(key, sizeof key, "probe.%s_ms", names[phase]);
        if (sum[phase] > 0)
            record_metric(r, key, sum[phase], "ms", DIR_LOWER, 0, 0);
    }
}

void probes_run(enum probe_phase phase, bool nested, struct host *h, struct record *r)
{
    struct probes_state *state = probes_state_of(h);
    if (!state) {
        record_missing(r, "probe", "out of memory");
        return;
    }
    const char *source = r->source;
    int64_t start = clock_mono_ns();
    if (phase == PROBE_AFTER) {
        state->ended = true;
        probes_set_now(h);
    }
    if (phase == PROBE_SAMPLE) {
        probes_run_samplers(nested, h, r);
        r->source = source;
        return;
    }
    if (phase == PROBE_BEFORE && h->elsewhere) {
        r->source = "recorder";
        record_missing(r, "machine", "%s", h->elsewhere);
    }
    for (size_t i = 0; i < probes_count; i++)
        if (probes_hook_of(probes[i], phase) && (!nested || probes[i]->nested) && phase == PROBE_AFTER && probes[i]->aside)
            probes_run_probe(i, phase, h, r);
    for (size_t i = 0; i < probes_count; i++)
        if (probes_hook_of(probes[i], phase) && (!nested || probes[i]->nested) && !(phase == PROBE_AFTER && probes[i]->aside))
            probes_run_probe(i, phase, h, r);
    for (size_t i = 0; phase == PROBE_AFTER && i < probes_count; i++) {
        probes_collect_child(i, PROBE_BESIDE, start, h, r);
        probes_collect_child(i, PROBE_AFTER, start, h, r);
    }
    if (phase == PROBE_AFTER && h->real)
        probes_emit_costs(h, r);
    r->source = source;
}

bool probes_is_public(const char *key)
{
    /* A row that ends in "*" allows every key that begins with the text before it. */
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
