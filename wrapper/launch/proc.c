/* proc.c: the few facts of /proc that the launcher needs while a program runs: who descends from whom, what is pending. */
#include "launch/proc.h"

#include "base/array.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns whether /proc shows the PID namespace of this process. */
static bool proc_is_ours(void)
{
    static pid_t checked;
    static bool ours;
    char text[24];
    int64_t pid = 0;
    if (checked != getpid()) { /* a fork may have entered another namespace */
        ssize_t n = readlink("/proc/self", text, sizeof text);
        checked = getpid();
        ours = n > 0 && (size_t)n < sizeof text && str_int((struct str){text, (size_t)n}, &pid) && pid == checked;
    }
    return ours;
}

/* Reads /proc/<pid>/<name> into text, at most size - 1 bytes and ended by a NUL. Returns the number
 * of bytes; 0 where it cannot be read, which may leave text unchanged. */
static size_t proc_read_file(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    if (!proc_is_ours())
        return 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, size - 1);
    if (n < 0 && errno == EINTR)
        n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Reads "pid (comm) S ppid …": comm may have blanks and brackets, so its end is the last
 * bracket. */
bool proc_look(pid_t pid, struct proc_id *ret)
{
    char text[1024];
    size_t n = proc_read_file(pid, "stat", text, sizeof text);
    char *open = n ? strchr(text, '(') : NULL, *close = n ? strrchr(text, ')') : NULL;
    if (!open || !close || close < open || close[1] != ' ')
        return false;
    struct str rest = str_of(close + 2);
    *ret = (struct proc_id){.pid = pid};
    snprintf(ret->comm, sizeof ret->comm, "%.*s", (int)(close - open - 1), open + 1);
    int64_t parent = 0;
    for (int field = 3; field <= 22; field++) {
        struct str word = str_word(&rest);
        if (field == 3)
            ret->state = word.n ? word.p[0] : '?';
        else if (field == 4 && !str_int(word, &parent))
            return false;
        else if (field == 22 && !str_uint(word, &ret->start))
            return false;
    }
    ret->parent = (pid_t)parent;
    return true;
}

enum { STATUS_MAX = 64 << 10 /* of a user in thousands of groups: their line precedes the signals' */ };

/* Reads the hexadecimal number behind the label. False: the text does not have it. */
static bool hex_after(const char *text, const char *label, uint64_t *ret)
{
    const char *at = strstr(text, label);
    struct str rest = str_of(at ? at + strlen(label) : "");
    return str_based(str_word(&rest), 16, ret);
}

bool proc_pending(pid_t pid, uint64_t *ret)
{
    char text[STATUS_MAX];
    uint64_t thread, shared;
    if (!proc_read_file(pid, "status", text, sizeof text) || !hex_after(text, "\nSigPnd:\t", &thread) ||
        !hex_after(text, "\nShdPnd:\t", &shared))
        return false;
    *ret = thread | shared;
    return true;
}

bool proc_ignores(pid_t pid, int number)
{
    char text[STATUS_MAX];
    uint64_t ignored;
    return pid > 0 && proc_read_file(pid, "status", text, sizeof text) && hex_after(text, "\nSigIgn:\t", &ignored) &&
           (ignored >> (number - 1) & 1);
}

bool proc_is_ancestor(pid_t pid)
{
    struct proc_id id = {.parent = getppid()};
    for (int depth = 0; depth < 64 && id.parent > 0; depth++) {
        if (id.parent == pid)
            return true;
        if (!proc_look(id.parent, &id))
            return false;
    }
    return false;
}

bool proc_is_below(pid_t pid, pid_t top)
{
    struct proc_id id = {.parent = pid};
    for (int depth = 0; depth < 64 && id.parent > 0; depth++) {
        if (id.parent == top)
            return true;
        if (!proc_look(id.parent, &id))
            return false;
    }
    return false;
}

bool proc_is_busy(pid_t pid)
{
    char path[64], text[4096];
    bool busy = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && !busy && (e = readdir(dir));) {
        snprintf(path, sizeof path, "task/%.20s/stat", e->d_name);
        const char *state = e->d_name[0] != '.' && proc_read_file(pid, path, text, sizeof text) ? strrchr(text, ')') : NULL;
        busy = state && state[1] == ' ' && (state[2] == 'R' || state[2] == 'D');
    }
    if (dir)
        closedir(dir);
    return busy;
}

/* Lists all processes. Returns their number, and *ret, which the caller frees; -1 with errno:
 * nothing is allocated. */
static ptrdiff_t proc_list_all(struct proc_id **ret)
{
    DIR *dir = opendir("/proc");
    struct proc_id *list = NULL;
    size_t n = 0, size = 0;
    if (!dir)
        return -1;
    if (!proc_is_ours()) {
        closedir(dir);
        errno = ESRCH;
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        int64_t pid;
        if (!str_int(str_of(entry->d_name), &pid))
            continue;
        if (!ARRAY_FITS(list, size, n + 1)) {
            free(list);
            closedir(dir);
            return -1;
        }
        n += proc_look((pid_t)pid, &list[n]);
    }
    closedir(dir);
    *ret = list;
    return (ptrdiff_t)n;
}

static bool proc_is_excepted(const pid_t *except, pid_t pid)
{
    for (; *except; except++)
        if (*except == pid)
            return true;
    return false;
}

/* Returns whether every process is excepted. One small file has the answer (where the kernel has
 * it), so that the usual end of a run walks through no processes. */
static bool none_but(const pid_t *except)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    if (n < 0 || n == (ssize_t)sizeof text)
        return false;
    struct str rest = {text, (size_t)n}, word;
    while ((word = str_word(&rest)).n > 0) {
        int64_t pid;
        if (!str_int(word, &pid) || !proc_is_excepted(except, (pid_t)pid))
            return false;
    }
    return true;
}

ptrdiff_t proc_descendants(const pid_t *except, struct proc_id **ret)
{
    struct proc_id *list = NULL;
    if (none_but(except)) {
        *ret = NULL;
        return 0;
    }
    ptrdiff_t n = proc_list_all(&list);
    if (n < 0)
        return -1;
    ptrdiff_t found = 0, seen = 0; /* the descendants move to the front of the list, generation by generation */
    for (pid_t parent = getpid();; parent = list[seen++].pid) {
        for (ptrdiff_t i = found; i < n; i++)
            if (list[i].parent == parent && !proc_is_excepted(except, list[i].pid)) {
                struct proc_id id = list[i];
                list[i] = list[found];
                list[found++] = id;
            }
        if (seen == found)
            break;
    }
    *ret = list;
    return found;
}

void proc_kill(const struct proc_id *id, int signal)
{
    struct proc_id now;
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, id->pid, 0);
    if (fd >= 0) {
        bool same = proc_look(id->pid, &now) && now.start == id->start;
        long rc = same ? syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) : 0;
        close(fd);
        if (rc == 0)
            return;
    }
#endif
    if (proc_look(id->pid, &now) && now.start == id->start)
        kill(id->pid, signal);
}
