#!/bin/sh
# t0330: every sample of the catalogue, damaged in many ways (cut, lines lost, noise, ranks, colours, another output behind it), never gives
# another number: what is told is what the whole output tells, or it is missing, or the run fails. BENCHWRAP_LONG=1: all damages.
# ONLY=NAME: that entry alone; SEED=TEXT: other places.
# sanitizer: long, because the fuzzers feed the same reader
. "$(dirname "$0")/../lib/tap.sh"
samples=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}
set -- "$BENCHWRAP" "$ROOT/benchmarks/catalogue" "$samples"
[ -z "${BENCHWRAP_LONG:-}" ] || set -- "$@" --long
[ -z "${ONLY:-}" ] || set -- "$@" "$ONLY"
report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/damage.py" "$@" 2>&1)
is "no damage makes another number" "$(printf '%s\n' "$report" | grep -c '^wrong')" 0
like "outputs were damaged" "$report" '[0-9]+ outputs, [0-9]{2,} damages'
printf '%s\n' "$report" | tail -n 60 | LC_ALL=C tr -c '[:print:]\n' '?' | sed 's/^/# /'
done_testing
