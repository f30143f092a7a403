/* show.c: values as people read them; see show.h. */
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
    } else if (seconds < 1e-3) {
        buf_printf(to, "%.3g us", seconds * 1e6);
    } else if (seconds < 0.9995) {
        buf_printf(to, "%.3g ms", seconds * 1e3);
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
