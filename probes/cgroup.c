/* cgroup.c: limits that control groups set, version 1 or 2. Each level can limit: up to the root the smallest counts. */
#include "probes/cgroup.h"

#include "probes/parse.h"
#include "probes/state.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Sets where the group `path` shows below a mount of the hierarchy. A group outside of this
 * process's cgroup namespace ("/../other") or of the mount's root is not visible there: what the
 * mount shows is then another one's, and ret->hidden is set. Source: cgroup_namespaces(7). */
static void cgroup_place_group(const struct mount_line *m, struct str path, struct cgroup *ret)
{
    char point[512], root[512];
    if (!parse_mount_path(m->point, point, sizeof point) || !parse_mount_path(m->root, root, sizeof root) || point[0] != '/')
        return;
    size_t skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool inside = skip == 0 || (str_starts(path, root) && (path.n == skip || path.p[skip] == '/'));
    struct str below = inside ? str_sub(path, skip, path.n) : (struct str){"", 0};
    bool covers = ret->found && strlen(point + 1) == ret->top && memcmp(point + 1, ret->dir, ret->top) == 0;
    ret->hidden = !inside || str_has(below, "/..") || memchr(below.p, 0, below.n);
    if (covers || !ret->found)
        ret->found = !ret->hidden;
    if (ret->hidden)
        return;
    if (str_is(below, "/"))
        below.n = 0;
    ret->is_part = skip > 0;
    int n = snprintf(ret->dir, sizeof ret->dir, "%s" STR_FMT, point + 1, STR_ARG(below));
    ret->top = strlen(point + 1);
    ret->found = n > 0 && (size_t)n < sizeof ret->dir;
}

static bool cgroup_option_has(struct str options, const char *name)
{
    while (options.p)
        if (str_is(str_cut(&options, ','), name))
            return true;
    return false;
}

/* Finds the line of the hierarchy in /proc/self/cgroup; controller "" means version 2. */
static bool cgroup_find_path(struct str cgroups, const char *controller, struct str *ret)
{
    bool in = false;
    while (cgroups.p) {
        struct str line = str_cut(&cgroups, '\n'), id = str_cut(&line, ':');
        if (!line.p || id.n == 0)
            continue;
        struct str names = str_cut(&line, ':');
        if (*controller ? cgroup_option_has(names, controller) : names.n == 0 && str_is(id, "0")) {
            *ret = line;
            in = true;
        }
    }
    return in;
}

/* Returns whether the group can limit: "/" is the root, which limits nothing; in a namespace of its
 * own it is any group. A captured machine shows no namespace. */
static bool cgroup_is_limiting_path(const struct host *h, struct str path)
{
    static const char initial[] = "cgroup:[4026531835]"; /* PROC_CGROUP_INIT_INO of Linux */
    char link[64];
    ssize_t n = readlinkat(h->root, "proc/self/ns/cgroup", link, sizeof link);
    return !str_is(path, "/") || (n > 0 && !str_is((struct str){link, (size_t)n}, initial));
}

