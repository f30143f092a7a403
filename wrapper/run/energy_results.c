/* energy_results.c: energy for each result; see energy_results.h. */
#include "run/energy_results.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/units.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64, SAMPLES_MIN = 3, WORDS_MAX = 300 };
static const double GAP_FACTOR = 3, GAP_MORE_S = 1; /* an interval without a sample that is longer is a gap */

struct power_sample {
    double time_s, power_W;
};
struct power_device {
    char name[40]; /* "gpu_0", "package1", "node" */
    bool is_mean;  /* a sample is the mean since the one before; else the power at its time */
    struct power_sample *list;
    size_t count, room;
};
struct energy_work {
    struct record *r;
    struct arena arena;
    struct power_device devices[DEVICES_MAX];
    size_t count;
    double from_s, to_s; /* the window */
    bool measured;
    char why[WORDS_MAX]; /* why the energy is not valid; "" */
};

static void energy_refuse(struct energy_work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void energy_refuse(struct energy_work *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!w->why[0])
        vsnprintf(w->why, sizeof w->why, fmt, ap);
    va_end(ap);
}

/* ---- the power of each device ---- */

/* "system/gpu_0_power_usage_watts" -> "gpu_0", "system/power_package0_watts" -> "package0". */
static bool power_device_name(struct str key, char ret[40])
{
    static const char *const forms[][2] = {{"system/gpu_", "_power_usage_watts"}, {"system/power_", "_watts"}};
    for (size_t i = 0; i < 2; i++) {
        size_t begin = strlen(forms[i][0]), end = strlen(forms[i][1]);
        if (!str_starts(key, forms[i][0]) || !str_ends(key, forms[i][1]) || key.n <= begin + end || key.n - begin - end > 30)
            continue;
        snprintf(ret, 40, "%s" STR_FMT, i ? "" : "gpu_", STR_ARG(str_sub(key, begin, key.n - begin - end)));
        return true;
    }
    return false;
}

static bool add_power_sample(struct energy_work *w, const struct fact *f)
{
    char name[40];
    struct power_device *d = NULL;
    if (f->kind != FACT_METRIC || !isfinite(f->value) || f->value < 0 || !power_device_name(f->key, name))
        return true;
    for (size_t i = 0; i < w->count && !d; i++)
        if (strcmp(w->devices[i].name, name) == 0)
            d = &w->devices[i];
    if (!d && w->count == DEVICES_MAX)
        return true;
    if (!d) {
        d = &w->devices[w->count++];
        *d = (struct power_device){.list = NULL};
        memcpy(d->name, name, sizeof name);
        d->is_mean = str_starts(f->key, "system/power_");
    }
    if (!ARRAY_FITS_IN(&w->arena, d->list, d->room, d->count + 1))
        return false;
    double time_s = (double)f->time_ms / 1e3;
    if (d->count == 0 || time_s > d->list[d->count - 1].time_s)
        d->list[d->count++] = (struct power_sample){time_s, f->value};
    return true;
}

static bool is_power_device(const struct power_device *d, const char *prefix)
{
    return strncmp(d->name, prefix, strlen(prefix)) == 0;
}

static bool has_device(const struct energy_work *w, const char *prefix)
{
    for (size_t i = 0; i < w->count; i++)
        if (is_power_device(&w->devices[i], prefix))
            return true;
    return false;
}

/* Does other work share the node? Then the energy of what is not this job's own is not known. */
static bool is_node_shared(const struct record *r)
{
    struct str scheduler = record_text(r, FACT_PARAM, "job.scheduler");
    uint64_t allowed = 0, all = 0;
    str_uint(record_text(r, FACT_PARAM, "cpu.allowed_threads"), &allowed);
    str_uint(record_text(r, FACT_PARAM, "cpu.threads"), &all);
    return scheduler.n && !str_is(scheduler, "none") && allowed && allowed < all;
}

/* Is the device a part of the sum? The node's meter has everything; the platform's has packages and memory; cores are in
 * their package. */
