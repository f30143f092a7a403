/* gpu_watch.c: use of the GPUs while the program runs: NVIDIA's through NVML, AMD's through sysfs and AMD SMI.
 * All can hang, so a child process reads them, and the sampler records what it has sent. The child
 * starts with the first sample, so that short runs do not pay for it. */
#include "base/clock.h"
#include "base/library.h"
#include "probes/amd_smi.h"
#include "probes/gpu.h"
#include "probes/fact_text.h"
#include "probes/sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

extern const struct probe probe_gpu_watch;

enum { NO_ATTACH = 2 /* nvmlInitWithFlags: GPUs that sleep are let sleep */ };

struct gpu_watch {
    bool begun;
    struct probe_child aside;
    double first_J[GPUS_MAX], last_J[GPUS_MAX];
    int64_t first_ms, last_ms; /* of the values received */
    int with_energy;
};

/* The state of one GPU; NAN: not reported. */
struct gpu_now {
    double busy_percent, memory_B, memory_total_B, power_W, power_limit_W, clock_Hz, memory_clock_Hz, celsius, energy_J;
};

/* Records the samples of one GPU. Leaves out values that are not finite, or too high to be
 * valid. */
static void gpu_watch_send(struct record *r, int number, const struct gpu_now *g, int64_t step)
{
    const struct {
        const char *name;
        double value, most; /* above it a value is invalid: drivers set all bits of unknown ones */
    } rows[] = {{"utilization_percentage", g->busy_percent, 100},
                {"memory_usage_megabytes", g->memory_B / 1e6, 1e9},
                {"memory_usage_percentage", 100 * g->memory_B / g->memory_total_B, 100},
                {"power_usage_watts", g->power_W, 1e5},
                {"power_usage_percentage", 100 * g->power_W / g->power_limit_W, 1000},
                {"clock_megahertz", g->clock_Hz / 1e6, 1e5},
                {"memory_clock_megahertz", g->memory_clock_Hz / 1e6, 1e5},
                {"temperature_celsius", g->celsius, 1000},
                {"energy_joules", g->energy_J, 1e15}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[80];
        snprintf(key, sizeof key, "system/gpu_%d_%s", number, rows[i].name);
        if (isfinite(rows[i].value) && rows[i].value <= rows[i].most)
            record_metric(r, key, round(rows[i].value * 10) / 10, NULL, DIR_NONE, step, 0);
    }
}

/* ---- NVML: the interface as its documentation has it (docs.nvidia.com/deploy/nvml-api); 0 is success ---- */

struct nvml_rates {
    unsigned gpu, memory;
};
struct nvml_bytes {
    unsigned long long total, unused, used;
};
struct nvml_watch {
    int (*init)(unsigned flags), (*init_2)(void), (*count)(unsigned *), (*device)(unsigned, void **);
    int (*rates)(void *, struct nvml_rates *), (*memory)(void *, struct nvml_bytes *), (*power)(void *, unsigned *),
        (*limit)(void *, unsigned *);
    int (*energy)(void *, unsigned long long *), (*clock)(void *, int, unsigned *), (*temperature)(void *, int, unsigned *);
    void *devices[GPUS_MAX];
    unsigned found;
};

/* Loads NVML, which stays loaded, and finds the GPUs that this job may read. Returns false where
 * there are none. */
static bool gpu_watch_open_nvml(struct nvml_watch *n)
{
    const struct library_function rows[] = {{"nvmlInitWithFlags", &n->init},
                                            {"nvmlInit_v2", &n->init_2},
                                            {"nvmlDeviceGetCount_v2", &n->count},
                                            {"nvmlDeviceGetHandleByIndex_v2", &n->device},
                                            {"nvmlDeviceGetUtilizationRates", &n->rates},
                                            {"nvmlDeviceGetMemoryInfo", &n->memory},
                                            {"nvmlDeviceGetPowerUsage", &n->power},
                                            {"nvmlDeviceGetEnforcedPowerLimit", &n->limit},
                                            {"nvmlDeviceGetTotalEnergyConsumption", &n->energy},
                                            {"nvmlDeviceGetClockInfo", &n->clock},
                                            {"nvmlDeviceGetTemperature", &n->temperature}};
    void *library = library_open(LIBRARY_NVML);
    unsigned count = 0;
    if (library)
        library_take(library, rows, sizeof rows / sizeof *rows);
    if (!library || !n->count || !n->device || (n->init ? n->init(NO_ATTACH) : n->init_2 ? n->init_2() : -1) != 0 || n->count(&count) != 0)
        return false;
    for (unsigned i = 0; i < count && i < GPUS_ASKED && n->found < GPUS_MAX; i++)
        n->found += n->device(i, &n->devices[n->found]) == 0; /* those that this job may read */
    return n->found > 0;
}

