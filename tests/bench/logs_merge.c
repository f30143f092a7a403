/* logs_merge.c: merges the raw streams of a folder into files, and prints CPU seconds and peak memory in KB. */
/* link: core */
#include "logs/logs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rusage u;
    struct err err = {0};
    int folder = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    if (folder < 0 || logs_write_merged(folder, NULL, false, -1, &err) || getrusage(RUSAGE_SELF, &u)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%.3f %ld\n",
           (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6, u.ru_maxrss);
    return 0;
}
