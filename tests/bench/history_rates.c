/* history_rates.c: print how often the search for change points is wrong, by simulation: the table of docs/howto-history.md. The random numbers have a fixed
 * seed. Arguments: [SERIES [RUNS]], how many series of each kind of noise, and how long they are. */
#include "history/change_points.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOISE 0.02 /* standard deviation, as a fraction of the value */
#define SHIFT 0.05
#define LEVEL 1000.0
enum { LATEST = 5 /* runs after a shift */, TRIALS = 10 /* times SERIES: shifts of each kind */ };

static uint64_t seed = 1;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- kinds of noise, each with a standard deviation of about 1 ---- */

static double noise_normal(size_t i)
{
    (void)i;
    return normal();
}

static double noise_student(size_t i) /* 3 degrees of freedom */
{
    (void)i;
    double a = normal(), b = normal(), c = normal();
    return normal() / sqrt((a * a + b * b + c * c) / 3) / sqrt(3);
}

static double noise_spiked(size_t i) /* one value in fifty is far off, to one side */
{
    (void)i;
    return normal() - (uniform() < 0.02 ? 8 + 8 * uniform() : 0);
}

static double noise_skewed(size_t i)
{
    (void)i;
    return -log(uniform()) - 1;
}

static double noise_bimodal(size_t i) /* one value in four is 2 higher */
{
    (void)i;
    return (uniform() < 0.25 ? 1.5 : -0.5) + 0.5 * normal();
}

static double noise_rounded(size_t i)
{
    (void)i;
    return round(normal() * 2) / 2;
}

static double noise_line(size_t i) /* 5 standard deviations in 1000 runs */
{
    return normal() + 0.005 * (double)i;
}

static double noise_wave(size_t i)
{
    return normal() + 0.5 * sin((double)i * 2 * M_PI / 500);
}

static double noise_alike(size_t i) /* neighbours have a correlation of 0.5 */
{
    static double last;
    last = i ? 0.5 * last + sqrt(0.75) * normal() : normal();
    return last;
}

static const struct noise_kind {
    const char *name;
    double (*value)(size_t i);
} kinds[] = {{"normal", noise_normal},
             {"heavy tails (Student's t, 3 degrees)", noise_student},
             {"outliers (2 % of the runs)", noise_spiked},
             {"skewed (exponential)", noise_skewed},
             {"two modes", noise_bimodal},
             {"rounded to half a standard deviation", noise_rounded},
             {"drift: a straight line, 10 % in 1000 runs", noise_line},
             {"drift: a wave of 500 runs, 2 % high", noise_wave},
             {"drift: neighbours correlated, r = 0.5", noise_alike}};

/* ---- what is counted ---- */

static size_t count_points(const double *v, size_t n)
{
    struct change_points found;
    if (!change_points_find(v, n, 0.02, &found))
        exit(1);
    size_t count = found.count;
    change_points_deinit(&found);
    return count;
}

/* As a job would that runs the search after each run: places that were reported at any time. */
static size_t count_alarms(const double *v, size_t n)
{
    enum { ALARMS_MAX = 1000, NEAR = 5 };
    static size_t alarms[ALARMS_MAX];
    size_t count = 0;
    for (size_t i = 1; i <= n; i++) {
        struct change_points found;
        if (!change_points_find(v, i, 0.02, &found))
            exit(1);
        for (size_t k = 0; k < found.count; k++) {
            bool known = false;
            for (size_t a = 0; a < count; a++)
                known = known || (found.list[k].at + NEAR >= alarms[a] && found.list[k].at <= alarms[a] + NEAR);
            if (!known && count < ALARMS_MAX) {
                alarms[count++] = found.list[k].at;
            }
        }
        change_points_deinit(&found);
    }
    return count;
}

static bool is_found(const struct noise_kind *kind, size_t before, double *v)
{
    struct change_points found;
    bool good = false;
    for (size_t i = 0; i < before + LATEST; i++)
        v[i] = LEVEL * (1 + NOISE * kind->value(i)) * (i < before ? 1 : 1 - SHIFT);
    for (size_t n = before + CHANGE_AFTER_MIN; n <= before + LATEST && !good; n++) {
        if (!change_points_find(v, n, 0.02, &found))
            exit(1);
        for (size_t i = 0; i < found.count; i++)
            good = good || (found.list[i].at + 2 >= before && found.list[i].at <= before + 2);
        change_points_deinit(&found);
    }
    return good;
}

int main(int argc, char **argv)
{
    size_t series = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    double *v = malloc((runs + 1000) * sizeof *v);
    if (!v || !series || !runs)
        return 1;
    printf("| noise | alarms, history searched once | searched after each run | shift found, 20 earlier runs | 50 | 100 |\n");
    printf("|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t points = 0, alarms = 0;
        for (size_t s = 0; s < series; s++) {
            for (size_t i = 0; i < runs; i++)
                v[i] = LEVEL * (1 + NOISE * kinds[k].value(i));
            points += count_points(v, runs);
            if (s % 4 == 0)
                alarms += count_alarms(v, runs);
        }
        double thousands = (double)series * (double)runs / 1000;
        printf("| %s | %.3f | %.3f |", kinds[k].name, (double)points / thousands,
               (double)alarms / ((double)((series + 3) / 4) * (double)runs / 1000));
        static const size_t befores[] = {20, 50, 100};
        for (size_t b = 0; b < 3; b++) {
            size_t found = 0;
            for (size_t s = 0; s < series * TRIALS; s++)
                found += is_found(&kinds[k], befores[b], v);
            printf(" %.1f %% |", 100 * (double)found / (double)(series * TRIALS));
        }
        printf("\n");
        fflush(stdout);
    }
    free(v);
    return 0;
}
