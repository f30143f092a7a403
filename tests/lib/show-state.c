/* show-state.c: prints everything a program inherits, for comparison with and without a wrapper: descriptors, environment in order, limits, masks … */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    char text[4096], line[512];
    for (int i = 0; i < argc; i++)
        printf("argv %s\n", i ? argv[i] : "program");
    for (char **e = environ; *e; e++)
        printf("env %s\n", *e);
    for (int fd = 0; fd < 256; fd++) {
        snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(text, line, sizeof line - 1);
        if (n >= 0)
            printf("fd %d %.*s\n", fd, fd == 1 || fd == 2 ? 4 : (int)n, fd == 1 || fd == 2 ? "open" : line);
    }
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit l;
        if (getrlimit(i, &l) == 0)
            printf("limit %d %llu %llu\n", i, (unsigned long long)l.rlim_cur, (unsigned long long)l.rlim_max);
    }
    printf("umask %o\ncwd %s\nnice %d\n", (unsigned)umask(0), getcwd(text, sizeof text), getpriority(PRIO_PROCESS, 0));
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("cpus %d policy %d\n", CPU_COUNT(&cpus), sched_getscheduler(0));
    int subreaper = 0, death = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    prctl(PR_GET_PDEATHSIG, &death);
    printf("subreaper %d death %d dumpable %d\n", subreaper, death, prctl(PR_GET_DUMPABLE));
    struct itimerval alarm;
    getitimer(ITIMER_REAL, &alarm);
    printf("alarm %s\n", alarm.it_value.tv_sec || alarm.it_value.tv_usec ? "set" : "none");
    printf("group %s session %d\n", getpgrp() == getpid() ? "leader" : "member", (int)getsid(0) == (int)getpid());
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Sig", 3) || !strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "Seccomp:", 8))
            if (strncmp(line, "SigQ", 4) != 0)
                fputs(line, stdout);
    return 0;
}
