/* energy_results.c: energy for each result; see energy_results.h. */
#include "run/energy_results.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/units.h"
#include "collector/nodes.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64, SAMPLES_MIN = 3, WORDS_MAX = 300 };
static const double GAP_FACTOR = 3, GAP_MORE_S = 1; /* an interval without a sample that is longer is a gap */
static const char no_memory[] = "out of memory for the samples of power";
static const double CLOCK_SHARE = 0.01; /* of the window, by which the clock of a node may be wrong */

struct power_sample {
    double time_s, power_W;
};
struct power_device {
    char name[40]; /* "gpu_0", "package1", "node" */
    bool is_mean; /* a sample is the mean since the one before; else the power at its time */
    struct power_sample *list;
    size_t count, room;
};
/* A node whose power counts. */
struct power_node {
    const struct node_report *report; /* NULL: the run has one node */
    struct power_device *devices; /* DEVICES_MAX */
    size_t count;
    double offset_s; /* of the clock of its samples */
    bool is_shared;
};
struct energy_work {
    struct record *r;
    struct arena arena;
    struct power_node *nodes;
    size_t count, room;
    bool failed; /* out of memory */
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

/* Writes the device's name into ret: "system/gpu_0_power_usage_watts" -> "gpu_0",
 * "system/power_package0_watts" -> "package0". False: the metric is no power. */
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

/* Returns the entry of the node, made where it is new; it is valid until the next call. NULL: out
 * of memory. */
static struct power_node *power_node_of(struct energy_work *w, const struct node_report *report)
{
    for (size_t i = w->count; i-- > 0;) /* most lines are of the node of the line before */
        if (w->nodes[i].report == report)
            return &w->nodes[i];
    struct power_device *devices = arena_get(&w->arena, DEVICES_MAX * sizeof *devices);
    if (!devices || !ARRAY_FITS_IN(&w->arena, w->nodes, w->room, w->count + 1))
        return NULL;
    w->nodes[w->count] = (struct power_node){.report = report, .devices = devices};
    return &w->nodes[w->count++];
}

/* Returns the row of the device, appended where it is new; NULL: DEVICES_MAX are there. */
static struct power_device *power_device_of(struct power_node *node, const char name[40], bool is_mean)
{
    for (size_t i = 0; i < node->count; i++)
        if (strcmp(node->devices[i].name, name) == 0)
            return &node->devices[i];
    if (node->count == DEVICES_MAX)
        return NULL;
    struct power_device *d = &node->devices[node->count++];
    *d = (struct power_device){.is_mean = is_mean};
    memcpy(d->name, name, sizeof d->name);
    return d;
}

/* Called for each sample of a collector: adds those of power to the device's list, in order of
 * time. Out of memory sets w->failed. */
static void add_power_sample(void *context, const struct node_report *report, const char *series, int64_t time_ms, double power_W)
{
    struct energy_work *w = context;
    char name[40];
    if (w->failed || !isfinite(power_W) || power_W < 0 || !power_device_name(str_of(series), name))
        return;
    struct power_node *node = power_node_of(w, report);
    struct power_device *d = node ? power_device_of(node, name, strncmp(series, "system/power_", 13) == 0) : NULL;
    if (node && !d) {
        energy_refuse(w, "more than %d devices report their power", DEVICES_MAX);
        return;
    }
    if (!d || !ARRAY_FITS_IN(&w->arena, d->list, d->room, d->count + 1)) {
        w->failed = true;
        return;
    }
    double time_s = (double)time_ms / 1e3;
    if (d->count == 0 || time_s > d->list[d->count - 1].time_s)
        d->list[d->count++] = (struct power_sample){time_s, power_W};
}

static bool is_power_device(const struct power_device *d, const char *prefix)
{
    return strncmp(d->name, prefix, strlen(prefix)) == 0;
}

static bool has_device(const struct power_node *node, const char *prefix)
{
    for (size_t i = 0; i < node->count; i++)
        if (is_power_device(&node->devices[i], prefix))
            return true;
    return false;
}

/* Returns whether other work shares the node. Then only the energy of the job's own devices is
 * known. */
static bool is_node_shared(const struct record *r)
{
    struct str scheduler = record_text(r, FACT_PARAM, "job.scheduler");
    uint64_t allowed = 0, all = 0;
    str_uint(record_text(r, FACT_PARAM, "cpu.allowed_threads"), &allowed);
    str_uint(record_text(r, FACT_PARAM, "cpu.threads"), &all);
    return scheduler.n && !str_is(scheduler, "none") && allowed && allowed < all;
}

/* Returns whether other work may share a node of several. A collector may be confined to fewer
 * processors than the job has there, so the job's number counts too. */
static bool is_other_node_shared(const struct record *r, const struct node_report *t)
{
    const char *allowed_text = node_text(t, "cpu.allowed_threads"), *all_text = node_text(t, "cpu.threads");
    uint64_t allowed = 0, all = 0, job = 0;
    str_uint(str_of(allowed_text), &allowed);
    str_uint(str_of(all_text), &all);
    str_uint(record_text(r, FACT_PARAM, "job.cpus_per_node"), &job);
    return !all || (allowed < all && job < all);
}

/* Returns whether the device is a part of the sum. The node's meter has everything, the platform's
 * has packages and memory, and cores are in their package. Of a shared node only GPUs and
 * accelerators count. */
static bool is_device_counted(const struct power_node *node, const struct power_device *d)
{
    if (is_power_device(d, "gpu_") || is_power_device(d, "accel"))
        return node->is_shared || !has_device(node, "node");
    if (node->is_shared)
        return false;
    if (is_power_device(d, "node"))
        return true;
    if (has_device(node, "node") || is_power_device(d, "core") || is_power_device(d, "uncore"))
        return false;
    if (is_power_device(d, "psys"))
        return true;
    return !has_device(node, "psys") &&
           (is_power_device(d, "package") || is_power_device(d, "dram") || is_power_device(d, "cpu") || is_power_device(d, "memory"));
}

/* ---- integration ---- */

static int power_value_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the usual interval between samples; NAN: out of memory. */
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

/* Returns the power at a time: between samples by interpolation, or the mean that covers the time;
 * before the first and after the last sample that one's. */
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
static double integrate_power(struct energy_work *w, const struct power_node *node, const struct power_device *d)
{
    char of[NODE_NAME_MAX + 10] = "";
    double from_s = w->from_s + node->offset_s, to_s = w->to_s + node->offset_s;
    if (node->report)
        snprintf(of, sizeof of, " of node %s", node->report->name);
    if (d->count < SAMPLES_MIN) {
        energy_refuse(w, "the power of %s%s was sampled %zu times; %d are needed", d->name, of, d->count, SAMPLES_MIN);
        return 0;
    }
    double limit_s = GAP_FACTOR * power_interval_s(w, d) + GAP_MORE_S, at_s = from_s, power_W = power_at(d, from_s), sum_J = 0;
    double last_s = d->list[0].time_s > from_s ? from_s : d->list[0].time_s;
    size_t inside = 0;
    for (size_t i = 0; i <= d->count && at_s < to_s; i++) {
        double next_s = i < d->count && d->list[i].time_s < to_s ? d->list[i].time_s : to_s;
        double known_s = i < d->count ? d->list[i].time_s : to_s;
        if (known_s > from_s && known_s - last_s > limit_s) {
            energy_refuse(w, "the power of %s%s was not sampled for %.1f s", d->name, of, known_s - last_s);
            return 0;
        }
        last_s = known_s;
        if (next_s <= at_s)
            continue;
        double next_W = power_at(d, next_s);
        sum_J += (d->is_mean ? next_W : (power_W + next_W) / 2) * (next_s - at_s);
        inside += i < d->count && d->list[i].time_s < to_s;
        at_s = next_s;
        power_W = next_W;
    }
    if (inside < SAMPLES_MIN)
        energy_refuse(w, "the power of %s%s was sampled %zu times in the window of %.1f s; %d are needed", d->name, of, inside,
                      to_s - from_s, SAMPLES_MIN);
    return sum_J;
}

/* Sets the window to what the program measured, else to its duration, in s of Unix time. Sets
 * w->why where it is not known or not within the run. */
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
        energy_refuse(w, "the measured window (measured.from_s to measured.to_s) is not within the run");
    w->from_s = from;
    w->to_s = to;
}

