/* cards.c: what each network card receives and sends while the program runs: Ethernet and the like,
 * and InfiniBand's, Omni-Path's, RoCE's and Slingshot's ports, whose traffic does not pass through
 * the kernel and is in no other table. */
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_cards;

enum { CARDS_MAX = 16, PORTS_MAX = 16, PORTS_OF_ONE = 4 };

/* What counts a port's data. Slingshot's telemetry is "<number>@<time>" in octets: HPE's Cassini counters, of all traffic that passed the link well. */
static const struct family {
    const char *received, *sent, *wait;
    double octets; /* in one count: words of four by InfiniBand 16.1.3.5 */
} infiniband = {"port_rcv_data", "port_xmit_data", "port_xmit_wait", 4},
  slingshot = {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", NULL, 1};

struct card {
    char device[24], key[24];
    bool wanted, active;
    struct sample_count received, sent;
};

struct port {
    const struct family *family;
    char key[40], folder[96];
    bool active, stuck;
    struct sampled_file received_file, sent_file, wait_file;
    struct sample_count received, sent, wait;
};

struct card_counters {
    struct sampled_file file;
    struct card at[4 * CARDS_MAX]; /* with those that are not recorded */
    struct port port[PORTS_MAX];
    int count, told, ports, devices;
    bool looked;
};

/* Returns whether the device is hardware, or by its name ("eth", "bond") carries a container's or a
 * virtual machine's traffic. */
static bool is_card(const struct host *h, const char *device)
{
    char path[80];
    snprintf(path, sizeof path, "sys/class/net/%.24s/device", device);
    return look_exists(h, path) || strncmp(device, "eth", 3) == 0 || strncmp(device, "bond", 4) == 0;
}

/* Returns the row of the device; makes one at its first line. NULL: no name, one that is too long,
 * or the table is full. */
static struct card *cards_find_card(const struct host *h, struct card_counters *c, struct str device)
{
    if (device.n == 0 || device.n >= sizeof c->at->device)
        return NULL;
    for (int i = 0; i < c->count; i++)
        if (str_is(device, c->at[i].device))
            return &c->at[i];
    if (c->count == sizeof c->at / sizeof *c->at)
        return NULL;
    struct card *one = &c->at[c->count++];
    memcpy(one->device, device.p, device.n);
    one->wanted = c->told < CARDS_MAX && is_card(h, one->device);
    if (one->wanted)
        sample_device_name(one->key, one->device, "card", ++c->told);
    return one;
}

/* Records the rate since the last call in megabytes per second; `bytes` is the counter's value now.
 * Nothing at the first call, or for a port that is not active. */
static void cards_emit_rate(struct host *h, struct record *r, struct sample_count *c, double bytes, bool active, const char *key,
                            const char *way)
{
    double rate;
    if (sample_rate(c, h, bytes, 0, &rate) && active)
        sample_emit_fine(h, r, rate / 1e6, "system/network_%s_%s_megabytes_per_second", key, way);
}

/* Records the rates of one line of /proc/self/net/dev, where its card is sampled. */
static void cards_read_line(struct host *h, struct record *r, struct card_counters *c, struct str line)
{
    struct str device = str_trim(str_cut(&line, ':'));
    double in, out;
    struct card *one = line.p ? cards_find_card(h, c, device) : NULL;
    if (!one || !one->wanted || !str_double(str_word(&line), &in))
        return;
    for (int i = 0; i < 7; i++)
        str_word(&line);
    if (!str_double(str_word(&line), &out))
        return;
    one->active |= one->received.known && (in != one->received.last || out != one->sent.last);
    cards_emit_rate(h, r, &one->received, in, one->active, one->key, "receive");
    cards_emit_rate(h, r, &one->sent, out, one->active, one->key, "transmit");
}

struct card_search {
    const struct host *h;
    struct card_counters *c;
};

/* Adds a port whose counters are in `folder`. NULL: the folder does not exist, or there are too
 * many ports. The search owns it. */
static struct port *cards_add_port(struct card_search *f, const struct family *family, const char *folder)
{
    if (f->c->ports == PORTS_MAX || !look_exists(f->h, folder))
        return NULL;
    struct port *p = &f->c->port[f->c->ports++];
    p->family = family;
    snprintf(p->folder, sizeof p->folder, "%s", folder);
    return p;
}

/* Adds the ports of an InfiniBand device whose counters exist, and makes their keys. */
static void cards_add_ports(void *context, const char *device)
{
    struct card_search *f = context;
    char name[24], folder[96];
    sample_device_name(name, device, "fabric", ++f->c->devices);
    for (int number = 1; number <= PORTS_OF_ONE; number++) {
        snprintf(folder, sizeof folder, "sys/class/infiniband/%.40s/ports/%d/counters", device, number);
        struct port *p = cards_add_port(f, &infiniband, folder);
        if (p)
            snprintf(p->key, sizeof p->key, "%s_%d", name, number);
    }
}

static void cards_add_slingshot(void *context, const char *device)
{
    struct card_search *f = context;
    char folder[96];
    snprintf(folder, sizeof folder, "sys/class/cxi/%.40s/device/telemetry", device);
    struct port *p = cards_add_port(f, &slingshot, folder);
    f->c->devices++;
    if (p)
        sample_device_name(p->key, device, "fabric", f->c->devices);
}

/* Returns whether the counter is at its end: old devices count in 32 bits and stop at the highest
 * number. */
static bool is_stuck(double words)
{
    return words == 4294967295.0;
}

/* Records the rates of a port. A counter at the end of its 32 bits is recorded as missing once, and
 * the port is not read again. */
static void cards_read_port(struct host *h, struct record *r, struct port *p)
{
    double in, out, wait, rate;
    if (p->stuck || !sample_number(h, &p->received_file, &in, "%s/%s", p->folder, p->family->received) ||
        !sample_number(h, &p->sent_file, &out, "%s/%s", p->folder, p->family->sent))
        return;
    if (p->family == &infiniband && (is_stuck(in) || is_stuck(out))) {
        p->stuck = true;
        emit_missing(h, r, "system/fabric", "%s: its counters have 32 bits and stand at their end; \"perfquery -R\" resets them", p->key);
        return;
    }
    p->active |= p->received.known && (in != p->received.last || out != p->sent.last);
    cards_emit_rate(h, r, &p->received, in * p->family->octets, p->active, p->key, "receive");
    cards_emit_rate(h, r, &p->sent, out * p->family->octets, p->active, p->key, "transmit");
    if (p->family->wait && sample_number(h, &p->wait_file, &wait, "%s/%s", p->folder, p->family->wait) &&
        sample_rate(&p->wait, h, wait, 0, &rate) && p->active)
        sample_emit_fine(h, r, rate, "system/network_%s_wait_ticks_per_second",
                         p->key); /* data were ready, and there was no credit to send them */
}

static int cards_sample(struct host *h, struct record *r, struct err *err)
{
    struct card_counters *c = probe_data(h, &probe_cards);
    struct str text;
    (void)err;
    if (!c)
        return 0;
    if (!c->looked) {
        struct card_search f = {h, c};
        look_each_name(h, "sys/class/infiniband", cards_add_ports, &f);
        look_each_name(h, "sys/class/cxi", cards_add_slingshot, &f);
        c->looked = true;
    }
    if (sample_read(h, &c->file, &text, "proc/self/net/dev"))
        while (text.p)
            cards_read_line(h, r, c, str_cut(&text, '\n'));
    for (int i = 0; i < c->ports; i++)
        cards_read_port(h, r, &c->port[i]);
    return 0;
}

static void cards_drop(void *kept)
{
    struct card_counters *c = kept;
    sample_close(&c->file);
    for (int i = 0; i < c->ports; i++) {
        sample_close(&c->port[i].received_file);
        sample_close(&c->port[i].sent_file);
        sample_close(&c->port[i].wait_file);
    }
}

const struct probe probe_cards = {
    .name = "cards",
    .summary = "what each network card and fabric port carries while the program runs",
    .sample = cards_sample,
    .keeps = sizeof(struct card_counters),
    .drop = cards_drop,
};
