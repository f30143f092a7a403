/* counters.c: perf_event_open(2) for the program: by the launcher, since only its parent can count
 * from exec on. */
#include "launch/counters.h"

#include "launch/fd.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    uint32_t type;
    uint64_t config;
} rows[] = {
#define COUNTER(key, type, config) {type, config},
#include "launch/counters.def"
#undef COUNTER
};

void counters_open(struct perf_counters *c, pid_t pid)
{
    c->asked = 1;
    for (size_t i = 0; i < COUNTERS_COUNT; i++) {
        struct perf_event_attr attr = {.size = sizeof attr,
                                       .type = rows[i].type,
                                       .config = rows[i].config,
                                       .disabled = 1,
                                       .inherit = 1,
                                       .enable_on_exec = 1,
                                       .exclude_kernel = 1,
                                       .exclude_hv = 1,
                                       .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
        int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        c->error[i] = fd < 0 ? errno : 0;
        c->fd[i] = fd < 0 ? 0 : fd + 1;
    }
}

void counters_read(struct perf_counters *c, struct counter_value ret[COUNTERS_COUNT])
{
    for (size_t i = 0; c->asked && i < COUNTERS_COUNT; i++) {
        uint64_t v[3]; /* value, enabled, running */
        ret[i] = (struct counter_value){.error = c->error[i], .asked = 1};
        if (!c->fd[i])
            continue;
        int fd = c->fd[i] - 1;
        if (read(fd, v, sizeof v) == (ssize_t)sizeof v)
            ret[i] = (struct counter_value){.value = v[0], .enabled_ns = v[1], .running_ns = v[2], .asked = 1};
        else
            ret[i].error = EIO;
        fd_close(&fd);
        c->fd[i] = 0;
    }
}
