/* hwmon.h: the kernel's power meters (hwmon) of the node and its sockets. */
#ifndef PROBES_HWMON_H
#define PROBES_HWMON_H
#include "probes/look.h"

enum { HWMON_METERS_MAX = 16 };
struct hwmon_meter {
    char key[24]; /* "node", "cpu0": as in system/power_cpu0_watts */
    char path[100]; /* of its power in microwatts */
};
/* Is there a power meter, of whatever scope? Reads names of drivers alone: a value of a meter can take seconds. */
bool hwmon_has_meters(const struct host *h);
/* Finds meters whose scope is known: ACPI's meters of the complete machine, and NVIDIA Grace's of a socket with its memory. A meter of a part of these,
 * or of parts that are not known, is left out. Returns how many. */
size_t hwmon_find_meters(const struct host *h, struct hwmon_meter ret[HWMON_METERS_MAX]);
/* Returns the power in watts; NaN: it cannot be read, or is not plausible. */
double hwmon_read_meter(const struct host *h, const struct hwmon_meter *m);
#endif
