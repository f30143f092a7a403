/* progress.c: one line of a terminal: bar, count, rate, time left. */
#include "base/progress.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EVERY_NS = 100000000, BAR = 24, LINE = 200 };

void progress_begin(struct progress *p, FILE *out, const char *what, size_t total)
{
    const char *term = getenv("TERM");
    *p = (struct progress){.out = out, .what = what, .total = total, .begin_ns = clock_mono_ns()};
    p->on = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

/* Writes ", 5 min left" for so many seconds. */
static void put_left(char *to, size_t size, double seconds)
{
    if (seconds >= 3600)
        snprintf(to, size, ", %.0f h %.0f min left", (double)(long)(seconds / 3600), (double)((long)(seconds / 60) % 60));
    else if (seconds >= 60)
        snprintf(to, size, ", %.0f min left", seconds / 60);
    else
        snprintf(to, size, ", %.0f s left", seconds);
}

/* Returns how many bytes of the line fit: all, or complete parts between commas. */
static int parts_within(const char *line, int n, int width)
{
    int end = n < LINE ? n : LINE - 1;
    while (end > width) {
        int comma = end - 1;
        while (comma > 0 && strncmp(line + comma, ", ", 2) != 0)
            comma--;
        end = comma > 0 ? comma : width;
    }
    return end;
}

void progress_show(struct progress *p, size_t number, const char *more)
{
    int64_t now = clock_mono_ns();
    if (!p->on || (p->shown && now - p->shown_ns < EVERY_NS))
        return;
    char line[LINE], left[60] = "", bar[BAR + 4] = "", of[32] = "";
    double seconds = (double)(now - p->begin_ns) / 1e9;
    if (p->total) {
        size_t full = BAR * (number < p->total ? number : p->total) / p->total;
        bar[0] = '[';
        for (size_t i = 0; i < BAR; i++)
            bar[1 + i] = i < full ? '#' : '.';
        memcpy(bar + 1 + BAR, "] ", 3);
        snprintf(of, sizeof of, " of %zu", p->total);
    }
    if (number && p->total > number && seconds > 2)
        put_left(left, sizeof left, seconds / (double)number * (double)(p->total - number));
    int n = snprintf(line, sizeof line, "%s%s %zu%s%s%s%s", bar, p->what, number, of, left, more && *more ? ", " : "", more ? more : "");
    struct winsize size;
    int width = ioctl(fileno(p->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1 : 79;
    fprintf(p->out, "\r\033[K%.*s", parts_within(line, n, width), line);
    fflush(p->out);
    p->shown = true;
    p->shown_ns = now;
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", p->out);
    fflush(p->out);
    p->shown = false;
}
