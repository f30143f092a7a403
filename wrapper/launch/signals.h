/* signals.h: passes signals on so that the program receives each exactly once, sent to the
 * launcher's pid or to the whole group. */
#ifndef LAUNCH_SIGNALS_H
#define LAUNCH_SIGNALS_H
#include "launch/wire.h"

#include <stdbool.h>
#include <sys/signalfd.h>

enum { SIGNALS_QUEUE = 256, SIGNALS_WAIT_MS = 50, SIGNALS_WALK_MS = 250, SIGNALS_HELD_UP_MS = 2000 };
enum { SIGNALS_CHILD = 1, SIGNALS_RESIZE = 2, SIGNALS_END = 4 /* INT TERM HUP QUIT after the program had ended */ };

/* A process in the launcher's group that blocks every signal and counts what reaches it. A signal
 * that it has not counted was sent to the launcher alone. */
struct signal_observer {
    pid_t pid; /* 0: none */
    const _Atomic uint32_t *seen; /* [WIRE_SIGNALS] */
    void *page; /* of the launcher's observer process */
};

struct signals_entry {
    struct signalfd_siginfo info;
    int64_t until_ns; /* decided then, but for a sender that is held up on its way from process to process: */
    int64_t latest_ns;
};

struct signals {
    int fd; /* readable: call signals_handle */
    pid_t self, group, program; /* program 0: not started */
    bool ended; /* the program is gone: nothing is forwarded any more */
    bool stop_asked; /* a TSTP has come since the last CONT */
    int finish_signal; /* first of TERM INT HUP QUIT that the program did not ignore */
    struct signal_observer observer;
    uint32_t base[WIRE_SIGNALS]; /* of `observer.seen`: what is accounted for */
    size_t queued;
    struct signals_entry queue[SIGNALS_QUEUE];
};

/* Opens the descriptor that reports signals. The caller has blocked all of them (spawn_save), and
 * calls signals_close. 0; -1 with errno. */
int signals_open(struct signals *s);
/* Makes the recorder the observer; its counts start at what they are now. */
void signals_set_observer(struct signals *s, pid_t pid, const _Atomic uint32_t *seen);
/* Starts a small observer process, for use without a recorder; signals_close ends it. 0; -1: there is
 * no observer, and then every signal that does not come from the terminal is forwarded. */
int signals_start_observer(struct signals *s);
/* Notes the program's pid, while it is still held, and sends to it what has come so far, unless that is
 * pending for the program as well. The counts of the observer, which has been set before where there is
 * one, start again. */
void signals_started(struct signals *s, pid_t program);
/* Reads signals and decides on them. Returns the SIGNALS_… flags of what the caller must do. */
unsigned signals_handle(struct signals *s, int64_t now_ns);
/* Returns in how many milliseconds undecided signals must be checked again; -1: there are none. */
int signals_timeout(const struct signals *s);
/* Returns whether the terminal stopped the program by this signal. A SIGSTOP, or a TSTP that did
 * not reach the launcher, came from another process. */
bool signals_of_terminal(const struct signals *s, int number);
/* Stops this process by the signal, as the terminal stopped the program, so that the shell detects
 * that its job has stopped. Returns when it continues. */
void signals_stop(struct signals *s, int number);
/* Closes the descriptor, and ends an observer of the launcher's own; the signals stay blocked. */
void signals_close(struct signals *s);
#endif
