/* groups.c: what is reported of all batches: repeats of equal size, the model of latency, the
 * shortest useful task. */
#include "benchmarks/native/taskrate/figures.h"

#include <math.h>
#include <string.h>

enum { VALUES_MAX = 1024 };

typedef double value_of(const struct task_batch *batch);

static double batch_throughput(const struct task_batch *batch)
{
    return batch->throughput;
}
static double submit_rate(const struct task_batch *batch)
{
    return batch->submit_rate;
}
/* Returns whether the batch was complete and without losses, so that its span counts. */
static bool group_batch_is_usable(const struct task_batch *batch)
{
    return batch->throughput > 0 || (batch->too_brief && !batch->no_throughput);
}
static double batch_makespan(const struct task_batch *batch)
{
    return group_batch_is_usable(batch) ? batch->makespan : 0;
}
static double batch_start50(const struct task_batch *batch)
{
    return batch->start.n ? batch->start.at[0] : 0;
}
static double batch_start99(const struct task_batch *batch)
{
    return batch->start.n ? batch->start.at[3] : 0;
}
static double batch_turnaround50(const struct task_batch *batch)
{
    return batch->turnaround.n ? batch->turnaround.at[0] : 0;
}

static bool group_has_batch(const struct task_batch *batch, const struct batch_group *g)
{
    return !batch->warmup && !batch->floor && batch->tasks == g->tasks && batch->duration == g->duration && batch->chain == g->chain;
}

static void group_statistics(const struct bench *b, const struct batch_group *g, value_of *f, struct stats *ret)
{
    double v[VALUES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < b->batch_count && n < VALUES_MAX; i++)
        if (group_has_batch(&b->batches[i], g) && f(&b->batches[i]) != 0)
            v[n++] = f(&b->batches[i]);
    *ret = (struct stats){.n = 0};
    if (n)
        stats_of(v, n, ret);
}

size_t figures_groups(const struct bench *b, struct batch_group *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < b->batch_count; i++) {
        const struct task_batch *batch = &b->batches[i];
        size_t k = 0;
        if (batch->warmup || batch->floor)
            continue;
        while (k < n && !group_has_batch(batch, &ret[k]))
            k++;
        if (k == GROUPS_MAX)
            continue;
        if (k == n)
            ret[n++] =
                (struct batch_group){.tasks = batch->tasks, .duration = batch->duration, .chain = batch->chain, .slots = batch->slots};
        ret[k].batches++;
        ret[k].usable += group_batch_is_usable(batch);
        ret[k].throttled |= batch->throttled;
        ret[k].crowded |= figures_is_crowded(batch);
    }
    for (size_t k = 0; k < n; k++) {
        group_statistics(b, &ret[k], batch_throughput, &ret[k].throughput);
        group_statistics(b, &ret[k], submit_rate, &ret[k].submit_rate);
        group_statistics(b, &ret[k], batch_makespan, &ret[k].makespan);
        group_statistics(b, &ret[k], batch_start50, &ret[k].start50);
        group_statistics(b, &ret[k], batch_start99, &ret[k].start99);
        group_statistics(b, &ret[k], batch_turnaround50, &ret[k].turnaround50);
    }
    return n;
}

double figures_efficiency(const struct batch_group *g)
{
    if (!g->makespan.n || !g->slots || g->makespan.median <= 0 || g->crowded)
        return NAN;
    return g->duration * (double)g->tasks / (g->slots * g->makespan.median);
}

static double per_slot(const struct batch_group *g)
{
    return (double)g->tasks / g->slots;
}

/* Is there no shorter duration of the same size? */
static bool group_is_shortest(const struct batch_group *g, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        if (!g[i].chain && g[i].makespan.n && g[i].tasks == g[k].tasks && g[i].duration < g[k].duration)
            return false;
    return true;
}

/* A straight line through (x, y): *a + *b x; *sa, *sb standard errors, NaN for n < 3. */
static void figures_fit_line(const double *x, const double *y, size_t n, double *a, double *b, double *sa, double *sb)
{
    double mx = 0, my = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < n; i++)
        mx += x[i] / (double)n, my += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my);
    *b = xy / xx;
    *a = my - *b * mx;
    for (size_t i = 0; i < n; i++)
        rest += (y[i] - *a - *b * x[i]) * (y[i] - *a - *b * x[i]);
    *sb = n < 3 ? NAN : sqrt(rest / (double)(n - 2) / xx);
    *sa = n < 3 ? NAN : *sb * sqrt(xx / (double)n + mx * mx);
}

void figures_model(const struct batch_group *g, size_t n, struct model *ret)
{
    double x[SWEEP_MAX], y[SWEEP_MAX], a, b, sa, sb;
    size_t points = 0;
    *ret = (struct model){.t_low = NAN, .t_high = NAN, .alpha_low = NAN, .alpha_high = NAN};
    for (size_t i = 0; i < n && points < SWEEP_MAX; i++) {
        double beyond = g[i].makespan.n ? g[i].makespan.median - per_slot(&g[i]) * g[i].duration : 0;
        if (g[i].chain || !g[i].slots || !(beyond > 0) || !group_is_shortest(g, n, i) || g[i].throttled || g[i].crowded)
            continue;
        x[points] = log(per_slot(&g[i]));
        y[points++] = log(beyond);
    }
    ret->points = points;
    if (!points)
        return;
    ret->known = true;
    if (points == 1) {
        ret->alpha = 1;
        ret->alpha_assumed = true;
        ret->t_s = exp(y[0] - x[0]);
        return;
    }
    figures_fit_line(x, y, points, &a, &b, &sa, &sb);
    ret->t_s = exp(a);
    ret->alpha = b;
    if (points >= 3) {
        double t = stats_t975(points - 2);
        ret->t_low = exp(a - t * sa), ret->t_high = exp(a + t * sa);
        if (b - t * sb >= 0) /* more tasks do not cost less: an interval that includes this is of too few sizes */
            ret->alpha_low = b - t * sb, ret->alpha_high = b + t * sb;
    }
}

