/* show.c: values, units and names as people read them; see show.h. */
#include "base/show.h"

#include <math.h>
#include <time.h>

void show_double(struct buf *to, double value)
{
    if (!isfinite(value))
        buf_puts(to, isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf");
    else if (value == floor(value) && fabs(value) < 1e15)
        buf_printf(to, "%.0f", value);
    else if (fabs(value) >= 1e5 && fabs(value) < 1e15)
        buf_printf(to, "%.1f", value);
    else
        buf_printf(to, "%.6g", value);
}

void show_value(struct buf *to, double value)
{
    double size = fabs(value);
    if (!isfinite(value) || (value == floor(value) && size < 1e15))
        show_double(to, value);
    else if (size >= 1e7)
        buf_printf(to, "%.4g", value);
    else if (size >= 99.95)
        buf_printf(to, "%.0f", value);
    else
        buf_printf(to, "%.3g", value);
}

void show_unit(struct buf *to, const char *unit)
{
    struct str u = str_of(unit);
    ptrdiff_t per = str_find(u, STR("_per_"));
    if (str_is(u, "percent"))
        buf_putc(to, '%');
    else if (per < 0)
        buf_str(to, u);
    else
        buf_printf(to, STR_FMT "/" STR_FMT, (int)per, u.p, STR_ARG(str_sub(u, (size_t)per + 5, u.n)));
}

double show_scale(double value, const char **unit)
{
    double size = fabs(value);
    if (!*unit || strcmp(*unit, "s") != 0 || !(size > 0 && size < 0.09995))
        return 1;
    *unit = size < 1e-6 ? "ns" : size < 1e-3 ? "us" : "ms";
    return size < 1e-6 ? 1e9 : size < 1e-3 ? 1e6 : 1e3;
}

void show_quantity(struct buf *to, double value, const char *unit)
{
    value *= show_scale(value, &unit);
    show_value(to, value);
    if (unit && *unit) {
        buf_putc(to, ' ');
        show_unit(to, unit);
    }
}

void show_metric(struct buf *to, const char *key, const char *unit)
{
    size_t n = strlen(key), length = unit ? strlen(unit) : 0;
    for (size_t at = n; length && at-- > 1;) {
        size_t end = at + 1 + length;
        if (key[at] != '_' || end > n || strncmp(key + at + 1, unit, length) != 0 || (key[end] && key[end] != '.'))
            continue;
        buf_add(to, key, at);
        buf_puts(to, key + end);
        return;
    }
    buf_puts(to, key);
}

enum { CHANGE_DECIMALS = 6 };

/* Returns how many decimals `value` needs to differ from `none` by at least `digits` of the last
 * one; at least `decimals`, at most CHANGE_DECIMALS. */
static int decimals_beside(double value, double none, double digits, int decimals)
{
    while (decimals < CHANGE_DECIMALS && value != none && fabs(value - none) * pow(10, decimals) < digits)
        decimals++;
    return decimals;
}

/* Appends percent, without the sign for it. What is left of a value that shrank has two digits:
 * -98.6, -99.83. */
static void show_put_percent(struct buf *to, double ratio)
{
    double percent = 100 * (ratio - 1);
    int decimals = decimals_beside(percent, 0, 0.5, fabs(percent) >= 9.95 ? 0 : 1);
    if (fabs(percent) < 0.5e-6)
        buf_putc(to, '0');
    else
        buf_printf(to, "%+.*f", ratio > 0 && ratio < 1 ? decimals_beside(percent, -100, 9.95, decimals) : decimals, percent);
}

/* Returns whether a change is shown as a factor: from a tenfold on a factor has fewer digits than
 * percent. It is then the form of both ends of the interval. */
static bool is_shown_as_factor(double ratio)
{
    return ratio >= 9.95;
}

/* Appends a factor with as many decimals as it needs to differ from 1. */
static void show_put_factor(struct buf *to, double factor)
{
    int decimals = factor >= 9.95 ? 0 : factor >= 0.995 ? 1 : 2;
    buf_printf(to, "%.*f", decimals_beside(factor, 1, 0.5, decimals), factor);
}

void show_change(struct buf *to, double ratio)
{
    bool factor = is_shown_as_factor(ratio);
    if (factor)
        show_put_factor(to, ratio);
    else
        show_put_percent(to, ratio);
    buf_puts(to, factor ? " x" : " %");
}

void show_change_interval(struct buf *to, double ratio, double low, double high)
{
    bool factor = is_shown_as_factor(ratio);
    void (*put)(struct buf * to, double ratio) = factor ? show_put_factor : show_put_percent;
    put(to, low);
    buf_puts(to, " … ");
    put(to, high);
    buf_puts(to, factor ? " x" : " %");
}

void show_size(struct buf *to, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;
    double v = (double)bytes;
    while (v >= 1024 && i + 1 < sizeof units / sizeof units[0])
        v /= 1024, i++;
    buf_printf(to, i && v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[i]);
}

void show_duration(struct buf *to, double seconds)
{
    if (!isfinite(seconds) || seconds < 0) {
        buf_puts(to, "?");
    } else if (seconds == 0) {
        buf_puts(to, "0 s");
    } else if (seconds < 1e-3) {
        buf_printf(to, "%.3g us", seconds * 1e6);
    } else if (seconds < 0.09995) {
        buf_printf(to, "%.3g ms", seconds * 1e3);
    } else if (seconds < 0.995) {
        buf_printf(to, "%.2f s", seconds);
    } else if (seconds < 119.95) {
        buf_printf(to, "%.1f s", seconds);
    } else if (seconds < 7200) {
        long long s = llround(seconds);
        buf_printf(to, "%lld min %lld s", s / 60, s % 60);
    } else {
        long long m = llround(seconds / 60);
        buf_printf(to, "%lld h %lld min", m / 60, m % 60);
    }
}

/* Appends a time, ms of Unix time: in UTC with milliseconds, else local without; as "<ms> ms" where
 * it is no date. */
static void time_as(struct buf *to, int64_t ms, bool utc)
{
    int64_t s = ms / 1000, rest = ms % 1000;
    if (rest < 0)
        s--, rest += 1000;
    time_t t = (time_t)s;
    struct tm tm;
    char text[64];
    if (!(utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) ||
        !strftime(text, sizeof text, utc ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &tm))
        buf_printf(to, "%lld ms", (long long)ms);
    else if (utc)
        buf_printf(to, "%s.%03dZ", text, (int)rest);
    else
        buf_puts(to, text);
}

void show_time(struct buf *to, int64_t ms)
{
    time_as(to, ms, false);
}

void show_time_utc(struct buf *to, int64_t ms)
{
    time_as(to, ms, true);
}
