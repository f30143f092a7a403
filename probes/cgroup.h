/* cgroup.h: finds the control group of this process, per controller. Private to probes/. */
#ifndef PROBES_CGROUP_H
#define PROBES_CGROUP_H
#include "probes/look.h"

struct cgroup {
    char dir[1024]; /* of this process's group, relative to the root */
    size_t top; /* bytes of the mount point's part: the topmost group */
    int version; /* of the hierarchy that has the controller: 1 or 2 */
    bool found; /* false: no such hierarchy, or the group is not visible in it */
    bool hidden; /* the last mount of the hierarchy shows other groups only */
    bool covered; /* a later mount of another kind shows something else at the group's folder */
    bool unmounted; /* this process is in a group of a hierarchy that is mounted nowhere: its limits are not visible */
    bool is_part; /* the mount shows a part of the hierarchy: the groups above it are not visible */
};

/* Finds the group of this process in the hierarchy that has `controller` ("cpu", "cpuacct", "memory", "cpuset", "pids").
 * A controller is in one hierarchy at a time: in version 1 if /proc/self/cgroup names it there, otherwise in version 2.
 * Returns ret->found; ret->version is set even where the group is not visible. Source: cgroups(7). */
bool cgroup_of_controller(const struct host *h, const char *controller, struct cgroup *ret);

/* Returns whether the group is the root of its hierarchy, whose counters describe the machine instead of a group. */
bool cgroup_is_root(const struct host *h, const struct cgroup *g);

/* Moves *g up to the group with the minimum processor limit, where one has a limit: its counters count how often that limit
 * withheld processors. Returns NULL, also for a group that is not found; or why that group is not known: it is not visible, or a
 * limit is not readable. */
const char *cgroup_climb_to_limit(const struct host *h, struct cgroup *g);

/* Moves *g of version 2 up to the nearest group that has the memory controller: it counts for those below it, which
 * lack the controller or are threaded. False: no visible group has it. Source: admin-guide/cgroup-v2.rst of Linux. */
bool cgroup_climb_to_memory(const struct host *h, struct cgroup *g);

/* Returns whether a running process is in other groups than this one, for a controller that limits or counts; *ret_known is false
 * where it has ended or shows no groups. */
bool cgroup_is_other(const struct host *h, pid_t pid, bool *ret_known);

/* Returns why the limits of this process did not apply to the program, as the probe cgroup_use has
 * found so far, and by the processor time in `r` after the program's end; NULL: they applied. */
const char *cgroup_use_foreign_reason(const struct host *h, const struct record *r);

/* Returns whether a sample of cgroup_use read another limit of processors than the one before the program. */
bool cgroup_use_limit_changed(const struct host *h);

/* Reads the processors that the cpuset group allows, as the kernel's list; the nearest ancestor's where the group has none of
 * its own. False, ret->n == 0: not visible. */
bool cgroup_allowed_cpus(const struct host *h, const struct cgroup *g, struct look_text *ret);
#endif
