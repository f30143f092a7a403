/* logs_ship.h: delivers the lines of followed logs by an exporter, each at least once and in order. */
#ifndef LOGS_LOGS_SHIP_H
#define LOGS_LOGS_SHIP_H
#include "logs/logs_follow.h"
#include "logs/logs_ship_config.h"

#define SHIP_DEAD "dead.jsonl" /* in the state folder: records that the destination refused */

struct ship_counts {
    uint64_t lines, records;   /* lines that were handled; records that were delivered */
    uint64_t refused, dropped; /* records that became dead letters; dead letters that max-dead removed */
    uint64_t lost;             /* bytes of deleted files that max-held dropped */
};
struct ship {
    const struct ship_config *config;
    const struct exporter_config *exporter;
    const char *computer;
    int state;                 /* the state folder, open */
    char *const *env;
    int cancel_fd;
    bool once;                 /* ends when nothing is left to deliver */
    void (*note)(void *context, const char *text);
    void *context;
};
/* Delivers until cancel_fd is readable; with `once`, until everything that exists is delivered. Memory is bounded. 0; 1: with
 * `once`, the destination accepted nothing for wait_s seconds; -1 with err. */
int ship_run(const struct ship *s, double wait_s, struct ship_counts *ret, struct err *err);
/* Sends the dead letters again. Those that are refused again stay. */
int ship_resend_dead(const struct ship *s, double wait_s, struct ship_counts *ret, struct err *err);

struct listing;
/* Adds a row for each file that would be followed: name, path, stream, form, delivered bytes, pending bytes. */
int ship_list(const struct ship *s, struct listing *l, struct err *err);
#endif
