/* others.c: who else is on the node: processes of other people, counted, not named. The probe
 * `noise` reads their use of processors. */
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
    LOOK_MS = 15, /* enough for ten thousand processes */
    PEOPLE_FROM = 1000, /* numbers below are the system's own (login.defs) */
    NOBODY = 65534,
    USERS_MAX = 1024
};

struct crowd {
    unsigned processes, users, all;
    bool cut, many; /* not all were read; more users than can be counted */
    uid_t seen[USERS_MAX];
};

/* Counts a process, and the users other than this one and the system's; above USERS_MAX it sets
 * `many`. */
static void others_count_process(struct crowd *c, uid_t owner, uid_t self)
{
    c->all++;
    if (owner == self || owner < PEOPLE_FROM || owner == NOBODY)
        return;
    c->processes++;
    for (unsigned i = 0; i < c->users; i++)
        if (c->seen[i] == owner)
            return;
    c->many |= c->users == USERS_MAX;
    if (c->users < USERS_MAX)
        c->seen[c->users++] = owner;
}

struct others_walk {
    const struct host *h;
    struct crowd *crowd;
    int64_t end_ns;
};

/* Counts a process by the owner of /proc/PID; nothing in it is opened, and one that has ended in
 * between is none. Returns 1 to stop at the limit of time. */
static int others_read_entry(void *context, const char *name, unsigned char type)
{
    struct others_walk *l = context;
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
        others_count_process(l->crowd, st.st_uid, geteuid());
    return 0;
}

/* Returns whether this process is in the first namespace of a kind, which the kernel has made at
 * its start. Source: PROC_PID_INIT_INO and PROC_USER_INIT_INO of include/linux/proc_ns.h, which no
 * namespace of later has. */
static bool others_is_first_namespace(const struct host *h, const char *kind, unsigned number)
{
    char path[64], text[64], first[64];
    snprintf(path, sizeof path, "proc/self/ns/%s", kind);
    int n = snprintf(first, sizeof first, "%s:[%u]", kind, number);
    ssize_t got = readlinkat(h->root, path, text, sizeof text);
    return got == n && memcmp(text, first, (size_t)n) == 0;
}

/* Why /proc does not show all processes of the node; NULL: it does. */
static const char *others_hidden_reason(const struct host *h)
{
    if (!look_has_own_proc(h) || !others_is_first_namespace(h, "pid", 4026531836u))
        return "in a container, where /proc does not show the node's processes";
    if (!look_exists(h, "proc/1"))
        return "/proc hides the processes of other users (hidepid)";
    return NULL;
}

static bool others_count_all(const struct host *h, struct crowd *c)
{
    struct others_walk l = {h, c, clock_mono_ns() + LOOK_MS * (int64_t)1000000};
    return fs_each_name(h->root, "proc", others_read_entry, &l) >= 0;
}

static int others_after(struct host *h, struct record *r, struct err *err)
{
    struct crowd c = {0};
    (void)err;
    const char *hidden = others_hidden_reason(h);
    if (hidden) {
        emit_missing(h, r, "noise.processes", "%s", hidden);
        emit_missing(h, r, "noise.other_users", "%s", hidden);
        return 0;
    }
    if (!others_count_all(h, &c)) {
        emit_unreadable(h, r, "noise.other_users", "proc");
        return 0;
    }
    if (c.cut) {
        emit_missing(h, r, "noise.other_users", "not all processes were seen in %d ms: %u, of which %u are other people's", LOOK_MS, c.all,
                     c.processes);
        return 0;
    }
    record_metric(r, "noise.processes", c.all, "", DIR_NONE, 0, 0);
    if (c.many)
        emit_missing(h, r, "noise.other_users", "more than %d users have processes", USERS_MAX);
    else if (!others_is_first_namespace(h, "user", 4026531837u))
        emit_missing(h, r, "noise.other_users", "in a user namespace, which does not show the owners of processes");
    else {
        record_metric(r, "noise.other_users", c.users, "", DIR_LOWER, 0, 0);
        record_metric(r, "noise.other_users_processes", c.processes, "", DIR_LOWER, 0, 0);
    }
    return 0;
}

static bool others_can_run(enum probe_phase phase, const struct host *h, const struct record *r)
{
    (void)phase;
    return h->real && !str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series");
}

const struct probe probe_others = {
    .name = "others",
    .summary = "how many processes other people have on the node (counted, not named)",
    .after = others_after,
    .wanted = others_can_run,
    .aside = true,
    .nested = true,
};
