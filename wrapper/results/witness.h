/* witness.h: the site's signature over the manifest of a run, made before the run is committed: artifacts/manifest.json.sig. */
#ifndef RESULTS_WITNESS_H
#define RESULTS_WITNESS_H
#include "git/commit.h"
#include "results/results.h"

/* Reads how manifests are signed: benchwrap.signingKey of git's configuration (a file, or the public key itself, whose private part is an agent's). Never of
 * a tracked file. ret->format is NULL: not at all. The texts live in s->arena. 0; -1 with err. */
int witness_from(struct results *s, bool prompt, struct signer *ret, struct err *err);
/* Writes the signature into the run's folder, next to the manifest, unless there is one, or no
 * manifest. root: descriptor of the tree. 0; -1 with err. */
int witness_sign(struct results *s, const struct signer *signer, int root, const char *experiment, const char *id, struct err *err);
#endif
