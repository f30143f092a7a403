#!/bin/sh
# t0309: mdtest's captured outputs of four versions, where they lie beside the source tree: every number of their tables is compared with
# what an independent reader finds, and every verdict with the exit status and the known lies of the versions.
# sanitizer: long, because t0300 reads the same formats
. "$(dirname "$0")/../lib/tap.sh"
samples=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}
if [ ! -r "$samples/mdtest/MANIFEST.tsv" ]; then
    skip_here "captured outputs of mdtest" "no $samples/mdtest"
    done_testing
    exit
fi
report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/check_mdtest.py" "$BENCHWRAP" "$samples/mdtest" 2>&1)
is "every number and verdict is right" "$(printf '%s\n' "$report" | grep -c '^wrong')" 0
like "files and values were compared" "$report" '[0-9]{2} files, [0-9]{3,4} values'
[ "$(printf '%s\n' "$report" | grep -c '^wrong')" = 0 ] || printf '%s\n' "$report" | sed 's/^/# /'
done_testing
