/* campaign_services.c: start, watch and stop the services of a campaign. */
#include "base/array.h"
#include "base/clock.h"
#include "recipe/campaign_live.h"

enum { CLOSE_MORE_MS = 5000 };

const struct campaign_process *campaign_dead_process(struct campaign *c)
{
    for (size_t i = 0; i < c->recipe->role_count; i++)
        for (size_t k = 0; c->services[i].is_up && k < c->services[i].process_count; k++)
            if (c->services[i].processes[k].keeper.ended)
                return &c->services[i].processes[k];
    return NULL;
}

static void service_down(struct campaign *c, struct campaign_service *s, int64_t until_ns)
{
    bool killed = false;
    for (size_t k = 0; k < s->process_count; k++) {
        if (!campaign_end_keeper(c, &s->processes[k].keeper, until_ns))
            campaign_say(c, "%s still runs: it cannot be killed", s->processes[k].component);
        killed |= s->processes[k].keeper.killed;
    }
    if (killed && !c->signal) /* srun did not end its step */
        campaign_slurm_clean(c, s->role->name);
    arena_deinit(&s->arena);
    *s = (struct campaign_service){.role = s->role};
}

void campaign_services_down(struct campaign *c, struct campaign_service *one)
{
    int64_t until = campaign_grace_end(c, CLOSE_MORE_MS);
    for (size_t i = c->recipe->role_count; i-- > 0;) /* all get the signal first, so that their graces pass together */
        for (size_t k = 0; (!one || one == &c->services[i]) && k < c->services[i].process_count; k++)
            keeper_stop(&c->services[i].processes[k].keeper);
    for (size_t i = c->recipe->role_count; i-- > 0;)
        if (!one || one == &c->services[i])
            service_down(c, &c->services[i], until);
    if (c->state.dir >= 0)
        campaign_live_write(c);
}

/* Returns true if this process of the role runs on the seat. */
static bool has_seat(const struct recipe_part *part, const struct recipe_process *p, size_t seat)
{
    size_t node = seat / part->instances;
    return p->where == RECIPE_ALL || (p->where == RECIPE_FIRST ? seat == 0 : node > 0 && seat % part->instances == 0);
}

static struct campaign_process *new_process(struct campaign_service *s)
{
    return ARRAY_FITS_IN(&s->arena, s->processes, s->process_room, s->process_count + 1) ? &s->processes[s->process_count++] : NULL;
}

/* Starts the k-th program of the role on all its seats. 0; 1 with *ret_why. */
static int start_service_program(struct campaign *c, const struct recipe_point *p, const struct recipe_part *planned,
                                 struct campaign_service *s, size_t k, const char **ret_why)
{
    struct err err = {0};
    for (size_t i = 0; i < s->seat_count; i++) {
        struct campaign_scope scope = {c, s, &s->seats[i], &s->arena};
        struct recipe_part part;
        if (!has_seat(planned, &planned->processes[k], i))
            continue;
        if (recipe_part_init(&part, c->recipe, s->role, &p->values, campaign_lookup, &scope, &s->arena, &err)) {
            *ret_why = arena_printf(c->arena, "%s", err.text);
            return 1;
        }
        char **words = campaign_start_words(c, &part, s->seats, i, part.processes[k].words, &s->arena);
        struct campaign_process *to = new_process(s);
        if (!to)
            return *ret_why = "out of memory", 1;
        *to = (struct campaign_process){.keeper = KEEPER_NONE, .component = "", .seat = &s->seats[i]};
        if (campaign_start(c, to, part.processes[k].component, &s->seats[i], words, campaign_process_env(&part, &s->arena), false,
                           &s->arena, &err)) {
            *ret_why = arena_printf(c->arena, "%s", err.text);
            return 1;
        }
    }
    return 0;
}

/* Waits for the program on all its seats, from the process with this index on. */
static int wait_program(struct campaign *c, const struct recipe_point *p, struct campaign_service *s, size_t k, size_t from,
                        const char **ret_why)
{
    for (size_t i = from; i < s->process_count; i++) {
        struct campaign_scope scope = {c, s, s->processes[i].seat, &s->arena};
        struct recipe_part part;
        struct err err = {0};
        if (recipe_part_init(&part, c->recipe, s->role, &p->values, campaign_lookup, &scope, &s->arena, &err)) {
            *ret_why = arena_printf(c->arena, "%s", err.text);
            return 1;
        }
        if (campaign_wait_ready(c, &part.processes[k].ready, s, &s->processes[i], ret_why))
            return 1;
    }
    return 0;
}

