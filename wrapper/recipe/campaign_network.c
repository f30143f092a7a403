/* campaign_network.c: addresses of the nodes on the network that a recipe names; see campaign_network.h. */
#include "recipe/campaign_network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

enum { NETWORK_BYTES = 4 << 20 };

/* The IPv4 network of a text such as 10.1.0.0/16, in the host's byte order. */
static bool read_network(const char *text, uint32_t *ret_address, uint32_t *ret_mask)
{
    struct str rest = str_of(text), address = str_cut(&rest, '/');
    char number[INET_ADDRSTRLEN];
    struct in_addr a;
    int64_t bits;
    snprintf(number, sizeof number, "%.*s", (int)(address.n < sizeof number ? address.n : 0), address.p);
    if (!rest.p || !str_int(rest, &bits) || bits < 0 || bits > 32 || inet_pton(AF_INET, number, &a) != 1)
        return false;
    *ret_mask = bits ? UINT32_MAX << (32 - bits) : 0;
    *ret_address = ntohl(a.s_addr) & *ret_mask;
    return true;
}

bool campaign_network_is_legal(const char *network)
{
    uint32_t address, mask;
    if (strchr(network, '/'))
        return read_network(network, &address, &mask);
    return network[0] && strlen(network) < IFNAMSIZ && !network[strcspn(network, " \t\r\n")];
}

/* This node's first IPv4 address there; false: it has none. */
static bool own_address(const char *network, char ret[INET_ADDRSTRLEN])
{
    uint32_t address = 0, mask = 0;
    struct ifaddrs *list;
    bool by_network = strchr(network, '/') && read_network(network, &address, &mask), found = false;
    if (getifaddrs(&list))
        return false;
    for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
            continue;
        const struct in_addr a = ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
        found = by_network ? (ntohl(a.s_addr) & mask) == address : strcmp(i->ifa_name, network) == 0;
        found = found && inet_ntop(AF_INET, &a, ret, INET_ADDRSTRLEN);
    }
    freeifaddrs(list);
    return found;
}

void campaign_network_print(const char *network, FILE *out)
{
    char address[INET_ADDRSTRLEN];
    fprintf(out, "address %s %s\n", campaign_node_name(), own_address(network, address) ? address : "");
}

static const char *address_in_lines(const struct campaign *c, struct str lines, const char *node)
{
    while (lines.p && lines.n) {
        struct str line = str_cut(&lines, '\n'), word = str_word(&line), name = str_word(&line), address = str_word(&line);
        if (str_is(word, "address") && str_is(name, node) && address.n)
            return arena_dup(c->arena, address.p, address.n);
    }
    return NULL;
}

int campaign_network_begin(struct campaign *c, struct err *err)
{
    const char *network = recipe_scalar(c->recipe, c->recipe->root, "network", NULL);
    char address[INET_ADDRSTRLEN];
    CLEANUP_BUF struct buf lines;
    buf_init(&lines, NETWORK_BYTES);
    if (!network)
        return 0;
    char *const words[] = {(char *)"address", (char *)"--", (char *)network, NULL};
    if (c->hosts.is_slurm && campaign_slurm_each(c, words, &lines, err))
        return err_wrap(err, "the addresses of the nodes");
    for (size_t i = 0; i < c->hosts.count; i++) {
        struct campaign_node *node = &c->hosts.nodes[i];
        node->address = c->hosts.is_slurm               ? address_in_lines(c, buf_text(&lines), node->name)
                        : own_address(network, address) ? arena_dup(c->arena, address, strlen(address))
                                                        : NULL;
        node->known = NULL;
        if (!node->address)
            return err_set(err, ERR_INPUT, "the node %.100s has no address on the network %.60s", node->name, network);
    }
    return 0;
}
