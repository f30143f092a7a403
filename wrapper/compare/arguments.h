/* arguments.h: find the arguments of a run's command line that its rules do not explain. */
#ifndef COMPARE_ARGUMENTS_H
#define COMPARE_ARGUMENTS_H
#include "runs/inputs.h"

struct rules;
/* The rules that the run was read with, by its artifact rules.yaml; NULL: none, or they cannot be read. rules_free them. */
struct rules *arguments_rules(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* The program's arguments that `rules` (may be NULL) make no param of and know nothing of, one a line as "argument.NAME=VALUE", options by name and the
 * others as argument.1, argument.2 …, without those that fit a pattern of `ignore`. Launchers before the program are seen through. The text is in the
 * arena; NULL: the command line is not known, or out of memory. */
const char *arguments_unexplained(const struct rules *rules, const struct json *detail, const struct opt_value *ignore, struct arena *a);
/* Of several runs that are compared: the same texts, one rule file after another. */
struct compare_arguments {
    const struct runs *runs;
    const struct rules *shared_rules; /* for every run, borrowed; NULL: each run's own */
    char *rules_text; /* of the run before */
    struct rules *rules;
    char parent_id[33]; /* of the repetition before */
    struct json *parent;
};
void arguments_open(struct compare_arguments *ret, const struct runs *runs);
void arguments_close(struct compare_arguments *args);
/* What the run's command line says beside its params, as params: "program" and one "argument.NAME" for each name (values with ", " between). In a's arena.
 * An argument that the sweep chose is left out: the swept param has it.
 * NULL: the command line is not known. */
struct tree_entry *arguments_params(struct compare_arguments *args, const struct tree_run *run, const struct json *detail, struct arena *a);
/* The first of these that two runs do not share, "argument.NAME"; NULL: none. */
const char *arguments_difference(const char *one, const char *other, struct arena *a);
#endif
