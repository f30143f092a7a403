/* identities.h: names, addresses and numbers that say who and where: known ones of this machine, job and user, and the shapes of addresses.
 * In public records each is replaced by a token of equal length, so that columns and offsets stay. */
#ifndef PROBES_IDENTITIES_H
#define PROBES_IDENTITIES_H
#include "base/buf.h"
#include "probes/probe.h"

struct identity {
    char *name, *token; /* one allocation */
    size_t n;
    char kind; /* u user, h host, d folder, a account, s serial or address */
    int next; /* of the same beginning; -1: none */
};

struct identities {
    struct identity *list; /* longest first */
    size_t count, room;
    int heads[1024];
    bool indexed;
    uint32_t numbers[4]; /* uid, gid, … : only behind words that say so */
    size_t number_count;
};

void identities_init(struct identities *ids);
void identities_deinit(struct identities *ids);
/* Names shorter than three bytes and common words ("root", "user", "localhost") are left alone: they tell nothing and would tear up texts. */
void identities_add(struct identities *ids, struct str name, char kind);
/* Returns whether it is one of the common words that identify no person ("root", "user"); any_case: in capital letters, too. */
bool identities_is_common(struct str name, bool any_case);
/* "gpu[01-03,07],login1": each name, at most 4096. */
void identities_add_hosts(struct identities *ids, struct str list);
/* What the environment names: user, home, hosts of the job, account, servers. */
void identities_add_env(struct identities *ids, char *const *env);
/* What the machine names: host and domain, user and groups, network addresses, serial numbers of machine, disks and adapters. */
void identities_add_host_names(struct identities *ids, const struct host *h);

struct identity_found {
    size_t at, n;
    const char *what; /* in words: "name of a host" */
};
/* Replaces in place; each (may be NULL) is called for every place before it is replaced. Also shapes: IPv4, IPv6, MAC, GUID, UUID, mail addresses, homes of others,
 * numbers of users where the text says that they are. Returns the number of places. */
size_t identities_replace(struct identities *ids, char *text, size_t n, void (*each)(void *context, const struct identity_found *f), void *context);
#endif
