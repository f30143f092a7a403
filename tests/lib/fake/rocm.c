/* rocm.c: a ROCm SMI for tests: two made GPUs, or with FAKE_ROCM=fault an initialisation that fails. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int rsmi_init(uint64_t flags)
{
    (void)flags;
    return getenv("FAKE_ROCM") ? 8 : 0;
}
int rsmi_shut_down(void)
{
    return 0;
}
int rsmi_status_string(int code, const char **text)
{
    *text = code == 8 ? "RSMI_STATUS_INIT_ERROR: the driver is not loaded" : "?";
    return 0;
}
int rsmi_num_monitor_devices(uint32_t *n)
{
    *n = 2;
    return 0;
}
int rsmi_dev_name_get(uint32_t i, char *to, size_t n)
{
    (void)i;
    snprintf(to, n, "AMD Instinct MI300X");
    return 0;
}
int rsmi_dev_memory_total_get(uint32_t i, int type, uint64_t *bytes)
{
    (void)i;
    *bytes = type == 0 ? 206141652992ull : 0;
    return 0;
}
int rsmi_dev_power_cap_get(uint32_t i, uint32_t sensor, uint64_t *uW)
{
    (void)sensor;
    *uW = i == 0 ? 750000000 : 500000000;
    return 0;
}
int rsmi_dev_ecc_status_get(uint32_t i, int block, int *state)
{
    (void)i;
    *state = block == 1 ? 6 : 1;
    return 0;
}
int rsmi_version_str_get(int component, char *to, uint32_t n)
{
    (void)component;
    snprintf(to, n, "6.7.0");
    return 0;
}
int rsmi_topo_get_link_type(uint32_t a, uint32_t b, uint64_t *hops, int *type)
{
    (void)a;
    (void)b;
    *hops = 1;
    *type = 2;
    return 0;
}
