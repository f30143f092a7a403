/* measure.c: the stop watch of `make bench`: runs commands in turns (A B C A B C …), so that what disturbs one disturbs all.
 *
 *   measure time  [-n ROUNDS] [-w WARMUPS] [-o FILE | -t] [-c] [-r BYTES] [--] CMD… [--- CMD…]…
 *       median, least and 90th percentile of the wall time in ms, one line a command. -o: standard output into FILE (made new each time),
 *       -t: standard streams on a terminal that is read as fast as it goes; -c: cold, the page cache is dropped before each;
 *       -r: rates in MB/s (10^6 bytes) of so many bytes instead of times.
 *   measure delay [-n ROUNDS] -- CMD… --- CMD…      like time, from the exec of CMD to the first act of the program at its end,
 *       which must be `measure stamp`
 *   measure pss   -- CMD…         greatest sum in KiB of the proportional memory of CMD and its descendants but those named in -x NAME
 *   measure cpu   -f SECONDS -u SECONDS -- CMD…     CPU time in us per second of CMD and descendants (without -x NAME), between two moments
 *   measure once  [-o FILE] -- CMD…   wall time in ms, CPU time in ms, greatest resident memory in MB of this one process and what it waited for
 *   measure files [-n ROUNDS] FOLDER   median in ms of creating, writing and closing 100 files of 100 bytes in a new folder below FOLDER
 *   measure pour  BYTES           writes so many bytes of text lines to standard output
 *
 * Exit status 1 with a message when a command failed: a measurement of a failure is none. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 16, ROUNDS = 1000, PROCESSES = 64 };

struct setup {
    int rounds, warmups;
    const char *out;
    bool tty, cold, stamp;
    double bytes, from, until;
    const char *ignore;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap_ms(double ms)
{
    struct timespec t = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (double)(time_t)(ms / 1e3)) * 1e6)};
    nanosleep(&t, NULL);
}

static void drop_cache(void)
{
    sync();
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "3", 1) != 1)
        fail("dropping the page cache (needs root)");
    close(fd);
}

static pid_t start(const struct setup *s, char **argv, int *ret_master)
{
    int slave = -1, mark[2] = {-1, -1};
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    *ret_master = -1;
    if (s->tty && openpty(ret_master, &slave, NULL, NULL, &size) < 0)
        fail("a pseudo terminal");
    if (s->stamp && pipe(mark) < 0)
        fail("a pipe");
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        int out = s->out ? open(s->out, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
        if (s->tty) {
            setsid();
            ioctl(slave, TIOCSCTTY, 0);
            for (int fd = 0; fd < 3; fd++)
                dup2(slave, fd);
            close(slave);
            close(*ret_master);
        } else {
            int null = open("/dev/null", O_RDWR);
            dup2(null, 0);
            dup2(out >= 0 ? out : null, 1);
        }
        if (s->stamp) {
            char text[2][32];
            snprintf(text[0], sizeof text[0], "%lld", (long long)now_ns());
            snprintf(text[1], sizeof text[1], "%d", mark[1]);
            setenv("MEASURE_START", text[0], 1);
            setenv("MEASURE_FD", text[1], 1);
        }
        execvp(argv[0], argv);
        fprintf(stderr, "measure: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    if (slave >= 0)
        close(slave);
    if (s->stamp) {
        close(mark[1]);
        *ret_master = mark[0];
    }
    return pid;
}

/* One run; wall time in ns, or what the program's stamp says. */
static int64_t run_once(const struct setup *s, char **argv)
{
    static char drain[1 << 16];
    int fd, status;
    if (s->out)
        unlink(s->out);
    if (s->cold)
        drop_cache();
    int64_t begin = now_ns(), stamp = -1;
    pid_t pid = start(s, argv, &fd);
    if (fd >= 0 && s->tty)
        while (read(fd, drain, sizeof drain) > 0)
            ;
    else if (fd >= 0 && read(fd, &stamp, sizeof stamp) != sizeof stamp)
        fail("the program at the end of the line did not stamp; is it `measure stamp`?");
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            fail("waitpid");
    int64_t end = now_ns();
    if (fd >= 0)
        close(fd);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: '%s' failed with wait status %d\n", argv[0], status);
        exit(1);
    }
    return stamp >= 0 ? stamp : end - begin;
}