/* Returns whether what is visible at the group's folder is no group: a later mount of another kind covers the hierarchy. */
static bool cgroup_is_covered(const struct host *h, const struct cgroup *g)
{
    struct statfs s;
    if (!h->real)
        return false;
    int fd CLEANUP_FD = openat(h->root, g->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fstatfs(fd, &s) != 0 || s.f_type != (g->version == 1 ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC);
}

/* Finds the group of this process in the hierarchy of the controller; "": that of version 2,
 * whatever it controls. The later of several mounts hides the others. */
static void cgroup_find_group(const struct host *h, struct str cgroups, struct str mounts, const char *controller, struct cgroup *ret)
{
    struct str path = {"", 0};
    ret->found = ret->hidden = ret->covered = ret->is_part = ret->unmounted = false;
    ret->version = *controller && cgroup_find_path(cgroups, controller, &path) ? 1 : 2;
    if (ret->version == 2 && !cgroup_find_path(cgroups, "", &path))
        return;
    while (mounts.p) {
        struct mount_line m;
        if (!parse_mount_line(str_cut(&mounts, '\n'), &m))
            continue;
        if (ret->version == 1 ? str_is(m.type, "cgroup") && cgroup_option_has(m.super_options, controller) : str_is(m.type, "cgroup2"))
            cgroup_place_group(&m, path, ret);
    }
    ret->unmounted = !ret->found && !ret->hidden && cgroup_is_limiting_path(h, path);
    ret->covered = ret->found && cgroup_is_covered(h, ret);
    ret->found &= !ret->covered;
}

static int cgroup_read_files(const struct host *h, struct buf *cgroups, struct buf *own, struct str *ret_mounts)
{
    if (look_read_file(h, "proc/self/cgroup", 65536, cgroups) != 0)
        return -1;
    *ret_mounts = look_read_mounts(h, own);
    return ret_mounts->p ? 0 : -1;
}

bool cgroup_of_controller(const struct host *h, const char *controller, struct cgroup *ret)
{
    struct buf cgroups CLEANUP_BUF, mounts CLEANUP_BUF;
    buf_init(&cgroups, 1 << 17);
    struct str lines;
    buf_init(&mounts, LOOK_MOUNTS_MAX + (1 << 17));
    *ret = (struct cgroup){.found = false};
    if (cgroup_read_files(h, &cgroups, &mounts, &lines) == 0)
        cgroup_find_group(h, buf_text(&cgroups), lines, controller, ret);
    return ret->found;
}

bool cgroup_is_root(const struct host *h, const struct cgroup *g)
{
    char path[1100];
    if (g->dir[g->top] != 0)
        return false;
    /* A namespace shows its group as the root, too: only the true one has release_agent, or lacks cgroup.events. */
    snprintf(path, sizeof path, "%s/%s", g->dir, g->version == 1 ? "release_agent" : "cgroup.events");
    return look_exists(h, path) == (g->version == 1);
}

/* Returns whether groups above the topmost visible one may limit as well, as in a container. */
static bool cgroup_hides_parents(const struct host *h, const struct cgroup *g)
{
    struct cgroup top = *g;
    char path[1100];
    top.dir[top.top] = 0;
    snprintf(path, sizeof path, "%s/cgroup.procs", top.dir);
    return g->is_part || (look_exists(h, path) && !cgroup_is_root(h, &top));
}

static bool cgroup_climb_once(const struct cgroup *g, char dir[1024])
{
    char *slash = strrchr(dir, '/');
    if (!slash || (size_t)(slash - dir) < g->top)
        return false;
    *slash = 0;
    return true;
}

typedef bool reader(const struct host *h, const char *dir, double *ret);

/* Returns whether this group of version 1 exempts those below it from its limit. Source:
 * admin-guide/cgroup-v1/memory.rst of Linux. */
static bool cgroup_is_exempted_by(const struct host *h, const char *dir)
{
    int64_t hierarchical;
    return look_read_int(h, &hierarchical, "%s/memory.use_hierarchy", dir) && hierarchical == 0;
}

/* Returns whether a limit may exist whose file could not be read, by the errno of its reader: 0 where the file's text is unknown. */
static bool cgroup_is_unread(int why)
{
    static const int absent[] = {0, ENOENT, ENOTDIR, ENODEV, EOPNOTSUPP, EINVAL, ERANGE};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (why == absent[i])
            return false;
    return true;
}

/* Returns the smallest of a limit on the way up, and in `best` the folder of its group. HUGE_VAL: there is none, `best` is the
 * group's own. NAN with errno: one of them cannot be read. Sets *any where a level has the limit's file. */
static double cgroup_smallest_limit(const struct host *h, const struct cgroup *g, reader *read, bool *any, char best[1024])
{
    double least = HUGE_VAL, value;
    char dir[1024];
    memcpy(dir, g->dir, sizeof dir);
    memcpy(best, dir, sizeof dir);
    do {
        errno = 0;
        bool done = read(h, dir, &value);
        if (!done && cgroup_is_unread(errno))
            return NAN;
        *any |= done;
        if (done && value < least) {
            least = value;
            memcpy(best, dir, sizeof dir);
        }
    } while (cgroup_climb_once(g, dir) && !(g->version == 1 && cgroup_is_exempted_by(h, dir)));
    return least;
}

/* Reads a limit in its own unit; HUGE_VAL where the file states that there is none. Returns false
 * where it cannot be read or is no number. */
static bool cgroup_read_limit(const struct host *h, const char *dir, const char *file, double *ret)
{
    struct look_text text;
    if (!look_read(h, &text, "%s/%s", dir, file))
        return false;
    uint64_t n;
    if (str_is((struct str){text.p, text.n}, "max"))
        *ret = HUGE_VAL;
    else if (str_uint((struct str){text.p, text.n}, &n))
        *ret = n >= (uint64_t)1 << 62 ? HUGE_VAL : (double)n; /* "none" in version 1 is 2^63 less a page */
    else
        return false;
    return true;
}

/* Reads the limit of processors of version 2; HUGE_VAL where there is none. Returns false where
 * cpu.max cannot be read or parsed. */
static bool cgroup_read_cpu_2(const struct host *h, const char *dir, double *ret)
{
    struct look_text text;
    double quota, period;
    if (!look_read(h, &text, "%s/cpu.max", dir))
        return false;
    struct str rest = {text.p, text.n}, first = str_word(&rest);
    if (!str_double(str_word(&rest), &period) || period <= 0)
        return false;
    if (str_is(first, "max"))
        *ret = HUGE_VAL;
    else if (str_double(first, &quota))
        *ret = quota / period;
    else
        return false;
    return true;
}

static bool cgroup_read_cpu_1(const struct host *h, const char *dir, double *ret)
{
    int64_t quota, period;
    if (!look_read_int(h, &quota, "%s/cpu.cfs_quota_us", dir) || !look_read_int(h, &period, "%s/cpu.cfs_period_us", dir) || period <= 0)
        return false;
    *ret = quota < 0 ? HUGE_VAL : (double)quota / (double)period;
    return true;
}

static const char cgroup_hidden_parents[] = "no visible control group has a limit, and those above the container's are not visible";

/* Returns why the group, or whether there is one, is not known; NULL: it was found, or there is none. */
static const char *cgroup_hidden_reason(const struct cgroup *g)
{
    return g->covered     ? "another file system covers the control group of this process"
           : g->found     ? NULL
           : g->hidden    ? "the control group of this process is outside of what is mounted"
           : g->unmounted ? "the control group of this process is in a hierarchy that is not mounted"
                          : NULL;
}

const char *cgroup_climb_to_limit(const struct host *h, struct cgroup *g)
{
    bool any = false;
    char best[1024];
    const char *why = cgroup_hidden_reason(g);
    if (why || !g->found)
        return why;
    double least = cgroup_smallest_limit(h, g, g->version == 1 ? cgroup_read_cpu_1 : cgroup_read_cpu_2, &any, best);
    if (isnan(least))
        return "a control group's limit of processors is not readable";
    memcpy(g->dir, best, sizeof best);
    return isinf(least) && cgroup_hides_parents(h, g) ? cgroup_hidden_parents : NULL;
}

bool cgroup_climb_to_memory(const struct host *h, struct cgroup *g)
{
    char path[1100];
    do {
        snprintf(path, sizeof path, "%s/memory.current", g->dir);
        bool has_current = look_exists(h, path);
        snprintf(path, sizeof path, "%s/memory.events", g->dir);
        if (has_current || look_exists(h, path))
            return true;
    } while (cgroup_climb_once(g, g->dir));
    return false;
}

/* Returns the path in the hierarchy that has the controller; version 2 has those that version 1
 * does not name. */
static struct str cgroup_controller_path(struct str cgroups, const char *controller)
{
    struct str path = {"", 0};
    if (!cgroup_find_path(cgroups, controller, &path))
        cgroup_find_path(cgroups, "", &path);
    return path;
}

/* Returns whether the process is ending, by its stat as in proc(5): an older kernel moves processes
 * that end to the root, before they are zombies. */
static bool cgroup_has_left(struct str stat)
{
    enum { FLAGS = 6, EXITING = 4 }; /* words between state and flags; PF_EXITING */
    const char *end = memrchr(stat.p, ')', stat.n);
    struct str rest = end ? str_sub(stat, (size_t)(end + 1 - stat.p), stat.n) : (struct str){"", 0}, state = str_word(&rest);
    uint64_t flags;
    for (int i = 1; i < FLAGS; i++)
        str_word(&rest);
    return state.n != 1 || strchr("ZX", *state.p) || !str_uint(str_word(&rest), &flags) || flags & EXITING;
}

bool cgroup_is_other(const struct host *h, pid_t pid, bool *ret_known)
{
    static const char *const controllers[] = {"cpu", "cpuacct", "memory", "cpuset", "pids"};
    struct buf own CLEANUP_BUF, its CLEANUP_BUF;
    struct look_text text;
    char path[64];
    bool other = false;
    buf_init(&own, 1 << 17);
    buf_init(&its, 1 << 17);
    snprintf(path, sizeof path, "proc/%d/cgroup", pid);
    *ret_known = look_read_file(h, path, 65536, &its) == 0 && its.n > 0 && look_read_file(h, "proc/self/cgroup", 65536, &own) == 0;
    if (!*ret_known || str_eq(buf_text(&own), buf_text(&its)))
        return false;
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        other |= !str_eq(cgroup_controller_path(buf_text(&own), controllers[i]), cgroup_controller_path(buf_text(&its), controllers[i]));
    *ret_known = look_read(h, &text, "proc/%d/stat", pid) && !cgroup_has_left((struct str){text.p, text.n});
    return *ret_known && other;
}

/* Above memory.high the kernel stalls the group's processes until they have returned memory: the smaller of both limits. */
static bool cgroup_read_memory_2(const struct host *h, const char *dir, double *ret)
{
    double high = HUGE_VAL;
    if (!cgroup_read_limit(h, dir, "memory.max", ret))
        return false;
    if (!cgroup_read_limit(h, dir, "memory.high", &high) && cgroup_is_unread(errno))
        return false;
    *ret = fmin(*ret, high);
    return true;
}

static bool cgroup_read_memory_1(const struct host *h, const char *dir, double *ret)
{
    return cgroup_read_limit(h, dir, "memory.limit_in_bytes", ret);
}

static bool cgroup_read_memsw_1(const struct host *h, const char *dir, double *ret)
{
    return cgroup_read_limit(h, dir, "memory.memsw.limit_in_bytes", ret);
}

/* Returns whether version 1 limits the sum of memory and swap of this group or one above it. True where a file is refused. */
static bool cgroup_limits_swap_1(const struct host *h, const struct cgroup *g)
{
    bool any = false;
    char best[1024];
    return !isinf(cgroup_smallest_limit(h, g, cgroup_read_memsw_1, &any, best));
}

static bool cgroup_read_swap_2(const struct host *h, const char *dir, double *ret)
{
    return cgroup_read_limit(h, dir, "memory.swap.max", ret);
}

static bool cgroup_read_pids(const struct host *h, const char *dir, double *ret)
{
    return cgroup_read_limit(h, dir, "pids.max", ret);
}

/* Records the smallest of a limit. read_1, read_2: its reader in each version, NULL where the version has no such limit. */
static void cgroup_emit_limit(struct host *h, struct record *r, const char *key, const struct cgroup *g, reader *read_1, reader *read_2)
{
    bool any = false;
    char best[1024];
    reader *read = g->version == 1 ? read_1 : read_2;
    const char *why = cgroup_hidden_reason(g);
    if (why && (read || g->hidden)) {
        emit_missing(h, r, key, "%s", why);
        return;
    }
    double least = read && g->found ? cgroup_smallest_limit(h, g, read, &any, best) : HUGE_VAL;
    if (isnan(least)) {
        emit_missing(h, r, key, "not readable: the limit of a control group: %s", strerror(errno));
        return;
    }
    if (!any)
        return; /* the controller is not there */
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64);
    if (isinf(least) && cgroup_hides_parents(h, g))
        emit_missing(h, r, key, "%s", cgroup_hidden_parents);
    else if (isinf(least))
        emit_text(h, r, key, "none");
    else if (strstr(key, "_GiB"))
        emit_GiB(h, r, key, least);
    else {
        buf_double(&text, least);
        emit_buf(h, r, key, &text);
    }
}