/* ---- results ---- */

/* What a rate or an amount counts, as a part of keys. */
struct rate_kind {
    const char *dimension, *unit; /* of the energy */
    double amount; /* so many base units of the rate are one of the energy's unit */
    const char *cost; /* name of the cost of so many */
    double cost_amount;
};
static const struct rate_kind rate_kinds[] = {
    {"op/s", "J_per_op", 1, "cost_per_million_ops", 1e6},         {"token/s", "J_per_token", 1, "cost_per_million_tokens", 1e6},
    {"byte/s", "J_per_gigabyte", 1e9, "cost_per_terabyte", 1e12}, {"bit/s", "J_per_gigabyte", 8e9, "cost_per_terabyte", 8e12},
    {"flop/s", "J_per_GFLOP", 1e9, "cost_per_exaflop", 1e18},     {"byte", "J_per_gigabyte", 1e9, "cost_per_terabyte", 1e12}};

static bool has_metric(const struct record *r, struct str stem, const char *end)
{
    char key[KEY_MAX + 40];
    snprintf(key, sizeof key, STR_FMT "%s", STR_ARG(stem), end);
    return isfinite(record_number(r, key, NAN));
}

static bool is_only_value(const struct record *r, const struct fact *f)
{
    for (const struct fact *x = r->first; x; x = x->next)
        if (x != f && x->kind == FACT_METRIC && str_eq(x->key, f->key))
            return false;
    return true;
}

