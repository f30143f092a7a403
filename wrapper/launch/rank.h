/* rank.h: which rank of a parallel program this process is, from what its launcher put into the environment. */
#ifndef LAUNCH_RANK_H
#define LAUNCH_RANK_H
#include <stdbool.h>
#include <stdint.h>

struct rank {
    bool known;
    uint32_t rank, ranks; /* ranks: 0 if it is not told */
    const char *source;   /* name of the variable, "" if none */
};

/* Is this the first rank on its node, and not rank 0, so that this is a node on which nobody records? False where the launcher tells no local rank. */
bool rank_leads_node(const struct rank *rank, char *(*env)(const char *name));
/* env: a getenv-like lookup. */
struct rank rank_find(char *(*env)(const char *name));
#endif
