/* exporter_config.h: the exporters that the user and the administrator configure: the list
 * `exporters:` of their configuration files. */
#ifndef EXPORTERS_EXPORTER_CONFIG_H
#define EXPORTERS_EXPORTER_CONFIG_H
#include "base/arena.h"
#include "base/opt.h"
#include "base/yaml.h"

#include <stdint.h>

struct exporter;

enum { EXPORTER_NAME_MAX = 64, EXPORTERS_MAX = 32 };

/* Keys of every exporter; `type` and `name` are no rows. */
#define EXPORTER_KEY_ENABLED "enabled"
#define EXPORTER_KEY_WAIT "wait"
#define EXPORTER_KEY_DEADLINE "deadline"
#define EXPORTER_KEY_MAX_PENDING "max-pending"
/* Keys that several exporters have. */
#define EXPORTER_KEY_FILE "file"
#define EXPORTER_KEY_PIPE "pipe"
#define EXPORTER_KEY_SOCKET "socket"
#define EXPORTER_KEY_SAMPLES "samples"

struct exporter_config {
    const char *name;             /* unique; also the name of its folder in the spool */
    const struct exporter *kind;
    const char *where;            /* "/etc/benchwrap.yaml:7" */
    enum opt_origin origin;
    struct opt_set opts;          /* the common rows, then those of the exporter */
    struct exporter_config *next;
};

/* Adds the exporters of one file to *list; one of the same name replaces the entry of a weaker file.
 * Wrong entries are left out, and `warn` gets a sentence for each. All texts are in the arena, but
 * exporter_configs_deinit is due. */
void exporter_configs_read(struct exporter_config **list, const struct yaml *entry, enum opt_origin origin, const char *file, struct arena *a,
                           void (*warn)(void *context, const char *text), void *context);
void exporter_configs_deinit(struct exporter_config *list);
/* NULL: none of this name. */
const struct exporter_config *exporter_config_find(const struct exporter_config *list, const char *name);
/* Is it a name of an exporter: 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit? */
bool exporter_name_legal(struct str name);
bool exporter_is_enabled(const struct exporter_config *c);
/* The names of the enabled ones with blanks between them, in the arena; NULL: none. */
const char *exporter_config_names(const struct exporter_config *list, struct arena *a);
/* The text of a key, NULL: not given. */
const char *exporter_text(const struct exporter_config *c, const char *key);
extern const struct opt_row exporter_rows[];
extern const size_t exporter_rows_count;
#endif
