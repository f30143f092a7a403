#!/bin/sh
# What ls, show, compare and benchmarks print about stored runs: at four widths of a terminal, in a pipe, with NO_COLOR, on a dumb terminal.
# sanitizer: long, because it starts 300 commands
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(".")' "$ROOT/tests/screens/runs.tar.xz" 2>/dev/null
# UPDATE=1 writes the expected outputs anew.
python3 "$ROOT/tests/screens/screens.py" "$WORK/mlruns" "$ROOT/tests/screens/expected" >checks 2>problems
while IFS= read -r line; do
    case $line in
    "ok - "*) tap_pass "${line#ok - }" ;;
    *) tap_fail "${line#not ok - }" ;;
    esac
done <checks
head -c 6000 problems >&2
ok "there were checks" [ "$(wc -l <checks)" -ge 50 ]
done_testing
