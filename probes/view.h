/* view.h: whether all of the hardware is visible to this process. Private to the probes that hash
 * it. */
#ifndef PROBES_VIEW_H
#define PROBES_VIEW_H
#include "probes/look.h"

/* Returns true, and why in `reason`, if a container or a sandbox hides or replaces files that describe the hardware: an unreadable
 * one, a mount that covers one (lxcfs, /dev/null, an empty tmpfs), a /proc or /sys that is none. The result is kept in
 * h->state. On a captured machine only what was captured counts: a file that is not there hides nothing.
 * A hash of such a view, or a fact kept from it for later runs, would describe another machine. */
bool view_is_partial(const struct host *h, char reason[256]);

/* Notes in h->state that a file could not be read where the hashes of hardware and settings depend on it. why: errno. */
void view_note_failure(const struct host *h, const char *path, int why);

/* What hwloc reads file by file: processors, caches and NUMA nodes, or PCI devices and the firmware's names. */
enum view_part { VIEW_PROCESSORS, VIEW_DEVICES };
/* Returns true, and which in `reason`, if a file or folder of this part is refused, as by a security module.
 * h->state then has the failure and is unsure, so that nothing of this hook is cached. Opens each file: for a hook whose facts
 * are cached. */
bool view_has_refused_files(const struct host *h, enum view_part part, char reason[256]);

/* Calls mix(context, text) for each text about what is visible of the machine to this process now,
 * and that can differ between two runs of one boot: the accelerators in its /dev, the variables
 * that select some, the PCI devices, which are plugged in and out and make virtual ones, and how
 * much memory the kernel manages, in GiB. */
void view_mix(const struct host *h, void (*mix)(void *context, struct str text), void *context);
#endif
