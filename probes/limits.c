/* limits.c: resource limits of the process that can make a benchmark slow or let it fail. */
#include "probes/look.h"

#include <errno.h>
#include <stdio.h>

/* Rows of /proc/self/limits; the soft limit counts. divide: bytes -> the unit in the key. */
static const struct {
    const char *name, *key;
    int64_t divide;
} rows[] = {
    {"Max locked memory", "limits.memlock_KiB", 1024}, {"Max stack size", "limits.stack_KiB", 1024},
    {"Max open files", "limits.open_files", 1},        {"Max processes", "limits.processes", 1},
    {"Max core file size", "limits.core_KiB", 1024},   {"Max address space", "limits.address_space_KiB", 1024},
    {"Max data size", "limits.data_KiB", 1024},        {"Max cpu time", "limits.cpu_s", 1},
    {"Max file size", "limits.file_KiB", 1024},        {"Max realtime priority", "limits.realtime_priority", 1},
};

static int limits_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct look_text file;
    if (!look_read(h, &file, "proc/self/limits")) {
        emit_unreadable(h, r, "limits.memlock_KiB", "proc/self/limits");
        return 0;
    }
    for (struct str text = {file.p, file.n}; text.p;) {
        struct str line = str_cut(&text, '\n');
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            size_t n = strlen(rows[i].name);
            if (!str_starts(line, rows[i].name) || line.n <= n || line.p[n] != ' ')
                continue;
            struct str rest = str_sub(line, n, line.n), soft = str_word(&rest);
            int64_t value;
            if (str_is(soft, "unlimited"))
                emit_text(h, r, rows[i].key, "unlimited");
            else if (str_int(soft, &value))
                emit_int(h, r, rows[i].key, value / rows[i].divide);
        }
    }
    return 0;
}

const struct probe probe_limits = {
    .name = "limits",
    .summary = "resource limits of the process",
    .before = limits_before,
};
