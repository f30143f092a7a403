/* others.c: who else is on the node: processes of other people, counted, not named. What they take of the processors is noise's. */
#include "base/clock.h"
#include "base/fs.h"
#include "probes/look.h"
#include "probes/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOOK_MS = 15, /* ten thousand processes are seen in that time */
    PEOPLE_FROM = 1000, /* numbers below are the system's own (login.defs) */
    NOBODY = 65534,
    USERS_MAX = 64
};

struct crowd {
    unsigned processes, users, all;
    bool cut;
    uid_t seen[USERS_MAX];
};

static void count(struct crowd *c, uid_t owner, uid_t self)
{
    c->all++;
    if (owner == self || owner < PEOPLE_FROM || owner == NOBODY)
        return;
    c->processes++;
    for (unsigned i = 0; i < c->users; i++)
        if (c->seen[i] == owner)
            return;
    if (c->users < USERS_MAX)
        c->seen[c->users++] = owner;
}

struct looking {
    const struct host *h;
    struct crowd *crowd;
    int64_t end_ns;
};

/* The owner of /proc/PID is the owner of the process; nothing in it is opened, and one that has gone meanwhile is none. */
static int see_entry(void *context, const char *name, unsigned char type)
{
    struct looking *l = context;
    struct stat st;
    char path[64];
    (void)type;
    if (name[0] < '1' || name[0] > '9')
        return 0;
    if (l->crowd->all % 64 == 63 && clock_mono_ns() > l->end_ns) {
        l->crowd->cut = true;
        return 1;
    }
    snprintf(path, sizeof path, "proc/%.20s", name);
    if (fstatat(l->h->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        count(l->crowd, st.st_uid, geteuid());
    return 0;
}

static bool look_around(const struct host *h, struct crowd *c)
{
    struct looking l = {h, c, clock_mono_ns() + LOOK_MS * (int64_t)1000000};
    return fs_each_name(h->root, "proc", see_entry, &l) >= 0;
}

static int after(struct host *h, struct record *r, struct err *err)
{
    struct crowd c = {0};
    (void)err;
    if (!look_around(h, &c)) {
        tell_unreadable(h, r, "noise.other_users", "proc");
        return 0;
    }
    if (c.cut) {
        tell_missing(h, r, "noise.other_users", "not all processes were seen in %d ms: %u, of which %u are other people's", LOOK_MS, c.all,
                     c.processes);
        return 0;
    }
    record_metric(r, "noise.other_users", c.users, "", DIR_LOWER, 0, 0);
    record_metric(r, "noise.other_users_processes", c.processes, "", DIR_LOWER, 0, 0);
    record_metric(r, "noise.processes", c.all, "", DIR_NONE, 0, 0);
    return 0;
}

static bool wanted(enum probe_phase phase, const struct host *h, const struct record *r)
{
    (void)phase;
    return h->real && !str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series");
}

const struct probe probe_others = {
    .name = "others",
    .summary = "how many processes other people have on the node (counted, not named)",
    .after = after,
    .wanted = wanted,
    .aside = true,
    .nested = true,
};
