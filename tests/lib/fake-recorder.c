/* fake-recorder.c: a recorder for tests of the launcher: speaks wire.h, counts signals, copies the streams to $FAKE_DIR, and misbehaves as $FAKE_MODE says:
 * stall (never takes bytes), die-early, die (after the start), silent (never ready), refuse, refuse-late (after 1 s), note, never-done, stop (SIGSTOPs itself when ready), verdict (not pass), slow (takes 1 MiB in 20 ms). */
#include "launch/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *mode(void)
{
    const char *m = getenv("FAKE_MODE");
    return m ? m : "";
}

static bool quiet; /* the recorder sends no summary then */

static int open_in_dir(const char *name)
{
    char path[4096];
    const char *dir = getenv("FAKE_DIR");
    if (!dir)
        return -1;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static void say(int kind, int status, const char *text)
{
    struct wire_msg msg = {.kind = (uint32_t)kind, .status = status};
    snprintf(msg.text, sizeof msg.text, "%s", text);
    if (send(WIRE_SOCKET_FD, &msg, sizeof msg, MSG_NOSIGNAL) < 0)
        _exit(1);
}

static bool take(struct wire *w, int i, int to)
{
    struct wire_ring *ring = &w->ring[i];
    uint64_t tail = ring->tail, head = ring->head;
    bool any = false;
    while (tail < head) {
        size_t at = tail % WIRE_RING, n = head - tail < WIRE_RING - at ? head - tail : WIRE_RING - at;
        if (!strcmp(mode(), "slow")) {
            n = n < 1 << 20 ? n : 1 << 20;
            usleep(20000);
        }
        if (to >= 0 && write(to, (char *)w + WIRE_DATA + (size_t)i * WIRE_RING + at, n) != (ssize_t)n)
            _exit(2);
        tail += n;
        ring->tail = tail;
        any = true;
    }
    return any;
}

static void describe(const struct wire *w, const struct wire_msg *end)
{
    int fd = open_in_dir("ended");
    if (fd < 0)
        return;
    dprintf(fd, "kind=%u status=%d timed_out=%u orphans=%u left=%u finish_signal=%u merged=%u\n", end->kind, end->status, end->timed_out, end->orphans,
            end->left, end->finish_signal, w->merged);
    dprintf(fd, "open=%u\n", end->open_streams);
    dprintf(fd, "passed=%llu,%llu lost=%llu,%llu dropped=%llu,%llu used=%u,%u tty=%u,%u\n", (unsigned long long)end->passed[0],
            (unsigned long long)end->passed[1], (unsigned long long)end->lost[0], (unsigned long long)end->lost[1],
            (unsigned long long)w->ring[0].dropped, (unsigned long long)w->ring[1].dropped, w->ring[0].used, w->ring[1].used, w->ring[0].is_tty,
            w->ring[1].is_tty);
    dprintf(fd, "run=%s parent=%s rank=%u ranks=%u source=%s scope=%s\n", w->run_id, w->parent_id, w->rank, w->ranks, w->rank_source, w->scope);
    dprintf(fd, "utime=%ld.%06ld\n", (long)end->usage.ru_utime.tv_sec, (long)end->usage.ru_utime.tv_usec);
    close(fd);
}

/* One message of the launcher. False: the end. */
static bool hear(struct wire *w, const int *to)
{
    struct wire_msg msg;
    ssize_t n = recv(WIRE_SOCKET_FD, &msg, sizeof msg, MSG_DONTWAIT);
    if (n == 0) {
        close(open_in_dir("orphaned"));
        return false;
    }
    if (n < 0 || msg.kind == WIRE_WAKE)
        return true;
    if (msg.kind == WIRE_STARTED) {
        if (!strcmp(mode(), "die"))
            kill(getpid(), SIGKILL);
        return true;
    }
    for (int i = 0; i < WIRE_STREAMS; i++)
        if (strcmp(mode(), "stall") != 0)
            take(w, i, to[i]);
    describe(w, &msg);
    if (!strcmp(mode(), "never-done"))
        for (;;)
            pause();
    if (msg.kind == WIRE_ENDED && !quiet)
        say(WIRE_SUMMARY, 0, "fake summary");
    say(WIRE_DONE, !strcmp(mode(), "verdict"), "");
    return false;
}

int main(int argc, char **argv)
{
    sigset_t all;
    if (argc < 2 || strcmp(argv[1], "--recorder") != 0) {
        printf("core:");
        for (int i = 1; i < argc; i++)
            printf(" %s", argv[i]);
        printf("\n");
        return 0;
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        quiet = quiet || strcmp(argv[i], "-q") == 0;
    struct wire *w = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_MEMORY_FD, 0);
    if (w == MAP_FAILED || w->magic != WIRE_MAGIC || !strcmp(mode(), "die-early"))
        return 9;
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    int signals = signalfd(-1, &all, SFD_NONBLOCK), to[2] = {open_in_dir("stdout"), open_in_dir("stderr")};
    if (!strcmp(mode(), "refuse-late"))
        usleep(1000000);
    if (!strncmp(mode(), "refuse", 6))
        say(WIRE_REFUSE, 0, "rules.yaml: no such file");
    if (!strcmp(mode(), "note"))
        say(WIRE_NOTE, 0, "a note with \033[31mcolour");
    if (strcmp(mode(), "silent") != 0)
        say(WIRE_READY, 0, "");
    if (!strcmp(mode(), "stop") || !strcmp(mode(), "never-done") || !strcmp(mode(), "stall"))
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing may be left of a test */
    if (!strcmp(mode(), "stop"))
        kill(getpid(), SIGSTOP);
    for (;;) {
        bool stall = !strcmp(mode(), "stall");
        for (int i = 0; i < WIRE_STREAMS && !stall; i++) {
            take(w, i, to[i]);
            w->ring[i].wake_at = w->ring[i].tail + 1;
            take(w, i, to[i]);
        }
        struct pollfd p[2] = {{WIRE_SOCKET_FD, POLLIN, 0}, {signals, POLLIN, 0}};
        poll(p, 2, 1000);
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) == sizeof info)
            w->seen[info.ssi_signo]++;
        if (p[0].revents && !hear(w, to))
            return 0;
    }
}
