/* history_rates.c: print how often the search for change points is wrong, by simulation: the table of docs/howto-history.md. The random numbers have a fixed
 * seed. The levels of the search were chosen with other random numbers, and with the kinds of noise above `others` alone.
 * build/tests/bench/history_rates [SERIES [RUNS]] */
/* link: core */
#include "history/change_points.c" /* of the search, the places that it reports while it reads */

#include <stdint.h>
#include <stdio.h>

#define NOISE 0.02 /* standard deviation, as a fraction of the value */
#define SHIFT 0.05
#define USUAL_VALUE 1000.0
enum { LATEST = 5 /* runs after a shift */, TRIALS = 10 /* times SERIES: shifts of each kind */, EARLY = 60 };

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

/* ---- kinds that no level was chosen with ---- */

static double noise_laplace(size_t i)
{
    (void)i;
    return (uniform() < 0.5 ? 1 : -1) * -log(uniform()) / M_SQRT2;
}

static double noise_lognormal(size_t i)
{
    (void)i;
    return (exp(0.5 * normal()) - exp(0.125)) / sqrt((exp(0.25) - 1) * exp(0.25));
}

static double noise_halves(size_t i) /* two modes of equal weight */
{
    (void)i;
    return (uniform() < 0.5 ? 0.9 : -0.9) + 0.436 * normal();
}

static double noise_flat(size_t i)
{
    (void)i;
    return (uniform() - 0.5) * sqrt(12);
}

static double noise_walk(size_t i) /* and a random walk */
{
    static double at;
    at = i ? at + 0.02 * normal() : 0;
    return normal() + at;
}

static double noise_fast_wave(size_t i)
{
    return normal() + 0.5 * sin((double)i * 2 * M_PI / 300);
}

static double noise_daily(size_t i) /* 24 runs a day */
{
    return 0.9 * normal() + 0.6 * sin((double)i * 2 * M_PI / 24);
}

static double noise_little_alike(size_t i)
{
    static double last;
    last = i ? 0.3 * last + sqrt(0.91) * normal() : normal();
    return last;
}

static double noise_uneven(size_t i) /* each 50 runs half or twice as much */
{
    return normal() * (i / 50 % 2 ? 1.4 : 0.7);
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
             {"neighbours correlated, r = 0.5", noise_alike},
             {"others: Laplace", noise_laplace},
             {"lognormal", noise_lognormal},
             {"two modes of equal weight", noise_halves},
             {"uniform", noise_flat},
             {"drift: random walk, 2 % of the noise a run", noise_walk},
             {"drift: a wave of 300 runs, 2 % high", noise_fast_wave},
             {"a wave of 24 runs, 2.4 % high", noise_daily},
             {"neighbours correlated, r = 0.3", noise_little_alike},
             {"noise of 1.4 % and 2.8 % by turns of 50 runs", noise_uneven}};

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

/* As a job would that runs the search after each run: places that were reported at any time. A place is reported when the scan finds it, or soon after. */
static size_t count_alarms(double *v, size_t n, size_t *ret_early)
{
    enum { ALARMS_MAX = 1000, NEAR = 5, SOON = 8 };
    static size_t alarms[ALARMS_MAX];
    size_t count = 0;
    struct series_scan *s = malloc(sizeof *s);
    struct change_points scanned = {0};
    if (!s || !scan_begin(s, v, n, 0.02) || !scan_all(s, &scanned))
        exit(1);
    for (size_t e = 0; e < scanned.count; e++)
        for (size_t i = scanned.list[e].seen; i <= n && i <= scanned.list[e].seen + SOON; i++) {
            struct change_points found;
            if (!change_points_find(v, i, 0.02, &found))
                exit(1);
            for (size_t k = 0; k < found.count; k++) {
                bool known = false;
                for (size_t a = 0; a < count; a++)
                    known = known || (found.list[k].at + NEAR >= alarms[a] && found.list[k].at <= alarms[a] + NEAR);
                if (!known && count < ALARMS_MAX) {
                    *ret_early += found.list[k].at < EARLY;
                    alarms[count++] = found.list[k].at;
                }
            }
            change_points_deinit(&found);
        }
    change_points_deinit(&scanned);
    free(s->y);
    free(s);
    return count;
}

static bool is_found(const struct noise_kind *kind, size_t before, double *v)
{
    struct change_points found;
    bool good = false, up = uniform() < 0.5;
    for (size_t i = 0; i < before + LATEST; i++)
        v[i] = USUAL_VALUE * (1 + NOISE * kind->value(i)) * (i < before ? 1 : up ? 1 + SHIFT : 1 - SHIFT);
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
    printf("| noise | searched once | after each run | of these, in the first 60 runs | shift found, 20 earlier runs | 30 | 50 | 100 |\n");
    printf("|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t points = 0, alarms = 0, early = 0;
        for (size_t s = 0; s < series; s++) {
            for (size_t i = 0; i < runs; i++)
                v[i] = USUAL_VALUE * (1 + NOISE * kinds[k].value(i));
            points += count_points(v, runs);
            alarms += count_alarms(v, runs, &early);
        }
        double thousands = (double)series * (double)runs / 1000;
        printf("| %s | %.2f | %.2f | %.1f |", kinds[k].name, (double)points / thousands, (double)alarms / thousands,
               (double)early * 1000 / ((double)series * EARLY));
        static const size_t befores[] = {20, 30, 50, 100};
        for (size_t b = 0; b < sizeof befores / sizeof *befores; b++) {
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
