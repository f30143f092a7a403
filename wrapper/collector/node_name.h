/* node_name.h: the name that the ranks of a launch share, and the name of this node. */
#ifndef COLLECTOR_NODE_NAME_H
#define COLLECTOR_NODE_NAME_H
#include "base/buf.h"
#include "collector/collector_lines.h"

#include <stdbool.h>

/* Writes the name that all ranks of one launch, and no others, share. Returns false where the
 * environment has none. */
bool node_launch(char *const *env, char ret[33]);
/* Writes the name of this node as its scheduler knows it, else the name of the host. */
void node_own_name(char *const *env, const char *host, char ret[NODE_NAME_MAX + 1]);
enum { NODE_FOLDER_LEVELS = 3 }; /* of node_folder, below a place that others may write (place_open_below) */
/* Appends the folder of that launch. spool: as plan->spool. */
void node_folder(const char *spool, const char *launch, struct buf *to);
#endif
