#!/bin/sh
# t0300: every stored output in the catalogue gives the facts that lie beside it (benchmarks/catalogue/NAME/samples/CASE, see
# wrapper/replay/samples.h). UPDATE=1 writes `expect` anew: read the difference. ONLY=NAME: that one alone. Outputs that may not be kept here are
# looked for below $BENCHWRAP_SAMPLES (default: ../shared/samples); where all must be there (BENCHWRAP_REQUIRE) a skipped case is a failure.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT" || exit 1
"$BENCHWRAP" rules check --tap ${UPDATE:+--update} benchmarks/catalogue/${ONLY:-*}/rules.yaml >"$WORK/tap" 2>"$WORK/errors"
status=$?
[ -z "${BENCHWRAP_REQUIRE:-}" ] || sed -i 's/^ok \(.*\) # SKIP /not ok \1: needed here: /' "$WORK/tap"
grep ' # SKIP ' "$WORK/tap" | sed 's/^ok [0-9]* - /skipped: /' >&2
cat "$WORK/tap"
sed 's/^/# /' "$WORK/errors"
tap_finished=1
grep -q '^not ok' "$WORK/tap" && tap_failed=1
# What check says and what it tells by its status must agree; a check that told nothing is a failure by itself (no plan).
[ "$status" -le 1 ] || tap_failed=1
