/* stop_signals.c: a descriptor for the signals that stop a command. */
#include "base/stop_signals.h"

#include <sys/signalfd.h>

int stop_signals_open(sigset_t *ret_before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return sigprocmask(SIG_BLOCK, &set, ret_before) == 0 ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
}
