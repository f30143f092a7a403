/* memory.c: how much memory, swap and huge pages the kernel has, and how much was free at the start. */
#include "probes/look.h"
#include "probes/tally.h"

#include <errno.h>
#include <stdio.h>
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

struct pages {
    struct host *h;
    struct record *r;
    const char *size; /* "hugepages-2048kB" */
    struct tally nodes;
};

static void see_node(void *context, const char *name)
{
    struct pages *p = context;
    int64_t n;
    if (strncmp(name, "node", 4) == 0 && look_int(p->h, &n, "sys/devices/system/node/%.20s/hugepages/%s/nr_hugepages", name, p->size))
        tally_add_number(&p->nodes, (double)n, 0);
}

/* Of each size that any are set aside of: how many on each NUMA node. */
static void see_size(void *context, const char *name)
{
    struct pages *p = context;
    int64_t n, size;
    char key[64];
    struct str text = str_of(name);
    if (!str_starts(text, "hugepages-") || !str_ends(text, "kB") || !str_int(str_sub(text, 10, text.n - 12), &size) ||
        !look_int(p->h, &n, "sys/kernel/mm/hugepages/%s/nr_hugepages", name) || n <= 0)
        return;
    p->size = name;
    p->nodes = (struct tally){.n = 0};
    look_names(p->h, "sys/devices/system/node", see_node, p);
    snprintf(key, sizeof key, "numa.hugepages_%lldk", (long long)size);
    tally_tell(&p->nodes, p->h, p->r, key);
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
    struct pages pages = {.h = h, .r = r};
    look_names(h, "sys/kernel/mm/hugepages", see_size, &pages);
    if (h->real) {
        long page = sysconf(_SC_PAGESIZE);
        if (page > 0)
            tell_int(h, r, "memory.page_B", page);
    }
    return 0;
}

const struct probe probe_memory = {
    .name = "memory",
    .summary = "memory, swap and huge pages of the machine and its NUMA nodes",
    .before = before,
};
