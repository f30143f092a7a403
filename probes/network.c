/* network.c: fast networks and network cards: model, rate, driver, firmware, MTU, state of the ports. No addresses, no GUIDs.
 *
 * InfiniBand, RoCE, Omni-Path and iWARP show in sys/class/infiniband, Slingshot in sys/class/cxi, the rest in sys/class/net. Equal devices are
 * recorded once with their number ("mlx5*4"), so that equal machines read equal. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/tally.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS_MAX = 4 };

/* Reads which driver serves a device: the last part of the link device/driver. */
static bool network_read_driver(const struct host *h, const char *class, const char *name, struct look_text *ret)
{
    char path[256], target[512];
    snprintf(path, sizeof path, "%s/%s/device/driver", class, name);
    ssize_t n = readlinkat(h->root, path, target, sizeof target - 1);
    if (n <= 0 || (size_t)n >= sizeof target - 1)
        return false;
    target[n] = 0;
    ret->n = (size_t)snprintf(ret->p, sizeof ret->p, "%s", str_base_name(target));
    return true;
}

/* Writes a name for the card by the PCI numbers of its device, else those numbers; "" where they
 * cannot be read. */
static void network_read_model(const struct host *h, const char *class, const char *name, char *ret, size_t size)
{
    static const struct {
        const char *ids, *name;
    } rows[] = {
#define NIC(ids, name) {ids, name},
#include "probes/network.def"
#undef NIC
    };
    struct look_text vendor, device;
    *ret = 0;
    if (!look_read(h, &vendor, "%s/%s/device/vendor", class, name) || !look_read(h, &device, "%s/%s/device/device", class, name))
        return;
    if (!str_starts((struct str){vendor.p, vendor.n}, "0x") || !str_starts((struct str){device.p, device.n}, "0x"))
        return;
    snprintf(ret, size, "%.8s:%.8s", vendor.p + 2, device.p + 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(ret, rows[i].ids) == 0)
            snprintf(ret, size, "%s", rows[i].name);
}

/* ---- sys/class/infiniband ---- */

struct fabric {
    struct host *h;
    struct tally devices, models, firmwares, drivers, rates, states, links, mtus;
};

static void network_read_port(struct fabric *f, const char *device, int port)
{
    struct look_text text;
    struct host *h = f->h;
    if (!look_read(h, &text, "sys/class/infiniband/%s/ports/%d/state", device, port))
        return;
    struct str state = {text.p, text.n}, number = str_cut(&state, ':'); /* "4: ACTIVE" */
    state = str_trim(state.p ? state : number);
    tally_add(&f->states, state);
    if (!str_is(state, "ACTIVE"))
        return; /* a port without a link has no rate */
    if (look_read(h, &text, "sys/class/infiniband/%s/ports/%d/rate", device, port)) /* "200 Gb/sec (4X HDR)" */
        tally_add(&f->rates, (struct str){text.p, text.n});
    if (look_read(h, &text, "sys/class/infiniband/%s/ports/%d/link_layer", device, port))
        tally_add(&f->links, (struct str){text.p, text.n});
}

static void network_read_fabric(void *context, const char *device)
{
    struct fabric *f = context;
    struct look_text text;
    char model[128];
    if (look_read(f->h, &text, "sys/class/infiniband/%s/hca_type", device))
        tally_add(&f->devices, (struct str){text.p, text.n});
    network_read_model(f->h, "sys/class/infiniband", device, model, sizeof model);
    tally_add(&f->models, str_of(model));
    if (look_read(f->h, &text, "sys/class/infiniband/%s/fw_ver", device))
        tally_add(&f->firmwares, (struct str){text.p, text.n});
    if (network_read_driver(f->h, "sys/class/infiniband", device, &text))
        tally_add(&f->drivers, (struct str){text.p, text.n});
    for (int port = 1; port <= PORTS_MAX; port++)
        network_read_port(f, device, port);
}

/* Records the InfiniBand devices. Returns false where there are none. */
static bool network_emit_fabric(struct host *h, struct record *r)
{
    struct fabric f = {.h = h};
    int n = look_each_name(h, "sys/class/infiniband", network_read_fabric, &f);
    if (n <= 0)
        return false;
    emit_int(h, r, "net.fabric_devices", n);
    tally_emit(&f.models, h, r, "net.fabric_model");
    tally_emit(&f.devices, h, r, "net.fabric_type");
    tally_emit(&f.drivers, h, r, "net.fabric_driver");
    tally_emit(&f.firmwares, h, r, "net.fabric_firmware");
    tally_emit(&f.states, h, r, "net.fabric_state");
    tally_emit(&f.rates, h, r, "net.fabric_rate");
    tally_emit(&f.links, h, r, "net.fabric_link"); /* InfiniBand, or Ethernet: RoCE */
    if (f.states.n == 0)
        emit_missing(h, r, "net.fabric_state", "no port of the devices in /sys/class/infiniband reports its state");
    return true;
}

/* ---- sys/class/cxi: HPE Slingshot ---- */

