/* cpu.c: which processors, and how many sockets, cores and threads the machine has online. */
#include "probes/look.h"
#include "probes/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The words of the feature list that decide which vector code runs, per architecture, weakest first. */
static const char *const simd_words[] = {"sse4_2",      "avx",         "avx2",     "fma",      "avx512f", "avx512_vnni",
                                         "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "asimd",   "asimddp",
                                         "sve",         "sve2",        "sme",      "vx",       "vxe",     "vxe2"};

static bool cpu_has_feature(struct str features, const char *word)
{
    for (struct str w = str_word(&features); w.n > 0; w = str_word(&features))
        if (str_is(w, word))
            return true;
    return false;
}

/* The levels of the x86-64 psABI; lahf_lm and so on are the kernel's spellings. */
static const char *cpu_x86_level(struct str features)
{
    static const char *const v2[] = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3", NULL};
    static const char *const v3[] = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave", NULL};
    static const char *const v4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", NULL};
    static const char *const *const levels[] = {v2, v3, v4};
    static const char *const names[] = {"x86-64-v1", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    size_t level = 0;
    for (; level < 3; level++)
        for (const char *const *word = levels[level]; *word; word++)
            if (!cpu_has_feature(features, *word))
                return names[level];
    return names[level];
}

static void cpu_emit_features(struct host *h, struct record *r, const struct cpuinfo *info)
{
    struct str features = str_of(info->features);
    if (cpu_has_feature(features, "lm") && cpu_has_feature(features, "sse2"))
        emit_text(h, r, "cpu.level", cpu_x86_level(features));
    struct buf simd;
    buf_init(&simd, 512);
    for (size_t i = 0; i < sizeof simd_words / sizeof *simd_words; i++)
        if (cpu_has_feature(features, simd_words[i]))
            buf_printf(&simd, "%s%s", simd.n > 0 ? " " : "", simd_words[i]);
    emit_buf(h, r, "cpu.simd", &simd);
    buf_deinit(&simd);
}

static void cpu_emit_model(struct host *h, struct record *r)
{
    struct buf text;
    buf_init(&text, 1 << 17);
    if (look_read_file(h, "proc/cpuinfo", 16384, &text) != 0) { /* the first processor, not 384 of them */
        emit_unreadable(h, r, "cpu.model", "proc/cpuinfo");
        buf_deinit(&text);
        return;
    }
    struct cpuinfo info;
    parse_cpuinfo(buf_text(&text), &info);
    if (info.model[0])
        emit_text(h, r, "cpu.model", info.model);
    else
        emit_missing(h, r, "cpu.model", "/proc/cpuinfo names no model");
    emit_text(h, r, "cpu.vendor", info.vendor);
    emit_text(h, r, "cpu.family", info.family);
    emit_text(h, r, "cpu.model_id", info.model_id);
    emit_text(h, r, "cpu.stepping", info.stepping);
    emit_text(h, r, "cpu.microcode", info.microcode);
    cpu_emit_features(h, r, &info);
    buf_deinit(&text);
}

/* A processor counts for its core (package) if it is the first in the list of those that share it. */
struct cpu_counting {
    struct host *h;
    int64_t threads, cores, packages, unknown;
    int64_t per_core; /* threads of each core; -1: they differ */
};

/* Sets *ret to whether the processor is the first of its siblings in `file`, or in `older`, the
 * name in older kernels; *ret_sharing: how many there are. Returns false where neither file can be
 * read. */
static bool cpu_is_first_sibling(const struct cpu_counting *c, int64_t cpu, const char *file, const char *older, bool *ret,
                                 int64_t *ret_sharing)
{
    struct look_text text;
    if (!look_read(c->h, &text, "sys/devices/system/cpu/cpu%lld/topology/%s", (long long)cpu, file) &&
        !look_read(c->h, &text, "sys/devices/system/cpu/cpu%lld/topology/%s", (long long)cpu, older))
        return false;
    struct str list = {text.p, text.n}, first = str_cut(&list, ',');
    int64_t number;
    if (!str_int(str_cut(&first, '-'), &number))
        return false;
    *ret = number == cpu;
    *ret_sharing = look_count_numbers((struct str){text.p, text.n});
    return true;
}

static void cpu_count_thread(void *context, int64_t cpu)
{
    struct cpu_counting *c = context;
    bool first = false;
    int64_t sharing;
    c->threads++;
    if (!cpu_is_first_sibling(c, cpu, "core_cpus_list", "thread_siblings_list", &first, &sharing)) {
        c->unknown++;
        return;
    }
    if (!first)
        return; /* the first of a package is the first of its core, too */
    c->cores++;
    c->per_core = c->cores == 1 || c->per_core == sharing ? sharing : -1;
    if (cpu_is_first_sibling(c, cpu, "package_cpus_list", "core_siblings_list", &first, &sharing))
        c->packages += first;
    else
        c->unknown++;
}

enum { CPU_NUMBERS = 1 << 16 };

struct cpu_offline {
    unsigned char offline[CPU_NUMBERS / 8]; /* a bit for each number */
    struct buf list;
    int64_t from, to; /* of the range that grows; -1: there is none */
};

static void cpu_note_offline(void *context, int64_t cpu)
{
    struct cpu_offline *o = context;
    o->offline[cpu / 8] |= (unsigned char)(1 << cpu % 8);
}

static void cpu_end_range(struct cpu_offline *o)
{
    if (o->from >= 0)
        buf_printf(&o->list, o->to > o->from ? "%s%lld-%lld" : "%s%lld", o->list.n ? "," : "", (long long)o->from, (long long)o->to);
    o->from = -1;
}

static void cpu_add_present(void *context, int64_t cpu)
{
    struct cpu_offline *o = context;
    if (!(o->offline[cpu / 8] & 1 << cpu % 8))
        return;
    if (o->from < 0 || cpu != o->to + 1) {
        cpu_end_range(o);
        o->from = cpu;
    }
    o->to = cpu;
}

/* Records the processors that are present and offline. The kernel's list of those that are offline
 * also has numbers for processors that could be plugged in. */
static void cpu_emit_offline(struct host *h, struct record *r)
{
    struct look_text offline, present;
    struct cpu_offline *o = NULL;
    if (!look_read(h, &offline, "sys/devices/system/cpu/offline") || look_count_numbers((struct str){offline.p, offline.n}) < 1)
        return;
    if (look_read(h, &present, "sys/devices/system/cpu/present"))
        o = calloc(1, sizeof *o);
    if (!o) {
        emit_missing(h, r, "cpu.offline", "/sys/devices/system/cpu/present does not say which processors exist");
        return;
    }
    o->from = -1;
    buf_init(&o->list, 4096);
    if (look_each_number((struct str){offline.p, offline.n}, CPU_NUMBERS, cpu_note_offline, o) &&
        look_each_number((struct str){present.p, present.n}, CPU_NUMBERS, cpu_add_present, o)) {
        cpu_end_range(o);
        emit_buf(h, r, "cpu.offline", &o->list);
    }
    buf_deinit(&o->list);
    free(o);
}

/* Records the processors that are online: threads, cores, sockets. What the kernel does not report
 * becomes a missing value. */
static void cpu_emit_counts(struct host *h, struct record *r)
{
    struct look_text online;
    struct cpu_counting c = {.h = h};
    if (!look_read(h, &online, "sys/devices/system/cpu/online")) {
        emit_unreadable(h, r, "cpu.threads", "sys/devices/system/cpu/online");
        return;
    }
    if (!look_each_number((struct str){online.p, online.n}, 1 << 16, cpu_count_thread, &c) || c.threads == 0) {
        emit_missing(h, r, "cpu.threads", "/sys/devices/system/cpu/online is not understood");
        return;
    }
    emit_int(h, r, "cpu.threads", c.threads);
    cpu_emit_offline(h, r);
    if (c.unknown > 0 || c.cores == 0 || c.packages == 0) {
        char why[100];
        snprintf(why, sizeof why, "the kernel does not report which threads share a core (%lld processors without topology)",
                 (long long)c.unknown);
        emit_absent(h, r, "cpu.cores", why);
        return;
    }
    emit_int(h, r, "cpu.cores", c.cores);
    emit_int(h, r, "cpu.sockets", c.packages);
    if (c.per_core * c.cores == c.threads)
        emit_int(h, r, "cpu.threads_per_core", c.per_core);
    else
        emit_missing(h, r, "cpu.threads_per_core", "cores differ in their number of threads");
}

static int cpu_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    cpu_emit_model(h, r);
    cpu_emit_counts(h, r);
    return 0;
}

const struct probe probe_cpu = {
    .name = "cpu",
    .summary = "model, sockets, cores, threads, vector instructions",
    .before = cpu_before,
    .lasting = true,
};