/* Reads one GPU. Values that the driver does not report stay unchanged. */
static void gpu_watch_read_nvml(const struct nvml_watch *n, void *d, struct gpu_now *g)
{
    enum { GRAPHICS = 0, MEMORY = 2, CORE = 0 };
    struct nvml_rates rates;
    struct nvml_bytes bytes = {0};
    unsigned value;
    unsigned long long mJ;
    if (n->rates && n->rates(d, &rates) == 0)
        g->busy_percent = rates.gpu;
    if (n->memory && n->memory(d, &bytes) == 0 && bytes.total > 0) {
        g->memory_B = (double)bytes.used;
        g->memory_total_B = (double)bytes.total;
    }
    if (n->power && gpu_has_value(n->power(d, &value), &value))
        g->power_W = value / 1e3;
    if (n->limit && gpu_has_value(n->limit(d, &value), &value) && value > 0)
        g->power_limit_W = value / 1e3;
    if (n->energy && n->energy(d, &mJ) == 0) /* from Volta on; since the driver was loaded */
        g->energy_J = (double)mJ / 1e3;
    if (n->clock && gpu_has_value(n->clock(d, GRAPHICS, &value), &value))
        g->clock_Hz = value * 1e6;
    if (n->clock && gpu_has_value(n->clock(d, MEMORY, &value), &value))
        g->memory_clock_Hz = value * 1e6;
    if (n->temperature && gpu_has_value(n->temperature(d, CORE, &value), &value))
        g->celsius = value;
}

/* ---- AMD: amdgpu in sysfs, and the energy counters ---- */

struct amd_gpu {
    char folder[64], monitor[96]; /* in sysfs; "": it has none there */
    size_t smi; /* its number in AMD SMI; SIZE_MAX: it has none there */
    double last_J; /* of its counter; NAN: not known */
    int64_t last_ns;
};
struct amd_watch {
    const struct host *h;
    struct amd_smi smi;
    struct amd_gpu gpus[GPUS_MAX];
    size_t found;
};

static void gpu_watch_find_amd_monitor(void *context, const char *name)
{
    struct amd_gpu *g = context;
    snprintf(g->monitor, sizeof g->monitor, "%.60s/hwmon/%.20s", g->folder, name);
}

/* Adds a card of /sys/class/drm, if it reports how busy it is, as AMD's driver does. */
static void gpu_watch_add_amd_card(void *context, const char *name)
{
    struct amd_watch *a = context;
    int64_t busy;
    char path[100];
    if (a->found == GPUS_MAX || strncmp(name, "card", 4) != 0 || strchr(name, '-'))
        return; /* connectors */
    struct amd_gpu *g = &a->gpus[a->found];
    *g = (struct amd_gpu){.smi = SIZE_MAX, .last_J = NAN};
    snprintf(g->folder, sizeof g->folder, "sys/class/drm/%.20s/device", name);
    if (!look_read_int(a->h, &busy, "%s/gpu_busy_percent", g->folder))
        return;
    snprintf(path, sizeof path, "%s/hwmon", g->folder);
    look_each_name(a->h, path, gpu_watch_find_amd_monitor, g);
    a->found++;
}

/* Returns the place on PCI as AMD SMI numbers it, from "PCI_SLOT_NAME=0000:c1:00.0"; UINT64_MAX:
 * not known. */
static uint64_t gpu_watch_amd_place(const struct amd_watch *a, const struct amd_gpu *g)
{
    struct look_text text;
    uint64_t domain, bus, device, function;
    if (!look_read(a->h, &text, "%s/uevent", g->folder))
        return UINT64_MAX;
    struct str name = look_value((struct str){text.p, text.n}, "PCI_SLOT_NAME", '=');
    if (!str_based(str_cut(&name, ':'), 16, &domain) || !str_based(str_cut(&name, ':'), 16, &bus) ||
        !str_based(str_cut(&name, '.'), 16, &device) || !str_based(name, 16, &function))
        return UINT64_MAX;
    return domain << 32 | bus << 8 | device << 3 | function;
}

