/* chosen_runs.h: the runs that a plot or report is about: operands as for compare, or what the options choose. */
#ifndef CMD_CHOSEN_RUNS_H
#define CMD_CHOSEN_RUNS_H
#include "cmd/cmd.h"
#include "runs/runs.h"

struct chosen_runs {
    struct tree_run **list; /* params, metrics and tags read; in the order of the operands, or newest first */
    const char **groups; /* [n]: the operand that each is of */
    size_t n;
    size_t beyond; /* runs that --last leaves out */
};
/* "A,B vs C,D": an operand is a group, its runs with commas between; the word vs is for reading. -1: c->err. */
int chosen_operands(struct cmd_context *c, struct runs *runs, char *const *operands, int count, struct chosen_runs *ret);
/* Returns the key that `typed` means of the runs: itself, or where none of them has such a fact, the
 * param that records the program's option of that name ("bs" of fio: block_size_B), which is then
 * noted. option: the name of the option that it was typed for. typed NULL: returns NULL. */
const char *chosen_key(struct cmd_context *c, const struct runs *runs, struct tree_run *const *list, size_t count, const char *option,
                       const char *typed);
/* Chooses the newest runs by --experiment, --status, --tag, --filter and --last; last: their number
 * without --last. Repetitions and warm-up runs count as part of their parent run. -1 with c->err,
 * also where no run is chosen. */
int chosen_filtered(struct cmd_context *c, struct runs *runs, size_t last, struct chosen_runs *ret);
#endif
