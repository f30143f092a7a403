/* amd_smi.c: energy counters of AMD's GPUs; see amd_smi.h.
 *
 * The interface as its documentation has it (rocm.docs.amd.com, amdsmi.h); 0 is success everywhere. Only functions whose arguments are the same in all
 * releases: the structs of power and metrics are not. ROCm SMI reports 0 to 2 W for some GPUs that use hundreds. */
#include "probes/amd_smi.h"

#include "base/library.h"

#include <math.h>

enum { GPUS_ONLY = 2 /* amdsmi_init */, SOCKETS_MOST = 256 };
static const uint64_t PARTITION_BITS = UINT64_C(0xf) << 28;

struct amd_smi_library {
    int (*init)(uint64_t), (*sockets)(uint32_t *, void **), (*processors)(void *, uint32_t *, void **), (*place)(void *, uint64_t *);
};

/* Adds a GPU, unless its place is known: partitions of one GPU have one place, and one counter. */
static void amd_smi_add(struct amd_smi *s, const struct amd_smi_library *l, void *device)
{
    uint64_t place = UINT64_MAX;
    if (l->place && l->place(device, &place) == 0)
        place &= ~PARTITION_BITS;
    for (size_t i = 0; i < s->count; i++)
        if (place != UINT64_MAX && s->places[i] == place)
            return;
    if (s->count == GPUS_MAX)
        return;
    s->devices[s->count] = device;
    s->places[s->count++] = place;
}

bool amd_smi_open(struct amd_smi *ret)
{
    struct amd_smi_library l = {0};
    const struct library_function rows[] = {{"amdsmi_init", &l.init},
                                            {"amdsmi_get_socket_handles", &l.sockets},
                                            {"amdsmi_get_processor_handles", &l.processors},
                                            {"amdsmi_get_gpu_bdf_id", &l.place},
                                            {"amdsmi_get_energy_count", &ret->energy}};
    void *library, *sockets[SOCKETS_MOST], *devices[GPUS_MAX];
    uint32_t count = 0;
    *ret = (struct amd_smi){0};
    library = library_open(LIBRARY_AMD_SMI);
    if (library)
        library_take(library, rows, sizeof rows / sizeof *rows);
    if (!library || !l.init || !l.sockets || !l.processors || !ret->energy || l.init(GPUS_ONLY) != 0 || l.sockets(&count, NULL) != 0)
        return false;
    count = count < SOCKETS_MOST ? count : SOCKETS_MOST;
    if (l.sockets(&count, sockets) != 0)
        return false;
    for (uint32_t i = 0; i < count && i < SOCKETS_MOST; i++) {
        uint32_t n = 0;
        if (l.processors(sockets[i], &n, NULL) != 0)
            continue;
        n = n < GPUS_MAX ? n : GPUS_MAX;
        if (l.processors(sockets[i], &n, devices) == 0)
            for (uint32_t k = 0; k < n && k < GPUS_MAX; k++)
                amd_smi_add(ret, &l, devices[k]);
    }
    return ret->count > 0;
}

double amd_smi_energy_J(const struct amd_smi *s, size_t device)
{
    uint64_t count = 0, time_ns;
    float uJ = 0;
    if (s->energy(s->devices[device], &count, &uJ, &time_ns) != 0 || !(uJ > 0) || count == 0 || count == UINT64_MAX)
        return NAN;
    return (double)count * (double)uJ / 1e6;
}
