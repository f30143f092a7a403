/* stat_tree.c: the least that an exact export can do, to compare with ours: one statx for each
 * param, metric and tag of all runs, nothing is read.
 *
 * stat_tree EXPERIMENT-FOLDER THREADS: prints seconds and calls. The names are those of the first
 * run, as many_copies makes runs. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 200000, NAMES_MAX = 500, THREADS_MAX = 64 };

static const char *const kinds[] = {"params", "metrics", "tags"};
enum { KINDS = sizeof kinds / sizeof *kinds };
static int root;
static size_t threads, runs, counts[KINDS], failed[THREADS_MAX];
static char (*ids)[33], *names[KINDS][NAMES_MAX];

static void *stat_share(void *first)
{
    const int how = AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC;
    const unsigned mask = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME;
    for (size_t at = (size_t)(uintptr_t)first, i = at; i < runs; i += threads)
        for (size_t k = 0; k < KINDS; k++) {
            char path[64];
            struct statx st;
            snprintf(path, sizeof path, "%s/%s", ids[i], kinds[k]);
            /* a name alone is found faster than a path */
            int in = openat(root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            for (size_t f = 0; f < counts[k]; f++)
                failed[at] += in < 0 || statx(in, names[k][f], how, mask, &st) < 0;
            close(in);
        }
    return NULL;
}

static void list_names(size_t k)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", ids[0], kinds[k]);
    DIR *dir = fdopendir(openat(root, path, O_RDONLY | O_DIRECTORY));
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (*e->d_name != '.' && counts[k] < NAMES_MAX)
            names[k][counts[k]++] = strdup(e->d_name);
    closedir(dir);
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    struct timespec begin, end;
    size_t calls = 0, bad = 0;
    root = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    ids = calloc(RUNS_MAX, sizeof *ids);
    if (root < 0 || !ids)
        return 2;
    threads = (size_t)strtoul(argv[2], NULL, 10);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    DIR *dir = fdopendir(dup(root));
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strlen(e->d_name) == 32 && runs < RUNS_MAX)
            memcpy(ids[runs++], e->d_name, 33);
    for (size_t k = 0; runs && k < KINDS; k++)
        list_names(k);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, stat_share, (void *)(uintptr_t)i) != 0)
            return 2;
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (size_t k = 0; k < KINDS; k++)
        calls += runs * counts[k];
    for (size_t i = 0; i < threads; i++)
        bad += failed[i];
    double seconds = (double)(end.tv_sec - begin.tv_sec);
    seconds += (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%.4f %zu\n", seconds, calls);
    return bad > 0;
}
