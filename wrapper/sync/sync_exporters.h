/* sync_exporters.h: deliver to exporters what waits in the spools of a plan. */
#ifndef SYNC_SYNC_EXPORTERS_H
#define SYNC_SYNC_EXPORTERS_H
#include "exporters/exporter_pass.h"
#include "plan/plan.h"

enum { SYNC_EXPORTERS_S = 30 /* how long an exporter that accepts nothing is tried */ };

/* Delivers to one exporter from both spools of the plan: that of the tree and the user's own. Tries
 * again for SYNC_EXPORTERS_S while the destination accepts nothing. */
void sync_exporter(const struct plan *p, const struct exporter_config *c, char *const *env, int cancel_fd, struct exporter_outcome *ret);
/* Only counts. ret_state: of the spool that failed, else of the tree's. */
void sync_exporter_count(const struct plan *p, const struct exporter_config *c, struct exporter_outcome *ret,
                         struct exporter_state *ret_state);
#endif
