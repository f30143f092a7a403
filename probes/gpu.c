/* gpu.c: GPUs: driver and models from the kernel before the program starts, and limits, modes and
 * links from the vendors' libraries in a child process. */
#include "probes/gpu.h"
#include "probes/state.h"
#include "probes/tally.h"

#include <stdio.h>

/* Records NVIDIA's kernel driver, of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05
 * Sat Aug …" the first word that is digits and dots. False: it is not loaded. */
static bool gpu_emit_nvidia_driver(struct host *h, struct record *r)
{
    struct look_text text;
    if (!look_read(h, &text, "proc/driver/nvidia/version"))
        return false;
    struct str all = {text.p, text.n}, line = str_cut(&all, '\n');
    for (struct str word = str_word(&line); word.n > 0; word = str_word(&line)) {
        bool number = memchr(word.p, '.', word.n) != NULL;
        for (size_t i = 0; i < word.n; i++)
            number = number && (str_is_digit(word.p[i]) || word.p[i] == '.');
        if (number) {
            emit_param(h, r, "gpu.kernel_driver", word);
            break;
        }
    }
    emit_text(h, r, "gpu.kernel_module", str_has((struct str){text.p, text.n}, "Open Kernel Module") ? "nvidia-open" : "nvidia");
    return true;
}

/* Records AMD's kernel driver with its compute part. False: it is not loaded. */
static bool gpu_emit_amd_driver(struct host *h, struct record *r)
{
    struct look_text text;
    if (!look_exists(h, "sys/class/kfd/kfd/topology/nodes"))
        return false;
    if (look_read(h, &text, "sys/module/amdgpu/version"))
        emit_param(h, r, "gpu.kernel_driver", (struct str){text.p, text.n});
    emit_text(h, r, "gpu.kernel_module", "amdgpu");
    return true;
}

static int gpu_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    if (!gpu_emit_nvidia_driver(h, r))
        gpu_emit_amd_driver(h, r);
    return 0;
}

struct nvidia {
    struct host *h;
    struct tally models;
    int count;
};

static void gpu_read_nvidia(void *context, const char *name)
{
    struct nvidia *n = context;
    struct look_text text;
    if (!look_read(n->h, &text, "proc/driver/nvidia/gpus/%.64s/information", name))
        return;
    n->count++;
    tally_add(&n->models, look_value((struct str){text.p, text.n}, "Model", ':'));
}

/* Records count and models of NVIDIA's GPUs from /proc ("Model: \t NVIDIA A100-SXM4-40GB"), where
 * no library answers. Returns the count. */
static int gpu_emit_from_proc(struct host *h, struct record *r)
{
    struct nvidia n = {.h = h};
    look_each_name(h, "proc/driver/nvidia/gpus", gpu_read_nvidia, &n);
    if (n.count > 0) {
        emit_int(h, r, "gpu.count", n.count);
        tally_emit(&n.models, h, r, "gpu.model");
    }
    return n.count;
}

/* Records count and targets of AMD's GPUs: the compute nodes of the kernel's topology that have
 * SIMD units. Returns the count. */
static int gpu_emit_from_kfd(struct host *h, struct record *r)
{
    enum { NODES_MAX = 1024 /* processors, and partitions of GPUs */ };
    int n = 0;
    struct tally targets = {0};
    for (int i = 0; i < NODES_MAX; i++) {
        struct buf text CLEANUP_BUF;
        char path[96];
        uint64_t simds;
        buf_init(&text, 1 << 17);
        snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%d/properties", i);
        if (look_read_file(h, path, 16384, &text) != 0)
            break;
        struct str all = buf_text(&text);
        while (all.p) {
            struct str line = str_cut(&all, '\n'), key = str_word(&line), value = str_word(&line);
            if (str_is(key, "simd_count") && str_uint(value, &simds) && simds > 0)
                n++;
            else if (str_is(key, "gfx_target_version") && !str_is(value, "0"))
                tally_add(&targets, value);
        }
    }
    if (n > 0) {
        emit_int(h, r, "gpu.count", n);
        tally_emit(&targets, h, r, "gpu.gfx_target");
    }
    return n;
}

/* Records the GPUs from NVML, else from ROCm SMI, else from /proc and KFD. Returns an error where a
 * vendor's library failed, so that no fact of this reading is cached. */
static int gpu_beside(struct host *h, struct record *r, struct err *err)
{
    char why[256] = "";
    int n = h->real ? gpu_emit_nvml(h, r, why) : 0;
    if (n == 0 && h->real)
        n = gpu_emit_rocm(h, r, why);
    bool there = look_exists(h, "proc/driver/nvidia/version") || look_exists(h, "sys/class/kfd/kfd/topology/nodes/1");
    if (h->state && (n > 0 || there))
        h->state->unsure = true; /* nvidia-smi sets power limits, clocks and modes at any time: only "no GPU" lasts */
    if (n > 0)
        return 0;
    int failed = n;
    n = gpu_emit_from_proc(h, r);
    if (n == 0)
        n = gpu_emit_from_kfd(h, r);
    if (!h->real)
        return 0;
    char hidden[256];
    if (n == 0 && !there && !*why && look_hides_parts(h, hidden))
        emit_missing(h, r, "gpu.count", "a part of the machine is hidden: %s", hidden);
    else if (n == 0 && !there && !*why)
        emit_int(h, r, "gpu.count", 0);
    else
        emit_missing(h, r, "gpu.power_limit_W", "%s",
                     *why ? why : "the GPUs' driver is loaded, but neither libnvidia-ml.so.1 nor librocm_smi64.so is there to answer");
    return failed < 0 ? err_set(err, ERR_SYSTEM, "%s", why) : 0; /* an error is no fact that lasts */
}

const struct probe probe_gpu = {
    .name = "gpu",
    .summary = "GPUs: model, memory, driver, MIG, ECC, clocks, power limit, links (libraries loaded by name, aside)",
    .before = gpu_before,
    .beside = gpu_beside,
    .limit_ms = 4000,
    .beside_lasts = true,
};
