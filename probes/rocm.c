/* rocm.c: AMD's GPUs through ROCm SMI, loaded by name. */
#include "base/library.h"
#include "probes/gpu.h"
#include "probes/tally.h"

#include <stdio.h>

/* The library's interface as its documentation has it (rocm.docs.amd.com, rocm_smi.h); 0 is success everywhere. Only functions whose arguments are the same in
 * all releases: the struct of clocks is not. */
enum { MEMORY_VRAM = 0, COMPONENT_DRIVER = 0, BLOCK_UMC = 1, ECC_ENABLED = 4 };

struct rocm {
    void *library;
    int (*init)(uint64_t);
    int (*shutdown)(void);
    int (*error)(int, const char **);
    int (*count)(uint32_t *);
    int (*name)(uint32_t, char *, size_t);
    int (*memory)(uint32_t, int, uint64_t *);
    int (*power_cap)(uint32_t, uint32_t, uint64_t *);
    int (*power_default)(uint32_t, uint64_t *);
    int (*version)(int, char *, uint32_t);
    int (*ecc)(uint32_t, int, int *);
    int (*level)(uint32_t, int *);
    int (*vbios)(uint32_t, char *, uint32_t);
    int (*link)(uint32_t, uint32_t, uint64_t *, int *);
    int (*partition)(uint32_t, char *, uint32_t);
};

/* Loads ROCm SMI's library; functions that it lacks become NULL. Returns false where there is no
 * library. */
static bool rocm_load(struct rocm *n)
{
    const struct library_function rows[] = {
        {"rsmi_init", &n->init},
        {"rsmi_shut_down", &n->shutdown},
        {"rsmi_status_string", &n->error},
        {"rsmi_num_monitor_devices", &n->count},
        {"rsmi_dev_name_get", &n->name},
        {"rsmi_dev_memory_total_get", &n->memory},
        {"rsmi_dev_power_cap_get", &n->power_cap},
        {"rsmi_dev_power_cap_default_get", &n->power_default},
        {"rsmi_version_str_get", &n->version},
        {"rsmi_dev_ecc_status_get", &n->ecc},
        {"rsmi_dev_perf_level_get", &n->level},
        {"rsmi_dev_vbios_version_get", &n->vbios},
        {"rsmi_topo_get_link_type", &n->link},
        {"rsmi_dev_compute_partition_get", &n->partition},
    };
    n->library = library_open(LIBRARY_ROCM);
    if (n->library)
        library_take(n->library, rows, sizeof rows / sizeof *rows);
    return n->library != NULL;
}

struct rocm_devices {
    struct tally models, memory, power, power_default, ecc, level, vbios, links, partition;
};

static void rocm_read_device(const struct rocm *n, uint32_t i, struct rocm_devices *s)
{
    static const char *const levels[] = {
        "auto", "low", "high", "manual", "stable std", "stable peak", "stable min mclk", "stable min sclk", "determinism"};
    char text[128];
    uint64_t value;
    int state;
    if (n->name && n->name(i, text, sizeof text) == 0) {
        text[sizeof text - 1] = 0;
        tally_add(&s->models, str_of(text));
    }
    if (n->memory && n->memory(i, MEMORY_VRAM, &value) == 0 && value > 0 && value != UINT64_MAX)
        tally_add_number(&s->memory, (double)value / 1073741824.0, 1);
    if (n->power_cap && n->power_cap(i, 0, &value) == 0 && value != UINT64_MAX)
        tally_add_number(&s->power, (double)value / 1e6, 0);
    if (n->power_default && n->power_default(i, &value) == 0 && value != UINT64_MAX)
        tally_add_number(&s->power_default, (double)value / 1e6, 0);
    if (n->ecc && n->ecc(i, BLOCK_UMC, &state) == 0)
        tally_add(&s->ecc, str_of(state >= ECC_ENABLED ? "on" : "off"));
    if (n->level && n->level(i, &state) == 0 && state >= 0 && (size_t)state < sizeof levels / sizeof *levels)
        tally_add(&s->level, str_of(levels[state]));
    if (n->vbios && n->vbios(i, text, sizeof text) == 0) {
        text[sizeof text - 1] = 0;
        tally_add(&s->vbios, str_of(text));
    }
    if (n->partition && n->partition(i, text, sizeof text) == 0) {
        text[sizeof text - 1] = 0;
        tally_add(&s->partition, str_of(text));
    }
}

static void rocm_read_links(const struct rocm *n, uint32_t count, struct tally *t)
{
    static const char *const types[] = {"undefined", "PCI", "XGMI"};
    uint64_t hops;
    int type;
    for (uint32_t i = 0; n->link && i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (n->link(i, k, &hops, &type) == 0 && type > 0 && type < 3)
                tally_add(t, str_of(types[type]));
}

int gpu_emit_rocm(struct host *h, struct record *r, char why[256])
{
    struct rocm n = {0};
    struct rocm_devices s = {0};
    uint32_t count = 0;
    char text[128];
    if (!rocm_load(&n))
        return 0;
    int code = n.init && n.count ? n.init(0) : -1;
    if (code == 0)
        code = n.count(&count);
    if (code != 0) {
        const char *words = NULL;
        if (code < 0 || !n.error || n.error(code, &words) != 0 || !words)
            words = code < 0 ? "it lacks functions that are needed" : "an error that it does not name";
        snprintf(why, 256, "librocm_smi64.so: %.150s", words);
        return -1;
    }
    if (count > GPUS_MAX)
        count = GPUS_MAX;
    for (uint32_t i = 0; i < count; i++)
        rocm_read_device(&n, i, &s);
    if (count > 0) {
        rocm_read_links(&n, count, &s.links);
        emit_int(h, r, "gpu.count", count);
        tally_emit(&s.models, h, r, "gpu.model");
        tally_emit(&s.memory, h, r, "gpu.memory_GiB");
        tally_emit(&s.power, h, r, "gpu.power_limit_W");
        tally_emit(&s.power_default, h, r, "gpu.power_default_W");
        tally_emit(&s.ecc, h, r, "gpu.ecc");
        tally_emit(&s.level, h, r, "gpu.performance_level");
        tally_emit(&s.vbios, h, r, "gpu.vbios");
        tally_emit(&s.partition, h, r, "gpu.partition");
        tally_emit(&s.links, h, r, "gpu.pairs_on");
        if (n.version && n.version(COMPONENT_DRIVER, text, sizeof text) == 0) {
            text[sizeof text - 1] = 0;
            emit_text(h, r, "gpu.driver", text);
        }
    } else
        snprintf(why, 256, "librocm_smi64.so finds no GPU");
    if (n.shutdown)
        n.shutdown();
    return (int)count;
}
