/* compare_keys.h: the comparison keys of groups of runs: which groups may be judged against the first one, and what differs. */
#ifndef COMPARE_COMPARE_KEYS_H
#define COMPARE_COMPARE_KEYS_H
#include "compare/compare.h"
#include "compare/comparison_key.h"

struct compared_keys {
    const struct comparison_key *list; /* of all members of all groups, one behind the other */
    size_t count;
    const char **differing[COMPARISON_PARTS]; /* names of facts in which they differ, NULL-terminated */
    const char *left_out; /* facts that the user named, "size, argument.n", or NULL */
};
/* by: the fact that makes the groups, or NULL; ignore: patterns of other facts that may differ, or NULL. Call it before arguments become params. Sets
 * `other_inputs` in the metrics: groups of which another part was measured get no verdict. Everything is in the arena. -1: out of memory. */
int compare_keys_read(const struct runs *runs, const struct compare_group *groups, size_t count, const char *by,
                      const struct opt_value *ignore, struct compared_metric *metrics, struct arena *a, struct compared_keys *ret,
                      struct err *err);
/* Adds the command lines to the params of all members, as inputs, but for what the rules explain. False, and nothing is added: that of a run is not known. */
bool compare_add_arguments(const struct runs *runs, const struct compare_group *groups, size_t count, struct arena *a);
/* Appends "Except for size the inputs are the same. Different systems: they differ in site (A a, B b)." without a line end. all: also what
 * is the same, with the keys; else nothing where nothing differs. */
void compare_keys_show(const struct compared_keys *keys, const struct compare_group *groups, size_t count, bool all, struct buf *to);
/* Appends "No verdict where the inputs differ: name size by --by or --ignore." where a group gets no verdict. */
void compare_keys_hint(const struct compared_keys *keys, const struct compared_metric *metrics, size_t count, struct arena *a,
                       struct buf *to);
/* Writes the member "keys": {"left_out": …, "differing": {"measured": […], …}, "hidden": …,
 * "groups": [{key of the first run of each group}]}. */
void compare_keys_json(const struct compared_keys *keys, const struct compare_group *groups, size_t count, struct json_out *j,
                       struct arena *a);
#endif
