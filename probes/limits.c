/* limits.c: resource limits of the process that can make a benchmark slow or let it fail. */
#include "probes/look.h"

#include <string.h>
#include <sys/resource.h>

/* Soft limits: their names in /proc/self/limits. divide: bytes -> the unit in the key. */
static const struct row {
    const char *name, *key;
    int resource;
    int64_t divide;
} rows[] = {
    {"Max locked memory", "limits.memlock_KiB", RLIMIT_MEMLOCK, 1024},
    {"Max stack size", "limits.stack_KiB", RLIMIT_STACK, 1024},
    {"Max open files", "limits.open_files", RLIMIT_NOFILE, 1},
    {"Max processes", "limits.processes", RLIMIT_NPROC, 1},
    {"Max core file size", "limits.core_KiB", RLIMIT_CORE, 1024},
    {"Max address space", "limits.address_space_KiB", RLIMIT_AS, 1024},
    {"Max data size", "limits.data_KiB", RLIMIT_DATA, 1024},
    {"Max cpu time", "limits.cpu_s", RLIMIT_CPU, 1},
    {"Max file size", "limits.file_KiB", RLIMIT_FSIZE, 1024},
    {"Max realtime priority", "limits.realtime_priority", RLIMIT_RTPRIO, 1},
};

static void limit_emit(struct host *h, struct record *r, const struct row *row, uint64_t value)
{
    if (value == RLIM_INFINITY)
        emit_text(h, r, row->key, "unlimited");
    else if (value <= INT64_MAX)
        emit_int(h, r, row->key, (int64_t)value / row->divide);
}

static void limit_emit_line(struct host *h, struct record *r, struct str line)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);
        if (!str_starts(line, rows[i].name) || line.n <= n || line.p[n] != ' ')
            continue;
        struct str rest = str_sub(line, n, line.n), soft = str_word(&rest);
        uint64_t value;
        if (str_is(soft, "unlimited"))
            limit_emit(h, r, &rows[i], RLIM_INFINITY);
        else if (str_uint(soft, &value))
            limit_emit(h, r, &rows[i], value);
    }
}

static int limits_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct look_text file;
    if (h->soft_limits) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            limit_emit(h, r, &rows[i], h->soft_limits[rows[i].resource]);
        return 0;
    }
    if (!look_read(h, &file, "proc/self/limits")) {
        emit_unreadable(h, r, "limits.memlock_KiB", "proc/self/limits");
        return 0;
    }
    for (struct str text = {file.p, file.n}; text.p;)
        limit_emit_line(h, r, str_cut(&text, '\n'));
    return 0;
}

const struct probe probe_limits = {
    .name = "limits",
    .summary = "resource limits of the process",
    .before = limits_before,
};
