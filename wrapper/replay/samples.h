/* samples.h: stored outputs next to a rule file: <folder of rules.yaml>/samples/<case>/, and what
 * is expected of them.
 *
 * A case has `stdout`, and if there are any `stderr`, `argv` (one argument a line), `status`, `file` (PATTERN=FILE a line, FILE in the case)
 * and `expect` (the facts, one a line). Outputs that may not be kept there are named in `outside` (stdout=PATH, stderr=PATH, PATH below
 * $BENCHWRAP_SAMPLES, default ../shared/samples of the source tree); without them the case is skipped. */
#ifndef REPLAY_SAMPLES_H
#define REPLAY_SAMPLES_H
#include "base/arena.h"
#include "replay/reading.h"

enum sample_state { SAMPLE_SAME, SAMPLE_DIFFERS, SAMPLE_SKIPPED, SAMPLE_BROKEN };
struct sample_case {
    const char *name; /* "fio/samples/json" */
    enum sample_state state;
    const char *text; /* the difference; why it is skipped or broken; may have several lines */
    struct sample_case *next;
};

/* Runs the cases below `folder` in order of their names; all is in the arena. update: `expect` is
 * written again, and nothing differs. */
int samples_run(const struct rules *rules, const char *folder, bool update, struct coverage *coverage, struct arena *a,
                struct sample_case **ret, struct err *err);
#endif