/* A service that runs already. With `ready` it must answer. */
static int use_endpoint(struct campaign *c, const struct recipe_part *part, struct campaign_service *s, const char **ret_why)
{
    s->endpoint = arena_dup(&s->arena, part->endpoint, strlen(part->endpoint));
    if (!s->endpoint)
        return *ret_why = "out of memory", 1;
    if (part->ready.is_set && campaign_wait_ready(c, &part->ready, s, NULL, ret_why))
        return 1;
    s->is_up = true;
    return 0;
}

/* Starts a service for a point and waits until it is ready, or uses the endpoint of one that runs
 * already. Adds the durations to the point's phases. 0; 1 with *ret_why: the caller stops what was
 * started. */
static int service_up(struct campaign *c, const struct recipe_point *p, const struct recipe_part *part, struct campaign_service *s,
                      struct campaign_point *state, const char **ret_why)
{
    struct err err = {0};
    int64_t begin = clock_mono_ns(), ready_ns = 0;
    arena_init(&s->arena, 0);
    s->role = part->role;
    memcpy(s->hash, part->hash, sizeof s->hash);
    if (part->endpoint)
        return use_endpoint(c, part, s, ret_why);
    s->seats = campaign_seats(c, p, part, &s->arena, ret_why);
    if (!s->seats)
        return 1;
    s->seat_count = part->nodes * part->instances;
    for (size_t i = 0; i < part->port_count; i++) {
        s->ports[i] = part->ports[i];
        s->ports[i].name = arena_dup(&s->arena, part->ports[i].name, strlen(part->ports[i].name));
    }
    s->port_count = part->port_count;
    struct campaign_scope scope = {c, s, NULL, &s->arena};
    s->token = part->token ? recipe_expand_text(part->token, campaign_lookup, &scope, &s->arena) : NULL;
    if (part->token && !s->token) {
        recipe_expand_fail(&s->arena, "token", &err);
        *ret_why = arena_printf(c->arena, "%s", err.text);
        return 1;
    }
    for (size_t i = 0; i < s->seat_count; i++)
        if (campaign_take_ports(c, part, &s->seats[i], &err)) {
            *ret_why = arena_printf(c->arena, "%s", err.text);
            return 1;
        }
    s->open_count = part->process_count && part->processes[part->process_count - 1].where == RECIPE_FIRST ? 1 : s->seat_count;
    for (size_t k = 0; k < part->process_count; k++) {
        size_t from = s->process_count;
        if (start_service_program(c, p, part, s, k, ret_why))
            return 1;
        int64_t started = clock_mono_ns();
        if (wait_program(c, p, s, k, from, ret_why))
            return 1;
        ready_ns += clock_mono_ns() - started;
    }
    int64_t started = clock_mono_ns();
    if (campaign_send_requests(c, part, s, ret_why))
        return 1;
    ready_ns += clock_mono_ns() - started;
    s->is_up = true;
    state->phase_s[PHASE_READY] += (double)ready_ns / 1e9;
    state->phase_s[PHASE_DEPLOY] += (double)(clock_mono_ns() - begin - ready_ns) / 1e9;
    return 0;
}

int campaign_services_up(struct campaign *c, const struct recipe_point *p, struct campaign_point *state, const char **ret_why)
{
    int64_t begin = clock_mono_ns();
    for (size_t i = 0; i < p->part_count; i++) { /* those that differ end first: nodes and ports become free */
        struct campaign_service *s = &c->services[i];
        if (s->is_up && (p->parts[i].restart || strcmp(s->hash, p->parts[i].hash) != 0 || campaign_dead_process(c)))
            campaign_services_down(c, s);
    }
    state->phase_s[PHASE_TEARDOWN] = (double)(clock_mono_ns() - begin) / 1e9;
    state->phase_s[PHASE_DEPLOY] = state->phase_s[PHASE_READY] = 0;
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].role->is_service && !c->services[i].is_up && service_up(c, p, &p->parts[i], &c->services[i], state, ret_why)) {
            campaign_services_down(c, &c->services[i]);
            return 1;
        }
    campaign_live_write(c);
    return 0;
}
