/* campaign_live.c: what a campaign does at present; see campaign_live.h. */
#include "recipe/campaign_live.h"

#include "base/fs.h"
#include "base/json_out.h"
#include "base/place.h"
#include "series/figures.h"

#include <math.h>
#include <pwd.h>
#include <unistd.h>

enum { LIVE_MAX = 16 << 20 };

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
        if (s->role->service)
            json_text(j, "metrics", recipe_scalar(c->recipe, s->role->service->root, "metrics", NULL));
        json_close(j, '}');
    }
}

/* The service that the results belong to: the first one. */
static const char *measured_service(const struct campaign *c)
{
    for (size_t i = 0; i < c->recipe->role_count; i++)
        if (c->recipe->roles[i].is_service)
            return c->recipe->roles[i].service ? c->recipe->roles[i].service->name : c->recipe->roles[i].name;
    return "";
}

void campaign_live_write(struct campaign *c)
{
    CLEANUP_BUF struct buf text;
    const struct campaign_results *r = &c->results;
    struct err err = {0};
    buf_init(&text, LIVE_MAX);
    struct json_out j = json_begin(&text, JSON_BLOCK, '{');
    json_open(&j, "services", '[');
    for (size_t i = 0; i < c->recipe->role_count; i++)
        if (c->services[i].is_up && !c->services[i].endpoint)
            put_live_service(c, &j, &c->services[i]);
    json_close(&j, ']');
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
    double good = live_run_value(run, "requests.completed"), bad = live_run_value(run, "requests.failed"), mean = live_run_value(run, "e2el.mean_ms"),
           median = live_run_value(run, "e2el.p50_ms"), tokens = live_run_value(run, "output.throughput_token_per_s");
    r->requests += (isnan(good) ? 0 : good) + (isnan(bad) ? 0 : bad);
    r->errors += isnan(bad) ? 0 : bad;
    r->throughput = live_run_value(run, "request.throughput_op_per_s");
    r->latency_s = (isnan(mean) ? median : mean) / 1e3;
    r->tokens_per_request = r->throughput > 0 ? tokens / r->throughput : NAN;
    r->has_last = true;
}

/* ---- for Prometheus, and for a laptop ---- */

/* A word that needs no quotes in YAML and in a shell. */
static bool is_plain(const char *text)
{
    return text[0] && text[0] != '-' && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/")] == 0;
}

static void put_scrape(const struct json *services, struct buf *to)
{
    buf_puts(to, "scrape_configs:\n");
    for (const struct json *s = json_first(services); s; s = json_next(s)) {
        const char *role = json_string(json_get(s, "role"), ""), *path = json_string(json_get(s, "metrics"), ""), *node = json_string(json_get(s, "node"), ""),
                   *host = json_string(json_get(s, "host"), "");
        if (!is_plain(path) || !is_plain(host) || !is_plain(role) || !is_plain(node))
            continue;
        buf_printf(to,
                   "  - job_name: %s.%lld\n    metrics_path: %s\n    static_configs:\n      - targets: [\"%s:%lld\"]\n        labels: {node: \"%s\"}\n", role,
                   (long long)json_integer(json_get(s, "instance"), 0), path, host, (long long)json_integer(json_get(s, "port"), 0), node);
    }
}

static void put_tunnels(const struct json *services, struct buf *to)
{
    struct passwd entry, *user = NULL;
    char names[4096];
    if (getpwuid_r(getuid(), &entry, names, sizeof names, &user) != 0)
        user = NULL;
    char host[256] = "";
    campaign_own_host(host, sizeof host);
    for (const struct json *s = json_first(services); s; s = json_next(s)) {
        const char *at = json_string(json_get(s, "host"), "");
        long long port = json_integer(json_get(s, "port"), 0);
        if (is_plain(at))
            buf_printf(to, "ssh -N -L %lld:%s:%lld %s%s%s\n", port, at, port, user && is_plain(user->pw_name) ? user->pw_name : "",
                       user && is_plain(user->pw_name) ? "@" : "", is_plain(host) ? host : "LOGIN_NODE");
    }
}

int campaign_live_print(const char *folder, bool tunnels, struct buf *to, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct json *live = NULL;
    CLEANUP_FD int dir = place_open_folder(folder, 0);
    struct err why = {0};
    buf_init(&text, LIVE_MAX + 1);
    if (dir < 0 || fs_read(dir, CAMPAIGN_LIVE, LIVE_MAX, 0, &text, &why) || json_parse(&live, buf_text(&text), NULL, &why) ||
        !json_first(json_get(live, "services"))) {
        json_free(live);
        return err_set(err, ERR_INPUT, "no service of the campaign is up");
    }
    (tunnels ? put_tunnels : put_scrape)(json_get(live, "services"), to);
    json_free(live);
    return to->failed ? err_memory(err, "the services") : 0;
}
