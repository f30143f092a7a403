/* node_name.h: what the ranks of a launch have in common, and what the node is called on which we are. */
#ifndef COLLECTOR_NODE_NAME_H
#define COLLECTOR_NODE_NAME_H
#include "base/buf.h"
#include "collector/collector_lines.h"

#include <stdbool.h>

/* What all ranks of one launch, and no others, have in common: a name for their folder. False: nothing tells. */
bool node_launch(char *const *env, char ret[33]);
/* The name of the node on which we are, as its scheduler knows it, else that of the host. */
void node_own_name(char *const *env, const char *host, char ret[NODE_NAME_MAX + 1]);
/* The folder of that launch, three levels below a place that others may write (place_open_below). spool: as plan->spool. */
enum { NODE_FOLDER_LEVELS = 3 };
void node_folder(const char *spool, const char *launch, struct buf *to);
#endif
