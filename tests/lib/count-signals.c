/* count-signals.c FILE: counts every signal that reaches it. Writes its number into FILE.ready, how many came so far into FILE.total, and once FILE.stop exists "NUMBER COUNT" lines into FILE.
 * With a second argument "group": leaves its process group first; "show": prints "N seen" at the start and whenever there are more. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t counts[65];

static void seen(int number)
{
    counts[number]++;
}

/* Readers find the number before or the number after. */
static void total_write(const char *name, int all)
{
    char path[4096], next[4096];
    snprintf(path, sizeof path, "%s.total", name);
    snprintf(next, sizeof next, "%s.next", name);
    FILE *f = fopen(next, "w");
    if (f && fprintf(f, "%d\n", all) > 0 && !fclose(f))
        rename(next, path);
}

int main(int argc, char **argv)
{
    char path[4096];
    struct sigaction act = {.sa_handler = seen, .sa_flags = SA_RESTART};
    if (argc < 2)
        return 2;
    if (argc > 2 && strcmp(argv[2], "group") == 0)
        setpgid(0, 0);
    sigfillset(&act.sa_mask);
    for (int i = 1; i <= 64; i++)
        if (i != SIGKILL && i != SIGSTOP && i != 32 && i != 33)
            sigaction(i, &act, NULL);
    snprintf(path, sizeof path, "%s.ready", argv[1]);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
        return 3;
    snprintf(path, sizeof path, "%s.stop", argv[1]);
    for (int shown = -1; access(path, F_OK) < 0;) {
        int all = 0;
        for (int i = 1; i <= 64; i++)
            all += counts[i];
        if (all != shown && argc > 2 && strcmp(argv[2], "show") == 0)
            dprintf(1, "%d seen\n", all);
        if (all != shown)
            total_write(argv[1], all);
        shown = all;
        struct timespec nap = {.tv_nsec = 5000000};
        nanosleep(&nap, NULL);
    }
    f = fopen(argv[1], "w");
    for (int i = 1; f && i <= 64; i++)
        if (counts[i])
            fprintf(f, "%d %d\n", i, (int)counts[i]);
    return f && !fclose(f) ? 0 : 4;
}
