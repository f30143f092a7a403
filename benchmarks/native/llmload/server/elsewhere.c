/* elsewhere.c: whether a service is on another machine, whose energy is not that of this one; see server.h. */
#include "benchmarks/native/llmload/endpoint.h"
#include "benchmarks/native/llmload/server/server.h"

#include <netinet/in.h>
#include <unistd.h>

/* A socket can have the addresses of this machine only. */
static bool is_address_here(const struct endpoint *e, unsigned i)
{
    struct sockaddr_storage place = e->address[i].u.storage;
    if (place.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&place)->sin6_port = 0;
    else
        ((struct sockaddr_in *)&place)->sin_port = 0;
    int fd = socket(e->address[i].family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool here = fd < 0 || bind(fd, (struct sockaddr *)&place, e->address[i].length) == 0;
    if (fd >= 0)
        close(fd);
    return here;
}

bool server_is_elsewhere(const struct load *load)
{
    struct arena a;
    bool elsewhere = false;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < load->url_count && !elsewhere; i++) {
        struct endpoint e;
        if (endpoint_read(&e, load->urls[i], load->path, &a, NULL) < 0 || e.socket)
            continue;
        e.tls = false; /* so that the name is resolved */
        if (endpoint_resolve(&e, NULL) < 0 || !e.addresses)
            continue;
        elsewhere = true;
        for (unsigned k = 0; k < e.addresses; k++)
            elsewhere = elsewhere && !is_address_here(&e, k);
    }
    arena_deinit(&a);
    return elsewhere;
}
