#!/bin/sh
# t0301: IOR's captured outputs of seven versions, where they lie beside the source tree: every row's number is compared with what an
# independent reader finds, and every verdict with the exit status and the known lies of the versions.
# sanitizer: long, because t0300 reads the same formats
. "$(dirname "$0")/../lib/tap.sh"
samples=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}
if [ ! -r "$samples/ior/MANIFEST.tsv" ]; then
    skip_here "captured outputs of IOR" "no $samples/ior"
    done_testing
    exit
fi
report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/check_ior.py" "$BENCHWRAP" "$samples/ior" 2>&1)
is "every number and verdict is right" "$(printf '%s\n' "$report" | grep -c '^wrong')" 0
like "files and values were compared" "$report" '^[0-9]{3} files, [0-9]{4} values'
[ "$(printf '%s\n' "$report" | grep -c '^wrong')" = 0 ] || printf '%s\n' "$report" | sed 's/^/# /'
done_testing
