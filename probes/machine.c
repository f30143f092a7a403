/* machine.c: vendor, product and firmware of the machine, and whether it is virtual. No serials, tags or UUIDs. */
#include "probes/look.h"
#include "probes/parse.h"

#include <errno.h>
#include <stdio.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const char dmi[] = "sys/class/dmi/id";

/* Returns whether the text is a placeholder that firmware writers leave behind, or empty. */
static bool machine_is_filler(struct str s)
{
    static const char *const fillers[] = {"To Be Filled By O.E.M.",
                                          "To be filled by O.E.M.",
                                          "Default string",
                                          "Not Specified",
                                          "None",
                                          "System Product Name",
                                          "System manufacturer",
                                          "Unknown",
                                          "N/A",
                                          "0",
                                          "empty"};
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        if (str_is(s, fillers[i]))
            return true;
    return s.n == 0;
}

/* Records the facts of the DMI tables, without texts that makers leave unfilled. Returns false
 * where there are no tables. */
static bool machine_emit_dmi(struct host *h, struct record *r)
{
    static const char *const rows[][2] = {{"sys_vendor", "machine.vendor"},         {"product_name", "machine.product"},
                                          {"board_name", "machine.board"},          {"bios_vendor", "machine.bios_vendor"},
                                          {"bios_version", "machine.bios_version"}, {"bios_date", "machine.bios_date"}};
    if (!look_exists(h, dmi))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct look_text text;
        if (look_read(h, &text, "%s/%s", dmi, rows[i][0])) {
            if (!machine_is_filler((struct str){text.p, text.n}))
                emit_param(h, r, rows[i][1], (struct str){text.p, text.n});
        } else if (errno != ENOENT) {
            char path[64];
            snprintf(path, sizeof path, "%s/%s", dmi, rows[i][0]);
            emit_unreadable(h, r, rows[i][1], path);
        }
    }
    return true;
}

/* Records the machine from the device tree of ARM, POWER and RISC-V, or from /proc/sysinfo of IBM
 * Z. Returns false where there is neither. */
static bool machine_emit_without_dmi(struct host *h, struct record *r)
{
    struct look_text text;
    if (look_read(h, &text, "proc/device-tree/model")) {
        emit_param(h, r, "machine.product", (struct str){text.p, text.n});
        return true;
    }
    if (!look_read(h, &text, "proc/sysinfo"))
        return false;
    struct str all = {text.p, text.n};
    emit_param(h, r, "machine.vendor", look_value(all, "Manufacturer", ':'));
    emit_param(h, r, "machine.product", look_value(all, "Type", ':'));
    return true;
}

/* Returns the hypervisor that the processor names to a guest; "" if there is none, or no such query. */
static const char *machine_hypervisor_by_cpuid(const struct host *h)
{
#if defined(__x86_64__) || defined(__i386__)
    static const char *const rows[][2] = {{"KVMKVMKVM", "kvm"},      {"Microsoft Hv", "hyperv"}, {"VMwareVMware", "vmware"},
                                          {"XenVMMXenVMM", "xen"},   {"TCGTCGTCGTCG", "qemu"},   {"VBoxVBoxVBox", "virtualbox"},
                                          {"bhyve bhyve", "bhyve"},  {"ACRNACRNACRN", "acrn"},   {"SRESRESRESRE", "sre"},
                                          {"Jailhouse", "jailhouse"}};
    unsigned a, b, c, d;
    char name[13] = "";
    if (!h->real || !__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
        return "";
    __cpuid(0x40000000, a, b, c, d);
    memcpy(name, &b, 4);
    memcpy(name + 4, &c, 4);
    memcpy(name + 8, &d, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_starts(str_of(name), rows[i][0]))
            return rows[i][1];
    return "unknown";
#else
    (void)h;
    return "";
#endif
}

/* By the names in DMI; product NULL: any. First match. */
static const char *machine_hypervisor_by_dmi(const struct host *h)
{
    static const char *const rows[][3] = {
        {"QEMU", NULL, "kvm"},
        {"VMware, Inc.", NULL, "vmware"},
        {"Xen", NULL, "xen"},
        {"innotek GmbH", NULL, "virtualbox"},
        {"Microsoft Corporation", "Virtual Machine", "hyperv"},
        {"Google", "Google Compute Engine", "kvm"},
        {"OpenStack Foundation", NULL, "kvm"},
        {"Parallels", NULL, "parallels"},
        {"Red Hat", "KVM", "kvm"},
        {"Nutanix", "AHV", "kvm"},
        {"Hetzner", "vServer", "kvm"},
        {"Apple Inc.", "Apple Virtualization", "apple"},
        {"KubeVirt", NULL, "kvm"},
        {"BHYVE", NULL, "bhyve"},
        {"Bochs", NULL, "bochs"},
        {"Scaleway", "SCW", "kvm"},
        {"DigitalOcean", NULL, "kvm"},
        {"Alibaba Cloud", "Alibaba Cloud ECS", "kvm"},
    };
    struct look_text vendor, product;
    if (!look_read(h, &vendor, "%s/sys_vendor", dmi))
        return "";
    look_read(h, &product, "%s/product_name", dmi);
    struct str v = {vendor.p, vendor.n}, p = {product.p, product.n};
    if (str_is(v, "Amazon EC2"))
        return str_has(p, ".metal") ? "" : "amazon";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_starts(v, rows[i][0]) && (!rows[i][1] || str_starts(p, rows[i][1])))
            return rows[i][2];
    return "";
}

