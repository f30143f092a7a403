/* bounds.c: values that the recorded hardware cannot reach. The finding names each bound and its
 * source; a doubt is no accusation. */
#include "check/parts.h"

#include "base/units.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

enum by { BY_ITSELF, BY_CORE };
static const struct bound {
    const char *benchmark, *pattern, *unit;
    enum by by;
    double most, of_gpu;
    const char *source;
} bounds[] = {
#define BOUND(benchmark, pattern, unit, by, most, of_gpu, source) {benchmark, pattern, unit, by, most, of_gpu, source},
#include "check/bounds.def"
#undef BOUND
};

static double bounds_param(const struct run_check *r, const char *key)
{
    const char *text = run_text(r, 'p', key);
    double v;
    return text && str_double(str_of(text), &v) && isfinite(v) && v > 0 ? v : NAN;
}

static double bounds_count_nodes(const struct run_check *r)
{
    double n = bounds_param(r, "step.nodes");
    if (isnan(n))
        n = bounds_param(r, "job.nodes"); /* the allocation, which is no less */
    return isnan(n) ? 1 : n;
}

/* ---- what the system has counted ---- */

static void check_processors(struct run_check *r)
{
    double threads = bounds_param(r, "cpu.threads"), wall = run_number(r, "run.wall_s", NAN),
           used = run_number(r, "run.user_s", NAN) + run_number(r, "run.system_s", NAN), most = wall * threads;
    if (!(used > most * 1.05 + 1)) /* one of them is not known, too */
        return;
    run_found(r, used > 2 * most + 2 ? CHECK_BOUND : CHECK_BOUND_ODD, "metrics/run.user_s", 0,
              "%.6g s of processor time in %.6g s; the node's %.0f thread%s (param cpu.threads) can use at most %.6g s", used, wall,
              threads, str_plural((uint64_t)threads), most);
}

static void check_memory(struct run_check *r)
{
    double total = bounds_param(r, "memory.total_GiB") * 1024, used = run_number(r, "run.max_rss_MiB", NAN);
    if (used > total * 1.05)
        run_found(r, CHECK_BOUND, "metrics/run.max_rss_MiB", 0, "%.6g MiB of memory in use; the node has %.6g (param memory.total_GiB)",
                  used, total);
}

/* ---- what the program claims ---- */

/* Rates and durations are not negative. */
static bool is_never_negative(const char *unit)
{
    size_t n = strlen(unit);
    return (n > 6 && strcmp(unit + n - 6, "_per_s") == 0) || strcmp(unit, "GTEPS") == 0;
}

static double most_of(const struct run_check *r, const struct bound *b)
{
    double cores = bounds_param(r, "cpu.cores"), gpus = bounds_param(r, "gpu.count");
    if (b->by == BY_CORE && isnan(cores))
        return INFINITY; /* the hardware is not known: no bound */
    return ((b->by == BY_CORE ? cores * b->most : b->most) + (isnan(gpus) ? 0 : gpus * b->of_gpu)) * bounds_count_nodes(r);
}

/* Reports the metric where it is one of the bound's and its value, in the unit of the bound, is
 * above what the recorded hardware can reach. Does nothing where a unit or the hardware is not
 * known. */
static void check_bound(struct run_check *r, const struct bound *b, const struct json *m, const char *benchmark)
{
    double value, in_unit, most;
    char file[400];
    if (strcmp(benchmark, b->benchmark) != 0 || fnmatch(b->pattern, json_key(m), 0) != 0)
        return;
    const struct unit *unit = units_find(str_of(json_string(json_get(m, "unit"), ""))), *wanted = units_find(str_of(b->unit));
    value = run_number(r, json_key(m), NAN);
    most = most_of(r, b);
    if (!unit || !wanted || !units_convert(value, unit, wanted, &in_unit) || !(in_unit > most))
        return;
    snprintf(file, sizeof file, "metrics/%.350s", json_key(m));
    run_found(r, CHECK_BOUND, file, 0, "%.6g %s; this hardware cannot pass %.6g (%s; cores: %.0f, nodes: %.0f)", in_unit, b->unit, most,
              b->source, bounds_param(r, "cpu.cores"), bounds_count_nodes(r));
}

void check_bounds(struct run_check *r)
{
    const char *benchmark = run_text(r, 't', "benchmark");
    check_processors(r);
    check_memory(r);
    for (const struct json *m = json_first(json_get(r->record, "metrics")); m; m = json_next(m)) {
        if (run_number(r, json_key(m), 0) < 0 && is_never_negative(json_string(json_get(m, "unit"), ""))) {
            char file[400];
            snprintf(file, sizeof file, "metrics/%.350s", json_key(m));
            run_found(r, CHECK_BOUND, file, 0, "a rate below zero");
        }
        for (size_t i = 0; benchmark && i < sizeof bounds / sizeof *bounds; i++)
            check_bound(r, &bounds[i], m, benchmark);
    }
}
