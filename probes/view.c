/* view.c: detects that a container or a sandbox hides a part of the hardware from this process. */
#include "probes/view.h"

#include "base/fs.h"
#include "probes/parse.h"
#include "probes/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* What hwloc and the probes of hardware and settings read. Paths are relative to the root; a mount on one, above or below it counts. */
static const struct input {
    const char *path;
    bool always; /* the kernel has it on every machine */
} inputs[] = {
    {"proc/cpuinfo", true},
    {"proc/meminfo", true},
    {"proc/cmdline", true},
    {"proc/sys/kernel", true},
    {"proc/sys/vm", true},
    {"sys/bus", true},
    {"sys/bus/pci/devices", false},
    {"sys/class", true},
    {"sys/class/dmi/id", false},
    {"sys/devices", true}, /* processors, nodes, clock sources; what the links of sys/bus and sys/class lead to */
    {"sys/devices/system/cpu", true},
    {"sys/devices/system/node", false},
    {"sys/devices/virtual/dmi", false},
    {"sys/hypervisor", false},
    {"sys/kernel/mm", true},
    {"sys/module", true},
    {"etc/os-release", false}, /* outside of proc and sys only a mount on the file itself counts */
    {"usr/lib/os-release", false},
};
/* What containers mask by default, and no hash depends on. */
static const char *const harmless[] = {"/sys/devices/virtual/powercap", "/thermal_throttle"};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* Returns whether one of the two is the other, or a folder above it. */
static bool view_paths_overlap(const char *path, const char *input)
{
    size_t n = strlen(path), m = strlen(input), shorter = n < m ? n : m;
    return memcmp(path, input, shorter) == 0 && (n == m || (n < m ? input[n] : path[m]) == '/');
}

/* Returns whether the mount is procfs or sysfs at its own place, which hides nothing: containers
 * bind parts of them read-only. */
static bool view_is_itself(const struct mount_line *m, const char *point, const char *root)
{
    const char *type = strncmp(point, "/proc", 5) == 0 ? "proc" : "sysfs", *below = point + (type[0] == 'p' ? 5 : 4);
    return str_is(m->type, type) && strcmp(root, *below ? below : "/") == 0;
}

static bool view_is_harmless(const char *point)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (str_ends(str_of(point), harmless[i]))
            return true;
    return false;
}

static bool view_is_of_kernel(const char *path) /* without its first slash */
{
    return strncmp(path, "proc", 4) == 0 || strncmp(path, "sys", 3) == 0;
}

static bool view_covers_input(const char *point, const char *input)
{
    return view_is_of_kernel(input) ? view_is_of_kernel(point) && view_paths_overlap(point, input) : strcmp(point, input) == 0;
}

/* Walks all mounts: the last one on a path is the visible one. Returns -1 where the list cannot be read, or is cut. */
static int view_find_covered(const struct host *h, char reason[256])
{
    bool covered[INPUTS] = {false};
    char by[INPUTS][100];
    struct buf text CLEANUP_BUF;
    buf_init(&text, LOOK_MOUNTS_MAX + (1 << 17));
    struct str rest = look_read_mounts(h, &text);
    if (!rest.p || rest.n >= LOOK_MOUNTS_MAX)
        return -1;
    while (rest.p) {
        struct mount_line m;
        char point[512], root[512], type[32];
        if (!parse_mount_line(str_cut(&rest, '\n'), &m) || !parse_mount_path(m.point, point, sizeof point) ||
            !parse_mount_path(m.root, root, sizeof root) || view_is_harmless(point))
            continue;
        snprintf(type, sizeof type, STR_FMT, STR_ARG(m.type));
        for (size_t i = 0; i < INPUTS; i++)
            if (view_covers_input(point + 1, inputs[i].path)) {
                covered[i] = !view_is_of_kernel(inputs[i].path) || !view_is_itself(&m, point, root);
                snprintf(by[i], sizeof by[i], "a mount of type %s on %.40s", type, point);
            }
    }
    for (size_t i = 0; i < INPUTS; i++)
        if (covered[i]) {
            snprintf(reason, 256, "%s hides /%s", by[i], inputs[i].path);
            return 1;
        }
    return 0;
}

/* Returns whether the link to the device tree leads nowhere: sys/firmware, which containers mask by
 * default. */
