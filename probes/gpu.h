/* gpu.h: facts about GPUs from the vendors' libraries, which are loaded by name and never linked:
 * one binary for all nodes. Private to the gpu probe. */
#ifndef PROBES_GPU_H
#define PROBES_GPU_H
#include "probes/look.h"

enum {
    GPUS_MAX = 64, /* that are read */
    GPUS_ASKED = 256 /* a broken driver can report any number */
};
/* Returns whether NVML returned a value. code: the status of its function. All bits set
 * (NVML_VALUE_NOT_AVAILABLE) can come with success. */
static inline bool gpu_has_value(int code, const unsigned *value)
{
    return code == 0 && *value != 0xffffffffu;
}

/* Record gpu.* facts through NVML (libnvidia-ml.so.1) or ROCm SMI (librocm_smi64.so). Return the
 * number of devices; 0 without the library, or where it finds none (then with `why`); -1 with `why`
 * where it fails. For a child process only: a driver can hang, and waking GPUs takes seconds. */
int gpu_emit_nvml(struct host *h, struct record *r, char why[256]);
int gpu_emit_rocm(struct host *h, struct record *r, char why[256]);
#endif
