/* topology.c: what hwloc detects: NUMA nodes, caches; the machine, what is allowed and what
 * benchwrap is bound to, separately; the hash of
 * the hardware (node.type); the topology as artifact without identities.
 *
 * No plugins: they try X displays and wake GPUs. The x86 backend is off: it would bind this thread to each processor in turn. */

#include "base/fs.h"
#include "base/sha256.h"
#include "probes/look.h"
#include "probes/state.h"
#include "probes/topology_xml.h"
#include "probes/view.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { XML_MAX = 4 << 20, LIST_MAX = 4096 };

/* hwloc reads HWLOC_* variables. The user's are meant for the program and must not change what is
 * recorded, so while hwloc works the environment is benchwrap's own. Nothing else runs in this
 * process. */
static char plugins[] = "HWLOC_PLUGINS_PATH=", quiet[] = "HWLOC_HIDE_ERRORS=2", simple_xml[] = "HWLOC_LIBXML=0",
            not_this[] = "HWLOC_THISSYSTEM=0";

/* Loads the topology of the host, or from `xml`, while `environ` has only hwloc's settings of
 * benchwrap. Returns 0 with *ret, which the caller destroys, or another value with *err. */
static int topology_load(hwloc_topology_t *ret, const struct host *h, struct str xml, struct err *err)
{
    char fsroot[4200] = "HWLOC_FSROOT=";
    char *own[] = {plugins, quiet, simple_xml, NULL, NULL, NULL}, **saved = environ;
    bool elsewhere = !xml.p && !h->real;
    if (elsewhere) {
        snprintf(fsroot, sizeof fsroot, "HWLOC_FSROOT=%s", h->root_path);
        own[3] = fsroot;
        own[4] = not_this;
    }
    hwloc_topology_t t;
    environ = own;
    int done = hwloc_topology_init(&t);
    if (done == 0) {
        static const char *const unwanted[] = {"x86", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero"};
        for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
            hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
        hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
        if (xml.p)
            done = hwloc_topology_set_xmlbuffer(t, xml.p, (int)xml.n + 1);
        if (done == 0)
            done = hwloc_topology_load(t);
        if (done != 0)
            hwloc_topology_destroy(t);
    }
    environ = saved;
    if (done != 0)
        return err_set(err, xml.p ? ERR_INPUT : ERR_SYSTEM, "hwloc cannot read the topology%s",
                       xml.p ? " from the XML (damaged, or written by hwloc 3)" : "");
    *ret = t;
    return 0;
}

static const char *topology_info(hwloc_obj_t obj, const char *name)
{
    const char *value = obj ? hwloc_obj_get_info_by_name(obj, name) : NULL;
    return value ? value : "";
}

/* ---- the canonical summary ---- */

/* Distinct lines with how often they came, sorted, so that the order of discovery does not matter. */
struct topology_count {
    char text[96];
    unsigned count;
};

/* Counts a text. Leaves out a new one where the list is full. */
static void topology_count_add(struct topology_count *list, size_t *n, size_t max, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i].text, text) == 0) {
            list[i].count++;
            return;
        }
    if (*n == max)
        return;
    snprintf(list[*n].text, sizeof list->text, "%s", text);
    list[(*n)++].count = 1;
}

static int topology_count_compare(const void *a, const void *b)
{
    return strcmp(((const struct topology_count *)a)->text, ((const struct topology_count *)b)->text);
}

enum { KINDS = 256 };

static void topology_count_print(struct topology_count *list, size_t n, struct buf *to)
{
    qsort(list, n, sizeof *list, topology_count_compare);
    for (size_t i = 0; i < n; i++)
        buf_printf(to, "%s * %u\n", list[i].text, list[i].count);
}

static unsigned long long topology_gib(unsigned long long bytes)
{
    return (bytes + (1ull << 29)) >> 30;
}

