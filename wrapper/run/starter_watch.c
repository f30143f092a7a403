/* starter_watch.c: finds starters among the processes of the program, also those that live for milliseconds.
 *
 * A sample a second misses an srun of 50 ms. The kernel reports when any process opens a starter's file, which exec does. It does not report
 * which process, so the program's own processes are searched at once. Command line and environment of a process show what it starts. */
#include "run/starter_watch.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/str.h"
#include "launch/peel.h"
#include "probes/look.h"
#include "probes/processes.h"
#include "run/elsewhere.h"
#include "run/state.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_MAX = 32, WORDS_MAX = 128 << 10, KERNEL_NAME = 15 };
static const int64_t MILLISECOND = 1000000;
static const int gaps_ms[] = {1, 2, 5, 10, 20, 40}; /* between readings: fork, exec and the change of the name are not one moment */
enum { LOOKS = sizeof gaps_ms / sizeof *gaps_ms };
/* Readings may use so much processor time, and half a percent of the run's time. */
static const int64_t USED_FREE_MS = 50, USED_PART = 200;

/* Returns whether the name, of a process or of a file, is that of a starter whose program may run on
 * another machine, or as no process below it. The kernel cuts process names at 15
 * characters. */
static bool is_outside_name(const char *name)
{
    const char *known;
    for (size_t at = 0; (known = peel_outside_name(&at));)
        if (*known == *name && (strcmp(known, name) == 0 || (strlen(name) == KERNEL_NAME && strncmp(known, name, KERNEL_NAME) == 0)))
            return true;
    return strncmp(name, "mpirun.", 7) == 0 || strncmp(name, "mpiexec.", 8) == 0;
}

struct seen_folders {
    dev_t dev[FOLDERS_MAX];
    ino_t ino[FOLDERS_MAX];
    size_t count;
};

/* Returns whether the folder was read before, and notes it: /bin is /usr/bin in most systems, and
 * PATH repeats folders. Also true where no more folders can be noted. */
static bool is_seen_folder(struct seen_folders *seen, int fd)
{
    struct stat st;
    if (fstat(fd, &st) || seen->count == FOLDERS_MAX)
        return true;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->dev[i] == st.st_dev && seen->ino[i] == st.st_ino)
            return true;
    seen->dev[seen->count] = st.st_dev;
    seen->ino[seen->count++] = st.st_ino;
    return false;
}

/* Lists the folder: opening a hundred names that are absent would be a hundred requests to a file server. */
static void watch_folder(struct starter_watch *w, struct seen_folders *seen, struct str folder)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, STR_FMT, STR_ARG(folder)) >= sizeof path)
        return;
    DIR *dir = opendir(path);
    if (dir && !is_seen_folder(seen, dirfd(dir)))
        for (struct dirent *e; (e = readdir(dir));)
            if (is_outside_name(e->d_name) && (size_t)snprintf(path, sizeof path, STR_FMT "/%s", STR_ARG(folder), e->d_name) < sizeof path)
                w->open |= inotify_add_watch(w->fd, path, IN_OPEN) >= 0;
    if (dir)
        closedir(dir);
}

void starter_watch_begin(struct run *run)
{
    struct starter_watch *w = &run->starters;
    const char *path = env_text(run->host.env, "PATH");
    struct str rest = str_of(path ? path : "/usr/bin:/bin");
    if (run->host.elsewhere || run->host.served || (w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) < 0)
        return;
    w->begun_ns = clock_mono_ns();
    struct seen_folders seen = {.count = 0};
    while (rest.p) {
        struct str folder = str_cut(&rest, ':');
        if (str_starts(folder, "/"))
            watch_folder(w, &seen, folder);
    }
    if (!w->open) {
        close(w->fd);
        return;
    }
    processes_visit(&run->host); /* one may have begun before */
}

int starter_watch_fd(const struct starter_watch *w)
{
    return w->open ? w->fd : -1;
}

int64_t starter_watch_next(const struct starter_watch *w)
{
    return w->open && w->next_ns ? w->next_ns : INT64_MAX;
}

void starter_watch_end(struct starter_watch *w)
{
    if (w->open)
        close(w->fd);
    w->open = false;
}

/* Searches the program's processes for a starter, and plans the next search. Skips it where the
 * searches have used more than their share of processor time; ends the watch once one is found. */
