/* amd_smi.c: an AMD SMI for tests: two GPUs with counters of energy, by the time that passes: 500 W and 300 W. The first is there twice, as two
 * partitions. FAKE_AMD_SMI=still: the counters stand still; fault: initialisation fails. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_mode(const char *mode)
{
    const char *is = getenv("FAKE_AMD_SMI");
    return is && strcmp(is, mode) == 0;
}
int amdsmi_init(uint64_t flags)
{
    return is_mode("fault") || flags != 2 ? 34 : 0;
}
int amdsmi_get_socket_handles(uint32_t *count, void **list)
{
    if (list)
        for (uintptr_t i = 0; i < *count; i++)
            list[i] = (void *)(i + 1);
    else
        *count = 2;
    return 0;
}
int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **list)
{
    uint32_t partitions = socket == (void *)1 ? 2 : 1;
    if (list)
        for (uint32_t i = 0; i < *count; i++)
            list[i] = (void *)((uintptr_t)socket * 10 + i);
    else
        *count = partitions;
    return 0;
}
int amdsmi_get_gpu_bdf_id(void *device, uint64_t *place)
{
    uint64_t number = (uint64_t)(uintptr_t)device;
    *place = (number / 10) << 8 | (number % 10) << 28;
    return 0;
}
int amdsmi_get_energy_count(void *device, uint64_t *count, float *resolution_uJ, uint64_t *time_ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double W = (uintptr_t)device / 10 == 1 ? 500 : 300, s = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    *resolution_uJ = 15.259F;
    *count = is_mode("still") ? 1000000 : (uint64_t)(W * s / 15.259e-6);
    *time_ns = (uint64_t)(s * 1e9);
    return 0;
}