/* Returns the size that was built in. up: from what is left where firmware and kernel keep a little
 * back, differently from boot to boot: 755 -> 768, 251.5 -> 256; else from blocks, of which the
 * last may reach behind the end: 16.1 -> 16. */
static unsigned long long topology_nominal_gib(unsigned long long bytes, bool up)
{
    unsigned long long step = 1ull << 30;
    while (step * 2 <= bytes / 16)
        step *= 2;
    return (bytes + (up ? step - 1 : step / 2)) / step * (step >> 30);
}

/* ---- memory that is installed, whatever the kernel has made of it so far ---- */

static void topology_count_block(void *context, const char *name)
{
    *(uint64_t *)context += strncmp(name, "memory", 6) == 0 && str_is_digit(name[6]);
}

/* Returns the size of the memory blocks that the kernel knows of a NUMA node, in bytes: online,
 * offline or not initialised yet. 0: it names none. Source:
 * Documentation/admin-guide/mm/memory-hotplug.rst of Linux; block_size_bytes is hexadecimal. */
static uint64_t topology_memory_blocks(const struct host *h, unsigned node)
{
    struct look_text text;
    char dir[64];
    uint64_t size = 0, blocks = 0;
    if (!look_read(h, &text, "sys/devices/system/memory/block_size_bytes") || text.n > 15)
        return 0;
    for (size_t i = 0; i < text.n; i++) {
        int digit = str_hex_digit(text.p[i]);
        if (digit < 0)
            return 0;
        size = size * 16 + (uint64_t)digit;
    }
    snprintf(dir, sizeof dir, "sys/devices/system/node/node%u", node);
    look_each_name(h, dir, topology_count_block, &blocks);
    return size * blocks;
}

/* While the kernel is still initialising memory, or a balloon or an offline block holds a part
 * back, the NUMA nodes have less than the machine: their sizes change until the next boot. Returns
 * true, and why in `reason`. *ret_blocks: whether the blocks sum up to the total. Unknown sizes are
 * not short. */
static bool topology_memory_is_partial(const struct host *h, hwloc_topology_t t, bool *ret_blocks, char reason[256])
{
    static const double GIB = 1073741824.0;
    struct look_text text;
    int64_t total_KiB;
    double nodes = 0, blocks = 0, all = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, obj));) {
        nodes += (double)obj->attr->numanode.local_memory;
        blocks += (double)topology_memory_blocks(h, obj->os_index);
    }
    *ret_blocks = blocks > 0;
    if (look_read(h, &text, "proc/meminfo")) {
        struct str value = look_value((struct str){text.p, text.n}, "MemTotal", ':');
        if (str_int(str_word(&value), &total_KiB) && nodes < 0.98 * 1024 * (double)total_KiB) /* the same pages, counted twice */
            all = 1024 * (double)total_KiB;
    }
    if (nodes < 0.9 * blocks - GIB) /* the kernel keeps a few percent, a crash kernel up to a GiB */
        all = blocks;
    if (nodes == 0 || all == 0)
        return false;
    snprintf(reason, 256, "the NUMA nodes have %.1f of %.1f GiB: memory is still being initialised, ballooned or offline", nodes / GIB,
             all / GIB);
    return true;
}

/* Appends the sizes of the nodes, by their blocks where these are more than what the kernel
 * manages: that does not change while memory is initialised. */
static void topology_summarize_memory(const struct host *h, hwloc_topology_t t, struct buf *to)
{
    struct topology_count list[KINDS];
    size_t n = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, obj));) {
        char text[96];
        unsigned long long managed = topology_nominal_gib(obj->attr->numanode.local_memory, true);
        unsigned long long installed = topology_nominal_gib(topology_memory_blocks(h, obj->os_index), false);
        snprintf(text, sizeof text, "numa %llu GiB%s%.32s", installed > managed ? installed : managed, obj->subtype ? " " : "",
                 obj->subtype ? obj->subtype : "");
        topology_count_add(list, &n, KINDS, text);
    }
    topology_count_print(list, n, to);
}