/* Returns the kind of the rate that stands for a metric of the program, and the rate itself in
 * *ret_per_s: the mean where there are statistics, else the only value. An amount of which more is
 * better is divided by span_s. NULL: the metric is no such rate. */
static const struct rate_kind *energy_rate_of(const struct record *r, const struct fact *f, double span_s, double *ret_per_s,
                                              struct str *ret_name)
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
        if (strcmp(rate_kinds[i].dimension, u->dimension) == 0) {
            bool is_amount = !str_ends(str_of(u->dimension), "/s");
            if (is_amount && (stat.n || !is_only_value(r, f)))
                return NULL;
            *ret_per_s /= is_amount ? span_s : 1;
            return &rate_kinds[i];
        }
    return NULL;
}

/* Finds the next result that is a rate, from *at up to the fact `last`, and moves *at behind it. The other arguments are those of
 * energy_rate_of. NULL: there is no further one. */
static const struct rate_kind *energy_next_rate(const struct record *r, const struct fact **at, const struct fact *last, double span_s,
                                                double *ret_per_s, struct str *ret_name)
{
    while (*at) {
        const struct fact *f = *at;
        const struct rate_kind *kind = energy_rate_of(r, f, span_s, ret_per_s, ret_name);
        *at = f == last ? NULL : f->next;
        if (kind)
            return kind;
    }
    return NULL;
}

/* Records for each result up to the fact `last` that is a rate the energy of one unit, at mean_W
 * over window_s seconds. */
static void record_rate_energy(struct record *r, const struct fact *last, double mean_W, double window_s)
{
    const struct fact *at = r->first;
    double per_s;
    struct str name;
    for (const struct rate_kind *kind; (kind = energy_next_rate(r, &at, last, window_s, &per_s, &name));) {
        char key[KEY_MAX + 40];
        snprintf(key, sizeof key, STR_FMT ".energy_%s", STR_ARG(name), kind->unit);
        record_metric(r, key, mean_W / (per_s / kind->amount), kind->unit, DIR_LOWER, 0, r->end_ms);
    }
}

