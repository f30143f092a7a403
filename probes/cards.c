/* cards.c: what each network card receives and sends while the program runs: Ethernet and the like, and InfiniBand's, Omni-Path's, RoCE's ports,
 * whose traffic does not pass through the kernel and stands in no other table. */
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_cards;

enum {
    CARDS_MAX = 16,
    PORTS_MAX = 16,
    PORTS_OF_ONE = 4,
    OCTETS = 4 /* a port's data are counted in words of so many (InfiniBand 16.1.3.5) */
};

struct card {
    char device[24], key[24];
    bool wanted, active;
    struct sample_count received, sent;
};

struct port {
    char key[32], folder[96];
    bool active, stuck;
    struct sample_file received_file, sent_file, wait_file;
    struct sample_count received, sent, wait;
};

struct cards {
    struct sample_file file;
    struct card at[4 * CARDS_MAX]; /* those that are not told are remembered, too */
    struct port port[PORTS_MAX];
    int count, told, ports, devices;
    bool looked;
};

/* Hardware; without any below it what carries a container's or a virtual machine's traffic. */
static bool is_card(const struct host *h, const char *device)
{
    char path[80];
    snprintf(path, sizeof path, "sys/class/net/%.24s/device", device);
    return look_exists(h, path) || strncmp(device, "eth", 3) == 0 || strncmp(device, "bond", 4) == 0;
}

static struct card *find(const struct host *h, struct cards *c, struct str device)
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
        sample_name(one->key, one->device, "card", ++c->told);
    return one;
}

/* Bytes as megabytes per second. */
static void tell_rate(struct host *h, struct record *r, struct sample_count *c, double bytes, bool active, const char *key, const char *way)
{
    double rate;
    if (sample_rate(c, h, bytes, 0, &rate) && active)
        sample_tell_fine(h, r, rate / 1e6, "system/network_%s_%s_megabytes_per_second", key, way);
}

static void see_line(struct host *h, struct record *r, struct cards *c, struct str line)
{
    struct str device = str_trim(str_cut(&line, ':'));
    double in, out;
    struct card *one = line.p ? find(h, c, device) : NULL;
    if (!one || !one->wanted || !str_double(str_word(&line), &in))
        return;
    for (int i = 0; i < 7; i++)
        str_word(&line);
    if (!str_double(str_word(&line), &out))
        return;
    one->active |= one->received.known && (in != one->received.last || out != one->sent.last);
    tell_rate(h, r, &one->received, in, one->active, one->key, "receive");
    tell_rate(h, r, &one->sent, out, one->active, one->key, "transmit");
}

struct finding {
    const struct host *h;
    struct cards *c;
};

static void find_ports(void *context, const char *device)
{
    struct finding *f = context;
    char name[24], path[128];
    sample_name(name, device, "fabric", ++f->c->devices);
    for (int number = 1; number <= PORTS_OF_ONE && f->c->ports < PORTS_MAX; number++) {
        struct port *p = &f->c->port[f->c->ports];
        int n = snprintf(path, sizeof path, "sys/class/infiniband/%.40s/ports/%d/counters", device, number);
        if (!look_exists(f->h, path))
            continue;
        memcpy(p->folder, path, (size_t)n + 1 < sizeof p->folder ? (size_t)n + 1 : sizeof p->folder);
        p->folder[sizeof p->folder - 1] = 0;
        snprintf(p->key, sizeof p->key, "%s_%d", name, number);
        f->c->ports++;
    }
}

/* Old devices count in 32 bits and stop at the highest number. */
static bool is_stuck(double words)
{
    return words == 4294967295.0;
}

static void see_port(struct host *h, struct record *r, struct port *p)
{
    double in, out, wait, rate;
    if (p->stuck || !sample_number(h, &p->received_file, &in, "%s/port_rcv_data", p->folder) ||
        !sample_number(h, &p->sent_file, &out, "%s/port_xmit_data", p->folder))
        return;
    if (is_stuck(in) || is_stuck(out)) {
        p->stuck = true;
        tell_missing(h, r, "system/fabric", "%s: its counters have 32 bits and stand at their end; \"perfquery -R\" resets them", p->key);
        return;
    }
    p->active |= p->received.known && (in != p->received.last || out != p->sent.last);
    tell_rate(h, r, &p->received, in * OCTETS, p->active, p->key, "receive");
    tell_rate(h, r, &p->sent, out * OCTETS, p->active, p->key, "transmit");
    if (sample_number(h, &p->wait_file, &wait, "%s/port_xmit_wait", p->folder) && sample_rate(&p->wait, h, wait, 0, &rate) && p->active)
        sample_tell_fine(h, r, rate, "system/network_%s_wait_ticks_per_second",
                         p->key); /* data stood ready, and there was no credit to send them */
}

static int sample(struct host *h, struct record *r, struct err *err)
{
    struct cards *c = probe_kept(h, &probe_cards);
    struct str text;
    (void)err;
    if (!c)
        return 0;
    if (!c->looked) {
        struct finding f = {h, c};
        look_names(h, "sys/class/infiniband", find_ports, &f);
        c->looked = true;
    }
    if (sample_read(h, &c->file, &text, "proc/self/net/dev"))
        while (text.p)
            see_line(h, r, c, str_cut(&text, '\n'));
    for (int i = 0; i < c->ports; i++)
        see_port(h, r, &c->port[i]);
    return 0;
}

static void drop(void *kept)
{
    struct cards *c = kept;
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
    .sample = sample,
    .keeps = sizeof(struct cards),
    .drop = drop,
};