/* The time of 100 new files in a folder of their own, which is removed afterwards. */
static int64_t files_once(const char *folder)
{
    enum { FILES = 100 };
    char dir[4096], path[4200], text[100];
    memset(text, 'x', sizeof text);
    snprintf(dir, sizeof dir, "%s/files.XXXXXX", folder);
    if (!mkdtemp(dir))
        fail(folder);
    int64_t begin = now_ns();
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, text, sizeof text) != (ssize_t)sizeof text || close(fd))
            fail(path);
    }
    int64_t ns = now_ns() - begin;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        unlink(path);
    }
    rmdir(dir);
    return ns;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure_time(const struct setup *s, char ***commands, int count)
{
    static double ms[COMMANDS][ROUNDS];
    for (int round = -s->warmups; round < s->rounds; round++)
        for (int c = 0; c < count; c++) {
            int64_t ns = run_once(s, commands[c]);
            if (round >= 0)
                ms[c][round] = s->bytes > 0 ? s->bytes / 1e6 / ((double)ns / 1e9) : (double)ns / 1e6;
        }
    for (int c = 0; c < count; c++) {
        qsort(ms[c], (size_t)s->rounds, sizeof **ms, by_size);
        int n = s->rounds;
        printf("%.3f %.3f %.3f\n", n % 2 ? ms[c][n / 2] : (ms[c][n / 2 - 1] + ms[c][n / 2]) / 2, ms[c][0], ms[c][n * 9 / 10]);
    }
    return 0;
}

static int measure_files(const struct setup *s, const char *folder)
{
    static double ms[ROUNDS];
    for (int round = -s->warmups; round < s->rounds; round++) {
        int64_t ns = files_once(folder);
        if (round >= 0)
            ms[round] = (double)ns / 1e6;
    }
    qsort(ms, (size_t)s->rounds, sizeof *ms, by_size);
    return printf("%.3f\n", ms[s->rounds / 2]) < 0;
}

/* The processes below `top`, itself included, whose name is not `ignore`. */
static int descendants(pid_t top, const char *ignore, pid_t *ret, int max)
{
    struct { pid_t pid, parent; char name[32]; } all[4096];
    int count = 0, found = 0;
    DIR *d = opendir("/proc");
    if (!d)
        fail("/proc");
    for (struct dirent *e; (e = readdir(d)) && count < 4096;) {
        char path[300], text[512];
        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            continue;
        text[n] = 0;
        char *open_at = strchr(text, '('), *close_at = strrchr(text, ')');
        if (!open_at || !close_at)
            continue;
        all[count].pid = (pid_t)strtol(e->d_name, NULL, 10);
        all[count].parent = (pid_t)strtol(close_at + 4, NULL, 10);
        snprintf(all[count].name, sizeof all[count].name, "%.*s", (int)(close_at - open_at - 1), open_at + 1);
        count++;
    }
    closedir(d);
    pid_t known[PROCESSES] = {top};
    int reach = 1;
    for (int i = 0; i < reach; i++)
        for (int k = 0; k < count; k++) {
            if (all[k].parent == known[i] && reach < PROCESSES)
                known[reach++] = all[k].pid;
            if (all[k].pid == known[i] && found < max && !(ignore && strcmp(all[k].name, ignore) == 0))
                ret[found++] = all[k].pid;
        }
    return found;
}

/* The number behind `label` in /proc/PID/FILE; 0 when the process is gone. */
static double proc_number(pid_t pid, const char *file, const char *label)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    char *at = strstr(text, label);
    return at ? strtod(at + strlen(label), NULL) : 0;
}

static double sum_over(pid_t top, const char *ignore, const char *file, const char *label)
{
    pid_t pids[PROCESSES];
    double sum = 0;
    for (int i = 0, n = descendants(top, ignore, pids, PROCESSES); i < n; i++)
        sum += proc_number(pids[i], file, label);
    return sum;
}

static int measure_pss(const struct setup *s, char **argv)
{
    int fd, status;
    double peak = 0;
    pid_t pid = start(s, argv, &fd);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        double sum = sum_over(pid, s->ignore, "smaps_rollup", "\nPss:");
        if (sum > peak)
            peak = sum;
        nap_ms(0.2);
    }
    printf("%.0f\n", peak);
    return peak > 0 ? 0 : 1;
}

