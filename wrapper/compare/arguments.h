/* arguments.h: find the arguments of a run's command line that its rules do not explain. */
#ifndef COMPARE_ARGUMENTS_H
#define COMPARE_ARGUMENTS_H
#include "runs/inputs.h"

struct rules;
/* Returns the rules that the run was read with, by its artifact rules.yaml; NULL: none, or they
 * cannot be read. rules_free frees them. */
struct rules *arguments_rules(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* Reads the arguments of several runs that are compared: texts are read again only for another rule file or parent run. */
struct compare_arguments {
    const struct runs *runs;
    const struct rules *shared_rules; /* for every run, borrowed; NULL: each run's own */
    const struct opt_value *ignore; /* patterns of arguments whose position does not count; NULL: none */
    char *rules_text; /* of the run before */
    struct rules *rules;
    char parent_id[33]; /* of the repetition before */
    struct json *parent;
};
void arguments_open(struct compare_arguments *ret, const struct runs *runs);
void arguments_close(struct compare_arguments *args);
/* The arguments that the rules neither record as params nor ignore (argument_list.h), as params: "program", and one for each key, with ", " between
 * several values. In a's arena. NULL: the command line is not known, or out of memory. */
struct tree_entry *arguments_params(struct compare_arguments *args, const struct tree_run *run, const struct json *detail, struct arena *a);
/* Returns the options and other words of the command line in which redaction has hidden something:
 * they may differ although their texts are equal. "--password, --secret", in the arena; NULL: none,
 * or out of memory. */
const char *arguments_hidden(const struct tree_run *run, const struct json *detail, struct arena *a);
#endif
