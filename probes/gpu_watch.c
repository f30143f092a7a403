/* gpu_watch.c: use of the GPUs while the program runs: NVIDIA's through NVML, AMD's through sysfs.
 * Both can hang, so a child process reads them, and the sampler records what it has sent. The child
 * starts with the first sample, so that short runs do not pay for it. */
#include "base/clock.h"
#include "base/library.h"
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

/* ---- amdgpu in sysfs ---- */

struct amd_watch {
    const struct host *h;
    char folders[GPUS_MAX][64], monitors[GPUS_MAX][96];
    int found;
};

static void gpu_watch_find_amd_monitor(void *context, const char *name)
{
    struct amd_watch *a = context;
    char folder[sizeof a->folders[0]];
    memcpy(folder, a->folders[a->found], sizeof folder);
    snprintf(a->monitors[a->found], sizeof a->monitors[0], "%.60s/hwmon/%.20s", folder, name);
}

static void gpu_watch_add_amd_card(void *context, const char *name)
{
    struct amd_watch *a = context;
    int64_t busy;
    char path[100];
    if (a->found == GPUS_MAX || strncmp(name, "card", 4) != 0 || strchr(name, '-'))
        return; /* connectors */
    snprintf(a->folders[a->found], sizeof a->folders[0], "sys/class/drm/%.20s/device", name);
    if (!look_read_int(a->h, &busy, "%s/gpu_busy_percent", a->folders[a->found]))
        return;
    snprintf(path, sizeof path, "%s/hwmon", a->folders[a->found]);
    look_each_name(a->h, path, gpu_watch_find_amd_monitor, a);
    a->found++;
}

static void gpu_watch_read_amd(const struct amd_watch *a, int i, struct gpu_now *g)
{
    int64_t value;
    const struct host *h = a->h;
    if (look_read_int(h, &value, "%s/gpu_busy_percent", a->folders[i]))
        g->busy_percent = (double)value;
    if (look_read_int(h, &value, "%s/mem_info_vram_used", a->folders[i]))
        g->memory_B = (double)value;
    if (look_read_int(h, &value, "%s/mem_info_vram_total", a->folders[i]) && value > 0)
        g->memory_total_B = (double)value;
    if (!*a->monitors[i])
        return;
    if (look_read_int(h, &value, "%s/power1_average", a->monitors[i]) || look_read_int(h, &value, "%s/power1_input", a->monitors[i]))
        g->power_W = (double)value / 1e6;
    if (look_read_int(h, &value, "%s/power1_cap", a->monitors[i]) && value > 0)
        g->power_limit_W = (double)value / 1e6;
    if (look_read_int(h, &value, "%s/freq1_input", a->monitors[i]))
        g->clock_Hz = (double)value;
    if (look_read_int(h, &value, "%s/freq2_input", a->monitors[i]))
        g->memory_clock_Hz = (double)value;
    if (look_read_int(h, &value, "%s/temp1_input", a->monitors[i]))
        g->celsius = (double)value / 1e3;
}

/* ---- the child process ---- */

/* One second, after ten minutes ten seconds. */
static void gpu_watch_sleep(int64_t rounds)
{
    struct timespec t = {.tv_sec = rounds < 600 ? 1 : 10};
    nanosleep(&t, NULL);
}

static int gpu_watch_run(struct host *h, struct record *r, struct err *err)
{
    struct nvml_watch nvml = {0};
    static struct amd_watch amd;
    (void)err;
    amd.h = h;
    if (!gpu_watch_open_nvml(&nvml))
        look_each_name(h, "sys/class/drm", gpu_watch_add_amd_card, &amd);
    for (int64_t step = 0; nvml.found > 0 || amd.found > 0; step++) {
        struct record one;
        record_init(&one, r->id, r->start_ms);
        one.listen = r->listen;
        one.context = r->context;
        one.source = r->source;
        for (unsigned i = 0; i < nvml.found + (unsigned)amd.found; i++) {
            struct gpu_now g = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
            if (nvml.found > 0)
                gpu_watch_read_nvml(&nvml, nvml.devices[i], &g);
            else
                gpu_watch_read_amd(&amd, (int)i, &g);
            gpu_watch_send(&one, (int)i, &g, step);
        }
        record_deinit(&one);
        gpu_watch_sleep(step);
    }
    return 0;
}

/* Energy is passed on as what was used since the first look. */
static void gpu_watch_emit_fact(struct gpu_watch *w, struct host *h, struct record *r, const struct fact_text *f)
{
    struct str rest = str_sub(f->key, sizeof "system/gpu_" - 1, f->key.n), number = str_cut(&rest, '_'), value = f->text;
    int64_t gpu;
    double J;
    if (!str_starts(f->key, "system/gpu_") || !rest.p || !str_int(number, &gpu) || gpu < 0 || gpu >= GPUS_MAX)
        return;
    w->last_ms = clock_wall_ms();
    w->first_ms = w->first_ms ? w->first_ms : w->last_ms;
    if (!str_is(rest, "energy_joules")) {
        fact_text_replay(h, r, f);
        return;
    }
    if (!str_double(str_word(&value), &J))
        return;
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
    if (rest.n < w->aside.work.text.n && w->aside.work.text.p) { /* the rest of a fact that is on its way */
        memmove(w->aside.work.text.p, rest.p, rest.n);
        w->aside.work.text.n = rest.n;
        w->aside.work.text.p[rest.n] = 0;
    }
    if (w->aside.work.fd < 0) /* there are no GPUs, or their driver has ended it */
        child_work_deinit(&w->aside.work);
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
