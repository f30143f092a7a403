/* exporter_records.h: sends JSON records that are no runs, such as log lines, by a configured exporter.
 *
 * The caller stores the records until they are handled: nothing is spooled here. A record can be
 * delivered twice when a connection breaks before the destination's answer. */
#ifndef EXPORTERS_EXPORTER_RECORDS_H
#define EXPORTERS_EXPORTER_RECORDS_H
#include "exporters/exporter.h"

struct exporter_records;

struct exporter_records_config {
    const struct exporter_config *exporter;
    char *const *env;
    int cancel_fd; /* waiting ends when it is readable; -1: none */
    /* Gets each record that the destination refuses for good, with the reason. The caller stores it as a dead letter. */
    void (*refused)(void *context, struct str record, const char *why);
    void *context;
};

/* Makes a sender, and connects nowhere yet. config and what it names must live as long as the sender.
 * -1 with ERR_INPUT: exporters of this type deliver runs only. */
int exporter_records_open(struct exporter_records **ret, const struct exporter_records_config *config, struct err *err);
void exporter_records_close(struct exporter_records *s); /* NULL is allowed */

/* Sends records in their order, in as many requests as the destination's limits need. It repeats what
 * fails, as the destination requests or after 1 s, 2 s … 1 min, until the monotonic time until_ns.
 * *handled counts records that are delivered or were given to `refused`: the first ones of b.
 * SENT: all of them. LATER: the time is over or cancel_fd is readable; err has the reason, and
 * records[*handled] is the first that waits. Call it again with the rest.
 * A refused request of several records is divided until the record at fault is found. */
enum exporter_answer exporter_records_send(struct exporter_records *s, const struct exporter_batch *b, int64_t until_ns, size_t *handled,
                                           struct err *err);
#endif