/* Records the energy of the window, sum_J, and of each rate; parts: which devices it is of. */
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
    record_rate_energy(r, last, sum_J / window_s, window_s);
}

static uint64_t energy_node_count(const struct record *r)
{
    uint64_t nodes = 1;
    if (!str_uint(record_text(r, FACT_PARAM, "step.nodes"), &nodes))
        str_uint(record_text(r, FACT_PARAM, "job.nodes"), &nodes);
    return nodes ? nodes : 1;
}

/* Adds the devices of a node that count, whose names are appended to `parts`. */
static double sum_node_energy(struct energy_work *w, const struct power_node *node, struct buf *parts)
{
    double sum_J = 0;
    size_t begin = parts->n;
    for (size_t i = 0; i < node->count && !w->why[0]; i++) {
        const struct power_device *d = &node->devices[i];
        if (!is_device_counted(node, d))
            continue;
        sum_J += integrate_power(w, node, d);
        buf_printf(parts, "%s%s", parts->n > begin ? " " : "", d->name);
    }
    if (!w->why[0] && parts->n == begin)
        energy_refuse(w,
                      node->is_shared ? "the job has a part of %s%s, whose energy other jobs use too"
                                      : "no meter covers the processors or GPUs%s%s",
                      node->is_shared ? node->report ? "node " : "the node"
                      : node->report  ? " of node "
                                      : "",
                      node->report ? node->report->name : "");
    return sum_J;
}

/* ---- several nodes ---- */

/* Chooses the nodes that ran the program, of which each must have delivered. */
static void choose_power_nodes(struct energy_work *w, const struct nodes_summary *n)
{
    uint64_t expected = energy_node_count(w->r), used = 0;
    for (const struct node_report *t = n->first; t; t = t->next) {
        if (t->use == NODE_UNKNOWN)
            energy_refuse(w, "it is not known whether the program ran on node %s, whose power was measured", t->name);
        if (t->use != NODE_USED)
            continue;
        struct power_node *node = power_node_of(w, t);
        double limit_ms = CLOCK_SHARE * 1e3 * (w->to_s - w->from_s);
        used++;
        if (!node) {
            energy_refuse(w, "%s", no_memory);
            return;
        }
        if (!node->count)
            energy_refuse(w, "node %s has reported no power", t->name);
        else if (!t->own && t->error_ms < 0)
            energy_refuse(w, "the clock of node %s is not known", t->name);
        else if (!t->own && (double)t->error_ms > limit_ms)
            energy_refuse(w, "the clock of node %s is known to %.0f ms only; the window has %.1f s", t->name, (double)t->error_ms,
                          w->to_s - w->from_s);
        node->offset_s = (double)t->offset_ms / 1e3;
        node->is_shared = t->own ? is_node_shared(w->r) : is_other_node_shared(w->r, t);
    }
    if (used != expected)
        energy_refuse(w, "%llu nodes ran the program, and %llu have reported their power", (unsigned long long)expected,
                      (unsigned long long)used);
}

/* Returns the sum over all nodes that ran the program, in J. Sets w->why where it is not valid, for
 * example because they measured different devices. */
static double sum_nodes_energy(struct energy_work *w, const struct nodes_summary *n, struct buf *parts)
{
    struct buf first CLEANUP_BUF, other CLEANUP_BUF;
    double sum_J = 0;
    const struct power_node *like = NULL;
    buf_init(&first, 4096);
    buf_init(&other, 4096);
    choose_power_nodes(w, n);
    for (size_t i = 0; i < w->count && !w->why[0]; i++) {
        const struct power_node *node = &w->nodes[i];
        if (node->report->use != NODE_USED)
            continue;
        struct buf *to = like ? &other : &first;
        buf_clear(&other);
        sum_J += sum_node_energy(w, node, to);
        if (like && !w->why[0] && !str_eq(buf_text(&first), buf_text(&other)))
            energy_refuse(w, "node %s measures %.60s, and node %s %.60s", like->report->name, first.p, node->report->name, other.p);
        like = like ? like : node;
    }
    buf_printf(parts, "%llu nodes: %s", (unsigned long long)energy_node_count(w->r), first.p ? first.p : "");
    return sum_J;
}

