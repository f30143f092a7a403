/* view.c: detects that a container or a sandbox hides a part of the hardware from this process. */
#include "probes/view.h"

#include "probes/parse.h"
#include "probes/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/stat.h>
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
    {"sys/kernel/mm", false},
    {"sys/module", false},
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

/* Returns whether the mode of the file opens it to all, so that a sandbox or a security module has
 * refused it. Others may be root's alone. */
static bool view_is_refused(const struct host *h, const char *path)
{
    struct stat st;
    return fstatat(h->root, path, &st, 0) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IROTH;
}

void view_note_failure(const struct host *h, const char *path, int why)
{
    bool input = false;
    for (size_t i = 0; i < INPUTS; i++)
        input |= view_is_of_kernel(inputs[i].path) ? view_paths_overlap(path, inputs[i].path) : strcmp(path, inputs[i].path) == 0;
    if (input && !h->state->failure[0] && ((why != EACCES && why != EPERM) || view_is_refused(h, path)))
        snprintf(h->state->failure, sizeof h->state->failure, "not readable: /%.100s: %s", path, strerror(why));
}

struct view_search {
    const struct host *h;
    const char *folder;
    char *reason;
};

static void view_try_file(void *context, const char *name)
{
    struct view_search *s = context;
    char path[400];
    snprintf(path, sizeof path, "%s/%.255s", s->folder, name);
    int fd = openat(s->h->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT && errno != ENOTDIR && !*s->reason && view_is_refused(s->h, path))
        snprintf(s->reason, 256, "not readable: /%.150s: %s", path, strerror(errno));
}

bool view_has_refused_files(const struct host *h, char reason[256])
{
    static const char *const folders[] = {"sys/devices/system/cpu/cpu0/topology",     "sys/devices/system/cpu/cpu0/cache/index0",
                                          "sys/devices/system/cpu/cpu0/cache/index1", "sys/devices/system/cpu/cpu0/cache/index2",
                                          "sys/devices/system/cpu/cpu0/cache/index3", "sys/devices/system/node/node0"};
    *reason = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct view_search s = {h, folders[i], reason};
        look_each_name(h, folders[i], view_try_file, &s);
    }
    return *reason;
}

/* Returns true with the reason where a file that describes the hardware cannot be opened, or is
 * absent though each machine has it. */
static bool view_find_unreadable(const struct host *h, char reason[256])
{
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
    static const char *const places[][2] = {{"dev", "nvidia"}, {"dev", "kfd"}, {"dev/dri", "render"}, {"sys/bus/pci/devices", ""}};
    static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                            "GPU_DEVICE_ORDINAL",   "ZE_AFFINITY_MASK",       "SLURM_JOB_GPUS",       "SLURM_STEP_GPUS"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct accelerators a = {mix, context, places[i][1]};
        look_each_name(h, places[i][0], view_mix_device, &a);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = look_env(h, variables[i]);
        mix(context, value ? str_of(value) : STR("\n"));
    }
    view_mix_memory(h, mix, context);
}