static int measure_cpu(const struct setup *s, char **argv)
{
    int fd, status;
    pid_t pid = start(s, argv, &fd);
    nap_ms(s->from * 1e3);
    double first = sum_over(pid, s->ignore, "schedstat", "");
    int64_t begin = now_ns();
    nap_ms((s->until - s->from) * 1e3);
    double last = sum_over(pid, s->ignore, "schedstat", "");
    int64_t end = now_ns();
    if (waitpid(pid, &status, WNOHANG) != 0 || first <= 0) {
        fprintf(stderr, "measure: the command ended too early\n");
        return 1;
    }
    printf("%.1f\n", (last - first) / 1e3 / ((double)(end - begin) / 1e9));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

/* By wait4: what a shell or an interpreter that starts it costs is not in it. */
static int measure_once(const struct setup *s, char **argv)
{
    int fd, status;
    struct rusage u;
    int64_t begin = now_ns();
    pid_t pid = start(s, argv, &fd);
    while (wait4(pid, &status, 0, &u) < 0)
        if (errno != EINTR)
            fail("wait4");
    int64_t end = now_ns();
    double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
    printf("%.3f %.3f %.1f\n", (double)(end - begin) / 1e6, cpu, (double)u.ru_maxrss / 1e3);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int stamp(void)
{
    int64_t at = now_ns();
    const char *begin = getenv("MEASURE_START"), *fd = getenv("MEASURE_FD");
    if (!begin || !fd)
        return 2;
    at -= strtoll(begin, NULL, 10);
    return write((int)strtol(fd, NULL, 10), &at, sizeof at) == sizeof at ? 0 : 1;
}

static int pour(const char *bytes)
{
    static char block[1 << 18];
    long long left = strtoll(bytes, NULL, 10);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = i % 64 == 63 ? '\n' : (char)('a' + i * 7 % 26);
    while (left > 0) {
        ssize_t n = write(1, block, left < (long long)sizeof block ? (size_t)left : sizeof block);
        if (n < 0)
            fail("writing");
        left -= n;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct setup s = {.rounds = 20, .warmups = 1};
    char **commands[COMMANDS];
    int count = 0, c;
    if (argc >= 2 && strcmp(argv[1], "stamp") == 0) /* further words are its arguments for others to look at */
        return stamp();
    if (argc == 3 && strcmp(argv[1], "pour") == 0)
        return pour(argv[2]);
    if (argc < 3)
        return fprintf(stderr, "usage: see the head of tests/bench/measure.c\n"), 2;
    optind = 2;
    while ((c = getopt(argc, argv, "+n:w:o:tcr:x:f:u:")) != -1)
        switch (c) {
        case 'n': s.rounds = (int)strtol(optarg, NULL, 10); break;
        case 'w': s.warmups = (int)strtol(optarg, NULL, 10); break;
        case 'o': s.out = optarg; break;
        case 't': s.tty = true; break;
        case 'c': s.cold = true; break;
        case 'r': s.bytes = strtod(optarg, NULL); break;
        case 'x': s.ignore = optarg; break;
        case 'f': s.from = strtod(optarg, NULL); break;
        case 'u': s.until = strtod(optarg, NULL); break;
        default: return 2;
        }
    for (int i = optind; i < argc && count < COMMANDS; i++) {
        commands[count++] = &argv[i];
        while (i < argc && strcmp(argv[i], "---") != 0)
            i++;
        argv[i] = NULL;
    }
    if (count == 0 || s.rounds < 1 || s.rounds > ROUNDS)
        return fprintf(stderr, "measure: no command, or rounds not within 1 to %d\n", ROUNDS), 2;
    s.stamp = strcmp(argv[1], "delay") == 0;
    if (strcmp(argv[1], "files") == 0)
        return measure_files(&s, commands[0][0]);
    if (strcmp(argv[1], "pss") == 0)
        return measure_pss(&s, commands[0]);
    if (strcmp(argv[1], "once") == 0)
        return measure_once(&s, commands[0]);
    if (strcmp(argv[1], "cpu") == 0)
        return measure_cpu(&s, commands[0]);
    return measure_time(&s, commands, count);
}
