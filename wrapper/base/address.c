/* address.c: whether a network address belongs to this machine. See address.h. */
#include "base/address.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

/* Stores the address as IPv6, an IPv4 one as ::ffff:a.b.c.d. */
static bool read_address(const struct sockaddr *from, struct in6_addr *ret)
{
    if (from && from->sa_family == AF_INET6) {
        *ret = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        return true;
    }
    if (!from || from->sa_family != AF_INET)
        return false;
    *ret = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&ret->s6_addr[12], &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    return true;
}

bool address_is_own(const struct sockaddr *address)
{
    static const uint8_t unspecified_four[4];
    struct in6_addr wanted, own;
    struct ifaddrs *list = NULL;
    bool found = false;
    if (!read_address(address, &wanted))
        return false;
    if (IN6_IS_ADDR_LOOPBACK(&wanted) || IN6_IS_ADDR_UNSPECIFIED(&wanted))
        return true;
    if (IN6_IS_ADDR_V4MAPPED(&wanted) && (wanted.s6_addr[12] == 127 || memcmp(&wanted.s6_addr[12], unspecified_four, 4) == 0))
        return true;
    if (getifaddrs(&list))
        return false;
    for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next)
        found = read_address(i->ifa_addr, &own) && IN6_ARE_ADDR_EQUAL(&own, &wanted);
    freeifaddrs(list);
    return found;
}
