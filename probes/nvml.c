/* nvml.c: NVIDIA's GPUs through NVML, loaded by name. Without attaching to GPUs that sleep. */
#include "base/library.h"
#include "probes/gpu.h"
#include "probes/tally.h"

#include <dlfcn.h>
#include <stdio.h>

/* The library's interface as its documentation has it (docs.nvidia.com/deploy/nvml-api); 0 is success everywhere. */
typedef struct nvml_device *nvml_device;
struct nvml_memory {
    unsigned long long total, unused, used;
};
enum {
    NO_ATTACH = 2, /* nvmlInitWithFlags */
    NAME_MAX_BYTES = 96,
    CLOCK_GRAPHICS = 0,
    CLOCK_MEMORY = 2,
    NVLINKS = 18
};
static const int no_permission = 4;

struct nvml {
    void *library;
    int (*init)(unsigned flags);
    int (*init_2)(void);
    int (*shutdown)(void);
    const char *(*error)(int);
    int (*driver)(char *, unsigned);
    int (*cuda)(int *);
    int (*count)(unsigned *);
    int (*device)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*power_limit)(nvml_device, unsigned *);
    int (*power_default)(nvml_device, unsigned *);
    int (*clock_max)(nvml_device, int, unsigned *);
    int (*clock_set)(nvml_device, int, unsigned *);
    int (*mig)(nvml_device, unsigned *, unsigned *);
    int (*ecc)(nvml_device, int *, int *);
    int (*persistence)(nvml_device, int *);
    int (*compute_mode)(nvml_device, int *);
    int (*pcie_generation)(nvml_device, unsigned *);
    int (*pcie_width)(nvml_device, unsigned *);
    int (*link_state)(nvml_device, unsigned, int *);
    int (*ancestor)(nvml_device, nvml_device, int *);
    int (*vbios)(nvml_device, char *, unsigned);
};

/* Loads NVML. Functions that an old library lacks stay NULL, and their facts are not recorded.
 * Returns false where there is no library. */
static bool nvml_load(struct nvml *n)
{
    const struct library_function rows[] = {
        {"nvmlInitWithFlags", &n->init},
        {"nvmlInit_v2", &n->init_2},
        {"nvmlShutdown", &n->shutdown},
        {"nvmlErrorString", &n->error},
        {"nvmlSystemGetDriverVersion", &n->driver},
        {"nvmlSystemGetCudaDriverVersion_v2", &n->cuda},
        {"nvmlDeviceGetCount_v2", &n->count},
        {"nvmlDeviceGetHandleByIndex_v2", &n->device},
        {"nvmlDeviceGetName", &n->name},
        {"nvmlDeviceGetMemoryInfo", &n->memory},
        {"nvmlDeviceGetEnforcedPowerLimit", &n->power_limit},
        {"nvmlDeviceGetPowerManagementDefaultLimit", &n->power_default},
        {"nvmlDeviceGetMaxClockInfo", &n->clock_max},
        {"nvmlDeviceGetApplicationsClock", &n->clock_set},
        {"nvmlDeviceGetMigMode", &n->mig},
        {"nvmlDeviceGetEccMode", &n->ecc},
        {"nvmlDeviceGetPersistenceMode", &n->persistence},
        {"nvmlDeviceGetComputeMode", &n->compute_mode},
        {"nvmlDeviceGetMaxPcieLinkGeneration", &n->pcie_generation},
        {"nvmlDeviceGetMaxPcieLinkWidth", &n->pcie_width},
        {"nvmlDeviceGetNvLinkState", &n->link_state},
        {"nvmlDeviceGetTopologyCommonAncestor", &n->ancestor},
        {"nvmlDeviceGetVbiosVersion", &n->vbios},
    };
    n->library = library_open(LIBRARY_NVML);
    if (n->library)
        library_take(n->library, rows, sizeof rows / sizeof *rows);
    return n->library != NULL;
}

