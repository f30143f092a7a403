/* results.c: the results repository that a plan leads to. */
#include "plan/results.h"

int plan_results(const struct plan *p, const char *repository, bool set_up, struct arena *a, struct results *ret, struct err *err)
{
    struct results_asked asked = {.tree = p->tree,
                                  .repository = repository,
                                  .site = opt_text(&p->opts, OPTION_SITE),
                                  .public_profile = strcmp(opt_text(&p->opts, OPTION_PROFILE), "public") == 0,
                                  .set_up = set_up};
    return results_open(ret, &asked, a, err);
}
