/* dimm.c: memory modules: how many, how big, of which kind, how fast. From SMBIOS (root alone may read it), else from the memory controllers' driver
 * (EDAC). No serial numbers, no part numbers. */
#include "base/fs.h"
#include "probes/look.h"
#include "probes/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct modules {
    struct host *h;
    struct tally sizes, kinds, speeds, rated;
    int count, places;
    bool closed;
    char controller[64]; /* of EDAC: the folder that is being read */
};

/* SMBIOS 3.6, table 77: the kinds that machines of this century have. */
static const char *dimm_kind_name(unsigned kind)
{
    static const struct {
        unsigned kind;
        const char *name;
    } rows[] = {{0x12, "DDR"},    {0x13, "DDR2"},   {0x18, "DDR3"}, {0x1a, "DDR4"}, {0x1b, "LPDDR"}, {0x1c, "LPDDR2"}, {0x1d, "LPDDR3"},
                {0x1e, "LPDDR4"}, {0x1f, "NVDIMM"}, {0x20, "HBM"},  {0x21, "HBM2"}, {0x22, "DDR5"},  {0x23, "LPDDR5"}, {0x24, "HBM3"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return rows[i].name;
    return "";
}

static unsigned dimm_word_at(const unsigned char *p, size_t n, size_t at)
{
    return at + 2 <= n ? p[at] | (unsigned)p[at + 1] << 8 : 0;
}

static void dimm_add_speed(struct tally *t, unsigned speed)
{
    char text[32];
    if (speed == 0 || speed == 0xffff)
        return;
    snprintf(text, sizeof text, "%u MT/s", speed);
    tally_add(t, str_of(text));
}

/* A "Memory Device" (type 17): size at 0x0c in MiB (bit 15: KiB; 0x7fff: at 0x1c), kind at 0x12, speed at 0x15, as configured at 0x20. */
static void dimm_parse_entry(struct modules *m, const unsigned char *p, size_t n)
{
    unsigned size = dimm_word_at(p, n, 0x0c);
    double GiB = size & 0x8000 ? (size & 0x7fff) / 1048576.0 : size / 1024.0;
    if (n < 0x15 || p[0] != 17)
        return;
    if (n > p[1])
        n = p[1]; /* texts follow: serials among them */
    m->places++;
    if (size == 0 || size == 0xffff)
        return; /* an empty place */
    if (size == 0x7fff && n >= 0x20)
        GiB = (dimm_word_at(p, n, 0x1c) + (dimm_word_at(p, n, 0x1e) & 0x7fff) * 65536.0) / 1024.0;
    m->count++;
    tally_add_number(&m->sizes, GiB, 0);
    tally_add(&m->kinds, str_of(dimm_kind_name(p[0x12])));
    dimm_add_speed(&m->rated, dimm_word_at(p, n, 0x15));
    dimm_add_speed(&m->speeds, dimm_word_at(p, n, 0x20));
}

/* Called for each entry of the DMI table: parses a memory device (type 17). m->closed: only root
 * may read them, so the rest is skipped. */
static void dimm_read_entry(void *context, const char *name)
{
    struct modules *m = context;
    unsigned char text[256];
    char path[128];
    if (strncmp(name, "17-", 3) != 0 || m->closed)
        return;
    snprintf(path, sizeof path, "sys/firmware/dmi/entries/%.40s/raw", name);
    int fd CLEANUP_FD = openat(m->h->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text, 0);
    if (n > 0)
        dimm_parse_entry(m, text, (size_t)n);
    else
        m->closed = errno == EACCES || errno == EPERM;
}

/* Adds a module of the memory controller m->controller, if the entry is one. */
static void dimm_read_module(void *context, const char *name)
{
    struct modules *m = context;
    struct look_text kind;
    int64_t MiB;
    if (strncmp(name, "dimm", 4) != 0 || !look_read_int(m->h, &MiB, "%s/%.20s/size", m->controller, name) || MiB <= 0)
        return;
    m->count++;
    tally_add_number(&m->sizes, (double)MiB / 1024, 0);
    if (look_read(m->h, &kind, "%s/%.20s/dimm_mem_type", m->controller, name))
        tally_add(&m->kinds, (struct str){kind.p, kind.n});
}

/* Adds the modules of a memory controller that EDAC reports. It numbers places and lists those with a
 * module, so numbers are missing where a place is empty. */
static void dimm_read_controller(void *context, const char *name)
{
    struct modules *m = context;
    if (strncmp(name, "mc", 2) != 0)
        return;
    snprintf(m->controller, sizeof m->controller, "sys/devices/system/edac/mc/%.20s", name);
    look_each_name(m->h, m->controller, dimm_read_module, m);
}

static int dimm_before(struct host *h, struct record *r, struct err *err)
{
    struct modules m = {.h = h};
    (void)err;
    look_each_name(h, "sys/firmware/dmi/entries", dimm_read_entry, &m);
    if (m.count == 0)
        look_each_name(h, "sys/devices/system/edac/mc", dimm_read_controller, &m);
    if (m.count == 0) {
        emit_absent(h, r, "dimm.count",
                    m.closed ? "only root can read the firmware's table of memory modules, and no EDAC driver reports them"
                             : "the firmware has no table of memory modules, and no EDAC driver reports them (usual in virtual machines)");
        return 0;
    }
    emit_int(h, r, "dimm.count", m.count);
    tally_emit(&m.sizes, h, r, "dimm.size_GiB");
    tally_emit(&m.kinds, h, r, "dimm.kind");
    tally_emit(&m.speeds, h, r, "dimm.speed");
    tally_emit(&m.rated, h, r, "dimm.speed_rated");
    if (m.places > m.count)
        emit_int(h, r, "dimm.places", m.places);
    return 0;
}

const struct probe probe_dimm = {
    .name = "dimm",
    .summary = "memory modules: number, size, kind, speed",
    .before = dimm_before,
    .lasting = true,
};