static const char *nvml_error_text(const struct nvml *n, int code)
{
    const char *text = n->error ? n->error(code) : NULL;
    return text && *text ? text : "an error that it does not name";
}

struct nvml_devices {
    struct tally models, memory, power, power_default, clock, clock_memory, clock_set, mig, ecc, persistence, mode, pcie, links, vbios;
    nvml_device devices[GPUS_MAX];
    int count, hidden, failed;
};

static void nvml_read_limits(const struct nvml *n, nvml_device d, struct nvml_devices *s)
{
    unsigned value, width;
    if (n->power_limit && gpu_has_value(n->power_limit(d, &value), &value))
        tally_add_number(&s->power, value / 1e3, 0);
    if (n->power_default && gpu_has_value(n->power_default(d, &value), &value))
        tally_add_number(&s->power_default, value / 1e3, 0);
    if (n->clock_max && gpu_has_value(n->clock_max(d, CLOCK_GRAPHICS, &value), &value))
        tally_add_number(&s->clock, value * 1e6, 0);
    if (n->clock_max && gpu_has_value(n->clock_max(d, CLOCK_MEMORY, &value), &value))
        tally_add_number(&s->clock_memory, value * 1e6, 0);
    if (n->clock_set && gpu_has_value(n->clock_set(d, CLOCK_GRAPHICS, &value), &value))
        tally_add_number(&s->clock_set, value * 1e6, 0);
    if (n->pcie_generation && n->pcie_generation(d, &value) == 0 && n->pcie_width && n->pcie_width(d, &width) == 0 && value < 100 &&
        width < 100) {
        char text[64];
        snprintf(text, sizeof text, "gen%u x%u", value, width);
        tally_add(&s->pcie, str_of(text));
    }
}

static void nvml_read_modes(const struct nvml *n, nvml_device d, struct nvml_devices *s)
{
    static const char *const modes[] = {"default", "exclusive thread", "prohibited", "exclusive process"};
    unsigned now, wanted, links = 0;
    int state, pending;
    if (n->mig && n->mig(d, &now, &wanted) == 0) /* cards without it return "not supported" */
        tally_add(&s->mig, str_of(now ? "on" : "off"));
    if (n->ecc && n->ecc(d, &state, &pending) == 0)
        tally_add(&s->ecc, str_of(state ? "on" : "off"));
    if (n->persistence && n->persistence(d, &state) == 0)
        tally_add(&s->persistence, str_of(state ? "on" : "off"));
    if (n->compute_mode && n->compute_mode(d, &state) == 0 && state >= 0 && state < 4)
        tally_add(&s->mode, str_of(modes[state]));
    for (unsigned link = 0; n->link_state && link < NVLINKS && n->link_state(d, link, &state) == 0; link++)
        links += state == 1;
    if (links > 0)
        tally_add_number(&s->links, links, 0);
}

static void nvml_read_device(const struct nvml *n, nvml_device d, struct nvml_devices *s)
{
    char text[NAME_MAX_BYTES];
    struct nvml_memory memory;
    if (n->name && n->name(d, text, sizeof text) == 0) {
        text[sizeof text - 1] = 0;
        tally_add(&s->models, str_of(text));
    }
    if (n->memory && n->memory(d, &memory) == 0 && memory.total > 0)
        tally_add_number(&s->memory, (double)memory.total / 1073741824.0, 1);
    if (n->vbios && n->vbios(d, text, 32) == 0) {
        text[31] = 0;
        tally_add(&s->vbios, str_of(text));
    }
    nvml_read_limits(n, d, s);
    nvml_read_modes(n, d, s);
}

/* Records how GPUs are connected, over all pairs: the worst path on PCI, and separately the NVLinks. */
static void nvml_emit_paths(const struct nvml *n, const struct nvml_devices *s, struct host *h, struct record *r)
{
    static const struct {
        int level;
        const char *name;
    } rows[] = {{0, "one board"},        {10, "one PCI switch"}, {20, "several PCI switches"},
                {30, "one host bridge"}, {40, "one NUMA node"},  {50, "several NUMA nodes"}};
    struct tally t = {0};
    int level;
    for (int i = 0; n->ancestor && i < s->count; i++)
        for (int k = i + 1; k < s->count; k++)
            if (n->ancestor(s->devices[i], s->devices[k], &level) == 0)
                for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
                    if (rows[row].level == level)
                        tally_add(&t, str_of(rows[row].name));
    tally_emit(&t, h, r, "gpu.pairs_on");
}

