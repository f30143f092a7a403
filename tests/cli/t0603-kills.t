#!/bin/sh
# SIGKILL of launcher, recorder, both and tree building at any moment: nothing that was journalled is lost.
# sanitizer: long, because hundreds of kills; t0604 and the journal's tests meet the same code
. "$(dirname "$0")/../lib/tap.sh"
tap_finished=1
n=30
long_tests && n=1000
cd "$WORK" && python3 "$ROOT/tests/faults/kills.py" "$BENCHWRAP" $n || tap_failed=1