bool cgroup_allowed_cpus(const struct host *h, const struct cgroup *g, struct look_text *ret)
{
    static const struct {
        int version;
        const char *file;
    } rows[] = {{2, "cpuset.cpus.effective"}, {1, "cpuset.effective_cpus"}, {1, "cpuset.cpus"}};
    for (size_t i = 0; g->found && i < sizeof rows / sizeof *rows; i++) {
        char dir[1024];
        if (rows[i].version != g->version)
            continue;
        memcpy(dir, g->dir, sizeof dir);
        do {
            if (look_read(h, ret, "%s/%s", dir, rows[i].file) && ret->n > 0)
                return true;
        } while (cgroup_climb_once(g, dir));
    }
    ret->n = 0;
    return false;
}

/* Kept from before the program began until its end, when it is known whether these were its groups. */
struct limits_kept {
    struct record facts;
    bool is_read;
};

extern const struct probe probe_cgroup;

/* Reads and records the version and the limits of this process's control groups, or why they are
 * missing. */
static void cgroup_emit_limits(struct host *h, struct record *r)
{
    struct buf cgroups CLEANUP_BUF, mounts CLEANUP_BUF;
    buf_init(&cgroups, 1 << 17);
    struct str m;
    buf_init(&mounts, LOOK_MOUNTS_MAX + (1 << 17));
    if (cgroup_read_files(h, &cgroups, &mounts, &m) != 0) {
        emit_missing(h, r, "cgroup.version", "not readable: /proc/self/cgroup or mountinfo: %s", strerror(errno));
        return;
    }
    struct str c = buf_text(&cgroups);
    struct cgroup cpu, memory, cpuset, pid, two;
    struct look_text cpus;
    cgroup_find_group(h, c, m, "cpu", &cpu);
    cgroup_find_group(h, c, m, "memory", &memory);
    cgroup_find_group(h, c, m, "cpuset", &cpuset);
    cgroup_find_group(h, c, m, "pids", &pid);
    cgroup_find_group(h, c, m, "", &two);
    const struct cgroup *const limiting[] = {&cpu, &memory, &cpuset};
    bool one = false;
    for (size_t i = 0; i < sizeof limiting / sizeof *limiting; i++)
        one |= (limiting[i]->found || limiting[i]->hidden || limiting[i]->covered) && limiting[i]->version == 1;
    bool is_two = two.found || two.hidden || two.covered;
    if (!one && !is_two && (cpu.unmounted || memory.unmounted || cpuset.unmounted))
        emit_missing(h, r, "cgroup.version", "the control group of this process is in a hierarchy that is not mounted");
    else
        emit_text(h, r, "cgroup.version", one && is_two ? "1+2" : one ? "1" : is_two ? "2" : "none");
    cgroup_emit_limit(h, r, "cgroup.cpu_limit", &cpu, cgroup_read_cpu_1, cgroup_read_cpu_2);
    cgroup_emit_limit(h, r, "cgroup.memory_limit_GiB", &memory, cgroup_read_memory_1, cgroup_read_memory_2);
    cgroup_emit_limit(h, r, "cgroup.swap_limit_GiB", &memory, NULL, cgroup_read_swap_2);
    if (memory.found && memory.version == 1 && cgroup_limits_swap_1(h, &memory))
        emit_missing(h, r, "cgroup.swap_limit_GiB",
                     "control groups of version 1 limit memory and swap together (memory.memsw.limit_in_bytes)");
    cgroup_emit_limit(h, r, "cgroup.pids_limit", &pid, cgroup_read_pids, cgroup_read_pids);
    if (cgroup_allowed_cpus(h, &cpuset, &cpus))
        emit_param(h, r, "cgroup.cpus", (struct str){cpus.p, cpus.n});
    else if (cgroup_hidden_reason(&cpuset))
        emit_missing(h, r, "cgroup.cpus", "%s", cgroup_hidden_reason(&cpuset));
}

