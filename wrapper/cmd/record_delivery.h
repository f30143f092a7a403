/* record_delivery.h: commands that deliver records which are no runs by an exporter of the user's configuration. */
#ifndef CMD_RECORD_DELIVERY_H
#define CMD_RECORD_DELIVERY_H
#include "cmd/cmd.h"
#include "exporters/exporter_records.h"
#include "plan/plan.h"

/* The exporter of this name; NULL with ERR_INPUT: there is none. Lives as long as the plan. */
const struct exporter_config *record_delivery_find(const struct plan *plan, const char *name, struct err *err);
/* Sends the records within wait_s seconds. *ret_handled: so many of the first ones are delivered, or were refused for good;
 * *ret_refused of them. The first that is refused is reported as `noun` with the reason. 0: all are handled; -1 with err. */
int record_delivery_send(struct cmd_context *c, const struct exporter_config *to, const struct exporter_batch *b, double wait_s,
                         const char *noun, size_t *ret_handled, size_t *ret_refused);
#endif