/* Appends the kinds of caches, with the number of each. */
static void topology_summarize_caches(hwloc_topology_t t, struct buf *to)
{
    struct topology_count list[KINDS];
    size_t n = 0;
    for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; type++)
        for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(t, (hwloc_obj_type_t)type, obj));) {
            char text[96];
            snprintf(text, sizeof text, "cache L%u%s %llu KiB", obj->attr->cache.depth,
                     obj->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? "i"
                     : obj->attr->cache.type == HWLOC_OBJ_CACHE_DATA      ? "d"
                                                                          : "",
                     (unsigned long long)obj->attr->cache.size >> 10);
            topology_count_add(list, &n, KINDS, text);
        }
    topology_count_print(list, n, to);
}

static void topology_summarize_devices(hwloc_topology_t t, struct buf *to)
{
    struct topology_count list[KINDS];
    size_t n = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_pcidev(t, obj));) {
        char text[96];
        const struct hwloc_pcidev_attr_s *pci = &obj->attr->pcidev;
        snprintf(text, sizeof text, "pci %04x:%04x class %04x", pci->vendor_id, pci->device_id, pci->class_id);
        topology_count_add(list, &n, KINDS, text);
    }
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_osdev(t, obj));) {
        char text[96];
        const char *model = topology_info(obj, "GPUModel");
        if (!*model)
            continue;
        snprintf(text, sizeof text, "gpu %.80s", model);
        topology_count_add(list, &n, KINDS, text);
    }
    topology_count_print(list, n, to);
}

/* Appends the kinds of cores with their threads, such as performance and efficiency cores; nothing
 * where all are alike. */
static void topology_summarize_kinds(hwloc_topology_t t, struct buf *to)
{
    int kinds = hwloc_cpukinds_get_nr(t, 0);
    if (kinds < 2)
        return;
    struct topology_count list[KINDS];
    size_t n = 0;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (int i = 0; set && i < kinds; i++) {
        unsigned count;
        struct hwloc_info_s *infos;
        int efficiency;
        char text[96] = "kind", *end = text + 4;
        if (hwloc_cpukinds_get_info(t, (unsigned)i, set, &efficiency, &count, &infos, 0) != 0)
            continue;
        for (unsigned k = 0; k < count; k++)
            if (strcmp(infos[k].name, "CoreType") == 0)
                end += snprintf(end, sizeof text - (size_t)(end - text), " %.32s", infos[k].value);
        snprintf(end, sizeof text - (size_t)(end - text), " of %d threads", hwloc_bitmap_weight(set));
        topology_count_add(list, &n, KINDS, text);
    }
    hwloc_bitmap_free(set);
    topology_count_print(list, n, to);
}

/* Appends the text whose hash is node.type. */
static void topology_summarize(const struct host *h, hwloc_topology_t t, struct buf *to)
{
    hwloc_obj_t root = hwloc_get_root_obj(t), package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    static const char *const of_package[] = {"CPUVendor", "CPUFamilyNumber", "CPUModelNumber", "CPUStepping",
                                             "CPUModel",  "CPURevision",     "CPUType"};
    static const char *const of_root[] = {"Architecture", "DMISysVendor", "DMIProductName",
                                          "DMIBoardName", "PlatformName", "PlatformModel"};
    buf_puts(to, "benchwrap node type 1\n");
    for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
        if (*topology_info(root, of_root[i]))
            buf_printf(to, "%s %s\n", of_root[i], topology_info(root, of_root[i]));
    for (size_t i = 0; i < sizeof of_package / sizeof *of_package; i++) {
        const char *value = topology_info(package, of_package[i]);
        if (!*value)
            value = topology_info(root, of_package[i]);
        if (*value)
            buf_printf(to, "%s %s\n", of_package[i], value);
    }
    int packages = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE), cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    buf_printf(to, "packages %d cores %d threads %d\n", packages, cores, hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU));
    topology_summarize_kinds(t, to);
    topology_summarize_memory(h, t, to);
    topology_summarize_caches(t, to);
    topology_summarize_devices(t, to);
}

