/* keys.c: keys for a program that reads them from the terminal on its stdout or stderr (less, more) and not from its stdin. */
#include "launch/keys.h"

#include "base/str.h"

#include "launch/fd.h"
#include "launch/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool keys_looking(const struct pty *pty)
{
    return pty->master >= 0 && pty->real >= 0 && pty->keys < 0 && !(pty->last.c_lflag & ICANON) && pty->looks < KEYS_LOOKS;
}

static bool is_slave(pid_t pid, long fd, const char *slave)
{
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%ld", (int)pid, fd);
    ssize_t n = readlink(path, link, sizeof link - 1);
    return n > 0 && (size_t)n == strlen(slave) && memcmp(link, slave, (size_t)n) == 0;
}

/* Returns whether the process has opened the descriptor for reading, by the line "flags:\t0100002"
 * (octal) of its fdinfo. */
static bool is_fd_readable(pid_t pid, long fd)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%ld", (int)pid, fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = info < 0 ? -1 : read(info, text, sizeof text - 1);
    fd_close(&info);
    text[n > 0 ? n : 0] = 0;
    const char *flags = strstr(text, "flags:");
    struct str rest = str_of(flags ? flags + 6 : "");
    uint64_t bits;
    return str_based(str_word(&rest), 8, &bits) && (bits & O_ACCMODE) != O_WRONLY;
}

/* What a process does in the kernel: /proc/PID/syscall, read once in a pass. */
struct in_call {
    bool running; /* it does not sleep */
    int64_t number; /* of the system call that it sleeps in; -1: not known */
    uint64_t first, second; /* its arguments */
};

/* Reads which system call the process sleeps in; number is -1 where it sleeps in none or that
 * cannot be read. */
static struct in_call in_call_of(pid_t pid)
{
    char path[64], text[128];
    struct in_call c = {.number = -1};
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    fd_close(&file);
    struct str rest = {text, n > 0 ? (size_t)n : 0}, word = str_word(&rest);
    c.running = str_is(word, "running");
    if (!str_int(word, &c.number) || !str_based(str_word(&rest), 16, &c.first) || !str_based(str_word(&rest), 16, &c.second))
        c.number = -1;
    return c;
}

/* Returns whether the process is woken again and again: a key waits on the real terminal and no
 * process reads it. */
static bool is_spinning(const struct pty *pty, const struct in_call *c)
{
    struct pollfd key = {.fd = pty->real, .events = POLLIN};
    return c->running && poll(&key, 1, 0) == 1;
}

static bool sleeps_in_read(pid_t pid, const struct in_call *c, const char *slave)
{
    return c->number == SYS_read && c->first <= INT_MAX && is_slave(pid, (long)c->first, slave);
}

/* Returns whether the process polls the pty for input, among other descriptors. more(1) of
 * util-linux 2.41 does; that of 2.38 polls its stdin alone and then reads the pty. */
static bool sleeps_in_poll(pid_t pid, const struct in_call *c, const char *slave)
{
    struct pollfd fds[16];
#ifdef SYS_poll
    if (c->number != SYS_poll && c->number != SYS_ppoll)
#else
    if (c->number != SYS_ppoll)
#endif
        return false;
    uint64_t n = c->second < sizeof fds / sizeof *fds ? c->second : sizeof fds / sizeof *fds;
    struct iovec to = {fds, n * sizeof *fds}, from = {(void *)(uintptr_t)c->first, n * sizeof *fds};
    if (!n || process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)from.iov_len)
        return false;
    for (size_t i = 0; i < n; i++)
        if (fds[i].events & POLLIN && is_slave(pid, fds[i].fd, slave))
            return true;
    return false;
}

/* Returns whether the process has a descriptor above 2 that can read from the terminal `slave`. */
static bool has_opened(pid_t pid, const char *slave)
{
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        int64_t fd;
        found = str_int(str_of(entry->d_name), &fd) && fd > 2 && is_slave(pid, (long)fd, slave) && is_fd_readable(pid, (long)fd);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Opens an own description of the real terminal: the program may read there as well, and the
 * launcher must never sleep in a read. Returns the descriptor; -1 with errno. */
static int open_real(const struct pty *pty)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", pty->real);
    return fd_high(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/* Returns whether a descendant of this process, without those below `except`, sleeps in a read of
 * the pty now. */
static bool somebody_reads(const struct pty *pty, const pid_t *except)
{
    char slave[64];
    struct proc_id *list = NULL;
    bool found = false;
    if (ptsname_r(pty->master, slave, sizeof slave))
        return false;
    ptrdiff_t n = proc_descendants(except, &list);
    for (ptrdiff_t i = 0; i < n && !found; i++) {
        struct in_call call = in_call_of(list[i].pid);
        found = sleeps_in_read(list[i].pid, &call, slave);
    }
    free(list);
    return found;
}

void keys_look(struct pty *pty, const pid_t *except)
{
    char slave[64];
    struct proc_id *list = NULL;
    if (!keys_looking(pty))
        return;
    pty->looks++;
    if (ptsname_r(pty->master, slave, sizeof slave))
        return;
    ptrdiff_t n = proc_descendants(except, &list);
    bool spinning = false;
    for (ptrdiff_t i = 0; i < n && pty->keys < 0; i++) {
        struct in_call call = in_call_of(list[i].pid);
        spinning |= is_spinning(pty, &call);
        pty->waits_outside = !has_opened(list[i].pid, slave) && !sleeps_in_poll(list[i].pid, &call, slave) && pty->spins < KEYS_SPINS;
        if (!pty->waits_outside || sleeps_in_read(list[i].pid, &call, slave))
            pty->keys = open_real(pty);
    }
    pty->spins = spinning ? pty->spins + 1 : 0;
    free(list);
}

void keys_carry(struct pty *pty, const pid_t *except)
{
    char typed[256];
    if (tcgetpgrp(pty->real) != getpgrp() || (pty->last.c_lflag & ICANON)) {
        fd_close(&pty->keys); /* the program has left raw mode: searched again when it comes back */
        pty->looks = 0;
        return;
    }
    /* more(1) waits for a key on its stdin, the real terminal, and then reads it from stderr: an earlier read would not wake it. */
    if (pty->waits_outside && !somebody_reads(pty, except)) {
        usleep(1000); /* the key is still unread, and poll returns at once */
        return;
    }
    ssize_t n = read(pty->keys, typed, sizeof typed);
    if (n > 0)
        fd_write_all(pty->master, typed, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        fd_close(&pty->keys);
}
