/* repeat.c: several runs of a program (--repeat, --sweep …): the launcher hands them to the core, which calls it again for each. */
#include "launch/repeat.h"

#include "launch/launcher.h"
#include "launch/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *series_child_id(const char *argument)
{
    size_t n = sizeof SERIES_CHILD - 1;
    if (strncmp(argument, SERIES_CHILD, n) != 0 || !str_hex(str_of(argument + n), 32))
        return NULL;
    return argument + n;
}

/* Returns whether the core starts at all. A missing library shows only when the loader has run, and
 * then this process would be gone. */
static bool core_alive(const char *path)
{
    char *line[] = {(char *)"benchwrap-core", (char *)"--alive", NULL};
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; fd >= 0 && i < 3; i++)
            dup2(fd, i);
        execv(path, line);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return errno == ECHILD; /* SIGCHLD is ignored: it cannot be known */
    return pid > 0 && status == 0;
}

static int refuse_ranks(const struct rank *rank)
{
    if (rank->rank == 0)
        say_stderr("in each rank of a parallel program (%s is set) the repetitions would be counted separately; write benchwrap before the "
                   "launcher: benchwrap --repeat N -- srun PROGRAM",
                   rank->source);
    return 125;
}

int series_start(struct launch *l)
{
    char path[4096];
    size_t count = 0;
    if (l->rank.known && l->rank.ranks != 1)
        return refuse_ranks(&l->rank);
    while (l->argv[count])
        count++;
    char **line = calloc(count + 2, sizeof *line);
    bool found = recorder_find_core(path, sizeof path) == 0;
    if (found && line && core_alive(path)) {
        line[0] = (char *)"benchwrap-core";
        line[1] = (char *)"--series";
        memcpy(line + 2, l->argv + 1, (count - 1) * sizeof *line);
        execv(path, line);
    }
    free(line);
    if (l->options.strict || l->options.sweep) {
        say_stderr("%s does not start (see \"benchwrap doctor\"); not started (%s)", found ? path : "benchwrap-core",
                   l->options.strict ? "--strict" : "it inserts the values of a sweep");
        return 125;
    }
    say_stderr("%s does not start (see \"benchwrap doctor\"); running it once", found ? path : "benchwrap-core");
    return launcher_run(l);
}
