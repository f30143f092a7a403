/* hwmon.c: the kernel's power meters; see hwmon.h.
 *
 * ACPI's meters (driver power_meter, Documentation/hwmon/acpi_power_meter.rst) state what they measure by links in measures/, or by an OEM's text. */
#include "probes/hwmon.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char class_folder[] = "sys/class/hwmon";
static const double METER_MOST_uW = 1e12;

struct hwmon_search {
    const struct host *h;
    struct hwmon_meter *list;
    size_t count;
};

/* Notes whether all links to devices below measures/ are the machine: only \_SB, whose name is
 * LNXSYBUS:00, stands for it. */
static void hwmon_note_measured(void *context, const char *name)
{
    bool *is_machine = context;
    *is_machine = *is_machine && strncmp(name, "LNXSYBUS:", 9) == 0;
}

static bool hwmon_measures_machine(const struct host *h, const char *folder)
{
    char path[80];
    bool is_machine = true;
    snprintf(path, sizeof path, "%.60s/measures", folder);
    look_each_name(h, path, hwmon_note_measured, &is_machine);
    return is_machine;
}

/* Writes the key of a meter by the OEM's text: "Grace Power Socket 0" is the processor with its
 * memory; "Module", "CPU" and "SysIO Power" are more, or parts of it. False: it measures something
 * else, or a battery. */
static bool hwmon_name_meter(const struct host *h, const char *folder, char ret[24])
{
    static const char grace[] = "Grace Power Socket ";
    struct look_text oem;
    int64_t socket, battery;
    if (look_read_int(h, &battery, "%s/power1_is_battery", folder) && battery)
        return false;
    if (!look_read(h, &oem, "%s/power1_oem_info", folder) || !oem.n) {
        snprintf(ret, 24, "node");
        return hwmon_measures_machine(h, folder);
    }
    if (strncmp(oem.p, grace, sizeof grace - 1) != 0 || !str_int(str_of(oem.p + sizeof grace - 1), &socket) || socket < 0 || socket > 63)
        return false;
    snprintf(ret, 24, "cpu%d", (int)socket);
    return true;
}

/* Returns whether the device in /sys/class/hwmon is a power meter of ACPI. */
static bool hwmon_is_meter(const struct host *h, const char *name)
{
    struct look_text driver;
    return look_read(h, &driver, "%s/%.20s/name", class_folder, name) && strcmp(driver.p, "power_meter") == 0;
}

static void hwmon_count_meter(void *context, const char *name)
{
    struct hwmon_search *s = context;
    s->count += hwmon_is_meter(s->h, name);
}

bool hwmon_has_meters(const struct host *h)
{
    struct hwmon_search s = {.h = h};
    look_each_name(h, class_folder, hwmon_count_meter, &s);
    return s.count > 0;
}

/* Adds a power meter that can be read and has a name for a key. */
static void hwmon_add_meter(void *context, const char *name)
{
    struct hwmon_search *s = context;
    if (s->count == HWMON_METERS_MAX || !hwmon_is_meter(s->h, name))
        return;
    for (int i = 0; i < 2; i++) { /* older kernels have the files of a meter in its device's folder */
        struct hwmon_meter *m = &s->list[s->count];
        char folder[64];
        int64_t first;
        snprintf(folder, sizeof folder, "%s/%.20s%s", class_folder, name, i ? "/device" : "");
        snprintf(m->path, sizeof m->path, "%s/power1_average", folder);
        if (look_read_int(s->h, &first, "%s", m->path) && hwmon_name_meter(s->h, folder, m->key)) {
            s->count++;
            return;
        }
    }
}

size_t hwmon_find_meters(const struct host *h, struct hwmon_meter ret[HWMON_METERS_MAX])
{
    struct hwmon_search s = {.h = h, .list = ret};
    size_t kept = 0, nodes = 0;
    look_each_name(h, class_folder, hwmon_add_meter, &s);
    for (size_t i = 0; i < s.count; i++)
        nodes += strcmp(ret[i].key, "node") == 0;
    for (size_t i = 0; i < s.count; i++) { /* two meters without a name are two power supplies, or the same twice */
        bool is_other = nodes > 1 && strcmp(ret[i].key, "node") == 0;
        for (size_t k = 0; k < kept; k++)
            is_other = is_other || strcmp(ret[k].key, ret[i].key) == 0;
        if (!is_other)
            ret[kept++] = ret[i];
    }
    return kept;
}

double hwmon_read_meter(const struct host *h, const struct hwmon_meter *m)
{
    int64_t uW;
    return look_read_int(h, &uW, "%s", m->path) && uW >= 0 && (double)uW < METER_MOST_uW ? (double)uW / 1e6 : NAN;
}