bool figures_has_interval(const struct stats *s)
{
    return s->n >= 3 && s->ci_low >= 0;
}

/* A task that sleeps cost up to 2.6 times as much as one of no duration on a busy machine. */
static const double METG_FACTOR = 2.5;
/* The model may rest on tasks of no duration: one that sleeps cost up to 2.6 times as much on a busy machine. */
static const double METG_MODEL_FACTOR = 4;
/* A range of this factor or less is one value. */
static const double METG_NEAR = 1.6;

/* Returns the logarithm of the ratio of a task's time to its cost, from the efficiency time / (time
 * + cost). An efficiency of 1 or more, by a clock's error, counts as almost 1. */
static double log_ratio(const struct batch_group *g)
{
    double e = fmin(figures_efficiency(g), 0.999);
    return log(e / (1 - e));
}

/* The task duration at which the batch would use half of the slots if its makespan stayed the same.
 * Longer tasks need at least that makespan, so no shorter duration does. */
static double metg_earliest(const struct batch_group *below)
{
    return 0.5 * below->makespan.min / per_slot(below);
}

/* `below` and `above` are around one half. Since a batch of longer tasks needs at least as much
 * time, `above` bounds it, too. Between the bounds it is where a task's time is its cost, or
 * earlier where a launcher starts one task after the other. */
static void metg_between(const struct batch_group *below, const struct batch_group *above, struct metg *ret)
{
    double low = log_ratio(below), high = log_ratio(above);
    double cost = below->duration * exp(-low); /* of a task of the shorter duration */
    ret->low = fmax(below->duration, metg_earliest(below));
    ret->high = fmin(above->duration, 0.5 * above->makespan.max / per_slot(above));
    if (ret->high / ret->low <= METG_NEAR) {
        double at = below->duration * exp(-low / (high - low) * log(above->duration / below->duration));
        ret->seconds = fmin(fmax(at, ret->low), ret->high);
        ret->how = "interpolated between the two durations around it";
    } else if (cost * METG_FACTOR > ret->low && cost * METG_FACTOR < ret->high) {
        ret->high = cost * METG_FACTOR;
        ret->how =
            "assumes that a longer task costs at most 2.5 times as much as one of the shorter of the two durations around it; durations "
            "between them measure it";
    } else
        ret->how = "between the two durations around it; durations between them measure it";
    if (!(ret->low <= ret->high)) { /* the longer tasks needed less time */
        ret->low = below->duration;
        ret->high = above->duration;
        ret->seconds = NAN;
        ret->how = "the two durations around it; durations between them measure it";
    }
}

/* The last round of tasks leaves slots idle: with fewer tasks than half of the slots even tasks that cost nothing do. */
static bool can_be_half_busy(const struct batch_group *g)
{
    return per_slot(g) >= 0.5 * ceil(per_slot(g));
}

/* Where the efficiency of the largest size crosses one half. */
void figures_metg(const struct batch_group *g, size_t n, const struct model *m, struct metg *ret)
{
    size_t most = 0;
    const struct batch_group *below = NULL, *above = NULL;
    *ret = (struct metg){.seconds = NAN, .low = NAN, .high = NAN, .how = "no complete batch"};
    for (size_t i = 0; i < n; i++)
        if (!g[i].chain && g[i].makespan.n && g[i].tasks > most)
            most = g[i].tasks;
    for (size_t i = 0; i < n; i++) {
        if (g[i].chain || !g[i].makespan.n || g[i].tasks != most)
            continue;
        if (g[i].throttled) {
            ret->how = "submission was throttled";
            return;
        }
        if (g[i].crowded) {
            ret->how = "more tasks ran at once than there are slots (--slots)";
            return;
        }
        bool enough = figures_efficiency(&g[i]) >= 0.5;
        if (enough && (!above || g[i].duration < above->duration))
            above = &g[i];
        if (!enough && (!below || g[i].duration > below->duration))
            below = &g[i];
    }
    if ((above || below) && !can_be_half_busy(above ? above : below))
        ret->how = "so few tasks cannot keep half of the slots busy";
    else if (above && below && below->duration >= above->duration)
        ret->how = "a longer duration kept less than half of the slots busy than a shorter one: more --repeat, or a quiet machine";
    else if (above && below && below->duration > 0)
        metg_between(below, above, ret);
    else if (above && !below) {
        ret->seconds = above->duration;
        ret->at_most = true;
        ret->how = "all durations that were measured keep half of the slots busy";
    } else if (below && m->known) { /* beyond the ideal as long as the ideal itself: n T = t_s n^alpha */
        double t = m->t_s * pow(per_slot(below), m->alpha - 1);
        ret->low = fmax(fmax(t / METG_MODEL_FACTOR, below->duration), metg_earliest(below));
        ret->high = fmin(t * METG_MODEL_FACTOR, above ? above->duration : INFINITY);
        ret->how = "by the latency model: assumes that a task costs as much beyond its own time however long it is, within a factor of 4; "
                   "--duration around it measures it";
        if (ret->high <= ret->low) { /* the model contradicts what was measured */
            ret->low = ret->high = NAN;
            ret->seconds = below->duration;
            ret->at_least = true;
            ret->how = "none of the durations that were measured keeps half of the slots busy";
        }
    }
}
