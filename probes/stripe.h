/* stripe.h: how a parallel file system lays out a file or the files of a directory. Private to the filesystem probe. */
#ifndef PROBES_STRIPE_H
#define PROBES_STRIPE_H
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct stripe {
    int64_t count, size_B; /* -1: not reported. count of Lustre: -1 can mean all targets, then `all` is set */
    bool all;
    unsigned components; /* of a composite (progressive) layout; 0: plain */
    char pool[32], pattern[32]; /* "" where there is none */
};

/* Lustre's layout as the attribute lustre.lov holds it: little endian, plain (v1, v3) or composite; of a composite that of the last component that is
 * in use. False: not such a text. lustre/include/uapi/linux/lustre/lustre_user.h */
bool stripe_of_lov(struct str lov, struct stripe *ret);
/* What "lfs getstripe" (plain or -y), "beegfs-ctl --getentryinfo" and "mmlsattr -L" print. False: nothing known in it. */
bool stripe_of_lfs(struct str text, struct stripe *ret);
bool stripe_of_beegfs(struct str text, struct stripe *ret);
bool stripe_of_mmlsattr(struct str text, struct stripe *ret);
/* By the file system's type ("lustre", "beegfs", "gpfs", "ceph"): attribute first, then the vendor's tool within wait_ms. Returns 1 with
 * *ret; 0: this type has no stripes; -1 with *err. For a child process: a dead server blocks these
 * calls. */
int stripe_read(const char *type, const char *path, char *const *env, int wait_ms, struct stripe *ret, struct err *err);
#endif