static void nvml_emit_devices(const struct nvml *n, const struct nvml_devices *s, struct host *h, struct record *r)
{
    const struct {
        const struct tally *t;
        const char *key;
    } rows[] = {{&s->models, "gpu.model"},
                {&s->memory, "gpu.memory_GiB"},
                {&s->power, "gpu.power_limit_W"},
                {&s->power_default, "gpu.power_default_W"},
                {&s->clock, "gpu.clock_max_Hz"},
                {&s->clock_memory, "gpu.clock_memory_max_Hz"},
                {&s->clock_set, "gpu.clock_set_Hz"},
                {&s->mig, "gpu.mig"},
                {&s->ecc, "gpu.ecc"},
                {&s->persistence, "gpu.persistence"},
                {&s->mode, "gpu.compute_mode"},
                {&s->pcie, "gpu.pcie"},
                {&s->links, "gpu.nvlinks"},
                {&s->vbios, "gpu.vbios"}};
    emit_int(h, r, "gpu.count", s->count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tally_emit(rows[i].t, h, r, rows[i].key);
    nvml_emit_paths(n, s, h, r);
    if (s->hidden > 0)
        emit_missing(h, r, "gpu.hidden", "this job may not access %d more GPUs of the node", s->hidden);
}

static void nvml_emit_system(const struct nvml *n, struct host *h, struct record *r)
{
    char text[96];
    int version;
    if (n->driver && n->driver(text, sizeof text) == 0) {
        text[sizeof text - 1] = 0;
        emit_text(h, r, "gpu.driver", text);
    }
    if (n->cuda && n->cuda(&version) == 0) {
        snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
        emit_text(h, r, "gpu.cuda_driver", text);
    }
}

int gpu_emit_nvml(struct host *h, struct record *r, char why[256])
{
    struct nvml n = {0};
    struct nvml_devices s = {.count = 0};
    unsigned count = 0;
    if (!nvml_load(&n))
        return 0;
    int code = n.init ? n.init(NO_ATTACH) : n.init_2 ? n.init_2() : -1;
    if (code == 0 && n.count && n.device)
        code = n.count(&count);
    else if (code == 0)
        code = -1;
    if (code != 0) {
        snprintf(why, 256, "libnvidia-ml.so.1: %.150s", code < 0 ? "it lacks functions that are needed" : nvml_error_text(&n, code));
        dlclose(n.library);
        return -1;
    }
    nvml_emit_system(&n, h, r);
    if (count > GPUS_ASKED)
        emit_missing(h, r, "gpu.device", "libnvidia-ml.so.1 reports %u GPUs: only the first %d are read", count, GPUS_ASKED);
    for (unsigned i = 0; i < count && i < GPUS_ASKED && s.count < GPUS_MAX; i++) {
        code = n.device(i, &s.devices[s.count]);
        if (code == 0)
            nvml_read_device(&n, s.devices[s.count++], &s);
        else if (code == no_permission)
            s.hidden++;
        else if (s.failed++ == 0)
            emit_missing(h, r, "gpu.device", "GPU %u: %.150s", i, nvml_error_text(&n, code));
    }
    if (s.failed > 1)
        emit_missing(h, r, "gpu.device", "cannot read %d GPUs in all", s.failed);
    if (s.count > 0)
        nvml_emit_devices(&n, &s, h, r);
    else
        snprintf(why, 256, "libnvidia-ml.so.1 finds no GPU that this job may access");
    if (n.shutdown)
        n.shutdown();
    return s.count; /* the library stays: this process ends soon, and unloading is where drivers crash */
}