/* Reads the power of all nodes from the lines of collectors into *ret_J; without such lines only
 * this node's is known. False: no node's is. */
static bool read_nodes_energy(struct energy_work *w, int spool, bool public_profile, double *ret_J, struct buf *parts)
{
    struct nodes_summary n;
    struct err err = {0};
    size_t own = w->count;
    w->count = 0;
    int rc = nodes_read_samples(&n, spool, w->r, public_profile, add_power_sample, w, &err);
    if (rc) {
        energy_refuse(w, "%s", rc > 0 ? "the results are of several nodes, and power was measured on this one" : err.text);
        return own > 0;
    }
    bool known = w->count > 0;
    if (w->failed)
        energy_refuse(w, "%s", no_memory);
    else if (known)
        *ret_J = sum_nodes_energy(w, &n, parts);
    nodes_deinit(&n);
    return known;
}

/* Records the energy of the window, or the reason why it is missing. Records nothing where no power
 * is known. */
static void energy_integrate(struct energy_work *w, int spool, bool public_profile)
{
    bool known = w->count > 0;
    double sum_J = 0;
    struct buf parts CLEANUP_BUF;
    buf_init(&parts, 4096);
    energy_find_window(w);
    double service_J = record_number(w->r, "measured.energy_J", NAN);
    if (service_J > 0 && isfinite(service_J) && w->measured && !w->why[0]) {
        record_energy(w, service_J, "service");
        return;
    }
    if (record_number(w->r, "measured.elsewhere", 0) == 1 && energy_node_count(w->r) == 1)
        energy_refuse(w, "the work was done on another machine, whose power is not known");
    if (energy_node_count(w->r) > 1)
        known = read_nodes_energy(w, spool, public_profile, &sum_J, &parts);
    else if (known) {
        w->nodes[0].is_shared = is_node_shared(w->r);
        sum_J = sum_node_energy(w, &w->nodes[0], &parts);
    }
    if (known && w->why[0])
        record_missing(w->r, "energy.valid", "%s", w->why);
    else if (known)
        record_energy(w, sum_J, parts.p ? parts.p : "");
}

void energy_results_make(struct record *r, int spool, bool public_profile)
{
    struct energy_work w = {.r = r};
    const char *source = r->source;
    if (str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return;
    arena_init(&w.arena, 256 << 20);
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC)
            add_power_sample(&w, NULL, f->key.p, f->time_ms, f->value);
    r->source = "recorder";
    if (w.failed)
        record_missing(r, "energy.valid", "%s", no_memory);
    else
        energy_integrate(&w, spool, public_profile);
    r->source = source;
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
    const struct fact *at = r->first, *last = r->last;
    double price, rate, wall_s = record_number(r, "run.wall_s", NAN);
    struct str name;
    if (!number.n || !str_double(number, &price) || !isfinite(wall_s))
        return;
    double per_s = price * (double)energy_node_count(r) / 3600;
    r->source = "recorder";
    record_metric(r, "cost.run", per_s * wall_s, "", DIR_LOWER, 0, r->end_ms);
    for (const struct rate_kind *kind; (kind = energy_next_rate(r, &at, last, wall_s, &rate, &name));) {
        char key[KEY_MAX + 40];
        snprintf(key, sizeof key, STR_FMT ".%s", STR_ARG(name), kind->cost);
        record_metric(r, key, per_s / rate * kind->cost_amount, "", DIR_LOWER, 0, r->end_ms);
    }
    r->source = source;
}
