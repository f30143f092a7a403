/* address.h: whether a network address belongs to this machine. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H
#include <stdbool.h>
#include <sys/socket.h>

/* Returns whether the IPv4 or IPv6 address is one of this machine's interfaces, a loopback address,
 * or the unspecified one, which connects to this machine. The port does not count. False for other
 * families, and where the kernel does not list the interfaces. */
bool address_is_own(const struct sockaddr *address);
#endif
