/* topology.h: private to the topology probe and its tests. */
#ifndef PROBES_TOPOLOGY_H
#define PROBES_TOPOLOGY_H
#include "probes/look.h"

/* Appends the canonical summary of the hardware (no identities, no settings): the text that node.type is the hash of.
 * xml: text of a topology, as a machine was captured. 0 or -1. */
int topology_summary_of_xml(struct str xml, struct buf *to, struct err *err);
#endif
