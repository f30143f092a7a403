/* nvml.c: an NVML for tests: the library's interface with made GPUs. FAKE_NVML says how it behaves:
 * "" two equal H100, mixed: differing ones, one of them hidden; fault: initialisation fails; hang: it never returns; crash: it dies; old: functions are missing
 * that came later; none: no device; garbage: four milliards of devices, of which two are there, and no value is one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct memory {
    unsigned long long total, unused, used;
};
static int numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static int is(const char *mode)
{
    const char *set = getenv("FAKE_NVML");
    return set && strcmp(set, mode) == 0;
}

static int index_of(const void *device)
{
    return *(const int *)device;
}

int nvmlInitWithFlags(unsigned flags)
{
    if (flags != 2)
        return 2; /* it must not wake GPUs */
    puts("a library that talks");
    fflush(stdout);
    if (is("hang"))
        for (;;)
            pause();
    if (is("crash"))
        raise(SIGSEGV);
    return is("fault") ? 18 : 0;
}
int nvmlShutdown(void)
{
    return 0;
}
const char *nvmlErrorString(int code)
{
    return code == 18 ? "Driver/library version mismatch" : code == 4 ? "Insufficient Permissions" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char *to, unsigned n)
{
    snprintf(to, n, "550.54.15");
    return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 12040;
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = is("none") ? 0 : is("mixed") ? 4 : is("garbage") ? ~0u : 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
    if (is("mixed") && i == 3)
        return 4;
    if (i > 7 || (is("garbage") && i > 1))
        return 999;
    *device = &numbers[i];
    return 0;
}
int nvmlDeviceGetName(void *d, char *to, unsigned n)
{
    if (is("garbage")) {
        memset(to, 0x9b, n);
        return 0;
    }
    snprintf(to, n, is("mixed") && index_of(d) == 2 ? "NVIDIA A30" : "NVIDIA H100 80GB HBM3");
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m)
{
    (void)d;
    m->total = is("garbage") ? 0 : 85520809984ull;
    m->used = is("garbage") ? ~0ull : 42760404992ull;
    return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mW)
{
    *mW = is("garbage") ? ~0u : is("mixed") && index_of(d) == 1 ? 500000 : 700000;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void *d, int kind, unsigned *MHz)
{
    (void)d;
    *MHz = is("garbage") ? ~0u : kind == 0 ? 1980 : 2619;
    return 0;
}
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *pending)
{
    *now = *pending = is("mixed") && index_of(d) == 0;
    return 0;
}
int nvmlDeviceGetEccMode(void *d, int *now, int *pending)
{
    (void)d;
    *now = *pending = 1;
    return 0;
}
int nvmlDeviceGetPersistenceMode(void *d, int *mode)
{
    (void)d;
    *mode = 0;
    return 0;
}
int nvmlDeviceGetUUID(void *d, char *to, unsigned n) /* an identity: nobody shall ask */
{
    (void)d;
    snprintf(to, n, "GPU-01234567-89ab-cdef-0123-456789abcdef");
    return 0;
}
int nvmlDeviceGetNvLinkState(void *d, unsigned link, int *active)
{
    (void)d;
    *active = 1;
    return link < 18 ? 0 : 2;
}
int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, int *level)
{
    (void)a;
    (void)b;
    *level = 50;
    return 0;
}

/* What changes while a program runs. */
int nvmlDeviceGetUtilizationRates(void *d, unsigned *two)
{
    two[0] = is("garbage") ? ~0u : 87 + (unsigned)index_of(d);
    two[1] = 50;
    return 0;
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *mW)
{
    (void)d;
    *mW = is("garbage") ? ~0u : 350000;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mJ)
{
    static unsigned long long looks;
    (void)d;
    *mJ = 1000000000000ull + 350000 * looks++;
    return 0;
}
int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *MHz)
{
    (void)d;
    *MHz = is("garbage") ? ~0u : kind == 0 ? 1755 : 2619;
    return 0;
}
int nvmlDeviceGetTemperature(void *d, int place, unsigned *celsius)
{
    (void)d;
    *celsius = is("garbage") ? ~0u : 61;
    return place;
}
