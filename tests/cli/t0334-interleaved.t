#!/bin/sh
# t0334: lines of two ranks that write into one output, without prefixes: no value that neither printed, and none of both in one test that passes.
# BENCHWRAP_LONG=1: 200 mixtures of each pair.
# sanitizer: long, because t0330 mixes outputs, too
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
samples=$ROOT/benchmarks/catalogue
times=10
[ -z "${BENCHWRAP_LONG:-}" ] || times=200
mix() # PROGRAM SAMPLE SAMPLE
{
    report=$("${PYTHON:-python3}" "$ROOT/tests/benchmarks/interleave.py" "$BENCHWRAP" "shipped:$1" "$samples/$1/samples/$2/stdout" "$samples/$1/samples/$3/stdout" "$times" 2>&1)
    is "$1: $2 and $3" "$(printf '%s\n' "$report" | sed '$d')" ""
    like "$1: they were mixed" "$report" "^$times mixtures, "
}
mix sysbench cpu package-cpu
mix sysbench cpu threads
mix sysbench memory package-memory
mix sysbench oltp-point-select oltp-read-write
mix stream 5.10-zen 5.10-neoverse
done_testing
