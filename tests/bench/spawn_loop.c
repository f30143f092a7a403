/* spawn_loop.c: the bare loop that taskrate's local provider is measured against: spawn_loop AT_ONCE N COMMAND [ARGUMENT…] prints processes a second.
 * AT_ONCE threads, each posix_spawn and waitpid in turn, nothing else. Descriptor 3 is an anonymous file, for a stub to write to. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_long left;
static char **command;

static void *loop(void *unused)
{
    static char *const none[] = {NULL};
    (void)unused;
    while (left-- > 0) {
        pid_t pid;
        int status;
        if (posix_spawn(&pid, command[0], NULL, NULL, command, none) != 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            fprintf(stderr, "spawn_loop: %s did not run\n", command[0]);
            exit(1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[256];
    struct timespec a, b;
    if (argc < 4)
        return 2;
    int at_once = (int)strtol(argv[1], NULL, 10);
    long n = strtol(argv[2], NULL, 10);
    command = argv + 3;
    int fd = memfd_create("spawn_loop", 0);
    if (at_once < 1 || at_once > 256 || fd < 0 || (fd != 3 && dup2(fd, 3) < 0))
        return 2;
    left = n;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < at_once; i++)
        pthread_create(&thread[i], NULL, loop, NULL);
    for (int i = 0; i < at_once; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.1f\n", (double)n / ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9));
    return 0;
}