static bool view_lost_device_tree(const struct host *h)
{
    static const char path[] = "proc/device-tree";
    return faccessat(h->root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && faccessat(h->root, path, F_OK, 0) != 0;
}

/* Returns whether the mode of the file or folder opens it to all, so that a sandbox or a security
 * module has refused it: some refuse its status, too. Others may be root's alone. */
static bool view_is_refused(const struct host *h, const char *path)
{
    struct stat st;
    if (fstatat(h->root, path, &st, 0) != 0)
        return errno == EACCES || errno == EPERM;
    return (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && st.st_mode & S_IROTH;
}

void view_note_failure(const struct host *h, const char *path, int why)
{
    bool input = false;
    for (size_t i = 0; i < INPUTS; i++)
        input |= view_is_of_kernel(inputs[i].path) ? view_paths_overlap(path, inputs[i].path) : strcmp(path, inputs[i].path) == 0;
    if (input && !h->state->failure[0] && ((why != EACCES && why != EPERM) || view_is_refused(h, path)))
        snprintf(h->state->failure, sizeof h->state->failure, "not readable: /%.100s: %s", path, strerror(why));
}

/* What hwloc reads: of each entry of `folder` whose name begins with `prefix`, the files `below`, or the files of such a folder.
 * The kernel opens all of them to all users. hwloc skips in silence what it cannot open. */
static const char *const of_kinds[] = {"/cpus", NULL}; /* of cpu_core and cpu_atom */
static const char *const of_list[] = {"/online", "/possible", "/present", NULL};
static const char *const of_processor[] = {"/topology/core_cpus",
                                           "/topology/thread_siblings",
                                           "/topology/package_cpus",
                                           "/topology/core_siblings",
                                           "/topology/die_cpus",
                                           "/topology/cluster_cpus",
                                           "/topology/book_siblings",
                                           "/topology/drawer_siblings",
                                           "/topology/core_id",
                                           "/topology/die_id",
                                           "/topology/cluster_id",
                                           "/topology/physical_package_id",
                                           "/cache",
                                           "/cache/index0",
                                           "/cache/index1",
                                           "/cache/index2",
                                           "/cache/index3",
                                           "/cache/index4",
                                           "/cpu_capacity",
                                           "/cpufreq/cpuinfo_max_freq",
                                           "/cpufreq/base_frequency",
                                           NULL};
static const char *const of_node[] = {"/cpumap", "/meminfo", "/distance", NULL};
static const char *const of_firmware[] = {"/sys_vendor", "/product_name", "/board_name", NULL};
static const char *const of_pci[] = {"/class", "/vendor", "/device", NULL};
static const struct view_place {
    enum view_part part;
    const char *folder, *prefix, *const *below;
} places[] = {
    {VIEW_PROCESSORS, "sys/devices", "cpu_", of_kinds},
    {VIEW_PROCESSORS, "sys/devices/system", "cpu", of_list},
    {VIEW_PROCESSORS, "sys/devices/system/cpu", "cpu", of_processor},
    {VIEW_PROCESSORS, "sys/devices/system", "node", of_list},
    {VIEW_PROCESSORS, "sys/devices/system/node", "node", of_node},
    {VIEW_DEVICES, "sys/class/dmi", "id", of_firmware},
    {VIEW_DEVICES, "sys/bus/pci/devices", "", of_pci},
};

struct view_search {
    const struct host *h;
    const struct view_place *place;
    const char *folder; /* of view_try_file */
    char *reason;
};

/* Opens a file or folder. Notes the failure, in `reason` too, unless it is not there or only for writing. An administrator may
 * have closed it to users: what they see is a part, too. */
static int view_try_path(const struct view_search *s, const char *path)
{
    int fd = openat(s->h->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 || errno == ENOENT || errno == ENOTDIR)
        return fd;
    int why = errno;
    struct stat st;
    if (fstatat(s->h->root, path, &st, 0) == 0 && !(st.st_mode & (S_IRUSR | S_IRGRP | S_IROTH)))
        return -1;
    if (!*s->reason)
        snprintf(s->reason, 256, "not readable: /%.150s: %s", path, strerror(why));
    if (s->h->state) {
        s->h->state->unsure = true;
        if (!s->h->state->failure[0])
            snprintf(s->h->state->failure, sizeof s->h->state->failure, "not readable: /%.100s: %s", path, strerror(why));
    }
    return -1;
}

static void view_try_file(void *context, const char *name)
{
    const struct view_search *s = context;
    char path[600];
    snprintf(path, sizeof path, "%s/%.255s", s->folder, name);
    int fd = view_try_path(s, path);
    fs_close(&fd);
}

static void view_try_entry(void *context, const char *name)
{
    struct view_search *s = context;
    struct stat st;
    char path[400];
    for (const char *const *below = s->place->below; *below && strncmp(name, s->place->prefix, strlen(s->place->prefix)) == 0; below++) {
        snprintf(path, sizeof path, "%s/%.255s%s", s->place->folder, name, *below);
        int fd = view_try_path(s, path);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
            s->folder = path;
            look_each_name(s->h, path, view_try_file, s);
        }
        fs_close(&fd);
    }
}

bool view_has_refused_files(const struct host *h, enum view_part part, char reason[256])
{
    *reason = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct view_search s = {h, &places[i], NULL, reason};
        int fd = places[i].part == part ? view_try_path(&s, places[i].folder) : -1;
        if (fd >= 0)
            look_each_name(h, places[i].folder, view_try_entry, &s);
        fs_close(&fd);
    }
    return *reason;
}

