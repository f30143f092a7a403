/* logs_dead.h: dead letters of `benchwrap ship-logs`: records that the destination refused, with the reason. */
#ifndef LOGS_LOGS_DEAD_H
#define LOGS_LOGS_DEAD_H
#include "base/err.h"
#include "base/str.h"
#include "exporters/exporter_config.h"

#include <stdint.h>

/* Appends a record, a JSON object, to dead.jsonl in the state folder. A file of more than max/2 bytes becomes dead.jsonl.1, whose
 * records are dropped then: they are added to *dropped. -1 with err. */
int logs_dead_add(int state, uint64_t max, const char *stream, struct str record, const char *why, uint64_t *dropped, struct err *err);
/* How many there are. */
uint64_t logs_dead_count(int state);

struct logs_dead_resend {
    int state;
    const struct exporter_config *exporter;
    char *const *env;
    int cancel_fd;
    uint64_t max;
    int64_t until_ns;
};
/* Sends all again. *sent, *refused: how many were delivered, and refused again; these stay. *dropped grows as in logs_dead_add.
 * 0; 1: the destination accepts nothing, all stay; -1 with err, also where one that was refused again could not be stored: all
 * stay. */
int logs_dead_send(const struct logs_dead_resend *what, uint64_t *sent, uint64_t *refused, uint64_t *dropped, struct err *err);
#endif
