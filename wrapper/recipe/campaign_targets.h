/* campaign_targets.h: the services of a campaign that are up, as another machine reaches them. */
#ifndef RECIPE_CAMPAIGN_TARGETS_H
#define RECIPE_CAMPAIGN_TARGETS_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Ports of Prometheus and Grafana on the other machine, which no tunnel has there. */
#define LAPTOP_PROMETHEUS 9092
#define LAPTOP_GRAFANA 3001

/* An address of a service. */
struct campaign_target {
    const char *role, *node, *host;
    long long instance;
    unsigned port;
    unsigned local; /* the port on the other machine, unique */
    const char *metrics; /* path of metrics there; NULL: none */
    const char *token; /* file with the token that requests carry; NULL: none */
    size_t token_number; /* of this file in `tokens` */
    bool is_gateway; /* a Pushgateway, whose series have labels of their own */
};

struct campaign_targets {
    struct campaign_target *list;
    const char **tokens; /* their token files, each once */
    size_t count, token_count;
};

/* Those of the campaign in this folder, texts in the arena. 0; -1 with err: no service is up. */
int campaign_targets_read(struct campaign_targets *ret, const char *folder, struct arena *a, struct err *err);
/* Appends scrape configurations of Prometheus. local: for the machine at the other end of the tunnels, whose token files are token-0, token-1 …,
 * in the order of t->tokens. */
void campaign_targets_scrape(const struct campaign_targets *t, bool local, struct buf *to);
/* The word USER@HOST of the host on which this process runs. In the arena; NULL: out of memory. */
const char *campaign_targets_login(struct arena *a);
/* Appends a Prometheus configuration for the services of the campaign in this folder, or (tunnels) ssh commands that make them reachable from
 * another machine. 0; -1 with err: no service is up. */
int campaign_targets_print(const char *folder, bool tunnels, struct buf *to, struct err *err);
#endif