/* ---- facts ---- */

static void topology_emit_caches(struct host *h, struct record *r, hwloc_topology_t t)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *size, *count;
    } rows[] = {{HWLOC_OBJ_L1CACHE, "cache.l1d_KiB", NULL},
                {HWLOC_OBJ_L2CACHE, "cache.l2_KiB", NULL},
                {HWLOC_OBJ_L3CACHE, "cache.l3_KiB", "cache.l3_count"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hwloc_obj_t obj = hwloc_get_obj_by_type(t, rows[i].type, 0);
        if (!obj || obj->attr->cache.size == 0)
            continue;
        emit_int(h, r, rows[i].size, (int64_t)(obj->attr->cache.size >> 10));
        if (rows[i].count)
            emit_int(h, r, rows[i].count, hwloc_get_nbobjs_by_type(t, rows[i].type));
    }
}

/* Records the nodes and their memory, or why it is missing: "64*4" is four nodes of 64 GiB; "64*2
 * 16*2" when they differ. */
static void topology_emit_numa(struct host *h, struct record *r, hwloc_topology_t t)
{
    int nodes = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    struct topology_count list[KINDS];
    struct buf text CLEANUP_BUF;
    size_t n = 0;
    unsigned long long all = 0;
    char reason[256];
    bool blocks;
    buf_init(&text, 4096);
    emit_int(h, r, "numa.nodes", nodes);
    if (topology_memory_is_partial(h, t, &blocks, reason)) {
        emit_missing(h, r, "numa.memory_GiB", "%s", reason);
        return;
    }
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, obj));) {
        char size[32];
        all += obj->attr->numanode.local_memory;
        snprintf(size, sizeof size, "%llu", topology_gib(obj->attr->numanode.local_memory));
        topology_count_add(list, &n, KINDS, size);
    }
    if (all == 0) {
        emit_missing(h, r, "numa.memory_GiB", "the kernel does not report the memory of its nodes");
        return;
    }
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s*%u", i > 0 ? " " : "", list[i].text, list[i].count);
    emit_buf(h, r, "numa.memory_GiB", &text);
}

static void topology_emit_list(struct host *h, struct record *r, const char *key, hwloc_const_bitmap_t set)
{
    char text[LIST_MAX];
    if (hwloc_bitmap_list_snprintf(text, sizeof text, set) < (int)sizeof text)
        emit_text(h, r, key, text);
}

/* Returns how many objects of a type the set touches. */
static int topology_count_touched(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_const_bitmap_t set)
{
    int n = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(t, type, obj));)
        n += obj->cpuset && hwloc_bitmap_intersects(obj->cpuset, set);
    return n;
}

/* Records the binding that the kernel reports; the program inherits it. */
static void topology_emit_bound(struct host *h, struct record *r, hwloc_topology_t t)
{
    struct buf status CLEANUP_BUF;
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    buf_init(&status, LOOK_STATUS_MAX + (1 << 17));
    if (look_read_own_status(h, &status) != 0) {
        emit_unreadable(h, r, "cpu.bound_threads", "proc/self/status");
        hwloc_bitmap_free(bound);
        return;
    }
    struct str list = look_value(buf_text(&status), "Cpus_allowed_list", ':');
    char text[LIST_MAX];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(list));
    if (bound && list.n > 0 && list.n < sizeof text && hwloc_bitmap_list_sscanf(bound, text) == 0) {
        hwloc_bitmap_and(bound, bound, hwloc_topology_get_topology_cpuset(t));
        emit_int(h, r, "cpu.bound_threads", hwloc_bitmap_weight(bound));
        emit_int(h, r, "cpu.bound_cores", topology_count_touched(t, HWLOC_OBJ_CORE, bound));
        emit_int(h, r, "numa.bound_nodes", topology_count_touched(t, HWLOC_OBJ_NUMANODE, bound));
        topology_emit_list(h, r, "cpu.bound_list", bound);
    } else
        emit_missing(h, r, "cpu.bound_threads", "Cpus_allowed_list of /proc/self/status is not understood");
    hwloc_bitmap_free(bound);
}

