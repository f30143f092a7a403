/* campaign_live.c: what a campaign does at present; see campaign_live.h. */
#include "recipe/campaign_live.h"

#include "base/fs.h"
#include "base/json_out.h"
#include "series/figures.h"

#include <math.h>

static unsigned metrics_port(struct campaign *c, const struct campaign_service *s, const struct campaign_seat *seat)
{
    const char *name = recipe_scalar(c->recipe, s->role->service->root, "metrics_port", "http");
    for (size_t i = 0; i < s->port_count; i++)
        if (strcmp(s->ports[i].name, name) == 0)
            return seat->ports[i];
    return campaign_client_port(s, seat);
}

/* Appends each instance of a service that was started: its place, port and metrics. */
static void put_live_service(struct campaign *c, struct json_out *j, const struct campaign_service *s)
{
    for (size_t i = 0; i < s->open_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "role", s->role->name);
        json_text(j, "service", s->role->service ? s->role->service->name : s->role->name);
        json_uint(j, "instance", s->seats[i].instance);
        json_text(j, "node", s->seats[i].node);
        json_text(j, "host", s->seats[i].host);
        json_uint(j, "port", campaign_client_port(s, &s->seats[i]));
        if (s->role->service) {
            json_text(j, "metrics", recipe_scalar(c->recipe, s->role->service->root, "metrics", NULL));
            json_uint(j, "metrics_port", metrics_port(c, s, &s->seats[i]));
        }
        if (s->token)
            json_text(j, "token", s->token);
        json_close(j, '}');
    }
}

/* The service that the results belong to: the first one. */
static const char *measured_service(const struct campaign *c)
{
    for (size_t i = 0; i < c->recipe->role_count; i++) {
        const struct recipe_role *role = &c->recipe->roles[i];
        if (role->is_service)
            return role->service ? recipe_scalar(c->recipe, role->service->root, "alias", role->service->name) : role->name;
    }
    return "";
}

void campaign_live_write(struct campaign *c)
{
    CLEANUP_BUF struct buf text;
    const struct campaign_results *r = &c->results;
    struct err err = {0};
    char host[256] = "";
    buf_init(&text, CAMPAIGN_LIVE_MAX);
    struct json_out j = json_begin(&text, JSON_BLOCK, '{');
    json_open(&j, "services", '[');
    for (size_t i = 0; i < c->recipe->role_count; i++)
        if (c->services[i].is_up && !c->services[i].endpoint)
            put_live_service(c, &j, &c->services[i]);
    json_close(&j, ']');
    campaign_own_host(host, sizeof host);
    json_text(&j, "host", host);
    const char *gateway = recipe_scalar(c->recipe, yaml_get(c->recipe->root, "monitoring"), "pushgateway", NULL);
    if (gateway)
        json_text(&j, "pushgateway", gateway);
    json_text(&j, "measured", measured_service(c));
    json_flag(&j, "running", r->is_running);
    json_double(&j, "requests", r->requests);
    json_double(&j, "errors", r->errors);
    json_known(&j, "throughput_rps", r->has_last ? r->throughput : NAN);
    json_known(&j, "latency_s", r->has_last ? r->latency_s : NAN);
    json_known(&j, "tokens_per_request", r->has_last ? r->tokens_per_request : NAN);
    json_close(&j, '}');
    if (text.failed || fs_write(c->state.dir, CAMPAIGN_LIVE, buf_text(&text), 0600, false, &err))
        campaign_say(c, "%s", text.failed ? "out of memory for " CAMPAIGN_LIVE : err.text);
}

static double live_run_value(const struct series_repetition *run, const char *key)
{
    const struct series_run_value *v = series_value_of(run, key);
    return v ? v->value : NAN;
}

void campaign_live_add(struct campaign *c, const struct series_repetition *run)
{
    struct campaign_results *r = &c->results;
    double good = live_run_value(run, "requests.completed"), bad = live_run_value(run, "requests.failed"),
           mean = live_run_value(run, "e2el.mean_ms"), median = live_run_value(run, "e2el.p50_ms"),
           tokens = live_run_value(run, "output.throughput_token_per_s");
    r->requests += (isnan(good) ? 0 : good) + (isnan(bad) ? 0 : bad);
    r->errors += isnan(bad) ? 0 : bad;
    r->throughput = live_run_value(run, "request.throughput_op_per_s");
    r->latency_s = (isnan(mean) ? median : mean) / 1e3;
    r->tokens_per_request = r->throughput > 0 ? tokens / r->throughput : NAN;
    r->has_last = true;
}
