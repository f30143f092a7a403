/* gpu.h: what the vendors' libraries tell of GPUs. They are loaded by name, never linked: one binary for all nodes. Private to the gpu probe. */
#ifndef PROBES_GPU_H
#define PROBES_GPU_H
#include "probes/look.h"

enum {
    GPUS_MAX = 64, /* that are looked at */
    GPUS_ASKED = 256 /* whatever number a broken driver tells */
};
/* Did NVML tell a value? code: what its function returned. All bits set (NVML_VALUE_NOT_AVAILABLE) can come with success. */
static inline bool gpu_has_value(int code, const unsigned *value)
{
    return code == 0 && *value != 0xffffffffu;
}

/* Tells gpu.* facts through NVML (libnvidia-ml.so.1) or ROCm SMI (librocm_smi64.so). Returns how many devices there are; 0: the library is not there or finds
 * none (*why, if it is there); -1: it is there and failed. For a side process only: a driver can hang, and waking GPUs takes seconds. */
int gpu_emit_nvml(struct host *h, struct record *r, char why[256]);
int gpu_emit_rocm(struct host *h, struct record *r, char why[256]);
#endif