static void topology_emit_allowed(struct host *h, struct record *r, hwloc_topology_t t)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return;
    hwloc_bitmap_and(set, hwloc_topology_get_allowed_cpuset(t), hwloc_topology_get_topology_cpuset(t));
    emit_int(h, r, "cpu.allowed_threads", hwloc_bitmap_weight(set));
    hwloc_bitmap_and(set, hwloc_topology_get_allowed_nodeset(t), hwloc_topology_get_topology_nodeset(t));
    emit_int(h, r, "numa.allowed_nodes", hwloc_bitmap_weight(set));
    hwloc_bitmap_free(set);
}

/* Records hwloc's count where the cpu probe, which counts by sysfs, has none. */
static void topology_emit_count(struct host *h, struct record *r, const char *key, int count)
{
    if (count > 0 && !record_find(r, FACT_PARAM, key))
        emit_int(h, r, key, count);
}

/* Returns whether a second reading has the same summary: hwloc skips files that it cannot read, so
 * one reading alone can be a part. */
static bool topology_is_same_again(const struct host *h, const struct buf *summary)
{
    struct buf text CLEANUP_BUF;
    struct err err = {0};
    hwloc_topology_t t = NULL;
    buf_init(&text, 65536);
    if (!h->real || !h->state)
        return true;
    if (topology_load(&t, h, (struct str){NULL, 0}, &err) != 0)
        return false;
    topology_summarize(h, t, &text);
    hwloc_topology_destroy(t);
    return !text.failed && str_eq(buf_text(&text), buf_text(summary));
}

static void topology_emit_type(struct host *h, struct record *r, hwloc_topology_t t)
{
    struct buf text CLEANUP_BUF;
    char hex[SHA256_HEX], reason[256];
    bool blocks;
    buf_init(&text, 65536);
    if (view_is_partial(h, reason)) {
        emit_missing(h, r, "node.type", "a part of the hardware is hidden: %s", reason);
        return;
    }
    if (topology_memory_is_partial(h, t, &blocks, reason) && !blocks) {
        emit_missing(h, r, "node.type", "%s", reason);
        return;
    }
    if (view_has_refused_files(h, VIEW_DEVICES, reason)) {
        emit_missing(h, r, "node.type", "a part of the hardware is hidden: %s", reason);
        return;
    }
    topology_summarize(h, t, &text);
    if (text.failed) { /* the hash of half a summary would be a wrong one */
        emit_missing(h, r, "node.type", "the summary of the hardware is too long, or out of memory");
        return;
    }
    if (h->state && h->state->unsure) {
        emit_missing(h, r, "node.type", "a part of the hardware is hidden: %s",
                     h->state->failure[0] ? h->state->failure : "a file could not be read");
        return;
    }
    if (!topology_is_same_again(h, &text)) {
        h->state->unsure = true; /* a descriptor or memory was missing: another time it may be there */
        emit_missing(h, r, "node.type", "two readings of the hardware differ: some of its files could not be read");
        return;
    }
    sha256_of(text.p, text.n, hex);
    hex[16] = 0;
    emit_text(h, r, "node.type", hex);
}

/* Writes the topology, scrubbed, into the spool as topology.xml, and records the artifact. Without
 * a spool it writes nothing. Returns 0, or another value with *err. */
