/* progress.c: one line of a terminal: bar, count, rate, time left. */
#include "base/progress.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EVERY_NS = 100000000, BAR = 24, LINE = 200 };

void progress_begin(struct progress *p, FILE *out, const char *unit, size_t total)
{
    const char *term = getenv("TERM");
    *p = (struct progress){.out = out, .unit = unit, .total = total, .begin_ns = clock_mono_ns()};
    p->on = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

static void put_left(char *to, size_t size, double seconds)
{
    if (seconds >= 3600)
        snprintf(to, size, ", %.0f h %.0f min left", (double)(long)(seconds / 3600), (double)((long)(seconds / 60) % 60));
    else if (seconds >= 60)
        snprintf(to, size, ", %.0f min left", seconds / 60);
    else
        snprintf(to, size, ", %.0f s left", seconds);
}

void progress_show(struct progress *p, size_t done, const char *more)
{
    int64_t now = clock_mono_ns();
    if (!p->on || (p->shown && now - p->told_ns < EVERY_NS))
        return;
    char line[LINE], left[60] = "", bar[BAR + 1];
    size_t full = p->total ? BAR * (done < p->total ? done : p->total) / p->total : 0;
    double seconds = (double)(now - p->begin_ns) / 1e9;
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = 0;
    if (done && p->total > done && seconds > 2)
        put_left(left, sizeof left, seconds / (double)done * (double)(p->total - done));
    int n = snprintf(line, sizeof line, "[%s] %zu of %zu %s%s%s%s", bar, done, p->total, p->unit, left, more && *more ? ", " : "",
                     more ? more : "");
    struct winsize size;
    int width = ioctl(fileno(p->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1 : 79;
    fprintf(p->out, "\r\033[K%.*s", n < width ? n : width, line);
    fflush(p->out);
    p->shown = true;
    p->told_ns = now;
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", p->out);
    fflush(p->out);
    p->shown = false;
}
