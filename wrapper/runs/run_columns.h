/* run_columns.h: facts of runs as columns that the user names: --columns run_id,metrics.write.*,params.fs.type. */
#ifndef RUNS_RUN_COLUMNS_H
#define RUNS_RUN_COLUMNS_H
#include "base/listing.h"
#include "runs/runs.h"

enum { RUN_COLUMNS_MAX = 20000 };
struct run_columns {
    const struct filter_key *list;
    size_t count;
};

/* Reads a list of keys with commas between them. "*" and "?" stand for any characters of keys that
 * one of the n runs has; names of texts may be in quotes. A key occurs once. option: for messages.
 * ERR_USAGE names what is wrong. */
int run_columns_read(struct run_columns *ret, const char *text, const char *option, const struct runs *runs,
                     const struct tree_run *const *list, size_t n, struct arena *a, struct err *err);
/* Makes a listing with a row for each run: to be printed in any form, then freed by listing_deinit.
 * people: times as people read them, not milliseconds. Facts that cannot be read make run->problem.
 * ret_gone: how many runs have no row because they were deleted since the listing; NULL: each has
 * one. 0; -1: out of memory. */
int run_columns_listing(const struct run_columns *columns, const struct runs *runs, struct tree_run *const *list, size_t n, bool people,
                        struct arena *a, struct listing *ret, size_t *ret_gone);
/* Keys of one kind. The names are in the arena, which the caller sets. */
struct key_list {
    const char **names; /* each once */
    size_t count, room;
    uint32_t *slots; /* of a hash table: the index of a name, and one more; 0: empty */
    size_t slot_count;
    bool failed;
    struct arena *a;
};
/* Adds the keys of metrics, params or tags that the run has and that match the pattern (NULL: all). */
void key_list_add(struct key_list *to, const struct folder *tree, const struct tree_run *run, enum filter_kind kind, const char *pattern);
/* Adds one key; a key twice is added once. */
void key_list_put(struct key_list *to, const char *name);
/* Sorts the keys as people expect it; no key can be added afterwards. */
void key_list_sort(struct key_list *keys);
void key_list_deinit(struct key_list *keys);
#endif
