/* topology_xml.h: a hwloc topology as text without identities. */
#ifndef PROBES_TOPOLOGY_XML_H
#define PROBES_TOPOLOGY_XML_H
#include "base/buf.h"
#include "base/err.h"

/* Appends the XML with only those elements, attributes and infos that the allow-list topology_xml.def names: no host name, addresses,
 * GUIDs, serials, cgroup paths. 0, or -1 with *err when the text is not what hwloc writes. */
int topology_xml_scrub(struct str xml, struct buf *to, struct err *err);
#endif
