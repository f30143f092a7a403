/* amd_smi.h: the energy counters of AMD's GPUs through AMD SMI (libamd_smi.so), which is loaded by name. For a child process only: a driver can hang. */
#ifndef PROBES_AMD_SMI_H
#define PROBES_AMD_SMI_H
#include "probes/gpu.h"

struct amd_smi {
    int (*energy)(void *, uint64_t *, float *, uint64_t *);
    void *devices[GPUS_MAX];
    uint64_t places[GPUS_MAX]; /* on PCI: domain << 32 | bus << 8 | device << 3 | function; UINT64_MAX: not known */
    size_t count;
};
/* Opens the library and lists its GPUs, each once however it is partitioned. False: the library is missing, too old, or finds none. */
bool amd_smi_open(struct amd_smi *ret);
/* Joules that a GPU has used since its driver was loaded. NAN: not known. */
double amd_smi_energy_J(const struct amd_smi *s, size_t device);
#endif