/* Finds AMD's GPUs: those of sysfs first, then those that only AMD SMI shows. */
static void gpu_watch_open_amd(struct amd_watch *a)
{
    look_each_name(a->h, "sys/class/drm", gpu_watch_add_amd_card, a);
    size_t in_sysfs = a->found;
    if (!amd_smi_open(&a->smi))
        return;
    for (size_t i = 0; i < a->smi.count; i++) {
        size_t k = 0;
        while (k < in_sysfs && (a->smi.places[i] == UINT64_MAX || gpu_watch_amd_place(a, &a->gpus[k]) != a->smi.places[i]))
            k++;
        if (k == in_sysfs && in_sysfs > 0 && a->smi.places[i] == UINT64_MAX)
            continue; /* it may be any of them */
        if (k == in_sysfs && a->found < GPUS_MAX)
            a->gpus[k = a->found++] = (struct amd_gpu){.last_J = NAN};
        if (k < a->found)
            a->gpus[k].smi = i;
    }
}

/* Returns the mean power since the last call, by the counter, with the counter in *ret_J. NAN: the
 * counter is missing or did not change, as that of some GPUs never does. */
static double gpu_watch_amd_counted_W(const struct amd_watch *a, struct amd_gpu *g, double *ret_J)
{
    int64_t now = clock_mono_ns(), since = now - g->last_ns;
    double J = g->smi == SIZE_MAX ? NAN : amd_smi_energy_J(&a->smi, g->smi), used = J - g->last_J;
    g->last_J = J;
    g->last_ns = now;
    if (!(used > 0))
        return NAN;
    *ret_J = J;
    return used / ((double)since / 1e9);
}

/* Reads one GPU from ROCm SMI's energy counter and from sysfs. Values that neither reports stay
 * unchanged. */
static void gpu_watch_read_amd(const struct amd_watch *a, struct amd_gpu *from, struct gpu_now *g)
{
    int64_t value;
    const struct host *h = a->h;
    g->power_W = gpu_watch_amd_counted_W(a, from, &g->energy_J);
    if (!*from->folder)
        return;
    if (look_read_int(h, &value, "%s/gpu_busy_percent", from->folder))
        g->busy_percent = (double)value;
    if (look_read_int(h, &value, "%s/mem_info_vram_used", from->folder))
        g->memory_B = (double)value;
    if (look_read_int(h, &value, "%s/mem_info_vram_total", from->folder) && value > 0)
        g->memory_total_B = (double)value;
    if (!*from->monitor)
        return;
    if (!isfinite(g->power_W) &&
        (look_read_int(h, &value, "%s/power1_average", from->monitor) || look_read_int(h, &value, "%s/power1_input", from->monitor)))
        g->power_W = (double)value / 1e6;
    if (look_read_int(h, &value, "%s/power1_cap", from->monitor) && value > 0)
        g->power_limit_W = (double)value / 1e6;
    if (look_read_int(h, &value, "%s/freq1_input", from->monitor))
        g->clock_Hz = (double)value;
    if (look_read_int(h, &value, "%s/freq2_input", from->monitor))
        g->memory_clock_Hz = (double)value;
    if (look_read_int(h, &value, "%s/temp1_input", from->monitor))
        g->celsius = (double)value / 1e3;
}

/* ---- the child process ---- */

/* Sleeps one second, after 600 rounds ten seconds. */
static void gpu_watch_sleep(int64_t rounds)
{
    struct timespec t = {.tv_sec = rounds < 600 ? 1 : 10};
    nanosleep(&t, NULL);
}

/* Samples the GPUs of NVIDIA or AMD until the process is ended; it runs in a child process. Returns
 * 0 at once where there are none. */
static int gpu_watch_run(struct host *h, struct record *r, struct err *err)
{
    struct nvml_watch nvml = {0};
    static struct amd_watch amd;
    (void)err;
    amd.h = h;
    if (!gpu_watch_open_nvml(&nvml))
        gpu_watch_open_amd(&amd);
    for (int64_t step = 0; nvml.found > 0 || amd.found > 0; step++) {
        struct record one;
        record_init(&one, r->id, r->start_ms);
        one.listen = r->listen;
        one.context = r->context;
        one.source = r->source;
        for (size_t i = 0; i < nvml.found + amd.found; i++) {
            struct gpu_now g = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
            if (nvml.found > 0)
                gpu_watch_read_nvml(&nvml, nvml.devices[i], &g);
            else
                gpu_watch_read_amd(&amd, &amd.gpus[i], &g);
            gpu_watch_send(&one, (int)i, &g, step);
        }
        record_deinit(&one);
        gpu_watch_sleep(step);
    }
    return 0;
}

