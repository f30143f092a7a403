/* cgroup.h: where our own control group shows. Private to the probes that read it. */
#ifndef PROBES_CGROUP_H
#define PROBES_CGROUP_H
#include "probes/look.h"

struct cgroup {
    char dir[1024]; /* of our own group, relative to the root */
    size_t top; /* length of the mount point's part: no walking above it */
    bool found;
};

/* The group that this process is in, of version 1 by the controller's name, of version 2 by "". False: there is none, or it cannot be seen. */
bool cgroup_own(const struct host *h, const char *controller, struct cgroup *ret);
#endif
