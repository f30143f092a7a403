/* others.c: who else is on the node: processes of other people, counted, not named. What they take of the processors is noise's. */
#include "base/clock.h"
#include "probes/look.h"
#include "probes/noise.h"

#include <dirent.h>
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

/* The owner of /proc/PID is the owner of the process; nothing in it is opened, and one that has gone meanwhile is none. */
static bool look_around(const struct host *h, struct crowd *c)
{
    int64_t end = clock_mono_ns() + LOOK_MS * (int64_t)1000000;
    int fd = openat(h->root, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        if (c->all % 64 == 63 && clock_mono_ns() > end) {
            c->cut = true;
            break;
        }
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            count(c, st.st_uid, geteuid());
    }
    closedir(dir);
    return true;
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
        tell_missing(h, r, "noise.other_users", "after %d ms and %u processes not all were seen (%u of other people till then)", LOOK_MS,
                     c.all, c.processes);
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