/* Parses when the child read a value: the last word of "value unit direction step time". */
static bool gpu_watch_time_ms(struct str text, int64_t *ret)
{
    struct str word, last = STR("");
    while ((word = str_word(&text)).n)
        last = word;
    return str_int(last, ret) && *ret > 0;
}

/* Records a sample of the child. Energy is only noted, and recorded at the end as what was used
 * since the first reading. */
static void gpu_watch_emit_fact(struct gpu_watch *w, struct host *h, struct record *r, const struct fact_text *f)
{
    struct str rest = str_sub(f->key, sizeof "system/gpu_" - 1, f->key.n), number = str_cut(&rest, '_'), value = f->text;
    int64_t gpu, time_ms;
    double J;
    if (!str_starts(f->key, "system/gpu_") || !rest.p || !str_int(number, &gpu) || gpu < 0 || gpu >= GPUS_MAX)
        return;
    if (!str_is(rest, "energy_joules")) {
        fact_text_replay(h, r, f);
        return;
    }
    if (!gpu_watch_time_ms(value, &time_ms) || !str_double(str_word(&value), &J))
        return;
    w->last_ms = time_ms;
    w->first_ms = w->first_ms ? w->first_ms : w->last_ms;
    if (w->first_J[gpu] == 0) {
        w->first_J[gpu] = J;
        w->with_energy++;
    }
    w->last_J[gpu] = J;
}

static void gpu_watch_emit_facts(struct gpu_watch *w, struct host *h, struct record *r)
{
    struct fact_text f;
    child_work_read(&w->aside.work);
    struct str rest = buf_text(&w->aside.work.text);
    while (fact_text_next(&rest, &f) > 0)
        gpu_watch_emit_fact(w, h, r, &f);
    probe_child_forget(&w->aside, rest);
}

static int gpu_watch_sample(struct host *h, struct record *r, struct err *err)
{
    struct gpu_watch *w = probe_data(h, &probe_gpu_watch);
    if (!w || !h->real)
        return 0;
    if (!w->begun) {
        w->begun = true;
        if (probe_child_begin(&w->aside, h, r, gpu_watch_run, true) != 0)
            return err_sys(err, "cannot start a process to read the GPUs");
    } else if (w->aside.work.pid)
        gpu_watch_emit_facts(w, h, r);
    return 0;
}

/* Records the mean of the GPUs' samples and their energy while the program ran. Returns 0; nothing
 * is recorded where no GPU was watched. */
static int gpu_watch_after(struct host *h, struct record *r, struct err *err)
{
    struct gpu_watch *w = probe_data(h, &probe_gpu_watch);
    double sum = 0;
    (void)err;
    if (!w || !w->begun)
        return 0;
    if (w->aside.work.pid) {
        gpu_watch_emit_facts(w, h, r);
        child_work_deinit(&w->aside.work);
    }
    for (int i = 0; i < GPUS_MAX; i++)
        sum += w->last_J[i] - w->first_J[i];
    if (w->with_energy == 0 || w->last_ms <= w->first_ms || sum < 0)
        return 0;
    record_metric(r, "energy.gpu_watched_J", sum, "J", DIR_LOWER, 0, 0);
    record_metric(r, "energy.gpu_watched_s", (double)(w->last_ms - w->first_ms) / 1e3, "s", DIR_NONE, 0, 0);
    return 0;
}

static void gpu_watch_drop(void *kept)
{
    struct gpu_watch *w = kept;
    if (w->aside.work.pid)
        child_work_deinit(&w->aside.work);
    child_work_reap(&w->aside.work, PROBE_REAP_MS);
}

const struct probe probe_gpu_watch = {
    .name = "gpu_watch",
    .summary = "use, memory, power, clocks and energy of GPUs while the program runs",
    .sample = gpu_watch_sample,
    .after = gpu_watch_after,
    .keeps = sizeof(struct gpu_watch),
    .drop = gpu_watch_drop,
};
