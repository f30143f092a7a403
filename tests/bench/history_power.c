/* history_power.c: how often any search can find a shift of 5 % at 2 % noise within five runs, at one false alarm in 1000 runs: the bound of docs/decisions.md.
 *
 * The noise is normal, its mean and spread are unknown, and all values before the newest five are known to be of one level. For two levels of unknown mean and
 * equal, unknown spread Student's t is the most powerful unbiased test, so that a search that spends all of its alarms on five new values is the best one.
 * A search that reports other numbers of runs spends alarms on them, and finds fewer. Alarms within five runs are one.
 * build/tests/bench/history_power [HISTORIES] */
#include "../lib/draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEWEST = 5, WINDOW = 10 /* runs in which alarms are counted, around the number of earlier runs */, EARLIER_MAX = 100 };
#define SHIFT 2.5 /* 5 % at 2 % noise */

/* |t| of the newest five of n values against all others. */
static double newest_t(const double *v, size_t n)
{
    double a = 0, b = 0, rest = 0, m = (double)(n - NEWEST);
    for (size_t i = 0; i < n; i++)
        *(i + NEWEST < n ? &a : &b) += v[i] / (i + NEWEST < n ? m : NEWEST);
    for (size_t i = 0; i < n; i++) {
        double off = v[i] - (i + NEWEST < n ? a : b);
        rest += off * off;
    }
    return fabs(b - a) / sqrt(rest / (m + NEWEST - 2) * (1 / m + 1.0 / NEWEST));
}

/* Alarms in `n` histories without a change, at the critical value: those of the same five runs are one. */
static double alarm_rate(const double (*t)[WINDOW], size_t n, double critical)
{
    size_t alarms = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0, last = -WINDOW; k < WINDOW; k++)
            if (t[i][k] > critical) {
                alarms += k - last > NEWEST;
                last = k;
            }
    return (double)alarms * 1000 / ((double)n * WINDOW);
}

int main(int argc, char **argv)
{
    static const size_t earlier[] = {20, 25, 30, 50, EARLIER_MAX};
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
    double(*t)[WINDOW] = n ? malloc(n * sizeof *t) : NULL, v[EARLIER_MAX + NEWEST + WINDOW];
    if (!t)
        return 1;
    printf("| earlier runs | found within 5 runs at most |\n|---|---|\n");
    for (size_t e = 0; e < sizeof earlier / sizeof *earlier; e++) {
        size_t m = earlier[e], found = 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < m + NEWEST + WINDOW / 2; k++)
                v[k] = draws_normal();
            for (size_t k = 0; k < WINDOW; k++)
                t[i][k] = newest_t(v, m + NEWEST - WINDOW / 2 + k + 1);
        }
        double low = 2, high = 10;
        for (int step = 0; step < 40; step++) {
            double middle = (low + high) / 2;
            *(alarm_rate(t, n, middle) > 1 ? &low : &high) = middle;
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < m + NEWEST; k++)
                v[k] = draws_normal() + (k < m ? 0 : SHIFT);
            found += newest_t(v, m + NEWEST) > high;
        }
        printf("| %zu | %.1f %% |\n", m, 100 * (double)found / (double)n);
        fflush(stdout);
    }
    free(t);
    return 0;
}
