#!/bin/sh
# t0301: captured outputs of IOR (seven versions) and mdtest (four), where they lie beside the source tree (some of them without long tests): every number is compared with what an
# independent reader finds, and every verdict with the exit status and the known lies of the versions.
# sanitizer: long, because t0300 reads the same formats
. "$(dirname "$0")/../lib/tap.sh"
samples=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}
for program in ior mdtest; do
    if [ ! -r "$samples/$program/MANIFEST.tsv" ]; then
        skip_here "captured outputs of $program" "no $samples/$program"
        continue
    fi
    report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/check_$program.py" "$BENCHWRAP" "$samples/$program" 2>&1)
    is "$program: every number and verdict is right" "$(printf '%s\n' "$report" | grep -c '^wrong')" 0
    like "$program: files and values were compared" "$report" '[0-9]{2,3} files, [0-9]{3,4} values'
    [ "$(printf '%s\n' "$report" | grep -c '^wrong')" = 0 ] || printf '%s\n' "$report" | sed 's/^/# /'
done
report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/headlines.py" "$ROOT/benchmarks/catalogue" 2>&1)
is "headline metrics of other programs are those that a reader of their own finds" "$(printf '%s\n' "$report" | sed '$d')" ""
like "values were compared" "$(printf '%s\n' "$report" | tail -n 1)" '^[0-9]{2,} values of [0-9]+ programs'
done_testing