static void network_read_slingshot(void *context, const char *device)
{
    static const char *const files[] = {"device/fabric/../speed", "speed", "device/port/speed"};
    struct fabric *f = context;
    struct look_text text;
    char model[128];
    network_read_model(f->h, "sys/class/cxi", device, model, sizeof model);
    tally_add(&f->models, str_of(model));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (look_read(f->h, &text, "sys/class/cxi/%s/%s", device, files[i])) {
            tally_add(&f->rates, (struct str){text.p, text.n});
            break;
        }
    if (look_read(f->h, &text, "sys/class/cxi/%s/device/port/link", device) || /* "up" */
        look_read(f->h, &text, "sys/class/cxi/%s/device/port/link_state", device) ||
        look_read(f->h, &text, "sys/class/cxi/%s/device/link_state", device))
        tally_add(&f->states, (struct str){text.p, text.n});
    if (look_read(f->h, &text, "sys/class/cxi/%s/device/uc/qspi_blob_version", device) ||
        look_read(f->h, &text, "sys/class/cxi/%s/device/fru/firmware_version", device))
        tally_add(&f->firmwares, (struct str){text.p, text.n});
    if (network_read_driver(f->h, "sys/class/cxi", device, &text))
        tally_add(&f->drivers, (struct str){text.p, text.n});
}

/* Records the Slingshot devices. Returns false where there are none. */
static bool network_emit_slingshot(struct host *h, struct record *r)
{
    struct fabric f = {.h = h};
    int n = look_each_name(h, "sys/class/cxi", network_read_slingshot, &f);
    if (n <= 0)
        return false;
    emit_int(h, r, "net.slingshot_devices", n);
    tally_emit(&f.models, h, r, "net.slingshot_model");
    tally_emit(&f.drivers, h, r, "net.slingshot_driver");
    tally_emit(&f.firmwares, h, r, "net.slingshot_firmware");
    tally_emit(&f.rates, h, r, "net.slingshot_rate");
    tally_emit(&f.states, h, r, "net.slingshot_state");
    return true;
}

/* ---- sys/class/net ---- */

struct network_cards {
    struct host *h;
    int count, sock;
    struct tally models, drivers, firmwares, rates, mtus, versions;
};

/* Queries the driver about itself. Not all of it is in sysfs. */
static void network_query_driver(struct network_cards *c, const char *name)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq ask = {.ifr_data = (void *)&info};
    snprintf(ask.ifr_name, sizeof ask.ifr_name, "%.15s", name);
    if (c->sock < 0 || ioctl(c->sock, SIOCETHTOOL, &ask) != 0)
        return;
    tally_add(&c->firmwares, str_of(strcmp(info.fw_version, "N/A") ? info.fw_version : ""));
}

/* Adds a card that can carry what is measured: Ethernet, IPoIB or Omni-Path devices with hardware
 * below, and a link. */
static void network_read_card(void *context, const char *name)
{
    struct network_cards *c = context;
    struct look_text text;
    struct host *h = c->h;
    char model[128];
    char path[128];
    int64_t speed;
    snprintf(path, sizeof path, "sys/class/net/%s/device", name);
    if (!look_exists(h, path))
        return; /* bridges, tunnels, loopback, container ends */
    if (look_read(h, &text, "sys/class/net/%s/operstate", name) && !str_is((struct str){text.p, text.n}, "up") &&
        !str_is((struct str){text.p, text.n}, "unknown"))
        return;
    c->count++;
    network_read_model(h, "sys/class/net", name, model, sizeof model);
    tally_add(&c->models, str_of(model));
    if (network_read_driver(h, "sys/class/net", name, &text))
        tally_add(&c->drivers, (struct str){text.p, text.n});
    if (look_read_int(h, &speed, "sys/class/net/%s/speed", name) && speed > 0) {
        snprintf(model, sizeof model, "%lld Mb/s", (long long)speed);
        tally_add(&c->rates, str_of(model));
    }
    if (look_read(h, &text, "sys/class/net/%s/mtu", name))
        tally_add(&c->mtus, (struct str){text.p, text.n});
    network_query_driver(c, name);
}

/* Records the network cards. Returns false where there are none. */
static bool network_emit_cards(struct host *h, struct record *r)
{
    struct network_cards c = {.h = h, .sock = h->real ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1};
    look_each_name(h, "sys/class/net", network_read_card, &c);
    if (c.sock >= 0)
        close(c.sock);
    if (c.count == 0)
        return false;
    emit_int(h, r, "net.cards", c.count);
    tally_emit(&c.models, h, r, "net.card_model");
    tally_emit(&c.drivers, h, r, "net.card_driver");
    tally_emit(&c.firmwares, h, r, "net.card_firmware");
    tally_emit(&c.rates, h, r, "net.card_rate");
    tally_emit(&c.mtus, h, r, "net.card_mtu");
    if (c.rates.n == 0)
        emit_missing(h, r, "net.card_rate", "the cards' drivers report no speed (usual in virtual machines)");
    return true;
}

/* Records the fabric and the network cards of the node; one missing value where none is visible.
 * Returns 0. */
static int network_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    bool any = network_emit_fabric(h, r);
    any |= network_emit_slingshot(h, r);
    any |= network_emit_cards(h, r);
    if (!any)
        emit_absent(h, r, "net.cards",
                    "no network card is visible (/sys/class/net, /sys/class/infiniband; a network namespace hides them)");
    return 0;
}

const struct probe probe_network = {
    .name = "network",
    .summary = "InfiniBand, RoCE, Slingshot, Ethernet: model, rate, driver, firmware, state",
    .before = network_before,
};
