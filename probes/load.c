/* load.c: how busy the machine was when the program started, and when it had ended. */
#include "probes/look.h"

#include <errno.h>

static int load_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct look_text file;
    if (!look_read(h, &file, "proc/loadavg")) {
        emit_unreadable(h, r, "load.average_1m", "proc/loadavg");
        return 0;
    }
    static const char *const keys[] = {"load.average_1m", "load.average_5m", "load.average_15m"};
    struct str text = {file.p, file.n};
    for (size_t i = 0; i < 3; i++) {
        double value;
        if (str_double(str_word(&text), &value))
            record_metric(r, keys[i], value, "", DIR_NONE, 0, 0);
    }
    struct str tasks = str_word(&text), runnable = str_cut(&tasks, '/');
    int64_t n;
    if (str_int(runnable, &n) && n > 0) /* one of them is this probe */
        record_metric(r, "load.runnable", (double)(n - 1), "", DIR_NONE, 0, 0);
    return 0;
}

static int load_after(struct host *h, struct record *r, struct err *err)
{
    struct look_text file;
    double value;
    (void)err;
    if (!h->real || !look_read(h, &file, "proc/loadavg"))
        return 0; /* `before` has recorded that it cannot be read */
    struct str text = {file.p, file.n};
    if (str_double(str_word(&text), &value))
        record_metric(r, "load.average_1m_end", value, "", DIR_NONE, 0, 0);
    return 0;
}

const struct probe probe_load = {
    .name = "load",
    .summary = "load average and runnable threads at the start and at the end",
    .before = load_before,
    .after = load_after,
    .nested = true,
};
