/* campaign_network.h: addresses of the nodes on the network that a recipe names. */
#ifndef RECIPE_CAMPAIGN_NETWORK_H
#define RECIPE_CAMPAIGN_NETWORK_H
#include "recipe/campaign.h"

/* Is the text the name of an interface, or a network such as 10.1.0.0/16? */
bool campaign_network_is_legal(const char *network);
/* With `network`: replaces the address of each node by that of its interface of this name, or in this network. 0; -1 with err: a node has none. */
int campaign_network_begin(struct campaign *c, struct err *err);
/* What runs on each node for this: prints a line "address NODE ADDRESS"; without the address where there is none. */
void campaign_network_print(const char *network, FILE *out);
#endif