/* Returns whether the folder of the root is of another kind of file system than the kernel's, as where a sandbox makes it and
 * binds some of the kernel's folders below it. False where this cannot be read. */
static bool view_is_replaced(const struct host *h, const char *folder, int64_t kind)
{
    struct statfs s;
    int fd CLEANUP_FD = h->real ? openat(h->root, folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    return fd >= 0 && fstatfs(fd, &s) == 0 && s.f_type != kind;
}

/* Returns true with the reason where a file that describes the hardware cannot be opened, or is
 * absent though each machine has it. */
static bool view_find_unreadable(const struct host *h, char reason[256])
{
    bool no_proc = view_is_replaced(h, "proc", PROC_SUPER_MAGIC);
    if (no_proc || view_is_replaced(h, "sys", SYSFS_MAGIC)) {
        snprintf(reason, 256, "/%s is not the kernel's file system", no_proc ? "proc" : "sys");
        return true;
    }
    if (view_lost_device_tree(h)) {
        snprintf(reason, 256, "/proc/device-tree leads to a folder that is hidden");
        return true;
    }
    for (size_t i = 0; i < INPUTS; i++) {
        int fd = openat(h->root, inputs[i].path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0) {
            close(fd);
            continue;
        }
        if ((errno == ENOENT || errno == ENOTDIR) && !(inputs[i].always && h->real))
            continue;
        snprintf(reason, 256, "not readable: /%s: %s", inputs[i].path, strerror(errno));
        return true;
    }
    return false;
}

/* setarch: uname, which hwloc calls too, names another architecture. */
static bool view_has_other_personality(const struct host *h)
{
    int kind = h->real ? personality(0xffffffff) : -1;
    return kind >= 0 && (kind & PER_MASK) == PER_LINUX32;
}

bool view_is_partial(const struct host *h, char reason[256])
{
    struct view_state *kept = h->state ? &h->state->view : NULL;
    char found[256] = "";
    if (!kept || !kept->known) {
        int covered = view_find_covered(h, found);
        if (covered < 0 && h->real)
            snprintf(found, sizeof found, "/proc/self/mountinfo is not readable, or longer than %d KiB", LOOK_MOUNTS_MAX >> 10);
        bool partial = covered > 0 || (covered < 0 && h->real) || view_find_unreadable(h, found);
        if (!partial && view_has_other_personality(h)) {
            partial = true;
            snprintf(found, sizeof found, "the architecture, by a 32-bit personality (setarch)");
        }
        if (kept) {
            *kept = (struct view_state){.known = true, .partial = partial};
            snprintf(kept->reason, sizeof kept->reason, "%s", found);
        }
        snprintf(reason, 256, "%s", found);
        return partial;
    }
    snprintf(reason, 256, "%s", kept->reason);
    return kept->partial;
}

struct accelerators {
    void (*mix)(void *context, struct str text);
    void *context;
    const char *prefix;
};

static void view_mix_device(void *context, const char *name)
{
    struct accelerators *a = context;
    if (strncmp(name, a->prefix, strlen(a->prefix)) == 0)
        a->mix(a->context, str_of(name));
}

/* Memory that is initialised late, plugged or ballooned changes its node's total. */
static void view_mix_memory(const struct host *h, void (*mix)(void *context, struct str text), void *context)
{
    struct look_text text;
    char size[32];
    int64_t KiB = 0;
    if (look_read(h, &text, "proc/meminfo")) { /* of all nodes */
        struct str value = look_value((struct str){text.p, text.n}, "MemTotal", ':');
        if (str_int(str_word(&value), &KiB)) {
            snprintf(size, sizeof size, "%lld", (long long)((KiB + (1 << 19)) >> 20));
            mix(context, str_of(size));
        }
    }
}

void view_mix(const struct host *h, void (*mix)(void *context, struct str text), void *context)
{
    static const char *const visible[][2] = {{"dev", "nvidia"}, {"dev", "kfd"}, {"dev/dri", "render"}, {"sys/bus/pci/devices", ""}};
    static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                            "GPU_DEVICE_ORDINAL",   "ZE_AFFINITY_MASK",       "SLURM_JOB_GPUS",       "SLURM_STEP_GPUS"};
    for (size_t i = 0; i < sizeof visible / sizeof *visible; i++) {
        struct accelerators a = {mix, context, visible[i][1]};
        look_each_name(h, visible[i][0], view_mix_device, &a);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = look_env(h, variables[i]);
        mix(context, value ? str_of(value) : STR("\n"));
    }
    view_mix_memory(h, mix, context);
}
