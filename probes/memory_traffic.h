/* memory_traffic.h: finds the counters of the memory controllers that the kernel describes in sysfs. */
#ifndef PROBES_MEMORY_TRAFFIC_H
#define PROBES_MEMORY_TRAFFIC_H
#include "probes/probe.h"

enum { TRAFFIC_MAX = 512 /* 8 packages, 16 channels, 2 ways, twice */ };

/* A counter to be opened: perf_event_open(2) with this type and configuration, of all processes, on this processor (one of each package). */
struct traffic_event {
    uint32_t type;
    uint64_t config[3]; /* config, config1, config2 */
    int cpu;
    bool write; /* to memory; else from it */
    double bytes; /* in one count */
};

/* Finds the counters of data that the memory controllers moved: "cas_count_read" and
 * "cas_count_write" (Intel servers), "data_read", "data_reads" … (free running ones, clients), each
 * with the kernel's scale and unit, and AMD's amd_umc (from Zen 4: 64 bytes a command). Returns how
 * many, at most max. */
size_t traffic_find_events(const struct host *h, struct traffic_event *ret, size_t max);
#endif
