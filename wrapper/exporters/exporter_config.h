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
#define EXPORTER_KEY_MAX_SIZE "max-size"
/* Keys that several exporters have. */
#define EXPORTER_KEY_FILE "file"
#define EXPORTER_KEY_PIPE "pipe"
#define EXPORTER_KEY_SOCKET "socket"
#define EXPORTER_KEY_SAMPLES "samples"
/* Keys of exporters that send HTTP requests (exporter_http.h). */
#define EXPORTER_KEY_URL "url"
#define EXPORTER_KEY_URL_SECRET "url-secret"
#define EXPORTER_KEY_METHOD "method"
#define EXPORTER_KEY_HEADER "header"
#define EXPORTER_KEY_TOKEN "token"
#define EXPORTER_KEY_TOKEN_HEADER "token-header"
#define EXPORTER_KEY_TOKEN_SCHEME "token-scheme"
#define EXPORTER_KEY_USER "user"
#define EXPORTER_KEY_PASSWORD "password"
#define EXPORTER_KEY_GZIP "gzip"
#define EXPORTER_KEY_TIMEOUT "timeout"
#define EXPORTER_KEY_CA_FILE "ca-file"

struct exporter_config {
    const char *name; /* unique; also the name of its folder in the spool */
    const struct exporter *kind;
    const char *where; /* "/etc/benchwrap.yaml:7" */
    enum opt_origin origin;
    struct opt_set opts; /* the common rows, then those of the exporter */
    struct exporter_config *next;
};

/* The name of an environment variable that holds a secret of an exporter. */
struct exporter_variable {
    const char *name;
    struct exporter_variable *next;
};

/* Adds the exporters of one file to *list; one of the same name replaces the entry of a weaker file.
 * Wrong entries are left out, and `warn` gets a sentence for each. *variables (NULL: not needed) gets the variables that hold secrets of all
 * entries, also of wrong, replaced and disabled ones. All texts are in the arena, but exporter_configs_deinit is due. */
void exporter_configs_read(struct exporter_config **list, struct exporter_variable **variables, const struct yaml *entry,
                           enum opt_origin origin, const char *file, struct arena *a, void (*warn)(void *context, const char *text),
                           void *context);
/* Frees what the list holds outside of the arena; the list itself is in the arena. */
void exporter_configs_deinit(struct exporter_config *list);
/* Returns the exporter of this name in the list; NULL: none. */
const struct exporter_config *exporter_config_find(const struct exporter_config *list, const char *name);
/* Returns whether it is a name of an exporter: 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit. */
bool exporter_name_legal(struct str name);
/* Returns whether the exporter is enabled; without the key it is. */
bool exporter_is_enabled(const struct exporter_config *c);
/* The names of the enabled ones with blanks between them, in the arena; NULL: none. */
const char *exporter_config_names(const struct exporter_config *list, struct arena *a);
/* Returns the text of a key; NULL: not given. */
const char *exporter_text(const struct exporter_config *c, const char *key);
extern const struct opt_row exporter_rows[];
extern const size_t exporter_rows_count;

/* Reads the secret of a key with env:, file: or command: from the variable, the file (closed to
 * other users) or the first line of output, without blanks at its ends. *ret is in the arena. 1:
 * the key is not given, *ret is NULL. -1 with err, which never has the secret. */
int exporter_secret(const struct exporter_config *c, const char *key, char *const *env, int64_t until_ns, struct arena *a, const char **ret,
                    struct err *err);
#define EXPORTER_SECRET_ARG "{env|file|command: …}" /* the argument of a row whose value is a secret */
/* Checks where a secret comes from, without reading it. 0; -1 with ERR_INPUT. */
int exporter_secret_check(const struct exporter_config *c, const char *key, struct err *err);
#endif