static bool is_device_counted(const struct energy_work *w, const struct power_device *d, bool shared)
{
    if (is_power_device(d, "gpu_") || is_power_device(d, "accel"))
        return shared || !has_device(w, "node");
    if (shared)
        return false;
    if (is_power_device(d, "node"))
        return true;
    if (has_device(w, "node") || is_power_device(d, "core") || is_power_device(d, "uncore"))
        return false;
    if (is_power_device(d, "psys"))
        return true;
    return !has_device(w, "psys") && (is_power_device(d, "package") || is_power_device(d, "dram") || is_power_device(d, "cpu") || is_power_device(d, "memory"));
}

/* ---- integration ---- */

static int power_value_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The usual interval between samples; NAN: out of memory. */
static double power_interval_s(struct energy_work *w, const struct power_device *d)
{
    double *list = arena_get(&w->arena, d->count * sizeof *list);
    if (!list)
        return NAN;
    for (size_t i = 1; i < d->count; i++)
        list[i - 1] = d->list[i].time_s - d->list[i - 1].time_s;
    qsort(list, d->count - 1, sizeof *list, power_value_order);
    return list[(d->count - 1) / 2];
}

/* Between samples by interpolation, or the mean that covers the time; before the first and behind the last one constant. */
static double power_at(const struct power_device *d, double time_s)
{
    size_t i = 0;
    while (i < d->count && d->list[i].time_s < time_s)
        i++;
    if (i == 0 || i == d->count)
        return d->list[i ? d->count - 1 : 0].power_W;
    const struct power_sample *a = &d->list[i - 1], *b = &d->list[i];
    if (d->is_mean)
        return b->power_W;
    return a->power_W + (b->power_W - a->power_W) * (time_s - a->time_s) / (b->time_s - a->time_s);
}

/* Joules in the window; refuses gaps. */
static double integrate_power(struct energy_work *w, const struct power_device *d)
{
    if (d->count < SAMPLES_MIN) {
        energy_refuse(w, "the power of %s was sampled %zu times; %d are needed", d->name, d->count, SAMPLES_MIN);
        return 0;
    }
    double limit_s = GAP_FACTOR * power_interval_s(w, d) + GAP_MORE_S, at_s = w->from_s, power_W = power_at(d, w->from_s), sum_J = 0;
    double last_s = d->list[0].time_s > w->from_s ? w->from_s : d->list[0].time_s;
    size_t inside = 0;
    for (size_t i = 0; i <= d->count && at_s < w->to_s; i++) {
        double next_s = i < d->count && d->list[i].time_s < w->to_s ? d->list[i].time_s : w->to_s;
        double known_s = i < d->count ? d->list[i].time_s : w->to_s;
        if (known_s > w->from_s && known_s - last_s > limit_s) {
            energy_refuse(w, "the power of %s was not sampled for %.1f s", d->name, known_s - last_s);
            return 0;
        }
        last_s = known_s;
        if (next_s <= at_s)
            continue;
        double next_W = power_at(d, next_s);
        sum_J += (d->is_mean ? next_W : (power_W + next_W) / 2) * (next_s - at_s);
        inside += i < d->count && d->list[i].time_s < w->to_s;
        at_s = next_s;
        power_W = next_W;
    }
    if (inside < SAMPLES_MIN)
        energy_refuse(w, "the power of %s was sampled %zu times in the window of %.1f s; %d are needed", d->name, inside, w->to_s - w->from_s,
                      SAMPLES_MIN);
    return sum_J;
}

static void energy_find_window(struct energy_work *w)
{
    double from = record_number(w->r, "measured.from_s", NAN), to = record_number(w->r, "measured.to_s", NAN);
    double wall_s = record_number(w->r, "run.wall_s", NAN), end_s = (double)w->r->end_ms / 1e3;
    w->to_s = end_s;
    w->from_s = end_s - wall_s;
    if (!isfinite(wall_s) || wall_s <= 0)
        energy_refuse(w, "the time of the program is not known");
    w->measured = isfinite(from) && isfinite(to) && to > from;
    if (!w->measured)
        return;
    if (from < w->from_s - 1 || to > end_s + 1)
        energy_refuse(w, "the window that the program reports is not within the run");
    w->from_s = from;
    w->to_s = to;
}

