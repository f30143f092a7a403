/* pull_parts.h: one run on its way from a server, shared by the files that make it; private to pull*.c. */
#ifndef WRAPPER_PULL_PARTS_H
#define WRAPPER_PULL_PARTS_H
#include "base/json.h"
#include "import/pull.h"

/* Tags that only record how far a sync is. */
#define PULL_TAG_ID "benchwrap.run_id"
#define PULL_TAG_SYNCED "benchwrap.synced" /* all of the tree's run is there */
#define PULL_TAG_INCOMPLETE "benchwrap.incomplete" /* the tree's run lacks what the program's own client logged */
#define PULL_TAG_SHARED "benchwrap.shared_run" /* to this run of the server (--share-run) */
#define PULL_TAG_DOUBLE "benchwrap.duplicate"
#define PULL_TAG_PARENT "benchwrap.parent_run_id"
#define PULL_TAG_FROM "benchwrap.pulled" /* of a run that was made elsewhere: its id on the server */

struct pull_entry { /* of params, tags, metrics (text NULL), by key */
    const char *key, *text;
    const struct json *at;
    bool used;
};
struct pull_entries {
    struct pull_entry *all;
    size_t count;
};
struct pull_file {
    const char *path;
    int64_t size;
    struct pull_file *next;
    bool used;
};

struct pull_taking {
    struct pull *p;
    const struct pull_run *run;
    struct arena arena;
    struct mlflow_run server; /* with all it has */
    struct pull_entries params, tags, metrics;
    struct pull_file *files; /* by path */
    struct pull_file **sorted; /* the same, for bisection; NULL: none */
    size_t file_count;
    struct json *detail; /* its benchwrap.json; NULL: none, or not one of this run */
    struct buf detail_text;
    struct json **series; /* lines of its series.jsonl: {"key","samples"} */
    size_t series_count;
    struct made_run making;
    bool begun;
    int64_t start_ms, last_ms;
    struct pulled *ret;
};

struct pull_entry *pull_find_entry(const struct pull_entries *e, const char *key);
/* Records all facts in t->making.record. Answers other than MLFLOW_FINE have err. */
enum mlflow_answer pull_facts(struct pull_taking *t, struct err *err);
/* Fetches the artifacts into the spool and the record. Answers other than MLFLOW_FINE have err. */
enum mlflow_answer pull_files(struct pull_taking *t, struct err *err);
/* Appends a file of the run as text (at most max bytes); its content is not checked. Answers other
 * than MLFLOW_FINE have err. */
enum mlflow_answer pull_fetch_text(struct pull_taking *t, const char *path, size_t max, struct buf *to, struct err *err);
struct pull_file *pull_find_file(const struct pull_taking *t, const char *path);
/* Returns the tree's id of a run on the server; NULL: it is not in the list. */
const char *pull_tree_id(const struct pull *p, const char *server_id);
#endif
