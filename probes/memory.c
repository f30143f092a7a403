/* memory.c: how much memory, swap and huge pages the kernel has, and how much was free at the start. */
#include "probes/look.h"
#include "probes/tally.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Reads a value of meminfo: "MemTotal:  16318480 kB" in bytes; counts without unit
 * (HugePages_Total) as they are. */
static bool memory_read_value(struct str text, const char *key, double *ret)
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

static void memory_read_node(void *context, const char *name)
{
    struct pages *p = context;
    int64_t n;
    if (strncmp(name, "node", 4) == 0 && look_read_int(p->h, &n, "sys/devices/system/node/%.20s/hugepages/%s/nr_hugepages", name, p->size))
        tally_add_number(&p->nodes, (double)n, 0);
}

/* Counts the reserved pages of a size on each NUMA node. */
static void memory_read_page_size(void *context, const char *name)
{
    struct pages *p = context;
    int64_t n, size;
    char key[64];
    struct str text = str_of(name);
    if (!str_starts(text, "hugepages-") || !str_ends(text, "kB") || !str_int(str_sub(text, 10, text.n - 12), &size) ||
        !look_read_int(p->h, &n, "sys/kernel/mm/hugepages/%s/nr_hugepages", name) || n <= 0)
        return;
    p->size = name;
    p->nodes = (struct tally){.n = 0};
    look_each_name(p->h, "sys/devices/system/node", memory_read_node, p);
    snprintf(key, sizeof key, "numa.hugepages_%lldk", (long long)size);
    tally_emit(&p->nodes, p->h, p->r, key);
}

static int memory_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct look_text file;
    if (!look_read(h, &file, "proc/meminfo")) {
        emit_unreadable(h, r, "memory.total_GiB", "proc/meminfo");
        return 0;
    }
    struct str text = {file.p, file.n};
    double value, size;
    if (memory_read_value(text, "MemTotal", &value))
        emit_GiB(h, r, "memory.total_GiB", value);
    else
        emit_missing(h, r, "memory.total_GiB", "/proc/meminfo has no MemTotal");
    if (memory_read_value(text, "SwapTotal", &value))
        emit_GiB(h, r, "memory.swap_GiB", value);
    if (memory_read_value(text, "HugePages_Total", &value) && value > 0 && memory_read_value(text, "Hugepagesize", &size))
        emit_GiB(h, r, "memory.hugepages_GiB", value * size);
    if (memory_read_value(text, "MemAvailable", &value))
        record_metric(r, "memory.available_start_GiB", value / 1073741824.0, "GiB", DIR_NONE, 0, 0);
    struct pages pages = {.h = h, .r = r};
    look_each_name(h, "sys/kernel/mm/hugepages", memory_read_page_size, &pages);
    if (h->real) {
        long page = sysconf(_SC_PAGESIZE);
        if (page > 0)
            emit_int(h, r, "memory.page_B", page);
    }
    return 0;
}

const struct probe probe_memory = {
    .name = "memory",
    .summary = "memory, swap and huge pages of the machine and its NUMA nodes",
    .before = memory_before,
};
