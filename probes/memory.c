/* memory.c: how much memory, swap and huge pages the kernel has, and how much was free at the start. */
#include "probes/look.h"

#include <errno.h>
#include <unistd.h>

/* "MemTotal:  16318480 kB" -> bytes; counts (HugePages_Total) without unit as they are. */
static bool value_of(struct str text, const char *key, double *ret)
{
    struct str value = look_value(text, key, ':'), number = str_word(&value);
    int64_t n;
    if (!str_int(number, &n) || n < 0)
        return false;
    *ret = (double)n * (str_is(str_trim(value), "kB") ? 1024 : 1);
    return true;
}

static int before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct look file;
    if (!look(h, &file, "proc/meminfo")) {
        tell_unreadable(h, r, "memory.total_GiB", "proc/meminfo");
        return 0;
    }
    struct str text = {file.p, file.n};
    double value, size;
    if (value_of(text, "MemTotal", &value))
        tell_GiB(h, r, "memory.total_GiB", value);
    else
        tell_missing(h, r, "memory.total_GiB", "/proc/meminfo has no MemTotal");
    if (value_of(text, "SwapTotal", &value))
        tell_GiB(h, r, "memory.swap_GiB", value);
    if (value_of(text, "HugePages_Total", &value) && value > 0 && value_of(text, "Hugepagesize", &size))
        tell_GiB(h, r, "memory.hugepages_GiB", value * size);
    if (value_of(text, "MemAvailable", &value))
        record_metric(r, "memory.available_start_GiB", value / 1073741824.0, "GiB", DIR_NONE, 0, 0);
    if (h->real) {
        long page = sysconf(_SC_PAGESIZE);
        if (page > 0)
            tell_int(h, r, "memory.page_B", page);
    }
    return 0;
}

const struct probe probe_memory = {
    .name = "memory",
    .summary = "memory, swap and huge pages of the machine",
    .before = before,
};
