/* identities.h: names, addresses and numbers that identify a person or a place: known ones of this
 * machine, job and user, and texts with the shape of an address. In public records a token of equal
 * length replaces each, so that columns and offsets stay. */
#ifndef PROBES_IDENTITIES_H
#define PROBES_IDENTITIES_H
#include "base/buf.h"
#include "probes/probe.h"

struct identity {
    char *name, *token; /* one allocation */
    size_t n;
    char kind; /* u user, h host, d folder, a account, s serial or address */
    int next; /* the next with the same beginning; -1: none */
};

struct identities {
    struct identity *list; /* longest first */
    size_t count, room;
    int heads[1024];
    bool indexed;
    uint32_t numbers[4]; /* uid, gid, … : only behind words that announce them */
    size_t number_count;
};

void identities_init(struct identities *ids);
void identities_deinit(struct identities *ids);
/* Adds a name to replace; kind: struct identity. Names shorter than three bytes and common words
 * ("root", "user", "localhost") are left out: they identify no one, and are parts of other words. */
void identities_add(struct identities *ids, struct str name, char kind);
/* Returns whether it is a common word that identifies no person ("root", "user"); any_case: also in
 * capital letters. */
bool identities_is_common(struct str name, bool any_case);
/* Adds each name of a list of hosts, at most 4096: "gpu[01-03,07],login1". */
void identities_add_hosts(struct identities *ids, struct str list);
/* Adds the names in the environment: user, home, hosts of the job, account, servers. */
void identities_add_env(struct identities *ids, char *const *env);
/* Adds the names of the machine: host and domain, user and groups, network addresses, serial numbers
 * of machine, disks and adapters. */
void identities_add_host_names(struct identities *ids, const struct host *h);

struct identity_found {
    size_t at, n;
    const char *what; /* in words: "name of a host" */
};
/* Replaces names and shapes in place: IPv4, IPv6, MAC, GUID, UUID, mail addresses, homes of other
 * users, and numbers of users where the text announces them. each (may be NULL) is called for every
 * place before it is replaced. Returns the number of places. */
size_t identities_replace(struct identities *ids, char *text, size_t n, void (*each)(void *context, const struct identity_found *f), void *context);
#endif