static int topology_store_xml(struct host *h, struct record *r, hwloc_topology_t t, struct err *err)
{
    char *xml, *own[] = {simple_xml, NULL}, **saved = environ;
    int size;
    if (h->spool < 0)
        return 0;
    environ = own;
    int done = hwloc_topology_export_xmlbuffer(t, &xml, &size, 0);
    environ = saved;
    if (done != 0)
        return err_set(err, ERR_SYSTEM, "hwloc cannot write the topology as XML");
    struct buf text CLEANUP_BUF;
    buf_init(&text, XML_MAX);
    done = topology_xml_scrub((struct str){xml, size > 0 ? (size_t)size - 1 : 0}, &text, err);
    hwloc_free_xmlbuffer(t, xml);
    if (done == 0)
        done = fs_create(h->spool, "topology.xml", buf_text(&text), 0600, err);
    if (done == 0)
        record_artifact(r, "topology.xml", "topology.xml");
    return done;
}

static void topology_note_node(void *context, const char *name)
{
    bool *any = context;
    *any |= strncmp(name, "node", 4) == 0 && str_is_digit(name[4]);
}

/* Returns whether the folder of the nodes is empty, as a sandbox may leave it: hwloc aborts
 * then. */
static bool topology_has_empty_nodes(const struct host *h)
{
    static const char path[] = "sys/devices/system/node";
    bool any = false;
    return look_exists(h, path) && look_each_name(h, path, topology_note_node, &any) == 0 && !any;
}

static int topology_fail(const struct host *h, struct record *r, struct err *err, const char *why, int number)
{
    if (why)
        err_set(err, ERR_SYSTEM, "%s%s%s", why, number ? ": " : "", number ? strerror(number) : "");
    emit_missing(h, r, "node.type", "the hardware cannot be read: %s", err->text);
    return -1;
}

/* Records counts of processors, NUMA nodes and caches, what the program may use, node.type, and the
 * topology as artifact. -1 with err, and the reason is recorded: hwloc failed, or files are hidden. */
static int topology_before(struct host *h, struct record *r, struct err *err)
{
    hwloc_topology_t t = NULL;
    struct buf xml CLEANUP_BUF;
    buf_init(&xml, XML_MAX + (1 << 17));
    /* A captured machine may hold its topology as XML instead of the hundreds of files it was read from. */
    bool captured = !h->real && look_read_file(h, "topology.xml", XML_MAX, &xml) == 0 && xml.n > 0;
    /* hwloc's last resort would count the processors of this machine, whatever the root. */
    if (!captured && !look_exists(h, "sys/devices/system/cpu"))
        return topology_fail(h, r, err, "not readable: /sys/devices/system/cpu", errno);
    struct look_text online;
    char reason[256];
    if (!captured && !look_read(h, &online, "sys/devices/system/cpu/online") && errno == LOOK_COVERED)
        return topology_fail(h, r, err, "another file system covers /sys/devices/system/cpu/online", 0);
    if (!captured && topology_has_empty_nodes(h))
        return topology_fail(h, r, err, "/sys/devices/system/node shows no node", 0);
    if (!captured && view_has_refused_files(h, VIEW_PROCESSORS, reason)) /* hwloc's counts would be those of a part */
        return topology_fail(h, r, err, reason, 0);
    if (topology_load(&t, h, captured ? buf_text(&xml) : (struct str){NULL, 0}, err) != 0)
        return topology_fail(h, r, err, NULL, 0);
    topology_emit_count(h, r, "cpu.threads", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU));
    topology_emit_count(h, r, "cpu.cores", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE));
    topology_emit_count(h, r, "cpu.sockets", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE));
    topology_emit_allowed(h, r, t);
    topology_emit_bound(h, r, t);
    topology_emit_numa(h, r, t);
    topology_emit_caches(h, r, t);
    topology_emit_type(h, r, t);
    int done = topology_store_xml(h, r, t, err);
    hwloc_topology_destroy(t);
    return done;
}

const struct probe probe_topology = {
    .name = "topology",
    .summary = "NUMA nodes, caches, allowed and bound processors; hash of the hardware",
    .before = topology_before,
    .lasting = true,
};