static void look_at_processes(struct run *run, int64_t now)
{
    struct starter_watch *w = &run->starters;
    w->next_ns = w->looks < LOOKS ? now + gaps_ms[w->looks++] * MILLISECOND : 0;
    if (w->used_ns > USED_FREE_MS * MILLISECOND + (now - w->begun_ns) / USED_PART)
        return; /* others open such files all the time */
    int64_t before = clock_own_ns();
    processes_visit(&run->host);
    w->used_ns += clock_own_ns() - before;
    if (w->found.away)
        starter_watch_end(w);
}

void starter_watch_receive(struct run *run)
{
    char events[4096] __attribute__((aligned(8)));
    while (read(run->starters.fd, events, sizeof events) > 0)
        ;
    run->starters.looks = 0;
    look_at_processes(run, clock_mono_ns());
}

void starter_watch_on_time(struct run *run, int64_t now)
{
    if (now >= starter_watch_next(&run->starters))
        look_at_processes(run, now);
}

/* ---- what a process is ---- */

/* Returns the texts of /proc/PID/cmdline or environ, NULL-terminated, in the arena; NULL: they
 * cannot be read. */
static char **process_texts(const struct host *h, pid_t pid, const char *file, struct arena *a)
{
    struct buf text CLEANUP_BUF;
    char path[64];
    buf_init(&text, 2 * WORDS_MAX);
    snprintf(path, sizeof path, "proc/%d/%s", (int)pid, file);
    if (look_read_file(h, path, WORDS_MAX, &text) || !text.n)
        return NULL;
    size_t count = 1, n = 0;
    for (size_t i = 0; i < text.n; i++)
        count += !text.p[i];
    char **list = arena_get(a, (count + 1) * sizeof *list);
    const char *all = arena_dup(a, text.p, text.n);
    for (const char *p = all; list && p && p < all + text.n; p += strlen(p) + 1)
        list[n++] = arena_dup(a, p, strlen(p));
    return all ? list : NULL;
}

/* Returns whether the command only prints about itself: `srun --version`. */
static bool only_describes_itself(char *const *words)
{
    static const char *const options[] = {"-V", "--version", "-h", "--help", "--usage", "-help", "-version"};
    for (size_t i = 0; words[1] && !words[2] && i < sizeof options / sizeof *options; i++)
        if (strcmp(words[1], options[i]) == 0)
            return true;
    return false;
}

/* Returns the process's command line from the starter's name on, in the arena. linked: its first
 * word is a link's name. NULL: the process has ended, or cannot be read. */
static char **words_of_starter(const struct host *h, pid_t pid, char *name, bool linked, struct arena *a)
{
    char **words = process_texts(h, pid, "cmdline", a);
    if (linked && words)
        words[0] = name;
    while (words && *words && strncmp(str_base_name(*words), name, strlen(name)) != 0)
        words++; /* a script: behind its interpreter */
    return words && *words ? words : NULL;
}

/* Decides by its own words and variables whether a process starts programs elsewhere: `docker -H
 * …`, srun in an allocation that the program has got. Sets starters.found. */
static void judge_process(struct run *run, pid_t pid, char *name, bool linked)
{
    struct script_starter *found = &run->starters.found;
    struct arena a;
    struct peel_place place = {0};
    char *const *program;
    arena_init(&a, 8 * WORDS_MAX);
    char **words = words_of_starter(&run->host, pid, name, linked, &a), **env = process_texts(&run->host, pid, "environ", &a);
    char *const *at = words, *const *variables = env ? env : run->host.env;
    if (words && !only_describes_itself(words) && peel_next(&at, variables, &place)) {
        const char *away = place.queues ? place.starter : elsewhere_starter(words, variables, &a, &program);
        const char *served = elsewhere_find_ways(words, variables, &a).server;
        if (away)
            *found = (struct script_starter){away, "the program", true};
        else if (served && !found->name)
            *found = (struct script_starter){served, "the program", false};
    }
    arena_deinit(&a);
}

void starter_watch_saw(void *context, pid_t pid, const char *name)
{
    struct run *run = context;
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%s", name);
    bool linked = !is_outside_name(name);
    if (run->starters.found.away || (linked && !run->starters.next_ns))
        return;
    if (linked) { /* maybe: a starter's file was opened just now */
        char path[64], file[PATH_MAX];
        snprintf(path, sizeof path, "proc/%d/exe", (int)pid);
        ssize_t n = readlinkat(run->host.root, path, file, sizeof file - 1);
        file[n > 0 ? n : 0] = 0;
        snprintf(text, sizeof text, "%s", str_base_name(file));
        if (!is_outside_name(text))
            return;
    }
    judge_process(run, pid, text, linked);
}