/* ---- results ---- */

/* What a rate counts, as a part of keys. */
struct rate_kind {
    const char *dimension, *unit; /* of the energy */
    double amount;                /* so many base units of the rate are one of the energy's unit */
    const char *cost;             /* name of the cost of so many */
    double cost_amount;
};
static const struct rate_kind rate_kinds[] = {{"op/s", "J_per_op", 1, "cost_per_million_ops", 1e6},
                                              {"token/s", "J_per_token", 1, "cost_per_million_tokens", 1e6},
                                              {"byte/s", "J_per_gigabyte", 1e9, "cost_per_terabyte", 1e12},
                                              {"bit/s", "J_per_gigabyte", 8e9, "cost_per_terabyte", 8e12},
                                              {"flop/s", "J_per_GFLOP", 1e9, "cost_per_exaflop", 1e18}};

static bool has_metric(const struct record *r, struct str stem, const char *end)
{
    char key[KEY_MAX + 40];
    snprintf(key, sizeof key, STR_FMT "%s", STR_ARG(stem), end);
    return isfinite(record_number(r, key, NAN));
}

/* The rate that stands for a metric of the program: its mean where there are statistics, else its only value. */
static const struct rate_kind *energy_rate_of(const struct record *r, const struct fact *f, double *ret_per_s, struct str *ret_name)
{
    if (f->kind != FACT_METRIC || f->direction != DIR_HIGHER || !(f->value > 0) || !isfinite(f->value) || !key_is_result(f->key.p))
        return NULL;
    const struct unit *u = f->unit && f->unit[0] ? units_find(str_of(f->unit)) : NULL;
    struct str stem = str_sub(f->key, 0, key_stem(f->key.p)), stat = str_sub(f->key, stem.n, f->key.n - stem.n);
    if (!u || (stat.n ? !str_is(stat, ".mean") : has_metric(r, stem, ".n")))
        return NULL;
    size_t n = strlen(f->unit);
    if (stem.n <= n + 1 || !str_ends(stem, f->unit) || stem.p[stem.n - n - 1] != '_')
        return NULL;
    *ret_name = str_sub(stem, 0, stem.n - n - 1);
    if (str_ends(*ret_name, "peak")) /* of a moment, not of the window */
        return NULL;
    *ret_per_s = f->value * u->factor;
    for (size_t i = 0; i < sizeof rate_kinds / sizeof *rate_kinds; i++)
        if (strcmp(rate_kinds[i].dimension, u->dimension) == 0)
            return &rate_kinds[i];
    return NULL;
}

static void record_rate_energy(struct record *r, const struct fact *last, double mean_W)
{
    for (const struct fact *f = r->first; f; f = f->next) {
        char key[KEY_MAX + 40];
        struct str name;
        double per_s;
        const struct rate_kind *kind = energy_rate_of(r, f, &per_s, &name);
        if (kind) {
            snprintf(key, sizeof key, STR_FMT ".energy_%s", STR_ARG(name), kind->unit);
            record_metric(r, key, mean_W / (per_s / kind->amount), kind->unit, DIR_LOWER, 0, r->end_ms);
        }
        if (f == last)
            break;
    }
}

static void record_energy(struct energy_work *w, double sum_J, const char *parts)
{
    struct record *r = w->r;
    double window_s = w->to_s - w->from_s;
    const struct fact *last = r->last;
    record_tag(r, "energy.window", str_of(w->measured ? "measured" : "run"));
    record_tag(r, "energy.parts", str_of(parts));
    record_metric(r, "energy.valid", 1, "", DIR_NONE, 0, r->end_ms);
    record_metric(r, "energy.window_s", window_s, "s", DIR_NONE, 0, r->end_ms);
    record_metric(r, "energy.used_J", sum_J, "J", DIR_LOWER, 0, r->end_ms);
    record_metric(r, "energy.mean_W", sum_J / window_s, "W", DIR_NONE, 0, r->end_ms);
    record_rate_energy(r, last, sum_J / window_s);
}

