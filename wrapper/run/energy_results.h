/* energy_results.h: energy for each result: joules per operation, token, gigabyte or floating-point operation. */
#ifndef WRAPPER_RUN_ENERGY_RESULTS_H
#define WRAPPER_RUN_ENERGY_RESULTS_H
#include "mlruns-format/record.h"

/* Records the energy of the run. The energy that the program reports for its window
 * (measured.energy_J, as a service counts it) is used as it is. Otherwise integrates the power of
 * each device, which the record has as series, over the window: what the program measured (metrics
 * measured.from_s and measured.to_s, in Unix time), else all of the program. Records energy.valid,
 * energy.used_J, energy.mean_W, energy.window_s, the tags energy.window and energy.parts, and for
 * each rate R, and each amount in bytes of which more is better, its R.energy_J_per_…; or the
 * missing energy.valid with the reason. Records nothing where no power is known. Work that was done
 * on another machine (measured.elsewhere) has none. Of several nodes it is the sum over all of
 * them, from what their collectors reported into the spool. */
void energy_results_make(struct record *r, int spool, bool public_profile);
/* Checks a price such as "1.80" or "1.80 EUR"; NULL is allowed. 0; -1 with ERR_USAGE. */
int energy_results_check_price(const char *text, struct err *err);
/* Records what the run cost, and each rate's unit, where the tag cost.node_hour is set ("1.80" or "1.80 EUR"). */
void energy_results_price(struct record *r);
#endif