/* Stores the limits in the probe's data, for cgroup_after to record. Records them at once on a
 * captured machine, and where no program runs. */
static int cgroup_before(struct host *h, struct record *r, struct err *err)
{
    struct limits_kept *k = h->real && h->argv ? probe_data(h, &probe_cgroup) : NULL;
    (void)err;
    if (!k) {
        cgroup_emit_limits(h, r);
        return 0;
    }
    record_init(&k->facts, r->id, r->start_ms);
    k->facts.source = r->source;
    k->is_read = true;
    cgroup_emit_limits(h, &k->facts);
    return 0;
}

/* Records one limit at the end, as missing where it changed. why: the program's own is another; changed: a sample read another
 * limit of processors; now: what is read after the program. */
static void cgroup_emit_kept(struct record *r, const struct fact *f, const char *why, bool changed, const struct record *now)
{
    char key[64];
    snprintf(key, sizeof key, STR_FMT, STR_ARG(f->key));
    const struct fact *later = f->kind == FACT_PARAM ? record_find(now, FACT_PARAM, key) : NULL;
    if (why && f->kind == FACT_PARAM && !str_is(f->key, "cgroup.version"))
        record_missing(r, key, "%s", why);
    else if (later && !str_eq(later->text, f->text))
        record_missing(r, key, "it changed while the program ran: " STR_FMT " before, " STR_FMT " after", STR_ARG(f->text),
                       STR_ARG(later->text));
    else if (str_is(f->key, "cgroup.cpu_limit") && changed)
        record_missing(r, key, "it changed while the program ran, and again to its first value");
    else
        record_fact(r, f);
}

/* Records the limits of `before`; as missing where they changed, or where the program's own are
 * others. */
static int cgroup_after(struct host *h, struct record *r, struct err *err)
{
    struct limits_kept *k = h->real && h->argv ? probe_data(h, &probe_cgroup) : NULL;
    const char *why = cgroup_use_foreign_reason(h, r);
    struct record now;
    (void)err;
    if (!k || !k->is_read)
        return 0;
    record_init(&now, r->id, r->start_ms);
    cgroup_emit_limits(h, &now);
    for (const struct fact *f = k->facts.first; f; f = f->next)
        cgroup_emit_kept(r, f, why, cgroup_use_limit_changed(h), &now);
    record_deinit(&now);
    return 0;
}

static void cgroup_drop(void *kept)
{
    struct limits_kept *k = kept;
    if (k->is_read)
        record_deinit(&k->facts);
}

const struct probe probe_cgroup = {
    .name = "cgroup",
    .summary = "limits set by control groups",
    .before = cgroup_before,
    .after = cgroup_after,
    .keeps = sizeof(struct limits_kept),
    .drop = cgroup_drop,
};