static bool has_several_nodes(const struct record *r)
{
    uint64_t nodes = 1;
    if (!str_uint(record_text(r, FACT_PARAM, "step.nodes"), &nodes))
        str_uint(record_text(r, FACT_PARAM, "job.nodes"), &nodes);
    return nodes > 1;
}

static void energy_integrate(struct energy_work *w)
{
    bool shared = is_node_shared(w->r);
    double sum_J = 0;
    size_t counted = 0;
    struct buf parts CLEANUP_BUF;
    buf_init(&parts, 4096);
    energy_find_window(w);
    for (size_t i = 0; i < w->count && !w->why[0]; i++) {
        const struct power_device *d = &w->devices[i];
        if (!is_device_counted(w, d, shared))
            continue;
        sum_J += integrate_power(w, d);
        buf_printf(&parts, "%s%s", counted++ ? " " : "", d->name);
    }
    if (!w->why[0] && counted == 0)
        energy_refuse(w, shared ? "the job has a part of the node, whose energy other jobs use too" : "no meter covers the processors or GPUs");
    if (!w->why[0] && has_several_nodes(w->r))
        energy_refuse(w, "the results are of several nodes, and power was measured on this one");
    if (w->why[0])
        record_missing(w->r, "energy.valid", "%s", w->why);
    else
        record_energy(w, sum_J, parts.p ? parts.p : "");
}

void energy_results_make(struct record *r)
{
    struct energy_work w = {.r = r};
    const char *source = r->source;
    bool fits = true;
    if (str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return;
    arena_init(&w.arena, 256 << 20);
    for (const struct fact *f = r->first; f && fits; f = f->next)
        fits = add_power_sample(&w, f);
    if (w.count && fits) {
        r->source = "recorder";
        energy_integrate(&w);
        r->source = source;
    }
    arena_deinit(&w.arena);
}

/* ---- cost ---- */

int energy_results_check_price(const char *text, struct err *err)
{
    struct str rest = str_of(text), number = str_word(&rest);
    double price;
    if (!text || (str_double(number, &price) && isfinite(price) && price >= 0 && str_trim(rest).n < 40))
        return 0;
    return err_set(err, ERR_USAGE, "--node-hour-price: expected a number >= 0 and a currency, such as \"1.80 EUR\", got \"%.60s\"", text);
}

void energy_results_price(struct record *r)
{
    struct str text = record_text(r, FACT_TAG, "cost.node_hour"), number = str_word(&text);
    const char *source = r->source;
    const struct fact *last = r->last;
    double price, wall_s = record_number(r, "run.wall_s", NAN);
    uint64_t nodes = 1;
    if (!number.n || !str_double(number, &price) || !isfinite(wall_s))
        return;
    if (!str_uint(record_text(r, FACT_PARAM, "step.nodes"), &nodes))
        str_uint(record_text(r, FACT_PARAM, "job.nodes"), &nodes);
    double per_s = price * (double)(nodes ? nodes : 1) / 3600;
    r->source = "recorder";
    record_metric(r, "cost.run", per_s * wall_s, "", DIR_LOWER, 0, r->end_ms);
    for (const struct fact *f = r->first; f; f = f->next) {
        char key[KEY_MAX + 40];
        struct str name;
        double rate;
        const struct rate_kind *kind = energy_rate_of(r, f, &rate, &name);
        if (kind) {
            snprintf(key, sizeof key, STR_FMT ".%s", STR_ARG(name), kind->cost);
            record_metric(r, key, per_s / rate * kind->cost_amount, "", DIR_LOWER, 0, r->end_ms);
        }
        if (f == last)
            break;
    }
    r->source = source;
}
