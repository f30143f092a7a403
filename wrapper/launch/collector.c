/* collector.c: on a node without a recorder the first rank starts a detached collector before it
 * becomes the program. */
#include "launch/collector.h"

#include "base/credentials.h"
#include "launch/fd.h"
#include "launch/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child: detaches from streams and session, and executes the core as a collector. Exit
 * status 127 where it cannot. */
_Noreturn static void become_collector(const char *core, char **line, char **env)
{
    setsid();
    int fd = open("/dev/null", O_RDWR);
    for (int i = 0; fd >= 0 && i < 3; i++)
        if (fd != i)
            dup2(fd, i);
    fd_close_from(3); /* this process holds open nothing that the step waits for */
    execve(core, line, env);
    _exit(127);
}

void node_collect(char **argv)
{
    char core[4096], pid[24];
    size_t count = 0;
    int status;
    while (argv[count])
        count++;
    char **line = calloc(count + 3, sizeof *line);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    char **env = credentials_mask(environ);
    if (!line || !env || recorder_find_core(core, sizeof core) < 0) {
        free(line);
        free(env);
        return;
    }
    line[0] = (char *)"benchwrap-core";
    line[1] = (char *)NODE_WORD;
    line[2] = pid;
    memcpy(line + 3, argv + 1, (count - 1) * sizeof *line);
    /* In two steps, so that the program has no child that it does not know; without a signal at the first one's end, for it would be the program's. */
    pid_t first = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
    if (first == 0) {
        if (syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL) == 0)
            become_collector(core, line, env);
        _exit(0);
    }
    while (first > 0 && waitpid(first, &status, __WALL) < 0 && errno == EINTR)
        ;
    free(line);
    free(env);
}
