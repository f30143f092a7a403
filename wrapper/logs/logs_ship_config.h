/* logs_ship_config.h: what `benchwrap ship-logs` follows, and where to it delivers. */
#ifndef LOGS_LOGS_SHIP_CONFIG_H
#define LOGS_LOGS_SHIP_CONFIG_H
#include "base/arena.h"
#include "exporters/exporter_config.h"
#include "logs/logs_record.h"

enum { SHIP_SOURCES_MAX = 256, SHIP_LINE_MAX = 60000 };

/* One log, or all that match its paths. */
struct ship_source {
    const char *name;
    const char **paths;       /* NULL-terminated; * ? [ are wildcards */
    enum logs_format format;  /* never AUTO */
    bool is_parsed;
    const char *stream;       /* Custom-Text-slurmctld_raw_CL, or the configured one */
};
struct ship_config {
    struct ship_source *sources;
    size_t count;
    const char *computer, *state; /* NULL: not given */
    const char *to;               /* name of an exporter of benchwrap's configuration; NULL */
    struct exporter_config *exporter; /* of the file itself; NULL. ship_config_deinit frees it */
    bool from_end;
    uint64_t line_max, held_max, dead_max; /* bytes */
    double settle_s, scan_s;
};

/* Sets the defaults, without logs and destination. */
void ship_config_init(struct ship_config *c);
/* Frees what the configuration holds outside of the arena. */
void ship_config_deinit(struct ship_config *c);
/* Reads a file. warn gets sentences about what is ignored. -1 with err that names file, line and column. */
int ship_config_read(struct ship_config *c, const char *path, struct arena *a, void (*warn)(void *context, const char *text), void *context,
                     struct err *err);
/* The same of a text that is read already; file: for messages. */
int ship_config_parse(struct ship_config *c, const char *file, struct str text, struct arena *a, void (*warn)(void *context, const char *text),
                      void *context, struct err *err);
/* Adds the logs of a role: "scheduler", "node" or "all". is_parsed: as in logs_record.h. 0; -1 with err:
 * ERR_INPUT, or out of memory. */
int ship_config_add_role(struct ship_config *c, const char *role, bool is_parsed, struct arena *a, struct err *err);
/* The same for a path, which must live as long as *c; the name and the format of the log are those of the file. */
int ship_config_add_path(struct ship_config *c, const char *path, bool is_parsed, struct arena *a, struct err *err);
#endif