/* Returns the hypervisor that files of proc or sys name, "unknown" where they name another one, ""
 * where they show none. */
static const char *machine_hypervisor_by_files(const struct host *h)
{
    struct look_text text;
    if (look_read(h, &text, "sys/hypervisor/type") && text.n > 0)
        return "xen";
    if (look_read(h, &text, "proc/device-tree/hypervisor/compatible"))
        return str_has((struct str){text.p, text.n}, "kvm") ? "kvm" : str_has((struct str){text.p, text.n}, "xen") ? "xen" : "unknown";
    if (look_exists(h, "proc/device-tree/ibm,partition-name"))
        return "powervm";
    if (look_read(h, &text, "proc/sysinfo")) {
        struct str all = {text.p, text.n}, program = look_value(all, "VM00 Control Program", ':');
        return str_starts(program, "z/VM") ? "zvm" : str_starts(program, "KVM") ? "kvm" : str_has(all, "LPAR Name") ? "lpar" : "";
    }
    return "";
}

/* Returns whether a guest could detect that it is one. x86 shows it by a flag, Amazon by its
 * product, POWER without a hypervisor boots by OPAL, and IBM Z has its own file. */
static bool machine_shows_hypervisors(const struct host *h, const struct cpuinfo *info)
{
    struct look_text text;
    struct str features = str_of(info->features);
    for (struct str word = str_word(&features); word.n > 0; word = str_word(&features))
        if (str_is(word, "fpu") || str_is(word, "sse2"))
            return true;
    if (look_read(h, &text, "%s/sys_vendor", dmi) && strcmp(text.p, "Amazon EC2") == 0)
        return true;
    return look_exists(h, "proc/sysinfo") || look_exists(h, "proc/device-tree/ibm,opal") ||
           (look_read(h, &text, "proc/cpuinfo") && str_starts(str_of(info->machine), "PowerNV"));
}

static void machine_emit_virtualization(struct host *h, struct record *r)
{
    const char *name = machine_hypervisor_by_dmi(h);
    if (!*name)
        name = machine_hypervisor_by_files(h);
    if (!*name)
        name = machine_hypervisor_by_cpuid(h);
    if (*name) {
        emit_text(h, r, "machine.virtualization", name);
        return;
    }
    enum { HEAD = 8192 }; /* the first processor's flags are within */
    struct buf text;
    buf_init(&text, 1 << 17);
    if (look_read_file(h, "proc/cpuinfo", HEAD, &text) == 0) {
        struct cpuinfo info;
        parse_cpuinfo(buf_text(&text), &info);
        if (info.hypervisor)
            emit_text(h, r, "machine.virtualization", "unknown");
        else if (machine_shows_hypervisors(h, &info))
            emit_text(h, r, "machine.virtualization", "none");
        else
            emit_missing(h, r, "machine.virtualization", "the firmware names no hypervisor, and these processors do not report one");
    } else
        emit_unreadable(h, r, "machine.virtualization", "proc/cpuinfo");
    buf_deinit(&text);
}

static int machine_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    if (!machine_emit_dmi(h, r) && !machine_emit_without_dmi(h, r))
        emit_absent(h, r, "machine.product", "this machine has neither DMI tables nor a device tree (common in small virtual machines)");
    machine_emit_virtualization(h, r);
    return 0;
}

const struct probe probe_machine = {
    .name = "machine",
    .summary = "vendor, product, firmware, virtualisation",
    .before = machine_before,
    .lasting = true,
};
